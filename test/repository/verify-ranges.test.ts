import assert from 'node:assert/strict';

import { describe, it } from 'mocha';

import { RevconvertError } from '../../src/errors.js';
import { encodeEntry, ENTRY_SIZE, RevlogIndex, viewOf } from '../../src/formats/revlog-index.js';
import { settleFailures } from '../../src/repository/verify/failures.js';
import { NameTable, splitNames } from '../../src/repository/verify/names.js';
import { cutByRawBytes } from '../../src/repository/verify/ranges.js';
import { RevisionTable } from '../../src/repository/verify/revisions.js';

const HEADER = { version: 1, inline: false, generaldelta: true, filelogMeta: false, deltaInfo: false } as const;

/** An index of texts of these lengths, each a delta against the one before but where a chain begins. */
function indexOf(sizes: readonly number[], chainStarts: ReadonlySet<number>): RevlogIndex {
  const table = new Uint8Array(sizes.length * ENTRY_SIZE);
  for (const [rev, rawSize] of sizes.entries()) {
    const baseField = rev === 0 || chainStarts.has(rev) ? rev : rev - 1;
    encodeEntry(viewOf(table), rev * ENTRY_SIZE, { offset: rev * 10, flags: 0, chunkLength: 10, rawSize, baseField, linkRev: rev, p1: rev - 1, p2: -1, node: new Uint8Array(20) });
  }
  return new RevlogIndex(HEADER, table);
}

const cuts = (index: RevlogIndex, bytes: number): (readonly [number, number])[] => cutByRawBytes(index, ENTRY_SIZE, bytes).map(({ from, to }) => [from, to]);

describe('ranges by raw bytes', () => {
  const sizes = Array.from({ length: 100 }, () => 10);

  it('cover every revision once, in order, and are about as long as asked', () => {
    const ranges = cutByRawBytes(indexOf(sizes, new Set()), ENTRY_SIZE, 200);
    assert.equal(ranges[0]?.from, 0);
    for (const [i, { from, to }] of ranges.entries()) {
      assert.ok(to > from);
      assert.equal(ranges[i + 1]?.from ?? 100, to);
      assert.ok((to - from) * 10 >= 100 && (to - from) * 10 <= 400, `${from} to ${to}`);
    }
    assert.equal(ranges.reduce((sum, { bytes }) => sum + bytes, 0), 100 * (10 + ENTRY_SIZE));
  });

  it('begin where a delta chain does, where they can', () => {
    assert.deepEqual(cuts(indexOf(sizes, new Set([17, 40, 58, 83])), 200), [[0, 17], [17, 40], [40, 58], [58, 83], [83, 100]]);
  });

  it('are one where the revlog is small, has no lengths, or no revisions', () => {
    assert.deepEqual(cuts(indexOf(sizes, new Set()), 10_000), [[0, 100]]);
    assert.deepEqual(cuts(indexOf(sizes.map(() => -1), new Set()), 200), [[0, 100]]);
    assert.deepEqual(cuts(indexOf([], new Set()), 200), [[0, 0]]);
  });

  it('hold at least one revision, however large', () => {
    assert.deepEqual(cuts(indexOf([5000, 5000, 5000], new Set()), 200), [[0, 1], [1, 2], [2, 3]]);
  });
});

describe('failures of several parts', () => {
  const fault = (code: 'NODE_MISMATCH' | 'CHUNK_DAMAGED', rev: number): ReturnType<RevconvertError['toJSON']> => new RevconvertError(code, 'bad', { path: 'f', rev }).toJSON();

  it('a wrong text that is built on a wrong one, in another part, is no fault of its own', () => {
    const parts = [
      { faults: [fault('NODE_MISMATCH', 3)], failed: Int32Array.of(3, 3, 4, 3) },
      { faults: [fault('NODE_MISMATCH', 5), fault('CHUNK_DAMAGED', 8)], failed: Int32Array.of(5, 5, 6, 5, 8, 8) },
    ];
    const { faults, causes } = settleFailures(parts, (rev) => rev - 1);
    assert.deepEqual(faults.map(({ at, message }) => [at.rev, message]), [[3, 'bad; 3 revisions built on it, up to rev 6, fail with it'], [8, 'bad']]);
    assert.deepEqual([...causes], [[3, 3], [4, 3], [5, 3], [6, 3], [8, 8]]);
  });
});

describe('names by number', () => {
  it('one number a name, in the order of the first time', () => {
    const names = new NameTable();
    const numbers: number[] = [];
    for (let round = 0; round < 2; round++) {
      for (let i = 0; i < 3000; i++) {
        const name = Buffer.from(`--dir/name-${i}--`);
        numbers.push(names.numberOf(i % 2 === 0 ? 102 : 116, name, 2, name.length - 2));
      }
    }
    assert.deepEqual(numbers, [...Array(3000).keys(), ...Array(3000).keys()]);
    const all = splitNames(names.toBytes());
    assert.deepEqual([all.length, all[0], all[2999]], [3000, 'fdir/name-0', 'tdir/name-2999']);
    assert.deepEqual(splitNames(new NameTable().toBytes()), []);
  });
});

describe('revisions by node', () => {
  const nodesOf = (count: number, seed: number): Uint8Array => {
    const nodes = new Uint8Array(count * 20);
    for (let i = 0; i < count; i++) viewOf(nodes).setUint32(i * 20, Math.imul(i + 1, 0x9e3779b1) ^ seed);
    return nodes;
  };
  const words = (nodes: Uint8Array, rev: number): Int32Array => Int32Array.from({ length: 5 }, (_, i) => viewOf(nodes).getInt32(rev * 20 + i * 4));

  it('are found in their own revlog only, however many there are', () => {
    const table = new RevisionTable();
    const nodes = [1, 2, 3].map((seed) => nodesOf(5000, seed));
    for (const [owner, own] of nodes.entries()) table.add(owner, own, new Int32Array(5000).fill(owner), () => assert.fail('no duplicates'));
    for (const [owner, own] of nodes.entries()) {
      for (const rev of [0, 1, 4999]) {
        const place = table.find(owner, words(own, rev), 0);
        assert.equal(place, table.startOf(owner) + rev);
        assert.equal(table.linkRevAt(place), owner);
        assert.equal(table.find((owner + 1) % 3, words(own, rev), 0), -1);
      }
    }
  });

  it('that are there twice are reported', () => {
    const table = new RevisionTable();
    const twice: [number, number][] = [];
    table.add(7, Buffer.concat([nodesOf(3, 1), nodesOf(2, 1)]), new Int32Array(5), (rev, first) => twice.push([rev, first]));
    assert.deepEqual(twice, [[3, 0], [4, 1]]);
    assert.equal(table.isDuplicate(3), true);
  });
});
