import assert from 'node:assert/strict';

import { describe, it } from 'mocha';

import type { ByteSource } from '../../src/streams/byte-source.js';
import { memorySource } from '../../src/streams/byte-source.js';
import { checkIndexAgainst, readIndex } from '../../src/streams/read-index.js';
import type { BuiltRevlog, RevisionSpec, RevlogLayout } from '../support/revlog-builder.js';
import { buildRevlog, INLINE, LAYOUTS, richHistory, SPLIT, V0 } from '../support/revlog-builder.js';

const PATH = 'data/f.i';

const asSource = (index: Uint8Array): ByteSource => memorySource(index, PATH);

/** A source of some size that begins with some bytes; reading further is a mistake of the reader. */
const hugeSource = (size: number, start: Buffer): ByteSource => ({
  path: PATH,
  size,
  read(position, length) {
    assert.ok(position + length <= start.length, `read ${length} bytes at ${position}`);
    return start.subarray(position, position + length);
  },
  close: () => undefined,
});

const short = (count: number): RevisionSpec[] =>
  Array.from({ length: count }, (_, rev) => ({ text: Buffer.from(`text ${rev}`), store: 'u' as const, base: 'full' as const }));

/** Where each entry of an inline revlog begins, and the end. */
const inlineStarts = ({ chunks }: BuiltRevlog): number[] =>
  chunks.reduce((starts, chunk) => [...starts, (starts.at(-1) ?? 0) + 64 + chunk.length], [0]);

describe('reading an index', () => {
  for (const [name, layout] of Object.entries(LAYOUTS)) {
    it(`${name}: gives every field`, () => {
      const specs = richHistory(layout);
      const built = buildRevlog(layout, specs);
      const index = readIndex(asSource(built.index));
      assert.equal(index.length, specs.length);
      assert.deepEqual(index.header, { ...layout, filelogMeta: false, deltaInfo: false });
      specs.forEach((spec, rev) => {
        assert.deepEqual(
          [index.offset(rev), index.chunkLength(rev), index.flags(rev), index.linkRev(rev), index.p1(rev), index.p2(rev), Buffer.from(index.node(rev))],
          [built.offsets[rev], built.chunks[rev]?.length, spec.flags, spec.linkRev, spec.p1 ?? rev - 1, spec.p2 ?? -1, built.nodes[rev]],
        );
        assert.equal(index.rawSize(rev), layout.version === 0 ? -1 : (spec.rawSize ?? spec.text.length));
      });
    });
  }

  it('an empty file is a revlog without revisions', () => {
    const index = readIndex(asSource(Buffer.alloc(0)));
    assert.equal(index.length, 0);
    assert.equal(index.header.inline, false);
    assert.equal(index.chunksEnd(), 0);
  });

  for (const headerWord of [0x000e0001, 0x00040001, 0x00080001]) {
    it(`reads the header 0x${headerWord.toString(16)}`, () => {
      const { header } = readIndex(asSource(buildRevlog({ ...SPLIT, headerWord }, short(1)).index));
      assert.deepEqual([header.filelogMeta, header.deltaInfo], [(headerWord & 0x40000) !== 0, (headerWord & 0x80000) !== 0]);
    });
  }

  const headers: readonly (readonly [number, string])[] = [
    [0x0000dead, 'REVLOG_VERSION'],
    [0x0000d34d, 'REVLOG_VERSION'],
    [0x00000002, 'REVLOG_VERSION'],
    [0x00100001, 'REVLOG_FLAGS'],
    [0x00010000, 'REVLOG_FLAGS'],
  ];
  for (const [headerWord, code] of headers) {
    it(`refuses the header 0x${headerWord.toString(16)} with the name of the file`, () => {
      const { index } = buildRevlog({ ...SPLIT, headerWord }, short(2));
      assert.throws(() => readIndex(asSource(index)), { code, at: { path: PATH } });
      assert.throws(() => readIndex(asSource(index.subarray(0, 4))), { code, at: { path: PATH } });
    });
  }

  describe('cut short', () => {
    const split: readonly (readonly [string, RevlogLayout, number])[] = [
      ['version 1, split', SPLIT, 64],
      ['version 0', V0, 76],
    ];
    for (const [name, layout, entrySize] of split) {
      it(`${name}: at every byte`, () => {
        const { index } = buildRevlog(layout, short(4));
        for (let length = 1; length <= index.length; length++) {
          const source = asSource(index.subarray(0, length));
          const whole = Math.floor(length / entrySize);
          if (length % entrySize === 0) {
            assert.equal(readIndex(source).length, whole);
          } else {
            assert.throws(() => readIndex(source), { code: 'INDEX_TRUNCATED', at: { path: PATH, rev: whole, offset: length } }, `cut at ${length}`);
          }
        }
      });
    }

    it('inline: at every byte, entry or chunk', () => {
      const built = buildRevlog(INLINE, short(4));
      const starts = inlineStarts(built);
      assert.equal(starts.at(-1), built.index.length);
      for (let length = 1; length <= built.index.length; length++) {
        const source = asSource(built.index.subarray(0, length));
        const rev = starts.findLastIndex((start) => start <= length);
        const into = length - (starts[rev] ?? 0);
        if (into === 0) {
          assert.equal(readIndex(source).length, rev);
          continue;
        }
        const at = into < 64 ? { path: PATH, rev, offset: length } : { path: PATH, rev, offset: (starts[rev] ?? 0) + 64 };
        assert.throws(() => readIndex(source), { code: into < 64 ? 'INDEX_TRUNCATED' : 'DATA_TRUNCATED', at }, `cut at ${length}`);
      }
    });
  });

  describe('inline', () => {
    it('goes on behind an empty chunk, also the last', () => {
      const specs: RevisionSpec[] = [{ text: Buffer.alloc(0) }, { text: Buffer.from('ab') }, { text: Buffer.from('ab') }];
      const index = readIndex(asSource(buildRevlog(INLINE, specs).index));
      assert.deepEqual([0, 1, 2].map((rev) => index.chunkLength(rev) === 0), [true, false, true]);
    });

    it('finds entries behind chunks larger than what is read at once, and at every place in it', () => {
      const lengths = [300_000, 5, 262_144 - 64, 262_144 - 63, 262_144, 1, 700_000, 0, 0, 3];
      const specs = lengths.map((length, rev): RevisionSpec => ({ text: Buffer.alloc(length), base: 'full', store: 'raw', linkRev: 100 + rev }));
      const index = readIndex(asSource(buildRevlog(INLINE, specs).index));
      assert.deepEqual(lengths.map((_, rev) => [index.chunkLength(rev), index.linkRev(rev)]), lengths.map((length, rev) => [length, 100 + rev]));
    });

    it('takes more entries than it first makes room for', () => {
      const index = readIndex(asSource(buildRevlog(INLINE, short(1000)).index));
      assert.equal(index.length, 1000);
      assert.deepEqual(Array.from({ length: 1000 }, (_, rev) => index.linkRev(rev)), Array.from({ length: 1000 }, (_, rev) => rev));
    });

    it('refuses a negative chunk length, which would go backwards', () => {
      const built = buildRevlog(INLINE, short(3).map((spec, rev) => (rev === 1 ? { ...spec, chunkLength: -64 } : spec)));
      const offset = inlineStarts(built)[1];
      assert.throws(() => readIndex(asSource(built.index)), { code: 'INDEX_ENTRY', at: { path: PATH, rev: 1, offset } });
    });

    it('refuses a chunk length far beyond the file', () => {
      const built = buildRevlog(INLINE, short(3).map((spec, rev) => (rev === 2 ? { ...spec, chunkLength: 0x7fffffff } : spec)));
      const offset = (inlineStarts(built)[2] ?? 0) + 64;
      assert.throws(() => readIndex(asSource(built.index)), { code: 'DATA_TRUNCATED', at: { path: PATH, rev: 2, offset } });
    });
  });

  describe('size', () => {
    it('refuses an index over 256 MiB, and does not read it', () => {
      for (const word of [0, 1]) {
        const first = Buffer.alloc(4);
        first.writeUInt32BE(word);
        assert.throws(() => readIndex(hugeSource(2 ** 28 + 64 * 76, first)), { code: 'INDEX_TOO_LARGE', at: { path: PATH } });
      }
    });

    const limits: readonly (readonly [string, RevlogLayout, number])[] = [
      ['version 0', V0, 76],
      ['version 1, split', SPLIT, 64],
      ['version 1, inline: of entries, chunks do not count', INLINE, 64],
    ];
    for (const [name, layout, entrySize] of limits) {
      it(`${name}: takes the very limit, and not one entry more`, () => {
        const { index } = buildRevlog(layout, short(300));
        assert.equal(readIndex(asSource(index), 300 * entrySize).length, 300);
        assert.throws(() => readIndex(asSource(index), 300 * entrySize - 1), { code: 'INDEX_TOO_LARGE', at: { path: PATH } });
      });
    }
  });

  describe('against the data', () => {
    const built = buildRevlog(SPLIT, short(3));
    const split = readIndex(asSource(built.index));
    const end = built.data.length;

    it('split: compares with the data file', () => {
      checkIndexAgainst(split, asSource(built.index), end);
      checkIndexAgainst(split, asSource(built.index), Infinity);
      assert.throws(() => checkIndexAgainst(split, asSource(built.index), end - 1), {
        code: 'DATA_TRUNCATED',
        at: { path: PATH, rev: 2, offset: built.offsets[2] },
      });
    });

    it('inline: compares with the file itself, whatever else is said', () => {
      const { index: bytes } = buildRevlog(INLINE, short(3));
      checkIndexAgainst(readIndex(asSource(bytes)), asSource(bytes), 0);
    });

    it('inline: refuses an offset that leaves a gap, since there is no room for one', () => {
      const { index: bytes, chunks } = buildRevlog(INLINE, short(3).map((spec, rev) => (rev === 1 ? { ...spec, offset: 8 } : spec)));
      assert.equal(chunks[0]?.length, 7);
      assert.throws(() => checkIndexAgainst(readIndex(asSource(bytes)), asSource(bytes), Infinity), { code: 'INDEX_ENTRY', at: { path: PATH, rev: 2, offset: 2 * 64 + chunks.slice(0, 2).reduce((sum, { length }) => sum + length, 0) } });
      const last = buildRevlog(INLINE, short(2).map((spec, rev) => (rev === 1 ? { ...spec, offset: 8 } : spec))).index;
      assert.throws(() => checkIndexAgainst(readIndex(asSource(last)), asSource(last), 0), { code: 'DATA_TRUNCATED', at: { path: PATH, rev: 1, offset: 8 + 2 * 64 } });
    });
  });
});
