import assert from 'node:assert/strict';

import { describe, it } from 'mocha';

import { ChainTable, isRoot, NO_SNAPSHOT } from '../../src/delta/chain-table.js';
import { chainTable, FULL, NULL } from './support.js';

const first = (array: ArrayLike<number>, chains: ChainTable): number[] => Array.from(array).slice(0, chains.length);

describe('chain table', () => {
  //  rev 0 full, 1 on 0, 2 on 1, 3 full, 4 on 0, 5 against nothing, 6 on 5
  const chains = chainTable([FULL, 50, 200], [0, 7, 201], [1, 3, 202], [FULL, 60, 203], [0, 11, 204], [NULL, 40, 205], [5, 0, 205]);

  it('keeps what it is given', () => {
    assert.equal(chains.length, 7);
    assert.deepEqual(first(chains.base, chains), [FULL, 0, 1, FULL, 0, NULL, 5]);
    assert.deepEqual(first(chains.chunkLength, chains), [50, 7, 3, 60, 11, 40, 0]);
    assert.deepEqual(first(chains.rawSize, chains), [200, 201, 202, 203, 204, 205, 205]);
  });

  it('counts the deltas of a chain: none for a full text, or a delta against nothing', () => {
    assert.deepEqual(first(chains.chainLength, chains), [0, 1, 2, 0, 1, 0, 1]);
  });

  it('adds up the stored bytes of a chain, full text and own chunk among them', () => {
    assert.deepEqual(first(chains.chainBytes, chains), [50, 57, 60, 60, 61, 40, 40]);
  });

  it('knows where a chain begins, as a revision and in bytes', () => {
    assert.deepEqual(first(chains.chainStart, chains), [0, 0, 0, 3, 0, 5, 5]);
    assert.deepEqual([0, 1, 2, 3, 4, 5, 6].map((rev) => chains.chainOffset(rev)), [0, 0, 0, 60, 0, 131, 131]);
    assert.equal(chains.end, 171);
  });

  it('counts beyond 2 GiB', () => {
    const large = chainTable([FULL, 0x7fffffff], [0, 0x7fffffff], [1, 0x7fffffff], [FULL, 5]);
    assert.equal(large.chainBytes[2], 3 * 0x7fffffff);
    assert.equal(large.chainOffset(3), 3 * 0x7fffffff);
    assert.equal(large.end, 3 * 0x7fffffff + 5);
  });

  it('counts chains that are longer than 16 bits can say', () => {
    const long = new ChainTable(70_000);
    long.add(FULL, 10, 100, false);
    for (let rev = 1; rev < 70_000; rev++) long.add(rev - 1, 1, 100, true);
    assert.equal(long.chainLength[69_999], 69_999);
    assert.equal(long.chainBytes[69_999], 70_009);
    assert.ok((long.level[69_999] ?? -1) > 0, 'a snapshot stays one');
    assert.equal(long.snapshotsOf(69_999).length, 70_000);
  });

  describe('snapshots', () => {
    // 0 full; 1 on 0, level 1; 2 delta on 1; 3 on 1, level 2; 4 claims to be one, on a delta; 5 full; 6 on 0, level 1; 7 on 1, level 2; 8 on 3, level 3
    const levels = chainTable(
      [FULL], [0, 10, 100, 'snapshot'], [1], [1, 10, 100, 'snapshot'], [2, 10, 100, 'snapshot'], [FULL],
      [0, 10, 100, 'snapshot'], [1, 10, 100, 'snapshot'], [3, 10, 100, 'snapshot'], [8],
    );

    it('are one level above their base; nothing built on a delta is one', () => {
      assert.deepEqual(first(levels.level, levels), [0, 1, NO_SNAPSHOT, 2, NO_SNAPSHOT, 0, 1, 2, 3, NO_SNAPSHOT]);
    });

    it('that are built on a revision are listed, the latest first', () => {
      assert.deepEqual(first(levels.lastBuiltOn, levels), [6, 7, -1, 8, -1, -1, -1, -1, -1, -1]);
      assert.deepEqual([levels.siblingBefore[6], levels.siblingBefore[7], levels.siblingBefore[1], levels.siblingBefore[3]], [1, 3, -1, -1]);
    });

    it('of level 0 are the full texts, the latest first', () => {
      assert.equal(levels.lastFullText, 5);
      assert.deepEqual([levels.siblingBefore[5], levels.siblingBefore[0]], [0, -1]);
      assert.equal(new ChainTable(1).lastFullText, -1);
    });

    it('that a chain begins with are listed, the full text first', () => {
      assert.deepEqual(levels.snapshotsOf(9), [0, 1, 3, 8]);
      assert.deepEqual(levels.snapshotsOf(8), [0, 1, 3, 8]);
      assert.deepEqual(levels.snapshotsOf(4), [0, 1]);
      assert.deepEqual(levels.snapshotsOf(5), [5]);
    });
  });

  describe('passes over empty deltas', () => {
    const empty = chainTable([FULL, 30], [0, 5], [1, 0], [2, 0], [3, 4], [FULL, 0], [5, 0], [NULL, 0]);
    const rows: readonly (readonly [string, number, number])[] = [
      ['a delta that says something stays', 4, 4],
      ['a full text stays', 0, 0],
      ['an empty one is its base', 2, 1],
      ['so are two of them', 3, 1],
      ['an empty full text has no base', 5, 5],
      ['an empty delta on an empty full text is that', 6, 5],
      ['an empty delta against nothing has no base', 7, 7],
    ];
    for (const [title, rev, found] of rows) it(title, () => assert.equal(empty.skipEmpty(rev), found));
  });

  describe('a delta is a snapshot', () => {
    // 0 full, 1 snapshot on 0, 2 delta on 1, 3 empty delta on 1, 4 empty delta on 3
    const mixed = chainTable([FULL], [0, 10, 100, 'snapshot'], [1], [1, 0], [3, 0]);
    const rows: readonly (readonly [string, base: number, p1: number, p2: number, boolean])[] = [
      ['as a full text', FULL, 2, -1, true],
      ['against nothing', NULL, 2, -1, true],
      ['on a snapshot that is no parent', 0, 2, -1, true],
      ['on one that is no parent of a merge', 1, 2, 0, true],
      ['without parents, on a snapshot', 1, -1, -1, true],
      ['not on the first parent', 1, 1, -1, false],
      ['not on the second parent', 1, 0, 1, false],
      ['not on a second parent alone', 0, -1, 0, false],
      ['not on what is none itself', 2, 0, -1, false],
      ['not on the base of a parent whose delta is empty', 1, 3, -1, false],
      ['nor where several are', 1, 0, 4, false],
      ['but on the base below that', 0, 4, 3, true],
    ];
    for (const [title, base, p1, p2, expected] of rows) it(title, () => assert.equal(mixed.isSnapshotOn(base, p1, p2), expected));
  });

  it('tells bases that name no revision', () => {
    assert.deepEqual([FULL, NULL, 0, 5].map(isRoot), [true, true, false, false]);
  });
});
