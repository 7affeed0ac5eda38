import assert from 'node:assert/strict';

import { describe, it } from 'mocha';

import { addUse, createDictionaryUse } from '../../../src/repository/dictionaries/use.js';

const frame = (id: number, length = 20): Uint8Array => Buffer.concat([Buffer.from('28b52ffd21', 'hex'), Buffer.from([id]), Buffer.alloc(length - 6)]);

describe('the use of dictionaries', () => {
  it('counts the chunks that name one, and their bytes, by rising ID', () => {
    const counter = createDictionaryUse();
    assert.deepEqual(counter.used, []);
    for (const chunk of [frame(9), frame(2, 30), Buffer.from('28b52ffd2005290000', 'hex'), Buffer.from('uraw'), new Uint8Array(0), frame(9, 50), frame(0)]) counter.add(chunk);
    assert.deepEqual(counter.used, [{ id: 2, chunks: 1, bytes: 30 }, { id: 9, chunks: 2, bytes: 70 }]);
  });

  it('adds counts up', () => {
    const one = [{ id: 2, chunks: 1, bytes: 30 }, { id: 9, chunks: 2, bytes: 70 }];
    assert.deepEqual(addUse([]), []);
    assert.deepEqual(addUse([one, [], [{ id: 1, chunks: 1, bytes: 5 }, { id: 9, chunks: 3, bytes: 1 }]]), [{ id: 1, chunks: 1, bytes: 5 }, { id: 2, chunks: 1, bytes: 30 }, { id: 9, chunks: 5, bytes: 71 }]);
    assert.deepEqual(one, [{ id: 2, chunks: 1, bytes: 30 }, { id: 9, chunks: 2, bytes: 70 }], 'what was given stays as it is');
  });
});
