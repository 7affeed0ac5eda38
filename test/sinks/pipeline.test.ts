import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import type { Duplex } from 'node:stream';
import { pipeline } from 'node:stream/promises';

import { describe, it } from 'mocha';

import type { EngineName } from '../../src/engines/engine.js';
import { listAvailableEngines } from '../../src/engines/registry.js';
import type { RevconvertError } from '../../src/errors.js';
import type { Revision } from '../../src/formats/record.js';
import { writeRevlog } from '../../src/sinks/write-revlog.js';
import type { RevlogFiles } from '../../src/streams/read-revlog.js';
import { readRevlog } from '../../src/streams/read-revlog.js';
import { joinStages, toTransform } from '../../src/streams/stage.js';
import { checkChunks } from '../../src/transforms/check-chunks.js';
import { decompress } from '../../src/transforms/decompress.js';
import { recompress } from '../../src/transforms/recompress.js';
import { closed, collect, revisionsOf, revsOf, settle, textsOf, writeAt } from '../streams/support.js';
import { assertNoDescriptors } from '../support/descriptors.js';
import type { RevisionSpec } from '../support/revlog-builder.js';
import { applyHunks, buildRevlog, entryV1, LAYOUTS, placeRevlog, richHistory, SPLIT, storeChunk } from '../support/revlog-builder.js';
import { useTempFolder } from '../support/temp-folder.js';

const available = (await listAvailableEngines()).map(({ name }) => name);

/** What no conversion may change. */
const lasting = ({ rev, node, p1, p2, linkRev, flags, deltaBase, delta }: Revision): unknown => ({
  rev,
  node: Buffer.from(node).toString('hex'),
  p1,
  p2,
  linkRev,
  flags,
  deltaBase,
  delta: Buffer.from(delta ?? 'none').toString('hex'),
});

describe('pipeline', () => {
  const inFolder = useTempFolder();
  const named = (name: string): RevlogFiles & { indexFile: string } => ({ indexFile: inFolder(`${name}.i`), dataFile: inFolder(`${name}.d`) });

  const stages = (engine: EngineName): Duplex[] => [decompress(), recompress({ engine }), checkChunks()];

  const convert = (from: RevlogFiles, to: string, engine: EngineName): Promise<void> => {
    const [first, second, third] = stages(engine);
    assert.ok(first !== undefined && second !== undefined && third !== undefined);
    return pipeline(readRevlog(from), first, second, third, writeRevlog({ indexFile: inFolder(`${to}.i`) }));
  };

  const readAll = async (files: RevlogFiles): Promise<Revision[]> => revisionsOf(await collect(readRevlog(files).pipe(decompress())));

  for (const [name, layout] of Object.entries(LAYOUTS)) {
    for (const [size, count] of [['small', 60], ['large', 2500]] as const) {
      it(`${name}, ${size}: texts and history survive every engine, one after the other`, async () => {
        const specs = richHistory(layout, count);
        const source = { ...placeRevlog(inFolder(), buildRevlog(layout, specs), 'source'), path: 'data/f.i' };
        const original = await readAll(source);
        assert.deepEqual(textsOf(original), specs.map(({ text }) => text));
        let from: RevlogFiles = source;
        const engines = (['zstd', 'zlib', 'none', 'lz4', 'zlib'] as const).filter((engine) => available.includes(engine));
        for (const [i, engine] of engines.entries()) {
          await convert(from, `${i}-${engine}`, engine);
          from = named(`${i}-${engine}`);
          const done = await readAll(from);
          assert.deepEqual(done.map(lasting), original.map(lasting), engine);
          assert.deepEqual(done.map(({ rawSize }) => rawSize), specs.map(({ text }) => text.length), engine);
        }
        assert.equal(existsSync(inFolder('2-none.d')), size === 'large');
        const zlib = engines.flatMap((engine, i) => (engine === 'zlib' ? [readFileSync(inFolder(`${i}-zlib.i`))] : []));
        assert.equal(zlib.length, 2);
        assert.deepEqual(zlib[0], zlib[1], 'zlib again after other engines gives other bytes');
        assertNoDescriptors(inFolder());
      });
    }
  }

  it('reads a source beyond 4 GiB, and closes the gaps', async () => {
    const texts = ['the first text, full', 'the second text, full'].map((text) => Buffer.from(text));
    const offset = 2 ** 32 + 99;
    const chunks = texts.map((text) => storeChunk(text));
    const index = Buffer.concat(
      texts.map((text, rev) =>
        entryV1({ offset: rev * offset, flags: 0, chunkLength: chunks[rev]?.length ?? 0, rawSize: text.length, baseField: rev, linkRev: rev, p1: rev - 1, p2: -1, node: Buffer.alloc(20, rev) }),
      ),
    );
    index.writeUInt32BE(0x00020001);
    const source = placeRevlog(inFolder(), { ...buildRevlog(SPLIT, []), index }, 'source');
    chunks.forEach((chunk, rev) => writeAt(source.dataFile, rev * offset, chunk));
    await convert(source, 'done', 'zlib');
    const done = await readAll(named('done'));
    assert.deepEqual(textsOf(done), texts);
    assert.ok(!existsSync(inFolder('done.d')));
  });

  it('is the same with its stages joined', async () => {
    const specs = richHistory(SPLIT);
    const source = placeRevlog(inFolder(), buildRevlog(SPLIT, specs), 'source');
    await convert(source, 'flat', 'zlib');
    await pipeline(readRevlog(source), joinStages(stages('zlib')), writeRevlog({ indexFile: inFolder('joined.i') }));
    assert.deepEqual(readFileSync(inFolder('joined.i')), readFileSync(inFolder('flat.i')));
  });

  describe('that fails', () => {
    const texts = Array.from({ length: 600 }, (_, rev) => Buffer.from(`${rev} `.repeat(200)));
    const specs = (lies: Readonly<Record<number, Partial<RevisionSpec>>>): RevisionSpec[] =>
      texts.map((text, rev): RevisionSpec => ({ text, base: 'full', store: 'u', ...lies[rev] }));

    const place = (lies: Readonly<Record<number, Partial<RevisionSpec>>>): RevlogFiles => ({
      ...placeRevlog(inFolder(), buildRevlog(SPLIT, specs(lies)), 'source'),
      path: 'data/f.i',
      limits: { maxRevisions: 10 },
    });

    const onlySource = (): void => assert.deepEqual(readdirSync(inFolder()).sort(), ['source.d', 'source.i']);

    const failures: readonly (readonly [string, Partial<RevisionSpec>, string])[] = [
      ['a chunk cut short', { chunk: storeChunk(Buffer.alloc(500)).subarray(0, 9), store: 'raw' }, 'CHUNK_DAMAGED'],
      ['a chunk of an unknown kind', { chunk: Buffer.from([0x18, 1]) }, 'CHUNK_MARKER'],
      ['a text of another length', { rawSize: 3 }, 'CHUNK_SIZE'],
      ['a delta beyond its base', { base: 449, delta: Buffer.from('00000000000010000000000000', 'hex') }, 'DELTA_MALFORMED'],
    ];
    for (const [title, lie, code] of failures) {
      it(`on ${title}, far on: leaves nothing behind`, async () => {
        const source = place({ 450: lie });
        const offset = buildRevlog(SPLIT, specs({ 450: lie })).offsets[450];
        const [first, second, third] = stages('none');
        assert.ok(first !== undefined && second !== undefined && third !== undefined);
        const streams = [readRevlog(source), first, second, third, writeRevlog({ indexFile: inFolder('done.i') })] as const;
        await assert.rejects(pipeline(...streams), { code, at: { path: 'data/f.i', rev: 450, offset } });
        await closed(...streams);
        onlySource();
        assertNoDescriptors(inFolder());
      });
    }

    it('goes on where damage is tolerated: the chunk is carried over byte for byte', async () => {
      const chunk = Buffer.from([0x18, 1, 2, 3]);
      const errors: RevconvertError[] = [];
      await pipeline(
        readRevlog(place({ 450: { chunk } })),
        decompress({ onDamage: (error) => errors.push(error) }),
        recompress({ engine: 'zlib' }),
        checkChunks(),
        writeRevlog({ indexFile: inFolder('done.i') }),
      );
      assert.deepEqual(errors.map(({ code, at }) => [code, at.rev]), [['CHUNK_MARKER', 450]]);
      const done = revisionsOf(await collect(readRevlog(named('done'))));
      assert.deepEqual(Buffer.from(done[450]?.chunk ?? ''), chunk);
      assert.equal(done.length, texts.length);
    });

    it('on a delta that cannot be said without generaldelta', async () => {
      const source = place({ 300: { base: 7 } });
      const sink = writeRevlog({ indexFile: inFolder('done.i'), generaldelta: false });
      await assert.rejects(pipeline(readRevlog(source), decompress(), recompress({ engine: 'none' }), sink), { code: 'INTERNAL', at: { rev: 300 } });
      await closed(sink);
      onlySource();
    });

    it('on a level that there is not', async () => {
      const sink = writeRevlog({ indexFile: inFolder('done.i') });
      await assert.rejects(pipeline(readRevlog(place({})), decompress(), recompress({ engine: 'zlib', level: 99 }), sink), { code: 'LEVEL', at: {} });
      await closed(sink);
      onlySource();
    });

    it('at an abort in the middle: leaves nothing behind', async () => {
      const abort = new AbortController();
      const seen: number[] = [];
      const watch = toTransform(async (batch) => {
        seen.push(...revsOf([batch]));
        if (seen.length === 300) abort.abort();
        await settle();
        return batch;
      });
      const streams = [readRevlog(place({})), decompress(), watch, recompress({ engine: 'none' }), writeRevlog({ indexFile: inFolder('done.i') })] as const;
      await assert.rejects(pipeline(...streams, { signal: abort.signal }), { name: 'AbortError' });
      await closed(...streams);
      assert.equal(seen.length, 300);
      onlySource();
      assertNoDescriptors(inFolder());
    });
  });

  it('is compared with a reference that applies hunks', () => {
    const base = Buffer.from('0123456789');
    const delta = Buffer.from('000000020000000400000001' + '78' + '000000040000000400000002' + '797a', 'hex');
    assert.equal(applyHunks(base, delta).toString(), '01xyz456789');
  });
});
