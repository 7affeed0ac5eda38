import assert from 'node:assert/strict';

import fc from 'fast-check';
import { describe, it } from 'mocha';

import { FULL_TEXT, NULL_BASE } from '../../src/formats/record.js';
import type { RevlogHeader } from '../../src/formats/revlog-header.js';
import { checkEntry, checkIndex, encodeEntry, ENTRY_SIZE, RevlogIndex, shiftOffsets, viewOf } from '../../src/formats/revlog-index.js';
import type { EntryFields } from '../support/revlog-builder.js';
import { entryV1 } from '../support/revlog-builder.js';

const SPLIT: RevlogHeader = { version: 1, inline: false, generaldelta: true, filelogMeta: false, deltaInfo: false };

const MAX_OFFSET = 2 ** 48 - 1;
const GIB4 = 2 ** 32;

const node = (byte: number): Buffer => Buffer.alloc(20, byte);

/** A harmless entry: 10 bytes, a full text, behind `rev` others of 10 bytes. */
const entry = (rev: number, lies: Partial<EntryFields> = {}): EntryFields => ({
  offset: 10 * rev,
  flags: 0,
  chunkLength: 10,
  rawSize: 10,
  baseField: rev,
  linkRev: rev,
  p1: rev - 1,
  p2: -1,
  node: node(rev + 1),
  ...lies,
});

const indexOf = (entries: readonly EntryFields[], header: Partial<RevlogHeader> = {}): RevlogIndex =>
  new RevlogIndex({ ...SPLIT, ...header }, Buffer.concat(entries.map(entryV1)));

const columnsOf = (index: RevlogIndex, rev: number): EntryFields => ({
  offset: index.offset(rev),
  flags: index.flags(rev),
  chunkLength: index.chunkLength(rev),
  rawSize: index.rawSize(rev),
  baseField: index.baseField(rev),
  linkRev: index.linkRev(rev),
  p1: index.p1(rev),
  p2: index.p2(rev),
  node: Buffer.from(index.node(rev)),
});

describe('revlog index', () => {
  describe('columns', () => {
    const distinct: EntryFields = { offset: 0x010203040506, flags: 0x0708, chunkLength: 0x090a0b0c, rawSize: 0x0d0e0f10, baseField: 0x11121314, linkRev: 0x15161718, p1: 0x191a1b1c, p2: 0x1d1e1f20, node: Buffer.from(Array.from({ length: 20 }, (_, i) => 0x21 + i)) };
    const rows: readonly (readonly [string, EntryFields])[] = [
      ['bytes that all differ', distinct],
      ['the largest of everything', entry(1, { offset: MAX_OFFSET, flags: 0xffff, chunkLength: 0x7fffffff, rawSize: 0x7fffffff, linkRev: 0x7fffffff, node: node(255) })],
      ['an offset just below 4 GiB', entry(1, { offset: GIB4 - 1 })],
      ['an offset of 4 GiB', entry(1, { offset: GIB4 })],
      ['an offset beyond 4 GiB', entry(1, { offset: GIB4 * 5 + 0x87654321 })],
      ['-1 where it is legal', entry(1, { rawSize: -1, baseField: -1, p1: -1, p2: -1, linkRev: -1 })],
    ];
    for (const [title, fields] of rows) {
      it(`reads ${title}`, () => {
        const index = indexOf([entry(0), fields, entry(2)]);
        assert.equal(index.length, 3);
        assert.deepEqual(columnsOf(index, 1), fields);
      });

      it(`writes ${title}`, () => {
        const table = Buffer.alloc(3 * ENTRY_SIZE);
        encodeEntry(viewOf(table), ENTRY_SIZE, fields);
        assert.deepEqual(table, Buffer.concat([Buffer.alloc(64), entryV1(fields), Buffer.alloc(64)]));
      });
    }

    it('reads what it writes, whatever the values', () => {
      const i32 = fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 });
      const fields = fc.record({
        offset: fc.integer({ min: 0, max: MAX_OFFSET }),
        flags: fc.nat({ max: 0xffff }),
        chunkLength: i32,
        rawSize: i32,
        baseField: i32,
        linkRev: i32,
        p1: i32,
        p2: i32,
        node: fc.uint8Array({ minLength: 20, maxLength: 20 }).map((bytes) => Buffer.from(bytes)),
      }, { noNullPrototype: true });
      fc.assert(
        fc.property(fields, (expected) => {
          const table = Buffer.alloc(2 * ENTRY_SIZE);
          encodeEntry(viewOf(table), ENTRY_SIZE, expected);
          assert.deepEqual(columnsOf(new RevlogIndex(SPLIT, table), 1), expected);
        }),
      );
    });

    it('refuses what does not fit its field', () => {
      const view = viewOf(Buffer.alloc(2 * ENTRY_SIZE));
      for (const fields of [entry(1, { offset: MAX_OFFSET + 1 }), entry(1, { chunkLength: 2 ** 31 })]) {
        assert.throws(() => encodeEntry(view, ENTRY_SIZE, fields), { code: 'ENTRY_RANGE' });
      }
    });

    it('begins at 0 with revision 0, where the header stands', () => {
      const table = entryV1(entry(0, { flags: 0x1234 }));
      table.writeUInt32BE(0xffffffff);
      const index = new RevlogIndex(SPLIT, table);
      assert.equal(index.offset(0), 0);
      assert.equal(index.flags(0), 0x1234);
    });

    it('reads a table that lies in the middle of a larger buffer', () => {
      const larger = Buffer.concat([Buffer.alloc(7, 255), entryV1(entry(0)), entryV1(entry(1, { linkRev: 77 }))]);
      assert.deepEqual(columnsOf(new RevlogIndex(SPLIT, larger.subarray(7)), 1), entry(1, { linkRev: 77 }));
    });
  });

  it('finds a chunk in the data file by its offset, in an inline file behind the entries', () => {
    const entries = [entry(0), entry(1), entry(2, { offset: GIB4 })];
    const split = indexOf(entries);
    const inline = indexOf(entries, { inline: true });
    assert.deepEqual([0, 1, 2].map((rev) => split.position(rev)), [0, 10, GIB4]);
    assert.deepEqual([0, 1, 2].map((rev) => inline.position(rev)), [64, 138, GIB4 + 192]);
  });

  it('ends with the last chunk', () => {
    assert.equal(indexOf([]).chunksEnd(), 0);
    assert.equal(indexOf([entry(0)]).chunksEnd(), 10);
    assert.equal(indexOf([entry(0), entry(1, { offset: MAX_OFFSET - 5, chunkLength: 5 })]).chunksEnd(), MAX_OFFSET);
  });

  describe('delta base', () => {
    const bases: readonly (readonly [title: string, rev: number, baseField: number, withGeneraldelta: number, without: number])[] = [
      ['a base field of the revision itself', 3, 3, FULL_TEXT, FULL_TEXT],
      ['a base field of revision 0 in revision 0', 0, 0, FULL_TEXT, FULL_TEXT],
      ['an earlier revision', 3, 1, 1, 2],
      ['the revision before', 3, 2, 2, 2],
      ['revision 0', 3, 0, 0, 2],
      ['-1', 3, -1, NULL_BASE, 2],
      ['-1 in revision 0', 0, -1, NULL_BASE, NULL_BASE],
    ];
    for (const [title, rev, baseField, withGeneraldelta, without] of bases) {
      it(`of ${title}`, () => {
        const entries = [0, 1, 2, 3].map((one) => entry(one, one === rev ? { baseField } : {}));
        assert.equal(indexOf(entries).deltaBase(rev), withGeneraldelta);
        const plain = indexOf(entries, { generaldelta: false });
        assert.equal(plain.deltaBase(rev), without);
        assert.equal(plain.chainStart(rev), baseField);
      });
    }
  });

  describe('check of an entry', () => {
    const legal: readonly (readonly [string, Partial<EntryFields>, number])[] = [
      ['a chunk where the one before ended', { offset: 30 }, 40],
      ['a gap before the chunk', { offset: 31 }, 41],
      ['a gap of 4 GiB', { offset: GIB4 + 30 }, GIB4 + 40],
      ['the last offset there is', { offset: MAX_OFFSET, chunkLength: 0 }, MAX_OFFSET],
      ['an empty chunk', { chunkLength: 0 }, 30],
      ['an unknown text length', { rawSize: -1 }, 40],
      ['an empty text', { rawSize: 0 }, 40],
      ['the largest text', { rawSize: 0x7fffffff }, 40],
      ['a base of -1, which is a delta against the empty text', { baseField: -1 }, 40],
      ['a base of revision 0', { baseField: 0 }, 40],
      ['itself as base', { baseField: 3 }, 40],
      ['no first parent, but a second', { p1: -1, p2: 2 }, 40],
      ['no parents', { p1: -1, p2: -1 }, 40],
      ['the same parent twice', { p1: 1, p2: 1 }, 40],
      ['a second parent behind the first', { p1: 0, p2: 2 }, 40],
      ['a linkrev of -1', { linkRev: -1 }, 40],
      ['a linkrev far behind the revision', { linkRev: 0x7fffffff }, 40],
      ['every flag', { flags: 0xffff }, 40],
    ];
    for (const [title, lies, end] of legal) {
      it(`accepts ${title}`, () => {
        const index = indexOf([entry(0), entry(1), entry(2), entry(3, lies)]);
        assert.equal(checkEntry(index, 3, 30), end);
      });
    }

    const illegal: readonly (readonly [string, Partial<EntryFields>, 'INDEX_ENTRY' | 'DELTA_BASE', RegExp])[] = [
      ['a chunk that overlaps the one before by a byte', { offset: 29 }, 'INDEX_ENTRY', /begins at 29, before the end of the one before \(30\)/],
      ['a chunk at the beginning again', { offset: 0 }, 'INDEX_ENTRY', /begins at 0,/],
      ['a negative chunk length', { chunkLength: -1 }, 'INDEX_ENTRY', /chunk length -1/],
      ['the most negative chunk length', { chunkLength: -(2 ** 31) }, 'INDEX_ENTRY', /chunk length -2147483648/],
      ['a text length of -2', { rawSize: -2 }, 'INDEX_ENTRY', /text length -2/],
      ['the next revision as base', { baseField: 4 }, 'DELTA_BASE', /delta base 4 /],
      ['a base of -2', { baseField: -2 }, 'DELTA_BASE', /delta base -2 /],
      ['itself as first parent', { p1: 3 }, 'INDEX_ENTRY', /first parent 3 /],
      ['a first parent of -2', { p1: -2 }, 'INDEX_ENTRY', /first parent -2 /],
      ['itself as second parent', { p2: 3 }, 'INDEX_ENTRY', /second parent 3 /],
      ['a second parent of -2', { p2: -2 }, 'INDEX_ENTRY', /second parent -2 /],
      ['a linkrev of -2', { linkRev: -2 }, 'INDEX_ENTRY', /linkrev -2/],
    ];
    for (const [title, lies, code, message] of illegal) {
      it(`refuses ${title}`, () => {
        const entries = [entry(0), entry(1), entry(2), entry(3, lies), entry(4)];
        assert.throws(() => checkEntry(indexOf(entries), 3, 30), { code, message, at: { rev: 3 } });
        assert.throws(() => checkIndex(indexOf(entries), Infinity), { code, message, at: { rev: 3 } });
      });
    }

    it('refuses revision 0 as its own parent, but not as its own base', () => {
      assert.equal(checkEntry(indexOf([entry(0)]), 0, 0), 10);
      assert.throws(() => checkEntry(indexOf([entry(0, { p1: 0 })]), 0, 0), { code: 'INDEX_ENTRY', at: { rev: 0 } });
    });
  });

  describe('check against the data', () => {
    it('accepts chunks up to the last byte, and data behind them', () => {
      const entries = [entry(0), entry(1), entry(2)];
      checkIndex(indexOf(entries), 30);
      checkIndex(indexOf(entries), 31);
      checkIndex(indexOf([]), 0);
    });

    it('refuses a chunk that ends a byte behind the data', () => {
      const message = /10 bytes ends at 30, the data at 29/;
      assert.throws(() => checkIndex(indexOf([entry(0), entry(1), entry(2)]), 29), { code: 'DATA_TRUNCATED', message, at: { rev: 2, offset: 20 } });
    });

    it('names the first chunk that ends behind the data', () => {
      assert.throws(() => checkIndex(indexOf([entry(0), entry(1), entry(2)]), 5), { code: 'DATA_TRUNCATED', at: { rev: 0, offset: 0 } });
    });

    it('counts beyond 4 GiB', () => {
      const far = indexOf([entry(0), entry(1, { offset: GIB4 + 5 })]);
      checkIndex(far, GIB4 + 15);
      assert.throws(() => checkIndex(far, GIB4 + 14), { code: 'DATA_TRUNCATED', at: { rev: 1, offset: GIB4 + 5 } });
    });
  });

  describe('moving chunks', () => {
    const rows: readonly (readonly [from: number, distance: number, to: number])[] = [
      [0, 0, 0],
      [5, 0, 5],
      [5, 100, 105],
      [GIB4 - 1, 1, GIB4],
      [0xffff, 1, 0x10000],
      [GIB4 + 7, GIB4 * 3, GIB4 * 4 + 7],
      [MAX_OFFSET - 1, 1, MAX_OFFSET],
      [GIB4 + 7, -GIB4, 7],
    ];
    for (const [from, distance, to] of rows) {
      it(`moves ${from} by ${distance} and leaves the rest of the entry`, () => {
        const fields = entry(1, { flags: 0xffff, linkRev: -1 });
        const table = Buffer.concat([entryV1({ ...fields, offset: from }), entryV1({ ...fields, offset: from })]);
        shiftOffsets(table, distance);
        const moved = entryV1({ ...fields, offset: to });
        assert.deepEqual(table, Buffer.concat([moved, moved]));
      });
    }
  });
});
