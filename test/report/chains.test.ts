import assert from 'node:assert/strict';

import { describe, it } from 'mocha';

import { NO_SNAPSHOT } from '../../src/delta/chain-table.js';
import { followChains } from '../../src/report/chains.js';
import type { RevisionSpec } from '../support/revlog-builder.js';
import { LAYOUTS, SPLIT } from '../support/revlog-builder.js';
import { EVERYTHING, indexOf, revision } from './support.js';

const NO = NO_SNAPSHOT;

describe('chains of deltas', () => {
  it('have a length, a span and snapshots', () => {
    const { lengths, spans, depths } = followChains(indexOf(EVERYTHING), { sparse: true });
    assert.deepEqual([...lengths], [0, 1, 1, 2, 3, 2, 3, 3, 0, 4, 0, 1, 5, 6]);
    assert.deepEqual([...spans], [10, 14, 20, 25, 28, 30, 30, 37, 0, 46, 8, 9, 58, 60]);
    assert.deepEqual([...depths], [0, NO, 1, 2, NO, NO, NO, NO, 0, NO, 0, NO, NO, NO]);
  });

  it('have full texts for their only snapshots where the store has no others', () => {
    const { lengths, depths } = followChains(indexOf(EVERYTHING), { sparse: false });
    assert.deepEqual([...lengths], [0, 1, 1, 2, 3, 2, 3, 3, 0, 4, 0, 1, 5, 6]);
    assert.deepEqual([...depths], [0, NO, NO, NO, NO, NO, NO, NO, 0, NO, 0, NO, NO, NO]);
  });

  it('count bytes that belong to nobody in the span, and index entries between chunks not', () => {
    const specs = [revision(10, 1, { base: 'full' }), revision(4, 1, { gap: 5 })];
    assert.deepEqual([...followChains(indexOf(specs), { sparse: true }).spans], [10, 19]);
    const inline = [revision(10, 1, { base: 'full' }), revision(4, 1)];
    const layout = { version: 1, inline: true, generaldelta: true } as const;
    assert.deepEqual([...followChains(indexOf(inline, layout), { sparse: true }).spans], [10, 14]);
  });

  it('go from each revision to the one before without generaldelta, and have no intermediate snapshots', () => {
    const specs: RevisionSpec[] = [
      revision(10, 1, { base: 'full' }),
      revision(4, 1, { p1: -1 }),
      revision(4, 1, { p1: 0 }),
      revision(9, 1, { base: 'full' }),
      revision(4, 1, { p1: 1 }),
    ];
    for (const name of ['version 0', 'version 1, inline', 'version 1, split']) {
      const { lengths, spans, depths } = followChains(indexOf(specs, LAYOUTS[name]), { sparse: true });
      assert.deepEqual([...lengths], [0, 1, 2, 0, 1], name);
      assert.deepEqual([...spans], [10, 14, 18, 9, 13], name);
      assert.deepEqual([...depths], [0, NO, NO, 0, NO], name);
    }
  });

  it('have the snapshots that the flags say where the header says that flags count', () => {
    const flag = 0x0400;
    const specs = [
      revision(10, 1, { base: 'full', flags: flag }),
      revision(4, 1, { base: 0, p1: 0, flags: flag }), // against its parent, and yet
      revision(4, 1, { base: 0, p1: 1 }), // against no parent, and yet not
      revision(4, 1, { base: 1, p1: 2, flags: flag }),
      revision(9, 1, { base: 'full' }), // a full text, whatever the flag
    ];
    const counts = { ...SPLIT, headerWord: 0x000a0001 };
    assert.deepEqual([...followChains(indexOf(specs, counts), { sparse: true }).depths], [0, 1, NO, 2, 0]);
    assert.deepEqual([...followChains(indexOf(specs, counts), { sparse: false }).depths], [0, 1, NO, 2, 0]);
    // The same flags mean nothing in a plain header.
    assert.deepEqual([...followChains(indexOf(specs), { sparse: true }).depths], [0, NO, 1, NO, 0]);
  });

  it('take a parent with an empty delta for what it is equal to', () => {
    const specs = [
      revision(10, 1, { base: 'full' }),
      revision(0, 1, { base: 0, p1: 0 }),
      revision(0, 1, { base: 1, p1: 1 }),
      revision(4, 1, { base: 0, p1: 2 }), // 2 and 1 are equal to 0: an ordinary delta against the parent
      revision(4, 1, { base: 0, p1: 3 }), // a snapshot of depth 1
      revision(0, 1, { base: 4, p1: 3 }), // equal to that snapshot, and one itself
      revision(4, 1, { base: 5, p1: 3 }), // depth 2: the empty one between does not count
      revision(4, 1, { base: 6, p1: -1, p2: 6 }),
    ];
    const { lengths, depths } = followChains(indexOf(specs), { sparse: true });
    assert.deepEqual([...lengths], [0, 1, 2, 1, 1, 2, 3, 4]);
    assert.deepEqual([depths[3], depths[4], depths[6], depths[7]], [NO, 1, 2, NO]);
  });

  it('take one pass, however long', function () {
    this.timeout(10_000);
    const count = 60_000;
    const specs = Array.from({ length: count }, (_, rev) => revision(rev === 0 ? 3 : 0, 3, { node: Buffer.alloc(20), base: rev === 0 ? 'full' : rev - 1 }));
    const index = indexOf(specs);
    const started = performance.now();
    const { lengths } = followChains(index, { sparse: true });
    assert.equal(lengths[count - 1], count - 1);
    assert.ok(performance.now() - started < 1000);
  });

  it('of no revisions are none', () => {
    assert.equal(followChains(indexOf([]), { sparse: true }).lengths.length, 0);
  });
});
