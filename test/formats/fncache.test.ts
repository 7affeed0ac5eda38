import assert from 'node:assert/strict';

import fc from 'fast-check';
import { describe, it } from 'mocha';

import { parseFncache, serialiseFncache } from '../../src/formats/fncache.js';

const bytes = (text: string): Buffer => Buffer.from(text, 'latin1');

describe('fncache', () => {
  it('gives the names as they stand, in the order of the file', () => {
    assert.deepEqual(parseFncache(bytes('data/x.d.hg/AUX.i\ndata/\xff \xe9.i\ndata/a.i\n')), [
      'data/x.d.hg/AUX.i',
      'data/\xff \xe9.i',
      'data/a.i',
    ]);
  });

  it('takes an empty file as no names', () => assert.deepEqual(parseFncache(new Uint8Array()), []));

  it('reads a view into a larger buffer', () => {
    assert.deepEqual(parseFncache(new Uint8Array(bytes('xxdata/a.i\nyy')).subarray(2, 11)), ['data/a.i']);
  });

  const CORRUPT: readonly (readonly [why: string, text: string, offset: number])[] = [
    ['no newline at the end', 'data/a.i\ndata/b', 15],
    ['an empty first line', '\ndata/a.i\n', 0],
    ['an empty line', 'data/a.i\n\ndata/b.i\n', 8],
    ['nothing but a newline', '\n', 0],
    ['a NUL', 'data/a\0.i\n', 6],
  ];
  for (const [why, text, offset] of CORRUPT) {
    it(`refuses ${why}`, () => {
      assert.throws(() => parseFncache(bytes(text)), { name: 'RevconvertError', code: 'FNCACHE_CORRUPT', at: { offset } });
    });
  }

  it('writes names sorted by bytes, each once', () => {
    assert.deepEqual(serialiseFncache(['data/b.i', 'data/\xff.i', 'data/B.i', 'data/b.i']), bytes('data/B.i\ndata/b.i\ndata/\xff.i\n'));
  });

  it('writes no names as an empty file', () => assert.equal(serialiseFncache([]).length, 0));

  it('reads what it wrote', () => {
    const byte = fc.integer({ min: 1, max: 255 }).filter((value) => value !== 10);
    const name = fc.array(byte, { minLength: 1 }).map((values) => String.fromCharCode(...values));
    fc.assert(
      fc.property(fc.uniqueArray(name), (names) => {
        assert.deepEqual(parseFncache(serialiseFncache(names)), [...names].sort());
      }),
    );
  });
});
