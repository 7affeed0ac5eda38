import assert from 'node:assert/strict';

import { describe, it } from 'mocha';

import { deltaOf, FULL_TEXT, NULL_BASE, REVLOG_KINDS } from '../../src/formats/record.js';
import { makeRevision } from '../support/revlog-builder.js';

describe('record', () => {
  it('gives the delta that an earlier stage filled, also an empty one', () => {
    for (const delta of [Buffer.from('hunks'), new Uint8Array(0)]) {
      const revision = makeRevision({ rev: 3, delta });
      assert.equal(deltaOf({ path: 'data/f.i', kind: 'filelog', revisions: [revision] }, revision), delta);
    }
  });

  it('says which revision was not decompressed', () => {
    const revision = makeRevision({ rev: 3 });
    assert.throws(() => deltaOf({ path: 'data/f.i', kind: 'filelog', revisions: [revision] }, revision), {
      code: 'INTERNAL',
      kind: 'bug',
      at: { path: 'data/f.i', rev: 3 },
    });
  });

  it('tells a full text and a delta against nothing apart from every revision', () => {
    const marks: readonly number[] = [FULL_TEXT, NULL_BASE];
    assert.ok(marks.every((mark) => mark < 0));
    assert.equal(new Set(marks).size, 2);
  });

  it('names the kinds of revlogs', () => {
    assert.deepEqual(REVLOG_KINDS, ['changelog', 'manifest', 'filelog']);
  });
});
