import assert from 'node:assert/strict';

import { describe, it } from 'mocha';

import { createSpoiltRevisions, isSpoilt } from '../../src/delta/spoilt.js';
import { makeRevision } from '../support/revlog-builder.js';

const on = (rev: number, deltaBase: number): ReturnType<typeof makeRevision> => makeRevision({ rev, deltaBase });

describe('spoilt revisions', () => {
  it('are none at first', () => {
    const spoilt = createSpoiltRevisions();
    assert.equal(isSpoilt(on(3, 2), spoilt), false);
    assert.equal(spoilt.has(3), false);
  });

  it('are those that are damaged, and all that is built on them', () => {
    const spoilt = createSpoiltRevisions();
    assert.equal(isSpoilt(makeRevision({ rev: 2, damaged: true, deltaBase: 1 }), spoilt), true);
    assert.deepEqual([on(3, 2), on(4, 3), on(5, 1), on(6, 4), on(7, 5)].map((revision) => isSpoilt(revision, spoilt)), [true, true, false, true, false]);
    assert.deepEqual([0, 1, 2, 3, 4, 5, 6, 7].filter((rev) => spoilt.has(rev)), [2, 3, 4, 6]);
  });

  it('are those that somebody said are', () => {
    const spoilt = createSpoiltRevisions();
    spoilt.add(4);
    assert.equal(isSpoilt(on(4, -1), spoilt), true);
    assert.equal(isSpoilt(on(5, 4), spoilt), true);
  });

  it('do not spoil full texts, nor deltas against nothing', () => {
    const spoilt = createSpoiltRevisions();
    isSpoilt(makeRevision({ rev: 0, damaged: true }), spoilt);
    isSpoilt(makeRevision({ rev: 1, damaged: true, deltaBase: -2 }), spoilt);
    assert.deepEqual([on(2, -1), on(3, -2)].map((revision) => isSpoilt(revision, spoilt)), [false, false]);
  });

  it('do not spoil their children by history, only by delta', () => {
    const spoilt = createSpoiltRevisions();
    spoilt.add(2);
    assert.equal(isSpoilt(makeRevision({ rev: 3, p1: 2, deltaBase: 1 }), spoilt), false);
  });
});
