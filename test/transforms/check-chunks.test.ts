import assert from 'node:assert/strict';
import { Readable } from 'node:stream';

import { describe, it } from 'mocha';

import type { ChunkDecoders } from '../../src/engines/chunk-codec.js';
import { DecodeFault } from '../../src/engines/engine.js';
import type { RevisionBatch } from '../../src/formats/record.js';
import { checkChunks, createCheckStage } from '../../src/transforms/check-chunks.js';
import { collect } from '../streams/support.js';
import { storeChunk } from '../support/revlog-builder.js';
import { batch, decoders, errorOf } from './support.js';

const text = Buffer.from('a text that is long enough to be compressed, compressed, compressed');

/** Three revisions, the second with a chunk of one's own. */
const given = (chunk: Uint8Array, damaged = false): RevisionBatch =>
  batch({ rev: 0, chunk: storeChunk(text), delta: text }, { rev: 1, chunk, delta: text, damaged }, { rev: 2, chunk: storeChunk(text, 'u'), delta: text });

const flipped = (chunk: Buffer, at: number): Buffer => {
  const copy = Buffer.from(chunk);
  copy[at] = (copy[at] ?? 0) ^ 1;
  return copy;
};

describe('check of chunks', () => {
  it('passes on what decodes to the delta, at once', () => {
    const own = given(storeChunk(text));
    assert.equal(createCheckStage(decoders)(own), own);
    assert.deepEqual(own, given(storeChunk(text)));
  });

  it('knows every way to store', async () => {
    const nul = Buffer.from('\0abc');
    const own = batch(
      { rev: 0, chunk: storeChunk(nul, 'raw'), delta: nul },
      { rev: 1, chunk: storeChunk(nul, 'u'), delta: nul },
      { rev: 2, chunk: Buffer.alloc(0), delta: new Uint8Array(0) },
      { rev: 3, chunk: storeChunk(nul), delta: nul },
    );
    assert.equal(await createCheckStage(decoders)(own), own);
  });

  const stored = storeChunk(text);
  const wrong: readonly (readonly [string, Buffer, RegExp])[] = [
    ['the first byte', flipped(stored, 0), /unknown compression type 79/],
    ['a byte in the middle', flipped(stored, 20), /zlib|other bytes/],
    ['a byte of the checksum', flipped(stored, stored.length - 1), /zlib/],
    ['raw data', flipped(storeChunk(text, 'u'), 10), /decodes to other bytes/],
    ['the length: a byte less', storeChunk(text.subarray(1)), /decodes to other bytes/],
    ['the length: a byte more', storeChunk(Buffer.concat([text, Buffer.alloc(1)])), /limit of 67 /],
    ['all of it', Buffer.alloc(0), /decodes to other bytes/],
    ['the text: another of the same length', storeChunk(flipped(text, 60)), /decodes to other bytes/],
  ];
  for (const [title, chunk, message] of wrong) {
    it(`refuses a chunk that is wrong in ${title}`, async () => {
      const error = await errorOf(createCheckStage(decoders), given(chunk));
      assert.equal(error.code, 'CHECK_FAILED');
      assert.equal(error.kind, 'bug');
      assert.match(error.message, message);
      assert.deepEqual(error.at, { path: 'data/f.i', rev: 1 });
    });
  }

  it('does not look at what is damaged: it is carried over', async () => {
    await createCheckStage(decoders)(given(Buffer.from([0x18]), true));
  });

  it('needs what decompress fills', async () => {
    const error = await errorOf(createCheckStage(decoders), batch({ rev: 4, chunk: storeChunk(text) }));
    assert.deepEqual([error.code, error.at], ['INTERNAL', { path: 'data/f.i', rev: 4 }]);
  });

  const liars: readonly (readonly [string, () => (Uint8Array | DecodeFault)[] | Promise<(Uint8Array | DecodeFault)[]>])[] = [
    ['gives nothing', () => []],
    ['gives a fault, later', () => Promise.resolve([new DecodeFault('CHUNK_DAMAGED', 'broken')])],
    ['gives other bytes, later', () => Promise.resolve([Buffer.from('other')])],
  ];
  for (const [title, decompress] of liars) {
    it(`does not take an engine for granted that ${title}`, async () => {
      const lying: ChunkDecoders = new Map([[0x78, { decompress }]]);
      const error = await errorOf(createCheckStage(lying), batch({ rev: 0, chunk: storeChunk(text), delta: text }));
      assert.deepEqual([error.code, error.at], ['CHECK_FAILED', { path: 'data/f.i', rev: 0 }]);
    });
  }

  it('is a stream that fails with the place', async () => {
    assert.equal((await collect(Readable.from([given(stored)]).pipe(checkChunks()))).length, 1);
    await assert.rejects(collect(Readable.from([given(stored), given(flipped(stored, 0))]).pipe(checkChunks())), {
      code: 'CHECK_FAILED',
      at: { path: 'data/f.i', rev: 1 },
    });
  });
});
