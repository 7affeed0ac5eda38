import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { appendFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, it } from 'mocha';

import type { RevconvertError } from '../../src/errors.js';
import type { Revision, RevisionBatch } from '../../src/formats/record.js';
import { RevlogIndex } from '../../src/formats/revlog-index.js';
import type { ByteSource } from '../../src/streams/byte-source.js';
import { memorySource } from '../../src/streams/byte-source.js';
import { readIndex } from '../../src/streams/read-index.js';
import type { BatchLimits, RevlogReader } from '../../src/streams/read-revlog.js';
import { createReader, openRevlog, readBatches } from '../../src/streams/read-revlog.js';
import { assertNoDescriptors } from '../support/descriptors.js';
import { PROJECT_ROOT } from '../support/paths.js';
import type { BuiltRevlog, RevisionSpec, RevlogLayout } from '../support/revlog-builder.js';
import { buildRevlog, entryV1, INLINE, LAYOUTS, placeRevlog, richHistory, SPLIT, storeChunk } from '../support/revlog-builder.js';
import { useTempFolder } from '../support/temp-folder.js';
import { expectedRevisions, fulls, plain, revisionsOf, revsOf, runModule, writeAt } from './support.js';

const GIB4 = 2 ** 32;

const shape = (batches: Iterable<RevisionBatch>): number[][] => [...batches].map((batch) => revsOf([batch]));

/** A reader over memory. */
function readerOf({ index, data }: BuiltRevlog, limits?: BatchLimits): RevlogReader {
  const source = memorySource(index, 'data/f.i');
  const options = { path: 'data/f.i', kind: 'filelog', openData: () => memorySource(data, 'data/f.d'), limits } as const;
  return createReader(source, readIndex(source), options);
}

describe('reading a revlog', () => {
  const inFolder = useTempFolder();
  const NAME = { path: 'data/f.i' };

  const cuts: readonly (readonly [string, BatchLimits | undefined])[] = [
    ['whole', undefined],
    ['one revision a batch', { maxRevisions: 1 }],
    ['seven revisions a batch', { maxRevisions: 7 }],
    ['321 bytes a batch', { maxBytes: 321 }],
    ['seven revisions or 321 bytes a batch', { maxRevisions: 7, maxBytes: 321 }],
    ['no byte a batch', { maxBytes: 0 }],
  ];
  for (const [name, layout] of Object.entries(LAYOUTS)) {
    const specs = richHistory(layout);
    const built = buildRevlog(layout, specs);
    for (const [title, limits] of cuts) {
      it(`${name}: gives every record, cut into ${title}`, () => {
        const reader = openRevlog({ ...placeRevlog(inFolder(), built), ...NAME, ...(limits === undefined ? {} : { limits }) });
        const batches = [...reader.batches()];
        reader.close();
        assert.deepEqual(plain(revisionsOf(batches)), expectedRevisions(layout, specs, built));
        assert.ok(batches.every(({ path, kind, revisions }) => path === 'data/f.i' && kind === 'filelog' && revisions.length > 0));
        assert.ok(batches.every(({ revisions }) => revisions.length <= (limits?.maxRevisions ?? 512)));
        assertNoDescriptors(inFolder());
      });
    }
  }

  it('takes its name and kind from what it is given', () => {
    const files = placeRevlog(inFolder(), buildRevlog(INLINE, fulls([3])));
    const reader = openRevlog({ ...files, kind: 'manifest' });
    assert.deepEqual([reader.path, reader.kind], [files.indexFile, 'manifest']);
    assert.deepEqual([...reader.batches()].map(({ path, kind }) => [path, kind]), [[files.indexFile, 'manifest']]);
    reader.close();
  });

  describe('batches', () => {
    const rows: readonly (readonly [title: string, layout: RevlogLayout, lengths: readonly number[], limits: BatchLimits, shape: readonly (readonly number[])[]])[] = [
      ['as many revisions as the limit', SPLIT, [1, 1, 1, 1, 1], { maxRevisions: 2 }, [[0, 1], [2, 3], [4]]],
      ['as many bytes as the limit', SPLIT, [50, 50, 50, 50, 50], { maxBytes: 100 }, [[0, 1], [2, 3], [4]]],
      ['one byte less than two chunks', SPLIT, [50, 50, 50], { maxBytes: 99 }, [[0], [1], [2]]],
      ['a chunk larger than the limit, alone', SPLIT, [10, 10, 500, 10, 10], { maxBytes: 100 }, [[0, 1], [2], [3, 4]]],
      ['a larger chunk first and last', SPLIT, [500, 10, 10, 500], { maxBytes: 100 }, [[0], [1, 2], [3]]],
      ['empty chunks with the one before', SPLIT, [100, 0, 0, 100, 0], { maxBytes: 100 }, [[0, 1, 2], [3, 4]]],
      ['an inline revlog, its entries counted', INLINE, [50, 50, 50], { maxBytes: 164 }, [[0, 1], [2]]],
    ];
    for (const [title, layout, lengths, limits, expected] of rows) {
      it(title, () => assert.deepEqual(shape(readerOf(buildRevlog(layout, fulls(lengths)), limits).batches()), expected));
    }

    it('are at most 512 revisions and 1 MiB by default', () => {
      assert.deepEqual(shape(readerOf(buildRevlog(SPLIT, fulls(Array<number>(1100).fill(1)))).batches()).map(({ length }) => length), [512, 512, 76]);
      assert.deepEqual(shape(readerOf(buildRevlog(SPLIT, fulls([1 << 19, 1 << 19, 1, 1 << 20, 1]))).batches()), [[0, 1], [2], [3], [4]]);
    });

    it('hold no more than may decompress to 64 MiB, whatever few bytes are stored', () => {
      const MIB = 1 << 20;
      const claims = (rawSize: number): RevisionSpec[] => fulls(Array<number>(6).fill(4096)).map((spec) => ({ ...spec, rawSize }));
      assert.deepEqual(shape(readerOf(buildRevlog(SPLIT, claims(32 * MIB))).batches()), [[0, 1], [2, 3], [4, 5]]);
      assert.deepEqual(shape(readerOf(buildRevlog(SPLIT, claims(65 * MIB))).batches()), [[0], [1], [2], [3], [4], [5]]);
      // Of an unknown length: as much as 4 KiB can make, which is 128 MiB.
      assert.deepEqual(shape(readerOf(buildRevlog(SPLIT, claims(-1))).batches()), [[0], [1], [2], [3], [4], [5]]);
    });

    it('may begin and end anywhere', () => {
      const layout = SPLIT;
      const specs = richHistory(layout);
      const built = buildRevlog(layout, specs);
      const all = expectedRevisions(layout, specs, built);
      const reader = readerOf(built, { maxRevisions: 7 });
      for (const [from, to] of [[0, 60], [13, 41], [59, 60], [20, 20]] as const) {
        assert.deepEqual(plain(revisionsOf(reader.batches(from, to))), all.slice(from, to));
      }
      assert.deepEqual(plain(revisionsOf(reader.batches(50))), all.slice(50));
      assert.deepEqual(plain([...reader.batches(), ...reader.batches()].flatMap(({ revisions }) => revisions)), [...all, ...all]);
    });

    it('take one read each, of no more than is needed', () => {
      const built = buildRevlog(SPLIT, fulls([10, 20, 30, 40]).map((spec, rev) => (rev === 2 ? { ...spec, gap: 1000 } : spec)));
      const reads: (readonly [number, number])[] = [];
      const memory = memorySource(built.data, 'data/f.d');
      const data: ByteSource = {
        ...memory,
        read(position, length) {
          reads.push([position, length]);
          return memory.read(position, length);
        },
      };
      const index = readIndex(memorySource(built.index, 'data/f.i'));
      const batches = readBatches({ index, data, path: 'data/f.i', kind: 'filelog' }, 0, 4, { maxBytes: 100 });
      assert.deepEqual(shape(batches), [[0, 1], [2, 3]]);
      assert.deepEqual(reads, [[0, 30], [1030, 70]]);
    });
  });

  describe('beyond 4 GiB', () => {
    const chunks = [storeChunk(Buffer.from('the first text')), storeChunk(Buffer.from('the second text'), 'u'), storeChunk(Buffer.from('the third text'), 'u')];
    const offsets = [0, GIB4 + 77, GIB4 * 3 + 5];
    const entries = offsets.map((offset, rev) =>
      entryV1({ offset, flags: 0, chunkLength: chunks[rev]?.length ?? 0, rawSize: -1, baseField: rev, linkRev: rev, p1: rev - 1, p2: -1, node: Buffer.alloc(20, rev + 1) }),
    );
    const index = Buffer.concat(entries);
    index.writeUInt32BE(0x00020001);

    it('reads a sparse data file', () => {
      const files = placeRevlog(inFolder(), { ...buildRevlog(SPLIT, []), index });
      offsets.forEach((offset, rev) => writeAt(files.dataFile, offset, chunks[rev] ?? Buffer.alloc(0)));
      assert.ok(statSync(files.dataFile).blocks < 1000, 'the file is not sparse');
      const reader = openRevlog({ ...files, ...NAME });
      const batches = [...reader.batches()];
      reader.close();
      assert.deepEqual(shape(batches), [[0], [1], [2]]);
      assert.deepEqual(revisionsOf(batches).map(({ chunk }) => Buffer.from(chunk)), chunks);
      assert.deepEqual(revisionsOf(batches).map(({ position }) => position), offsets);
      assert.equal(reader.trailingBytes, 0);
    });

    it('refuses a data file that ends a byte too early there', () => {
      const files = placeRevlog(inFolder(), { ...buildRevlog(SPLIT, []), index });
      writeFileSync(files.dataFile, '');
      truncateSync(files.dataFile, (offsets[2] ?? 0) + (chunks[2]?.length ?? 0) - 1);
      assert.throws(() => openRevlog({ ...files, ...NAME }), { code: 'DATA_TRUNCATED', at: { path: 'data/f.i', rev: 2, offset: offsets[2] } });
      assertNoDescriptors(inFolder());
    });

    it('asks a source of one\'s own for the very ranges', () => {
      const reads: (readonly [number, number])[] = [];
      const data: ByteSource = {
        path: 'data/f.d',
        size: 2 ** 48,
        read(position, length) {
          reads.push([position, length]);
          return chunks[offsets.indexOf(position)] ?? assert.fail(`read at ${position}`);
        },
        close: () => undefined,
      };
      const source = memorySource(index, 'data/f.i');
      const reader = createReader(source, readIndex(source), { path: 'data/f.i', kind: 'filelog', openData: () => data });
      assert.deepEqual(revisionsOf(reader.batches()).map(({ chunk }) => Buffer.from(chunk)), chunks);
      assert.deepEqual(reads, offsets.map((offset, rev) => [offset, chunks[rev]?.length]));
    });

    it('reads an inline revlog whose offsets are that large as cut short', () => {
      const inline = Buffer.concat(entries.flatMap((entry, rev) => [entry, ...chunks.slice(rev, rev + 1)]));
      inline.writeUInt32BE(0x00030001);
      const { indexFile } = placeRevlog(inFolder(), { ...buildRevlog(INLINE, []), index: inline });
      assert.throws(() => openRevlog({ indexFile, dataFile: 'none', ...NAME }), { code: 'DATA_TRUNCATED', at: { path: 'data/f.i', rev: 1, offset: (offsets[1] ?? NaN) + 2 * 64 } });
    });
  });

  describe('data', () => {
    const specs = fulls([10, 20, 30]);

    it('cut short at every byte: names the revision where it ends', () => {
      const built = buildRevlog(SPLIT, specs);
      const files = placeRevlog(inFolder(), built);
      for (let length = 0; length < 60; length++) {
        writeFileSync(files.dataFile, built.data.subarray(0, length));
        const rev = length < 10 ? 0 : length < 30 ? 1 : 2;
        assert.throws(() => openRevlog({ ...files, ...NAME }), { code: 'DATA_TRUNCATED', at: { path: 'data/f.i', rev, offset: built.offsets[rev] } });
      }
      assertNoDescriptors(inFolder());
    });

    it('that became shorter after the revlog was opened: names the place in the data file', () => {
      const files = placeRevlog(inFolder(), buildRevlog(SPLIT, fulls([300_000, 10])));
      const reader = openRevlog({ ...files, ...NAME, limits: { maxRevisions: 1 } });
      truncateSync(files.dataFile, 300_005);
      assert.throws(() => [...reader.batches()], { code: 'DATA_TRUNCATED', at: { path: 'data/f.d', offset: 300_000 } });
      reader.close();
      assertNoDescriptors(inFolder());
    });

    const missing: readonly (readonly [string, string | undefined, string])[] = [
      ['under its name', 'data/f.i', 'data/f.d'],
      ['under a name without .i', 'changelog', 'changelog'],
    ];
    for (const [title, path, named] of missing) {
      it(`missing: is refused ${title}`, () => {
        const files = placeRevlog(inFolder(), buildRevlog(SPLIT, specs));
        rmSync(files.dataFile);
        assert.throws(() => openRevlog({ ...files, ...(path === undefined ? {} : { path }) }), {
          code: 'DATA_MISSING',
          message: /names 60 bytes/,
          at: { path: named },
        });
        assertNoDescriptors(inFolder());
      });
    }

    it('missing: is legal where no revision has a byte', () => {
      const files = placeRevlog(inFolder(), buildRevlog(SPLIT, fulls([0, 0])));
      const reader = openRevlog({ ...files, ...NAME });
      assert.deepEqual(revisionsOf(reader.batches()).map(({ rev, chunk, damaged }) => [rev, chunk.length, damaged]), [[0, 0, false], [1, 0, false]]);
      assert.equal(reader.trailingBytes, 0);
      reader.close();
    });

    it('missing: is not looked for where the revlog is inline or empty', () => {
      for (const built of [buildRevlog(INLINE, specs), buildRevlog(SPLIT, [])]) {
        const reader = openRevlog({ ...placeRevlog(inFolder(), built), ...NAME });
        assert.equal(revisionsOf(reader.batches()).length, reader.index.length);
        assert.equal(reader.trailingBytes, 0);
        reader.close();
      }
    });

    it('behind the last chunk is counted, and left alone', () => {
      const files = placeRevlog(inFolder(), buildRevlog(SPLIT, specs));
      appendFileSync(files.dataFile, 'seven b');
      const reader = openRevlog({ ...files, ...NAME });
      assert.equal(reader.trailingBytes, 7);
      assert.deepEqual(revisionsOf(reader.batches()).map(({ chunk }) => chunk.length), [10, 20, 30]);
      reader.close();
    });

    it('behind the last inline chunk is a broken entry', () => {
      const built = buildRevlog(INLINE, specs);
      const files = placeRevlog(inFolder(), built);
      appendFileSync(files.indexFile, 'seven b');
      assert.throws(() => openRevlog({ ...files, ...NAME }), { code: 'INDEX_TRUNCATED', at: { path: 'data/f.i', rev: 3, offset: built.index.length + 7 } });
      assertNoDescriptors(inFolder());
    });
  });

  describe('lies in the index', () => {
    const lies: readonly (readonly [string, Partial<RevisionSpec>, 'INDEX_ENTRY' | 'DELTA_BASE' | undefined])[] = [
      ['a gap', { gap: 3 }, undefined],
      ['overlapping chunks', { offset: 5 }, 'INDEX_ENTRY'],
      ['a base of -1', { baseField: -1 }, undefined],
      ['a base that comes later', { baseField: 2 }, 'DELTA_BASE'],
      ['no first parent but a second', { p1: -1, p2: 0 }, undefined],
      ['itself as parent', { p2: 1 }, 'INDEX_ENTRY'],
      ['an unknown text length', { rawSize: -1 }, undefined],
      ['a negative text length', { rawSize: -2 }, 'INDEX_ENTRY'],
    ];
    for (const [title, lie, code] of lies) {
      it(`${title}: ${code ?? 'legal'}`, () => {
        const files = placeRevlog(inFolder(), buildRevlog(SPLIT, fulls([10, 20, 30]).map((spec, rev) => (rev === 1 ? { ...spec, ...lie } : spec))));
        if (code === undefined) {
          const reader = openRevlog({ ...files, ...NAME });
          assert.equal(revisionsOf(reader.batches()).length, 3);
          reader.close();
        } else {
          assert.throws(() => openRevlog({ ...files, ...NAME }), { code, at: { path: 'data/f.i', rev: 1, offset: 64 } });
        }
        assertNoDescriptors(inFolder());
      });
    }
  });

  describe('with damage tolerated', () => {
    const reports = (files: { indexFile: string; dataFile: string }): { errors: RevconvertError[]; revisions: Revision[] } => {
      const errors: RevconvertError[] = [];
      const reader = openRevlog({ ...files, ...NAME, onDamage: (error) => errors.push(error), limits: { maxRevisions: 2 } });
      const revisions = revisionsOf(reader.batches());
      reader.close();
      return { errors, revisions };
    };

    for (const [length, beyond] of [[0, [0, 1, 2]], [9, [0, 1, 2]], [10, [1, 2]], [29, [1, 2]], [30, [2]], [59, [2]], [60, []]] as const) {
      it(`reports what lies beyond ${length} of 60 bytes, and gives the bytes that there are`, () => {
        const built = buildRevlog(SPLIT, fulls([10, 20, 30]));
        const files = placeRevlog(inFolder(), built);
        truncateSync(files.dataFile, length);
        const { errors, revisions } = reports(files);
        const found = errors.map(({ code, at }) => ({ code, at })).sort((a, b) => (a.at.rev ?? 0) - (b.at.rev ?? 0));
        assert.deepEqual(found, beyond.map((rev) => ({ code: 'DATA_TRUNCATED', at: { path: 'data/f.i', rev, offset: built.offsets[rev] } })));
        assert.deepEqual(revisions.filter(({ damaged }) => damaged).map(({ rev }) => rev), [...beyond]);
        assert.equal(Buffer.concat(revisions.map(({ chunk }) => chunk)).length, length);
        assertNoDescriptors(inFolder());
      });
    }

    it('does not miss what has no bytes: an empty chunk behind the end is sound', () => {
      const built = buildRevlog(SPLIT, fulls([10, 0, 20, 0]));
      const files = placeRevlog(inFolder(), built);
      for (const [length, beyond] of [[5, [0, 2]], [10, [2]], [15, [2]], [30, []]] as const) {
        writeFileSync(files.dataFile, built.data.subarray(0, length));
        const { errors, revisions } = reports(files);
        assert.deepEqual(errors.map(({ at }) => at.rev).sort(), [...beyond]);
        assert.deepEqual(revisions.filter(({ damaged }) => damaged).map(({ rev }) => rev), [...beyond]);
      }
    });

    it('still refuses an index that is wrong, and a data file that is missing', () => {
      const bad = fulls([10, 20]).map((spec, rev) => (rev === 1 ? { ...spec, p1: 7 } : spec));
      assert.throws(() => reports(placeRevlog(inFolder(), buildRevlog(SPLIT, bad))), { code: 'INDEX_ENTRY', at: { path: 'data/f.i', rev: 1, offset: 64 } });
      const files = placeRevlog(inFolder(), buildRevlog(SPLIT, fulls([10])));
      rmSync(files.dataFile);
      assert.throws(() => reports(files), { code: 'DATA_MISSING', at: { path: 'data/f.d' } });
      assertNoDescriptors(inFolder());
    });
  });

  it('owns its sources: both are closed, once the reader is or where it cannot be made', () => {
    const built = buildRevlog(SPLIT, fulls([10, 20]));
    const closes: string[] = [];
    const spied = (bytes: Uint8Array, name: string): ByteSource => ({ ...memorySource(bytes, name), close: () => closes.push(name) });
    const open = (data: Uint8Array): RevlogReader => {
      const source = spied(built.index, 'i');
      return createReader(source, readIndex(source), { path: 'f', kind: 'filelog', openData: () => spied(data, 'd') });
    };
    open(built.data).close();
    assert.deepEqual(closes.splice(0), ['i', 'd']);
    assert.throws(() => open(built.data.subarray(1)), { code: 'DATA_TRUNCATED', at: { path: 'i', rev: 1, offset: 10 } });
    assert.deepEqual(closes, ['i', 'd']);
  });

  it('reads an index that another thread holds, as shared memory', () => {
    const built = buildRevlog(SPLIT, fulls([10, 20]));
    const shared = new Uint8Array(new SharedArrayBuffer(built.index.length));
    shared.set(built.index);
    const index = new RevlogIndex({ version: 1, inline: false, generaldelta: true, filelogMeta: false, deltaInfo: false }, shared);
    const origin = { index, data: memorySource(built.data, 'f.d'), path: 'f', kind: 'filelog' } as const;
    assert.deepEqual(revisionsOf(readBatches(origin, 0, 2)).map(({ chunk }) => chunk.length), [10, 20]);
  });

  for (const which of ['f.i', 'f.d']) {
    it(`refuses a FIFO in place of ${which}, and does not wait`, function () {
      if (process.platform === 'win32') {
        this.skip(); // no FIFO
      }
      const files = placeRevlog(inFolder(), buildRevlog(SPLIT, fulls([10])));
      rmSync(inFolder(which));
      execFileSync('mkfifo', [inFolder(which)]);
      const printed = runModule(
        { '{ openRevlog }': join(PROJECT_ROOT, 'dist/src/streams/read-revlog.js') },
        `try { openRevlog(${JSON.stringify({ ...files, ...NAME })}); } catch (error) { console.log(JSON.stringify([error.code, error.at])); }`,
      );
      assert.deepEqual(JSON.parse(printed), ['SYSTEM', { path: `data/${which}` }]);
    });
  }
});
