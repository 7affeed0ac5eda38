import assert from 'node:assert/strict';

import { describe, it } from 'mocha';

import { V0_ENTRY_SIZE, v0ToTable } from '../../src/formats/revlog-v0.js';
import type { EntryFields, RevisionSpec } from '../support/revlog-builder.js';
import { buildRevlog, entryV1, NULL_NODE, V0 } from '../support/revlog-builder.js';

const text = (rev: number): Buffer => Buffer.from(`text of revision ${rev}, long enough`);

const four: readonly RevisionSpec[] = [
  { text: text(0), linkRev: 10 },
  { text: text(1), linkRev: 11 },
  { text: text(2), linkRev: 12, p1: 0, base: 'full' },
  { text: text(3), linkRev: 13, p1: 2, p2: 1 },
];

/** Four revisions with lies about the last. */
const withLast = (lies: Partial<RevisionSpec>): Buffer => buildRevlog(V0, [...four.slice(0, 3), { text: text(3), ...lies }]).index;

const lastEntry = (table: Buffer): Buffer => table.subarray(3 * 64);

describe('revlog version 0', () => {
  it('has entries of 76 bytes', () => {
    assert.equal(V0_ENTRY_SIZE, 76);
    assert.equal(buildRevlog(V0, four).index.length, 4 * 76);
  });

  it('becomes a table of version 1 entries', () => {
    const { index, chunks, nodes } = buildRevlog(V0, four);
    const lengths = chunks.map((chunk) => chunk.length);
    const expected = [
      { baseField: 0, p1: -1, p2: -1 },
      { baseField: 0, p1: 0, p2: -1 },
      { baseField: 2, p1: 0, p2: -1 },
      { baseField: 2, p1: 2, p2: 1 },
    ].map((fields, rev): EntryFields => ({
      ...fields,
      offset: lengths.slice(0, rev).reduce((sum, length) => sum + length, 0),
      flags: 0,
      chunkLength: lengths[rev] ?? -1,
      rawSize: -1,
      linkRev: 10 + rev,
      node: nodes[rev] ?? NULL_NODE,
    }));
    assert.deepEqual(v0ToTable(index), Buffer.concat(expected.map(entryV1)));
  });

  it('may be empty', () => {
    assert.equal(v0ToTable(Buffer.alloc(0)).length, 0);
  });

  const parents: readonly (readonly [string, number, number])[] = [
    ['the first before the second', 0, 2],
    ['the second before the first', 2, 0],
    ['no first, but a second', -1, 2],
    ['a first, but no second', 1, -1],
    ['none', -1, -1],
    ['the same twice', 1, 1],
  ];
  for (const [title, p1, p2] of parents) {
    it(`keeps the order of parents: ${title}`, () => {
      const last = lastEntry(v0ToTable(withLast({ p1, p2 })));
      assert.deepEqual([last.readInt32BE(24), last.readInt32BE(28)], [p1, p2]);
    });
  }

  it('reads an offset beyond 2 GiB', () => {
    const last = lastEntry(v0ToTable(withLast({ offset: 0xfffffffe })));
    assert.equal(last.readUIntBE(0, 6), 0xfffffffe);
  });

  it('keeps a negative length and base for the check that follows', () => {
    const last = lastEntry(v0ToTable(withLast({ chunkLength: -5, baseField: -7, linkRev: -9 })));
    assert.deepEqual([last.readInt32BE(8), last.readInt32BE(16), last.readInt32BE(20)], [-5, -7, -9]);
  });

  const stranger = Buffer.alloc(20, 0xab);
  const own = Buffer.alloc(20, 0xcd);
  const refused: readonly (readonly [string, Partial<RevisionSpec>, string])[] = [
    ['a first parent that is no revision', { p1Node: stranger }, stranger.toString('hex')],
    ['a second parent that is no revision', { p2Node: stranger }, stranger.toString('hex')],
    ['itself as parent', { node: own, p1Node: own }, own.toString('hex')],
  ];
  for (const [title, lies, name] of refused) {
    it(`refuses ${title}`, () => {
      const message = new RegExp(`parent ${name} is not an earlier revision`);
      assert.throws(() => v0ToTable(withLast(lies)), { code: 'INDEX_ENTRY', message, at: { rev: 3, offset: 3 * 76 } });
    });
  }

  it('refuses a later revision as parent', () => {
    const later = Buffer.alloc(20, 0x11);
    const { index } = buildRevlog(V0, [{ text: text(0) }, { text: text(1), p2Node: later }, { text: text(2), node: later }]);
    assert.throws(() => v0ToTable(index), { code: 'INDEX_ENTRY', at: { rev: 1, offset: 76 } });
  });
});
