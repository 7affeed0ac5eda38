import assert from 'node:assert/strict';
import { constants, createDeflate, createInflate, deflateSync, inflateSync } from 'node:zlib';

import fc from 'fast-check';
import { describe, it } from 'mocha';

import { adler32, fflateBackend } from '../../src/engines/backends/fflate.js';
import { chooseNodeZlib, syncBackend } from '../../src/engines/backends/node-zlib.js';
import { handleBackend, type StreamFactory } from '../../src/engines/backends/node-zlib-handle.js';
import { sameOutput, zlibBehaves } from '../../src/engines/backends/probe.js';
import type { LoadedBackend } from '../../src/engines/engine.js';
import {
  assertBytes,
  assertFault,
  assertRoundTrip,
  assertSmall,
  bytes,
  compressible,
  compressOne,
  concat,
  decompressOne,
  flipped,
  hex,
  latin1,
  noise,
  runProgram,
  texts,
} from './support.js';

const deflated = (data: Uint8Array, level = 6): Uint8Array => Uint8Array.from(deflateSync(data, { level }));

const text = compressible(1000);
const stream = deflated(text);
const garbage = latin1('garbage behind the stream');
/** Preset dictionary: FDICT set, and the dictionary's Adler-32. */
const withDictionary = Uint8Array.from(deflateSync(text, { dictionary: Buffer.from('abcdefgh-abc') }));

const backends: readonly (readonly [string, LoadedBackend])[] = [
  ['native handle', handleBackend()],
  ['inflateSync', syncBackend],
  ['fflate', fflateBackend],
];

for (const [name, backend] of backends) {
  describe(`zlib by ${name}`, () => {
    const accepted: readonly (readonly [string, Uint8Array, Uint8Array])[] = [
      ...[0, 1, 6, 9].map((level) => [`a stream of level ${level}`, deflated(text, level), text] as const),
      ['a stream followed by garbage', concat(stream, garbage), text],
      ['a stream followed by another', concat(stream, deflated(compressible(500))), text],
      ['a stream followed by one byte', concat(stream, bytes('00')), text],
      ['an empty text', bytes('789c 0300 00000001'), new Uint8Array(0)],
      ['an empty text followed by garbage', concat(bytes('789c 0300 00000001'), garbage), new Uint8Array(0)],
      ['stored blocks, by hand', bytes('7801 01 0300 fcff 616263 024d0127'), latin1('abc')],
      ['a large text', deflated(compressible(3_000_000)), compressible(3_000_000)],
      ['a large text that does not compress', deflated(noise(700_000), 0), noise(700_000)],
      ['a large text followed by garbage', concat(deflated(noise(70_000)), noise(5000)), noise(70_000)],
    ];
    for (const [title, chunk, expected] of accepted) {
      it(`reads ${title}`, async () => assertBytes(await decompressOne(backend, chunk, expected.length), expected));
    }

    const refused: readonly (readonly [string, Uint8Array, RegExp?])[] = [
      ...[1, 3, 4, 5, 20, stream.length - 2].map(
        (missing) => [`a stream that lacks its last ${missing} bytes`, stream.subarray(0, -missing)] as const,
      ),
      ['a large stream that is truncated', deflated(noise(100_000)).subarray(0, -100)],
      ['a stream that lacks bytes of its Adler-32, in front of nothing', stream.subarray(0, -2)],
      ['a wrong Adler-32', flipped(stream, -1)],
      ['a wrong Adler-32 followed by garbage', concat(flipped(stream, -1), garbage)],
      ['a damaged header check', flipped(stream, 1, 1)],
      ['a preset dictionary', withDictionary],
      ['a reserved block type', bytes('789c 07 00000000000001')],
      ['a distance before the start of the data', bytes('789c 0b04c100 00000001')],
      ['only a marker', bytes('78')],
    ];
    for (const [title, chunk, message] of refused) {
      it(`refuses ${title}`, async () => {
        assertFault(await decompressOne(backend, chunk), 'CHUNK_DAMAGED', message);
      });
    }

    for (const size of [1, 44, 1000, 4096, 65_536, 262_144, 300_000]) {
      it(`holds a limit of ${size - 1} against ${size} bytes, and takes ${size}`, async () => {
        for (const data of [compressible(size), noise(size)]) {
          const chunk = deflated(data);
          assertBytes(await decompressOne(backend, chunk, size), data);
          assertFault(await decompressOne(backend, chunk, size - 1), 'CHUNK_SIZE', new RegExp(String(size - 1)));
          assertFault(await decompressOne(backend, chunk, 0), 'CHUNK_SIZE');
        }
      });
    }

    it('allocates little for a bomb', async () => {
      const bomb = deflated(new Uint8Array(100 << 20), 9);
      await assertSmall(async () => {
        assertFault(await decompressOne(backend, bomb, 1 << 20), 'CHUNK_SIZE');
      });
    });

    it('gives the good chunks between bad ones, and never overwrites a result', async () => {
      const decompressor = backend.createDecompressor();
      const chunks = [stream, flipped(stream, -1), stream, stream.subarray(0, 9), deflated(noise(90_000)), withDictionary, stream];
      const first = await decompressor.decompress(chunks, chunks.map(() => 100_000));
      const again = await decompressor.decompress(chunks, chunks.map(() => 100_000));
      for (const results of [first, again]) {
        for (const i of [0, 2, 6]) assertBytes(results[i], text);
        for (const i of [1, 3, 5]) assertFault(results[i], 'CHUNK_DAMAGED');
        assertBytes(results[4], noise(90_000));
      }
    });

    it('tries 44 bytes and not 43', async () => {
      assert.equal(await compressOne(backend, new Uint8Array(43)), undefined);
      assert.ok((await compressOne(backend, new Uint8Array(44))) !== undefined);
    });

    it('keeps only what is strictly shorter', async () => {
      // From some prefix of noise on, the stream is as long as the input, then longer.
      for (let noisy = 0; noisy <= 120; noisy++) {
        const input = concat(noise(noisy), new Uint8Array(120 - noisy));
        const chunk = await compressOne(backend, input);
        if (chunk !== undefined) assert.ok(chunk.length < input.length);
        else if (name !== 'fflate') assert.ok(deflated(input).length >= input.length);
      }
      assert.equal(await compressOne(backend, noise(100_000)), undefined);
      assert.equal(await compressOne(backend, text, { level: 0 }), undefined);
    });

    it('writes what zlib reads, at every level', async () => {
      for (let level = 1; level <= 9; level++) {
        for (const data of [text, compressible(200_000), concat(noise(40_000), text, noise(40_000), text, noise(1000), noise(1000))]) {
          const chunk = await compressOne(backend, data, { level });
          assert.ok(chunk !== undefined);
          assert.equal(chunk[0], 0x78);
          assertBytes(Uint8Array.from(inflateSync(chunk)), data);
        }
      }
    });

    it('round trip of any batch', () => fc.assert(fc.asyncProperty(texts, (inputs) => assertRoundTrip(backend, inputs)), { numRuns: 40 }));

    it('agrees with inflateSync on any damage of one byte', () =>
      fc.assert(
        fc.asyncProperty(fc.nat(stream.length - 1), fc.integer({ min: 1, max: 255 }), async (at, mask) => {
          const chunk = flipped(stream, at, mask);
          const expected = await decompressOne(syncBackend, chunk, 5000);
          const found = await decompressOne(backend, chunk, 5000);
          if (expected instanceof Uint8Array) assertBytes(found, expected);
          else assertFault(found, expected.code);
        }),
      ));
  });
}

describe('zlib: which backend', () => {
  it('the native handle passes the probe on this Node', () => {
    assert.equal(zlibBehaves(handleBackend()), true);
    assert.equal(sameOutput(handleBackend(), syncBackend), true);
    assert.notEqual(chooseNodeZlib(), syncBackend);
  });

  it('the public functions pass it too', () => assert.equal(zlibBehaves(syncBackend), true));

  const deflate = (level: number): unknown => createDeflate({ level });
  const inflate = (): unknown => createInflate();
  const state = new Uint32Array(2);
  const changes: readonly (readonly [string, StreamFactory])[] = [
    ['no handle', { deflate, inflate: () => ({}) }],
    ['a handle without writeSync', { deflate, inflate: () => ({ _handle: { reset: () => undefined }, _writeState: state }) }],
    ['no write state', { deflate, inflate: () => ({ _handle: { reset: () => undefined, writeSync: () => undefined } }) }],
    ['a handle that does nothing', { deflate, inflate: () => ({ _handle: { reset: () => undefined, writeSync: () => undefined }, _writeState: state }) }],
    ['a handle that throws', { deflate: () => { throw new Error('changed'); }, inflate }],
    ['an inflate of a smaller window', { deflate, inflate: () => createInflate({ windowBits: 9 }) }],
    ['a deflate in place of inflate', { deflate, inflate: () => deflate(6) }],
    ['a deflate that compresses otherwise', { deflate: () => createDeflate({ level: 1, strategy: constants.Z_HUFFMAN_ONLY }), inflate }],
  ];
  for (const [title, streams] of changes) {
    it(`falls back to the public functions where Node has ${title}`, async () => {
      const chosen = chooseNodeZlib(handleBackend(streams));
      assert.equal(chosen, syncBackend);
      assertBytes(await decompressOne(chosen, stream), text);
    });
  }

  it('falls back where errors are not reported', () => {
    const deaf: StreamFactory = {
      deflate,
      inflate: () => {
        const real = createInflate();
        const { _handle: handle, _writeState } = real as unknown as { _handle: object; _writeState: unknown };
        // A handle whose onerror cannot be replaced.
        const wrapped = new Proxy(handle, {
          get: (target, key) => {
            const value: unknown = Reflect.get(target, key);
            return typeof value === 'function' ? (...args: unknown[]): unknown => Reflect.apply(value, target, args) : value;
          },
          set: (target, key) => Reflect.set(target, key, () => undefined),
        });
        return { _handle: wrapped, _writeState };
      },
    };
    assert.equal(chooseNodeZlib(handleBackend(deaf)), syncBackend);
  });

  it('the handle writes the same bytes whatever it wrote before', () =>
    fc.assert(
      fc.property(fc.array(texts, { minLength: 1, maxLength: 4 }), fc.integer({ min: 1, max: 9 }), (batches, level) => {
        const reused = handleBackend().createCompressor({ level });
        for (const batch of batches) {
          const found = reused.compress(batch);
          assert.ok(!(found instanceof Promise));
          batch.forEach((input, i) => {
            const chunk = found[i];
            if (chunk !== undefined) assert.equal(hex(chunk), hex(deflated(input, level)));
            else assert.ok(input.length < 44 || deflated(input, level).length >= input.length);
          });
        }
      }),
      { numRuns: 40 },
    ));

  it('the handle writes the same bytes after inputs larger than the window', () => {
    const reused = handleBackend().createCompressor({});
    const tail = concat(noise(60), latin1('abc'), noise(60), latin1('abc'));
    const inputs = [31_000, 33_000, 65_000, 70_000, 200_000].flatMap((size) => [compressible(size), concat(compressible(size), tail)]);
    for (const order of [inputs, [...inputs].reverse(), inputs.map((input) => input.subarray(0, 300))]) {
      for (const input of order) {
        const found = reused.compress([input]);
        assert.ok(!(found instanceof Promise) && found[0] !== undefined);
        assert.equal(hex(found[0]), hex(deflated(input)));
      }
    }
  });

  it('Adler-32 of known texts', () => {
    assert.equal(adler32(new Uint8Array(0)), 1);
    assert.equal(adler32(latin1('Wikipedia')), 0x11e60398);
    const large = new Uint8Array(1_000_000).fill(0xff);
    assert.equal(adler32(large), Buffer.from(deflated(large)).readUInt32BE(deflated(large).length - 4));
  });

  it('reads what Python writes, and Python reads what it writes', async function () {
    const program = 'import sys,zlib;d=sys.stdin.buffer.read();sys.stdout.buffer.write(zlib.';
    const written = runProgram('python3', ['-c', `${program}compress(d))`], text);
    if (written === undefined) {
      this.skip(); // no python3 on this machine
    }
    for (const [, backend] of backends) {
      assertBytes(await decompressOne(backend, written), text);
      const chunk = await compressOne(backend, text);
      assert.ok(chunk !== undefined);
      assertBytes(runProgram('python3', ['-c', `${program}decompress(d))`], chunk), text);
    }
  });
});
