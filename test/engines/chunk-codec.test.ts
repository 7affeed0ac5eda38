import assert from 'node:assert/strict';

import fc from 'fast-check';
import { describe, it } from 'mocha';

import { type ChunkDecoders, decodeChunks, encodeChunks, loadDecoders } from '../../src/engines/chunk-codec.js';
import type { ChunkCompressor, DecodeFault } from '../../src/engines/engine.js';
import { ENGINE_NAMES, ENGINES, listAvailableEngines, loadEngine } from '../../src/engines/registry.js';
import { assertBytes, assertFault, bytes, compressible, concat, hasCode, hex, latin1, noise, texts } from './support.js';

const decoders = await loadDecoders();
const available = (await listAvailableEngines()).map(({ name }) => name);

const decodeOne = async (chunk: Uint8Array, limit = 2 ** 31): Promise<Uint8Array | DecodeFault | undefined> =>
  (await decodeChunks([chunk], [limit], decoders))[0];

async function encodeOne(data: Uint8Array, compressor?: ChunkCompressor): Promise<Uint8Array> {
  const [chunk] = await encodeChunks([data], compressor);
  assert.ok(chunk !== undefined);
  return chunk;
}

describe('chunk codec', () => {
  const raw: readonly (readonly [string, string, string])[] = [
    ['no bytes as empty', '', ''],
    ['00 as part of the data', '00', '00'],
    ['00 and what follows', '000000780000', '000000780000'],
    ['u as a marker', '75', ''],
    ['what follows a u', '75 78 01', '7801'],
    ['a u behind a u', '7575', '75'],
    ['00 behind a u', '7500', '00'],
  ];
  for (const [title, chunk, data] of raw) {
    it(`reads ${title}`, async () => {
      const expected = bytes(data);
      assertBytes(await decodeOne(bytes(chunk), expected.length), expected);
      if (expected.length > 0) assertFault(await decodeOne(bytes(chunk), expected.length - 1), 'CHUNK_SIZE');
    });
  }

  it('refuses every other first byte, in hexadecimal', async () => {
    const known = [0x00, 0x75, 0x78, 0x28, 0x34];
    for (let byte = 0; byte < 256; byte++) {
      if (known.includes(byte)) continue;
      const name = byte.toString(16).padStart(2, '0');
      assertFault(await decodeOne(Uint8Array.of(byte, 1, 2)), 'CHUNK_MARKER', new RegExp(`^unknown compression type ${name}$`));
    }
  });

  it('reads a zlib stream with a smaller window as unknown, as Mercurial does', async () => {
    assertFault(await decodeOne(bytes('18d3 0300 00000001')), 'CHUNK_MARKER', /unknown compression type 18/);
  });

  const written: readonly (readonly [string, string, string])[] = [
    ['nothing as nothing', '', ''],
    ['data that begins with 00 as it is', '00ff', '00ff'],
    ['other data behind a u', '616263', '75616263'],
    ['data that begins with u behind a u', '7561', '757561'],
    ['data that begins with a marker behind a u', '789c', '75789c'],
  ];
  for (const [title, data, chunk] of written) {
    it(`writes ${title}`, async () => {
      assert.equal(hex(await encodeOne(bytes(data))), hex(bytes(chunk)));
      for (const name of available) {
        const compressor = (await loadEngine(name)).createCompressor();
        assert.equal(hex(await encodeOne(bytes(data), compressor)), hex(bytes(chunk)));
      }
    });
  }

  const least: Readonly<Partial<Record<string, number>>> = { zlib: 44, zstd: 50 };
  for (const name of available) {
    it(`writes by the rule with ${name}`, async () => {
      const compressor = (await loadEngine(name)).createCompressor();
      const { marker } = ENGINES[name];
      const minimum = least[name];
      if (minimum !== undefined) {
        assert.equal((await encodeOne(compressible(minimum - 1), compressor))[0], 0x75);
        assert.equal((await encodeOne(compressible(minimum), compressor))[0], marker);
      }
      assert.equal((await encodeOne(compressible(300), compressor))[0], marker ?? 0x75);
      const incompressible = concat(bytes('61'), noise(300));
      assert.equal(hex(await encodeOne(incompressible, compressor)), `75${hex(incompressible)}`);
      // As long as the input is not shorter: the saved 'u' does not count.
      const zeroFirst = concat(bytes('00'), noise(300));
      assert.equal(hex(await encodeOne(zeroFirst, compressor)), hex(zeroFirst));
    });

    it(`round trip with ${name}, empty data among the rest`, async () => {
      const compressor = (await loadEngine(name)).createCompressor();
      await fc.assert(
        fc.asyncProperty(texts, async (inputs) => {
          const chunks = await encodeChunks(inputs, compressor);
          const results = await decodeChunks(chunks, inputs.map(({ length }) => length), decoders);
          assert.equal(results.length, inputs.length);
          inputs.forEach((input, i) => {
            assertBytes(results[i], input);
            const chunk = chunks[i];
            assert.ok(chunk !== undefined && chunk.length <= input.length + 1);
          });
        }),
        { numRuns: 40 },
      );
    });
  }

  it('decodes a batch of all engines, raw data and faults in order', async () => {
    const text = compressible(400);
    const own = await Promise.all(available.map(async (name) => encodeOne(text, (await loadEngine(name)).createCompressor())));
    const chunks = [...own, bytes('75 61'), bytes('18'), ...own, new Uint8Array(0), bytes('00'), bytes('789c'), ...own];
    const results = await decodeChunks(chunks, chunks.map(() => 400), decoders);
    const count = own.length;
    for (const start of [0, count + 2, 2 * count + 5]) {
      for (let i = 0; i < count; i++) assertBytes(results[start + i], text);
    }
    assertBytes(results[count], latin1('a'));
    assertFault(results[count + 1], 'CHUNK_MARKER');
    assertBytes(results[2 * count + 2], new Uint8Array(0));
    assertBytes(results[2 * count + 3], bytes('00'));
    assertFault(results[2 * count + 4], 'CHUNK_DAMAGED');
  });

  it('takes each chunk with its own limit', async () => {
    const compressor = (await loadEngine('zlib')).createCompressor();
    const chunk = await encodeOne(compressible(400), compressor);
    const results = await decodeChunks([chunk, bytes('7561'), chunk, bytes('7561')], [400, 0, 399, 1], decoders);
    assertBytes(results[0], compressible(400));
    assertFault(results[1], 'CHUNK_SIZE');
    assertFault(results[2], 'CHUNK_SIZE');
    assertBytes(results[3], latin1('a'));
  });

  it('is synchronous where the engine is', async () => {
    const compressor = (await loadEngine('zlib')).createCompressor();
    const chunks = encodeChunks([compressible(400), new Uint8Array(0), bytes('61')], compressor);
    assert.ok(Array.isArray(chunks));
    assert.ok(Array.isArray(decodeChunks(chunks, chunks.map(() => 400), decoders)));
    assert.ok(Array.isArray(decodeChunks([], [], decoders)));
    assert.deepEqual(await encodeChunks([], compressor), []);
  });

  it('does not copy raw data', () => {
    const chunk = bytes('75616263');
    const results = decodeChunks([chunk, bytes('00')], [3, 1], decoders);
    assert.ok(Array.isArray(results) && results[0] instanceof Uint8Array);
    assert.equal(results[0].buffer, chunk.buffer);
  });

  it('works with asynchronous engines', async () => {
    const compressor: ChunkCompressor = {
      compress: (inputs) => Promise.resolve(inputs.map((input) => (input.length > 2 ? Uint8Array.of(0x34, 1) : undefined))),
    };
    const chunks = await encodeChunks([latin1('abc'), new Uint8Array(0), latin1('ab')], compressor);
    assert.deepEqual(chunks.map(hex), ['3401', '', '756162']);
    const asynchronous: ChunkDecoders = new Map([
      ...decoders,
      [0x34, { decompress: (own: readonly Uint8Array[]) => Promise.resolve(own.map(() => latin1('abc'))) }],
    ]);
    const results = decodeChunks(chunks, [3, 3, 3], asynchronous);
    assert.ok(results instanceof Promise);
    assert.deepEqual((await results).map((one) => one instanceof Uint8Array && hex(one)), ['616263', '', '6162']);
  });

  for (const name of ENGINE_NAMES) {
    const { marker } = ENGINES[name];
    if (marker === undefined) continue;
    it(`names the package where ${name} cannot be read`, () => {
      const names = { zlib: 'fflate', zstd: 'zstd-napi or @mongodb-js/zstd', lz4: 'lz4-napi', none: '' };
      assert.throws(() => decodeChunks([Uint8Array.of(marker, 1)], [9], new Map()), hasCode('ENGINE_MISSING', name, names[name]));
    });
  }

  it('loads a rare engine when its first chunk comes', async function () {
    if (!available.includes('lz4')) {
      this.skip(); // lz4-napi is not installed
    }
    const fresh = await loadDecoders({ eager: ['zlib'] });
    const chunk = bytes('34 05000000 50 68656c6c6f');
    const first = decodeChunks([bytes('7561'), chunk], [1, 5], fresh);
    assert.ok(first instanceof Promise);
    const second = [await first, decodeChunks([bytes('7561'), chunk], [1, 5], fresh)];
    for (const results of second) {
      assert.ok(Array.isArray(results));
      assertBytes(results[1], latin1('hello'));
    }
  });
});
