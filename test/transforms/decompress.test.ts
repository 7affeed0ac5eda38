import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { deflateSync } from 'node:zlib';

import { describe, it } from 'mocha';

import type { ErrorCode, ErrorPlace, RevconvertError } from '../../src/errors.js';
import { deltaLimit } from '../../src/formats/hunks.js';
import type { Revision } from '../../src/formats/record.js';
import { FULL_TEXT, NULL_BASE } from '../../src/formats/record.js';
import { createDecompressStage, decompress } from '../../src/transforms/decompress.js';
import { batchOf, collect, textsOf } from '../streams/support.js';
import type { StoreAs } from '../support/revlog-builder.js';
import { diff, evolvingTexts, hunk, storeChunk } from '../support/revlog-builder.js';
import { availableEngines, batch, decoders, errorOf } from './support.js';

type Lie = Partial<Revision> & { readonly rev: number };

const text = Buffer.from('a text that is long enough to be compressed, compressed, compressed');

const full = (rev: number, chunk: Uint8Array, rawSize: number): Lie => ({ rev, chunk, rawSize, position: 1000 + rev });

const deltaOn = (rev: number, delta: Uint8Array, baseSize: number, rawSize: number): Lie => ({
  rev,
  chunk: storeChunk(delta),
  deltaBase: 0,
  baseSize,
  rawSize,
  position: 1000 + rev,
});

describe('decompress', () => {
  it('decodes every marker in one batch, in order', async function () {
    if (!availableEngines.includes('zstd') || !availableEngines.includes('lz4')) {
      this.skip(); // a package is not installed
    }
    const nul = Buffer.from('\0begins with NUL');
    const stores: readonly (readonly [StoreAs, Buffer])[] = [['zlib', text], ['zstd', text], ['lz4', text], ['u', text], ['raw', nul], ['zlib', nul], ['zstd', nul], ['u', nul], ['lz4', nul], ['zlib', text]];
    const given = batch(...stores.map(([as, data], rev) => full(rev, storeChunk(data, as), data.length)), full(10, Buffer.alloc(0), 0));
    const out = await createDecompressStage(decoders)(given);
    assert.deepEqual(out.revisions.map(({ delta }) => Buffer.from(delta ?? 'none')), [...stores.map(([, data]) => data), Buffer.alloc(0)]);
    assert.ok(out.revisions.every(({ damaged }) => !damaged));
  });

  it('keeps the chunk, and everything else that it does not fill', async () => {
    const given = batch(full(0, storeChunk(text), text.length), { rev: 1, p2: 0, flags: 0x8000, linkRev: 77, chunk: storeChunk(text, 'u'), rawSize: text.length });
    const before = structuredClone(given.revisions);
    const { revisions } = await createDecompressStage(decoders)(given);
    assert.deepEqual(
      revisions.map((revision) => ({ ...revision, node: Buffer.from(revision.node), chunk: Buffer.from(revision.chunk), delta: undefined })),
      before.map((revision) => ({ ...revision, node: Buffer.from(revision.node), chunk: Buffer.from(revision.chunk) })),
    );
  });

  it('answers at once where the engines do', () => {
    assert.ok(!(createDecompressStage(decoders)(batch(full(0, storeChunk(text), text.length))) instanceof Promise));
  });

  const accepted: readonly (readonly [string, Lie])[] = [
    ['a delta', deltaOn(1, hunk(3, 5, 'abc'), 10, 11)],
    ['an empty delta', deltaOn(1, Buffer.alloc(0), 10, 10)],
    ['a delta that makes an empty text', deltaOn(1, hunk(0, 10, ''), 10, 0)],
    ['a delta against the empty text', { ...deltaOn(1, hunk(0, 0, 'abc'), 0, 3), deltaBase: NULL_BASE }],
    ['an empty delta against the empty text', { ...deltaOn(1, Buffer.alloc(0), 0, 0), deltaBase: NULL_BASE }],
    ['an empty full text', full(1, Buffer.alloc(0), 0)],
    ['a delta whose base has no known length', deltaOn(1, hunk(3, 500, 'abc'), -1, 11)],
    ['a full text that looks like no delta', full(1, storeChunk(Buffer.alloc(5, 255)), 5)],
  ];
  for (const [title, revision] of accepted) {
    it(`accepts ${title}`, async () => {
      const { revisions } = await createDecompressStage(decoders)(batch(revision));
      assert.ok(revisions[0]?.delta !== undefined);
      assert.equal(revisions[0].rawSize, revision.rawSize);
    });
  }

  const cutShort = storeChunk(text).subarray(0, -5);
  const refused: readonly (readonly [string, ErrorCode, RegExp, Lie])[] = [
    ['a full text a byte longer than its index says', 'CHUNK_SIZE', /limit of 66 /, full(1, storeChunk(text), text.length - 1)],
    ['a full text a byte shorter than its index says', 'CHUNK_SIZE', /text of 67 bytes, the index says 68/, full(1, storeChunk(text), text.length + 1)],
    ['a raw text that is too long', 'CHUNK_SIZE', /67 bytes, over the limit of 10/, full(1, storeChunk(text, 'u'), 10)],
    ['an empty chunk of a text that is not', 'CHUNK_SIZE', /text of 0 bytes, the index says 5/, full(1, Buffer.alloc(0), 5)],
    ['a delta that makes a text too long', 'CHUNK_SIZE', /text of 11 bytes, the index says 10/, deltaOn(1, hunk(3, 5, 'abc'), 10, 10)],
    ['a delta that makes a text too short', 'CHUNK_SIZE', /text of 11 bytes, the index says 12/, deltaOn(1, hunk(3, 5, 'abc'), 10, 12)],
    ['an empty delta where the lengths differ', 'CHUNK_SIZE', /text of 10 bytes, the index says 9/, deltaOn(1, Buffer.alloc(0), 10, 9)],
    ['a delta against the empty text that is not one', 'DELTA_MALFORMED', /ends at 1, its base at 0 \(byte 0 of the delta\)/, { ...deltaOn(1, hunk(0, 1, 'abc'), 0, 3), deltaBase: NULL_BASE }],
    ['hunks that overlap', 'DELTA_MALFORMED', /\(byte 15 of the delta\)/, deltaOn(1, Buffer.concat([hunk(3, 5, 'abc'), hunk(4, 6, '')]), 10, 9)],
    ['a hunk beyond the base', 'DELTA_MALFORMED', /ends at 11, its base at 10 \(byte 0 of the delta\)/, deltaOn(1, hunk(3, 11, 'abc'), 10, 5)],
    ['a hunk cut short', 'DELTA_MALFORMED', /\(byte 15 of the delta\)/, deltaOn(1, Buffer.concat([hunk(3, 5, 'abc'), Buffer.alloc(4)]), 10, 11)],
    ['hunks out of order, on an unknown base', 'DELTA_MALFORMED', /\(byte 15 of the delta\)/, deltaOn(1, Buffer.concat([hunk(3, 5, 'abc'), hunk(0, 1, '')]), -1, -1)],
    ['an unknown marker', 'CHUNK_MARKER', /compression type 18/, full(1, Buffer.from([0x18, 1, 2]), 5)],
    ['a zlib stream cut short', 'CHUNK_DAMAGED', /zlib/, full(1, cutShort, text.length)],
    ['a marker alone', 'CHUNK_DAMAGED', /zlib/, full(1, Buffer.from('x'), text.length)],
    ['a zlib stream that holds more than an empty text', 'CHUNK_SIZE', /limit of 0 /, full(1, storeChunk(text), 0)],
  ];
  for (const [title, code, message, revision] of refused) {
    const at: ErrorPlace = { path: 'data/f.i', rev: 1, offset: 1001 };
    const sound = full(0, storeChunk(text), text.length);

    it(`refuses ${title}: ${code}`, async () => {
      const error = await errorOf(createDecompressStage(decoders), batch(sound, revision));
      assert.equal(error.code, code);
      assert.match(error.message, message);
      assert.deepEqual(error.at, at);
    });

    it(`carries ${title} over where that is tolerated`, async () => {
      const errors: RevconvertError[] = [];
      const stage = createDecompressStage(decoders, { onDamage: (error) => errors.push(error) });
      const { revisions } = await stage(batch(sound, revision, full(2, storeChunk(text), text.length)));
      assert.deepEqual(errors.map((error) => [error.code, error.at]), [[code, at]]);
      assert.deepEqual(revisions.map(({ damaged }) => damaged), [false, true, false]);
      assert.deepEqual(revisions[1]?.chunk, revision.chunk);
      assert.deepEqual(Buffer.from(revisions[2]?.delta ?? ''), text);
    });
  }

  it('names the first of several, and reports each of them', async () => {
    const given = (): ReturnType<typeof batch> => batch(full(0, storeChunk(text), text.length), full(1, Buffer.from([0x18]), 5), full(2, storeChunk(text), 0), full(3, Buffer.from([0x19]), 5));
    const error = await errorOf(createDecompressStage(decoders), given());
    assert.deepEqual([error.code, error.at.rev], ['CHUNK_MARKER', 1]);
    const errors: RevconvertError[] = [];
    await createDecompressStage(decoders, { onDamage: (one) => errors.push(one) })(given());
    assert.deepEqual(errors.map(({ code, at }) => [code, at.rev]), [['CHUNK_MARKER', 1], ['CHUNK_SIZE', 2], ['CHUNK_MARKER', 3]]);
  });

  it('does not touch what is damaged already', async () => {
    const given = batch({ ...full(0, Buffer.from([0x18]), 5), damaged: true }, full(1, storeChunk(text), text.length));
    const { revisions } = await createDecompressStage(decoders)(given);
    assert.deepEqual(revisions.map(({ delta }) => delta?.length), [undefined, text.length]);
  });

  describe('text lengths that the index does not say', () => {
    const texts = evolvingTexts(30);
    const revisions = texts.map((own, rev): Lie => {
      const isFull = rev % 7 === 0;
      const delta = isFull ? own : diff(texts[rev - 1] ?? Buffer.alloc(0), own);
      return { rev, chunk: storeChunk(delta), rawSize: -1, deltaBase: isFull ? FULL_TEXT : rev - 1, baseSize: isFull ? 0 : -1 };
    });

    for (const stride of [1, 4, 30]) {
      it(`are filled in, ${stride} revisions a batch`, async () => {
        const stage = createDecompressStage(decoders);
        const done: Revision[] = [];
        for (let at = 0; at < 30; at += stride) done.push(...(await stage(batch(...revisions.slice(at, at + stride)))).revisions);
        assert.deepEqual(textsOf(done), texts);
        assert.deepEqual(done.map(({ rawSize }) => rawSize), texts.map(({ length }) => length));
      });
    }

    it('count as the length of the base from then on', async () => {
      const stage = createDecompressStage(decoders);
      await stage(batch(...revisions.slice(0, 3)));
      const beyond = hunk(0, (texts[2]?.length ?? 0) + 1, '');
      const error = await errorOf(stage, batch({ rev: 3, chunk: storeChunk(beyond), deltaBase: 2, baseSize: -1, rawSize: -1, position: 9 }));
      assert.deepEqual([error.code, error.at], ['DELTA_MALFORMED', { path: 'data/f.i', rev: 3, offset: 9 }]);
    });

    it('stay unknown where the base is unknown, as in a range cut out of a revlog', async () => {
      const { revisions: done } = await createDecompressStage(decoders)(batch(...revisions.slice(4, 9)));
      assert.deepEqual(done.map(({ rawSize }) => rawSize), [-1, -1, -1, texts[7]?.length, texts[8]?.length]);
    });

    it('stay unknown behind a damaged revision', async () => {
      const broken = revisions.slice(0, 4).map((revision) => (revision.rev === 1 ? { ...revision, chunk: Buffer.from([0x18]) } : revision));
      const damaged: (number | undefined)[] = [];
      const { revisions: done } = await createDecompressStage(decoders, { onDamage: ({ at }) => damaged.push(at.rev) })(batch(...broken));
      assert.deepEqual(damaged, [1]);
      assert.deepEqual(done.map(({ rawSize }) => rawSize), [texts[0]?.length, -1, -1, -1]);
    });
  });

  describe('limits', () => {
    it('a bomb is a fault, and is not unpacked', async () => {
      const bomb = deflateSync(Buffer.alloc(64 << 20));
      const before = process.memoryUsage().arrayBuffers;
      for (const revision of [full(1, bomb, 10), { ...full(1, bomb, 10), deltaBase: 0, baseSize: 10 }, { ...full(1, bomb, 0), deltaBase: NULL_BASE }]) {
        const error = await errorOf(createDecompressStage(decoders), batch(revision));
        assert.deepEqual([error.code, error.at], ['CHUNK_SIZE', { path: 'data/f.i', rev: 1, offset: 1001 }]);
      }
      assert.ok(process.memoryUsage().arrayBuffers - before < 16 << 20);
    });

    it('leave room for the longest delta that has no idle hunks', async () => {
      const cuts = Array.from({ length: 10 }, (_, i) => hunk(i, i + 1, ''));
      const inserts = Array.from({ length: 10 }, () => hunk(10, 10, 'x'));
      const delta = Buffer.concat([...cuts, ...inserts]);
      const { revisions } = await createDecompressStage(decoders)(batch(deltaOn(1, delta, 10, 10)));
      assert.deepEqual(Buffer.from(revisions[0]?.delta ?? ''), delta);
    });

    it('a delta of idle hunks is taken up to the limit, and not beyond', async () => {
      const idle = (bytes: number): Buffer => Buffer.alloc(bytes);
      const limit = deltaLimit(10, 10);
      assert.equal(limit % 12, 10);
      const { revisions } = await createDecompressStage(decoders)(batch(deltaOn(1, idle(limit - 10), 10, 10)));
      assert.equal(revisions[0]?.delta?.length, limit - 10);
      const error = await errorOf(createDecompressStage(decoders), batch(deltaOn(1, idle(limit + 2), 10, 10)));
      assert.deepEqual([error.code, error.at.rev], ['CHUNK_SIZE', 1]);
    });
  });

  it('says which package is missing where an engine is', async () => {
    const error = await errorOf(createDecompressStage(new Map()), batch(full(0, storeChunk(text), text.length)));
    assert.equal(error.code, 'ENGINE_MISSING');
    assert.match(error.message, /zlib/);
  });

  describe('as a stream', () => {
    it('fills delta', async () => {
      const batches = await collect(Readable.from([batchOf([0, 1]), batchOf([2])]).pipe(decompress()));
      assert.deepEqual(batches.flatMap(({ revisions }) => revisions.map(({ delta }) => Buffer.from(delta ?? '').toString())), ['0', '1', '2']);
    });

    it('fails with the place', async () => {
      const stream = Readable.from([batchOf([0]), batch(full(1, Buffer.from([0x18]), 5))]).pipe(decompress());
      await assert.rejects(collect(stream), { code: 'CHUNK_MARKER', at: { path: 'data/f.i', rev: 1, offset: 1001 } });
    });

    it('tolerates damage where it is told to', async () => {
      const errors: RevconvertError[] = [];
      const stream = Readable.from([batch(full(1, Buffer.from([0x18]), 5))]).pipe(decompress({ onDamage: (error) => errors.push(error) }));
      assert.equal((await collect(stream))[0]?.revisions[0]?.damaged, true);
      assert.deepEqual(errors.map(({ code, at }) => [code, at.rev]), [['CHUNK_MARKER', 1]]);
    });
  });
});
