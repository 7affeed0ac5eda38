import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { inflateSync } from 'node:zlib';

import fc from 'fast-check';
import { describe, it } from 'mocha';

import type { ChunkCompressor, EngineName } from '../../src/engines/engine.js';
import { ENGINE_NAMES, loadEngine } from '../../src/engines/registry.js';
import type { RevisionBatch } from '../../src/formats/record.js';
import { fuseStages } from '../../src/streams/stage.js';
import { createCheckStage } from '../../src/transforms/check-chunks.js';
import { createDecompressStage } from '../../src/transforms/decompress.js';
import { createRecompressStage, recompress } from '../../src/transforms/recompress.js';
import { batchOf, collect } from '../streams/support.js';
import { storeChunk } from '../support/revlog-builder.js';
import { availableEngines, batch, decoders, errorOf } from './support.js';

const MARKERS: Readonly<Record<EngineName, number>> = { none: 0x75, zlib: 0x78, zstd: 0x28, lz4: 0x34 };

const long = Buffer.from('a text that is long enough to be compressed. '.repeat(20));
const nul = Buffer.concat([Buffer.alloc(1), Buffer.from('short')]);

const given = (): RevisionBatch =>
  batch(
    { rev: 0, chunk: storeChunk(long), delta: long, rawSize: long.length },
    { rev: 1, chunk: storeChunk(nul), delta: nul, rawSize: nul.length },
    { rev: 2, chunk: storeChunk(Buffer.from('short')), delta: Buffer.from('short'), rawSize: 5 },
    { rev: 3, chunk: Buffer.alloc(0), delta: new Uint8Array(0), rawSize: 0 },
    { rev: 4, chunk: Buffer.from([0x18, 1]), damaged: true, rawSize: 9 },
    { rev: 5, chunk: storeChunk(long, 'u'), delta: long, rawSize: long.length },
  );

const hex = (bytes: Uint8Array | undefined): string => Buffer.from(bytes ?? '').toString('hex');

describe('recompress', () => {
  for (const name of ENGINE_NAMES) {
    describe(`with ${name}`, () => {
      it('makes chunks by the writing rule, and leaves damaged ones alone', async function () {
        if (!availableEngines.includes(name)) {
          this.skip(); // its package is not installed
        }
        const { revisions } = await createRecompressStage((await loadEngine(name)).createCompressor())(given());
        const chunks = revisions.map(({ chunk }) => chunk);
        assert.equal(chunks[0]?.[0], MARKERS[name]);
        assert.equal(chunks[0].length < long.length, name !== 'none');
        assert.deepEqual(chunks.slice(1, 5).map(hex), [hex(nul), hex(Buffer.from('ushort')), '', '1801']);
        assert.equal(hex(chunks[5]), hex(chunks[0]));
        if (name === 'zlib') assert.deepEqual(inflateSync(chunks[0]), long);
        assert.deepEqual(revisions.map(({ delta }) => hex(delta)), given().revisions.map(({ delta }) => hex(delta)));
      });

      it('is undone by decompress: the delta is the same, whatever the bytes', async function () {
        if (!availableEngines.includes(name)) {
          this.skip(); // its package is not installed
        }
        const compressor = (await loadEngine(name)).createCompressor();
        const pass = fuseStages([createDecompressStage(decoders), createRecompressStage(compressor), createCheckStage(decoders)]);
        const texts = fc.array(
          fc.oneof(
            fc.uint8Array({ maxLength: 300 }),
            fc.uint8Array({ maxLength: 120, max: 2 }),
            fc.tuple(fc.uint8Array({ minLength: 1, maxLength: 9 }), fc.nat({ max: 500 })).map(([part, times]) => new Uint8Array(Buffer.alloc(part.length * times, part))),
          ),
          { maxLength: 12 },
        );
        await fc.assert(
          fc.asyncProperty(texts, async (all) => {
            const stored = batch(...all.map((text, rev) => ({ rev, chunk: storeChunk(text), rawSize: text.length })));
            const once = await pass(stored);
            assert.deepEqual(once.revisions.map(({ delta }) => hex(delta)), all.map(hex));
            const again = batch(...once.revisions.map(({ rev, chunk, rawSize }) => ({ rev, chunk, rawSize })));
            const back = await createDecompressStage(decoders)(again);
            assert.deepEqual(back.revisions.map(({ delta }) => hex(delta)), all.map(hex));
          }),
          { numRuns: 60 },
        );
      });
    });
  }

  it('answers at once where the engine does', async () => {
    const compressor = (await loadEngine('zlib')).createCompressor();
    assert.ok(!(createRecompressStage(compressor)(given()) instanceof Promise));
  });

  it('works with an asynchronous engine', async () => {
    const compressor: ChunkCompressor = { compress: (inputs) => Promise.resolve(inputs.map((input) => (input.length > 10 ? Uint8Array.of(0x78, 1) : undefined))) };
    const { revisions } = await createRecompressStage(compressor)(given());
    assert.deepEqual(revisions.map(({ chunk }) => hex(chunk)), ['7801', hex(nul), hex(Buffer.from('ushort')), '', '1801', '7801']);
  });

  it('needs what decompress fills', async () => {
    const error = await errorOf(createRecompressStage((await loadEngine('none')).createCompressor()), batch({ rev: 6, chunk: storeChunk(long) }));
    assert.deepEqual([error.code, error.at], ['INTERNAL', { path: 'data/f.i', rev: 6 }]);
  });

  describe('as a stream', () => {
    it('makes chunks at the level that is asked for', async () => {
      const sizeAt = async (level: number): Promise<number> => {
        const batches = await collect(Readable.from([given()]).pipe(recompress({ engine: 'zlib', level })));
        return batches[0]?.revisions[0]?.chunk.length ?? 0;
      };
      assert.ok((await sizeAt(0)) > (await sizeAt(9)));
      assert.equal(await sizeAt(0), long.length + 1, 'stored blocks are longer than the text, which then stays raw');
    });

    it('keeps the batches and their order', async () => {
      const batches = await collect(Readable.from([batchOf([0, 1]), batchOf([2])]).pipe(recompress({ engine: 'none' })));
      assert.deepEqual(batches.map(({ revisions }) => revisions.map(({ chunk }) => Buffer.from(chunk).toString())), [['u0', 'u1'], ['u2']]);
    });

    for (const [engine, level] of [['zlib', 10], ['zlib', -1], ['zlib', 1.5], ['none', 1]] as const) {
      it(`fails where ${engine} has no level ${level}`, async () => {
        await assert.rejects(collect(Readable.from([given()]).pipe(recompress({ engine, level }))), { code: 'LEVEL', at: {} });
      });
    }
  });
});
