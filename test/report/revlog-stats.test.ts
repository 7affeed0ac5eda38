import assert from 'node:assert/strict';

import { describe, it } from 'mocha';

import type { RevlogStats } from '../../src/report/revlog-stats.js';
import { figuresOf } from '../../src/report/revlog-stats.js';
import { RevlogSums } from '../../src/report/revlog-sums.js';
import { INLINE, SPLIT, V0 } from '../support/revlog-builder.js';
import { chunkOf, EVERYTHING, revision, sumsOf } from './support.js';

/** Of EVERYTHING: 14 revisions, 60 bytes stored, texts of 2010 bytes. */
const FIGURES: RevlogStats = {
  revlogs: 1,
  revisions: 14,
  merges: 3,
  fileBytes: 14 * 64 + 60,
  storedBytes: 60,
  rawBytes: 2010,
  ratio: 33.5,
  emptyTexts: 1,
  emptyDeltas: 1,
  fullTexts: { count: 2, bytes: 18, min: 8, max: 10, average: 9 },
  snapshots: [
    { depth: 1, count: 1, bytes: 6, min: 6, max: 6, average: 6 },
    { depth: 2, count: 1, bytes: 5, min: 5, max: 5, average: 5 },
  ],
  deltas: { count: 8, bytes: 31, min: 1, max: 9, average: 3.875 },
  texts: { count: 14, bytes: 2010, min: 0, max: 210, average: 2010 / 14 },
  // lengths in order: 0 0 0 1 1 1 2 2 3 3 3 4 5 6; the 13th is the first that nine tenths of 14 (12.6) reach
  chains: { average: 31 / 14, percentile90: 5, longest: 6, averageSpan: 375 / 14, longestSpan: 60 },
  markers: [
    { byte: 0x00, name: 'raw (NUL)', count: 1, bytes: 4 },
    { byte: 0x28, name: 'zstd', count: 1, bytes: 5 },
    { byte: 0x3f, name: 'unknown', count: 1, bytes: 3 },
    { byte: 0x75, name: 'raw (u)', count: 1, bytes: 1 },
    { byte: 0x78, name: 'zlib', count: 8, bytes: 47 },
  ],
  bases: { previousP1: 2, previousP2: 1, previousOther: 1, p1: 1, p2: 1, snapshot: 2, other: 2 },
};

describe('figures of a revlog', () => {
  it('count every kind of revision and of delta base', () => {
    assert.deepEqual(figuresOf(sumsOf(EVERYTHING)), FIGURES);
  });

  it('are the same for an inline revlog', () => {
    assert.deepEqual(figuresOf(sumsOf(EVERYTHING, INLINE)), FIGURES);
  });

  it('have deltas in the place of snapshots where the store has none', () => {
    const { snapshots, deltas, bases } = figuresOf(sumsOf(EVERYTHING, SPLIT, false));
    assert.deepEqual(snapshots, []);
    assert.deepEqual(deltas, { count: 10, bytes: 42, min: 1, max: 9, average: 4.2 });
    assert.deepEqual(bases, { previousP1: 2, previousP2: 1, previousOther: 2, p1: 1, p2: 1, snapshot: 0, other: 3 });
  });

  it('know no texts in version 0, unless they are measured', () => {
    const { texts, ratio, deltas } = figuresOf(sumsOf([revision(10, 1, { base: 'full' }), revision(4, 1)], V0));
    assert.deepEqual(texts, { count: 0, bytes: 0, min: 0, max: 0, average: 0 });
    assert.equal(ratio, 0);
    assert.deepEqual(deltas, { count: 1, bytes: 4, min: 4, max: 4, average: 4 });
  });

  it('name lz4 by its marker', () => {
    assert.deepEqual(figuresOf(sumsOf([revision(6, 9, { base: 'full', chunk: chunkOf(6, '4') })])).markers, [{ byte: 0x34, name: 'lz4', count: 1, bytes: 6 }]);
  });

  it('of nothing are zeros', () => {
    for (const sums of [new RevlogSums(), sumsOf([])]) {
      const { revisions, ratio, chains, markers, snapshots, fullTexts } = figuresOf(sums);
      assert.deepEqual([revisions, ratio, markers, snapshots], [0, 0, [], []]);
      assert.deepEqual(chains, { average: 0, percentile90: 0, longest: 0, averageSpan: 0, longestSpan: 0 });
      assert.deepEqual(fullTexts, { count: 0, bytes: 0, min: 0, max: 0, average: 0 });
    }
  });
});

describe('the 90th percentile of chain lengths', () => {
  const cases: readonly (readonly [title: string, full: number, chain: number, expected: number])[] = [
    ['one full text', 1, 0, 0],
    ['nine full texts and one delta: nine of ten are enough', 9, 1, 0],
    ['eight full texts and a chain of two', 8, 2, 1],
    ['a full text and a chain of nine', 1, 9, 8],
    ['a full text and a chain of nineteen', 1, 19, 17],
  ];
  for (const [title, full, chain, expected] of cases) {
    it(title, () => {
      const specs = Array.from({ length: full + chain }, (_, rev) => revision(2, 2, rev < full ? { base: 'full' } : {}));
      assert.equal(figuresOf(sumsOf(specs)).chains.percentile90, expected);
    });
  }
});

describe('figures of several revlogs', () => {
  it('are those of all their revisions', () => {
    const total = new RevlogSums();
    const one = sumsOf([revision(10, 30, { base: 'full' }), revision(2, 40), revision(3, 50)]);
    const other = sumsOf([revision(5, 7, { base: 'full', chunk: chunkOf(5, 'u') })]);
    for (const sums of [one, other, sumsOf([])]) total.addAll(sums);
    const figures = figuresOf(total);
    assert.equal(figures.revlogs, 3);
    assert.equal(figures.revisions, 4);
    assert.equal(figures.fileBytes, 4 * 64 + 20);
    assert.equal(figures.ratio, 127 / 20);
    assert.deepEqual(figures.fullTexts, { count: 2, bytes: 15, min: 5, max: 10, average: 7.5 });
    assert.deepEqual(figures.deltas, { count: 2, bytes: 5, min: 2, max: 3, average: 2.5 });
    assert.deepEqual(figures.texts, { count: 4, bytes: 127, min: 7, max: 50, average: 31.75 });
    assert.deepEqual(figures.chains, { average: 0.75, percentile90: 2, longest: 2, averageSpan: 10.5, longestSpan: 15 });
    assert.deepEqual(figures.markers, [
      { byte: 0x75, name: 'raw (u)', count: 1, bytes: 5 },
      { byte: 0x78, name: 'zlib', count: 3, bytes: 15 },
    ]);
    assert.equal(figures.bases.previousP1, 2);
  });

  it('leave the parts as they were', () => {
    const one = sumsOf(EVERYTHING);
    const total = new RevlogSums();
    total.addAll(one);
    total.addAll(one);
    assert.deepEqual(figuresOf(one), FIGURES);
    const { snapshots, bases, deltas, chains } = figuresOf(total);
    assert.deepEqual(snapshots.map(({ depth, count }) => [depth, count]), [[1, 2], [2, 2]]);
    assert.deepEqual([bases.snapshot, bases.other, deltas.count, chains.average], [4, 4, 16, 31 / 14]);
  });
});
