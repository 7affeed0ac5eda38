import assert from 'node:assert/strict';

import fc from 'fast-check';
import { describe, it } from 'mocha';

import type { EntryEncoder, EntryEncoderOptions } from '../../src/formats/encode-entries.js';
import { createEntryEncoder } from '../../src/formats/encode-entries.js';
import type { Revision } from '../../src/formats/record.js';
import { FULL_TEXT, NULL_BASE } from '../../src/formats/record.js';
import { RevlogIndex } from '../../src/formats/revlog-index.js';
import { entryV1, makeRevision } from '../support/revlog-builder.js';

const GENERALDELTA: EntryEncoderOptions = { generaldelta: true };
const PLAIN: EntryEncoderOptions = { generaldelta: false };

/** Revisions from `from` on, one for each base; each chunk has 3 bytes. */
const revisionsOf = (bases: readonly number[], from = 0): Revision[] =>
  bases.map((deltaBase, i) => makeRevision({ rev: from + i, deltaBase, rawSize: 9, chunk: Buffer.from('uab') }));

const baseFields = (encoder: EntryEncoder, revisions: readonly Revision[]): number[] => {
  const table = encoder.encode(revisions);
  return revisions.map((_, i) => table.readInt32BE(64 * i + 16));
};

describe('entry encoder', () => {
  it('writes every field, chunk after chunk, and no header', () => {
    const encoder = createEntryEncoder(GENERALDELTA);
    const node = Buffer.alloc(20, 7);
    const revisions = [
      makeRevision({ rev: 0, node, p1: -1, linkRev: 100, flags: 0x8000, rawSize: 50, chunk: Buffer.alloc(11) }),
      makeRevision({ rev: 1, node, p1: -1, p2: 0, linkRev: 0, flags: 0x1234, rawSize: -1, deltaBase: 0, chunk: Buffer.alloc(0) }),
      makeRevision({ rev: 2, node, p1: 1, p2: 0, linkRev: 5, rawSize: 0, deltaBase: NULL_BASE, chunk: Buffer.alloc(5) }),
    ];
    const expected = [
      { offset: 0, flags: 0x8000, chunkLength: 11, rawSize: 50, baseField: 0, linkRev: 100, p1: -1, p2: -1, node },
      { offset: 11, flags: 0x1234, chunkLength: 0, rawSize: -1, baseField: 0, linkRev: 0, p1: -1, p2: 0, node },
      { offset: 11, flags: 0, chunkLength: 5, rawSize: 0, baseField: -1, linkRev: 5, p1: 1, p2: 0, node },
    ];
    assert.deepEqual(encoder.encode(revisions), Buffer.concat(expected.map(entryV1)));
    assert.equal(encoder.end, 16);
  });

  it('begins at 0 and gives nothing for nothing', () => {
    const encoder = createEntryEncoder(PLAIN);
    assert.equal(encoder.end, 0);
    assert.equal(encoder.encode([]).length, 0);
    assert.equal(encoder.end, 0);
  });

  it('counts offsets beyond 4 GiB', () => {
    const encoder = createEntryEncoder(GENERALDELTA);
    const length = 0x7fffffff;
    // Only the length of a chunk counts here; nobody wants to hold this one.
    const chunk = Object.defineProperty(new Uint8Array(0), 'length', { value: length });
    encoder.encode([0, 1].map((rev) => makeRevision({ rev, chunk })));
    const table = encoder.encode([2, 3].map((rev) => makeRevision({ rev, chunk })));
    assert.equal(table.readUIntBE(0, 6), 2 * length);
    assert.equal(table.readUIntBE(64, 6), 3 * length);
    assert.equal(encoder.end, 4 * length);
    assert.ok(3 * length > 2 ** 32);
  });

  const chains: readonly (readonly [title: string, options: EntryEncoderOptions, from: number, bases: readonly number[], fields: readonly number[]])[] = [
    ['generaldelta: names the base itself', GENERALDELTA, 0, [FULL_TEXT, 0, 0, 1, FULL_TEXT, 2], [0, 0, 0, 1, 4, 2]],
    ['generaldelta: writes -1 for a delta against nothing', GENERALDELTA, 0, [NULL_BASE, 0, NULL_BASE, 2], [-1, 0, -1, 2]],
    ['generaldelta: needs no chain start in a range', GENERALDELTA, 5, [4, 1, FULL_TEXT], [4, 1, 7]],
    ['plain: names the first of the chain', PLAIN, 0, [FULL_TEXT, 0, 1, FULL_TEXT, 3, 4], [0, 0, 0, 3, 3, 3]],
    ['plain: writes -1 for a chain that begins with a delta against nothing', PLAIN, 0, [NULL_BASE, 0, 1, FULL_TEXT, 3], [-1, -1, -1, 3, 3]],
    ['plain: continues the chain that a range was cut from', { generaldelta: false, chainStart: 2 }, 5, [4, 5, FULL_TEXT, 7], [2, 2, 7, 7]],
    ['plain: a range that begins with a full text forgets the chain before', { generaldelta: false, chainStart: 2 }, 5, [FULL_TEXT, 5], [5, 5]],
    ['plain: continues a chain that began with a delta against nothing', { generaldelta: false, chainStart: -1 }, 5, [4, 5], [-1, -1]],
  ];
  for (const [title, options, from, bases, fields] of chains) {
    it(title, () => {
      const revisions = revisionsOf(bases, from);
      assert.deepEqual(baseFields(createEntryEncoder(options), revisions), fields);
      const oneByOne = createEntryEncoder(options);
      assert.deepEqual(revisions.flatMap((revision) => baseFields(oneByOne, [revision])), fields, 'in batches of one');
    });
  }

  const refused: readonly (readonly [string, number, number])[] = [
    ['a base that is not the revision before', 3, 1],
    ['revision 0 as base of another than 1', 2, 0],
    ['a delta against nothing that is not revision 0', 3, NULL_BASE],
    ['itself', 3, 3],
  ];
  for (const [title, rev, deltaBase] of refused) {
    it(`cannot say ${title} without generaldelta`, () => {
      const encoder = createEntryEncoder(PLAIN);
      encoder.encode(revisionsOf([FULL_TEXT, 0, 1].slice(0, rev)));
      assert.throws(() => encoder.encode([makeRevision({ rev, deltaBase })]), { code: 'INTERNAL', at: { rev } });
    });
  }

  it('is read back with the bases that were meant, cut into batches anywhere', () => {
    const choices = fc.array(fc.tuple(fc.boolean(), fc.nat(), fc.nat({ max: 4 })), { minLength: 1, maxLength: 40 });
    fc.assert(
      fc.property(choices, fc.boolean(), fc.integer({ min: 1, max: 9 }), (spec, generaldelta, stride) => {
        const revisions = spec.map(([full, base, length], rev) => {
          const earlier = generaldelta ? base % rev : rev - 1;
          return makeRevision({ rev, deltaBase: rev === 0 || full ? FULL_TEXT : earlier, chunk: new Uint8Array(length) });
        });
        const encoder = createEntryEncoder({ generaldelta });
        const tables: Buffer[] = [];
        for (let at = 0; at < revisions.length; at += stride) tables.push(encoder.encode(revisions.slice(at, at + stride)));
        const header = { version: 1, inline: false, generaldelta, filelogMeta: false, deltaInfo: false } as const;
        const index = new RevlogIndex(header, Buffer.concat(tables));
        assert.deepEqual(revisions.map(({ rev }) => index.deltaBase(rev)), revisions.map(({ deltaBase }) => deltaBase));
        assert.equal(index.chunksEnd(), encoder.end);
      }),
    );
  });
});
