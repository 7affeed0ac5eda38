import assert from 'node:assert/strict';
import { createRequire } from 'node:module';

import fc from 'fast-check';
import { describe, it } from 'mocha';

import { loadMongodbZstd, mongodbZstdBackend } from '../../src/engines/backends/mongodb-zstd.js';
import { compressBound, loadZstdNapi, zstdNapiBackend } from '../../src/engines/backends/zstd-napi.js';
import { DecodeFault, type LoadedBackend } from '../../src/engines/engine.js';
import { measureFrame, readFrameHeader } from '../../src/engines/zstd-frame.js';
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
  hasCode,
  hex,
  latin1,
  noise,
  runProgram,
  texts,
} from './support.js';

/** A frame by hand: header bytes after the magic number, then blocks. */
const frame = (rest: string): Uint8Array => bytes(`28b52ffd ${rest}`);
/** An RLE block of `size` bytes 'a'. */
function rle(size: number, last: boolean): Uint8Array {
  const word = (size << 3) | (1 << 1) | (last ? 1 : 0);
  return Uint8Array.of(word & 255, (word >> 8) & 255, word >> 16, 0x61);
}
const letters = (size: number): Uint8Array => new Uint8Array(size).fill(0x61);

const hello = latin1('hello');
/** One raw block, last: size 5. */
const helloBlock = '290000 68656c6c6f';
const helloFrame = frame(`2005 ${helloBlock}`);
const skippable = bytes('502a4d18 03000000 010203');

const backends: readonly (readonly [string, LoadedBackend | undefined])[] = [
  ['zstd-napi', await loadZstdNapi()],
  ['@mongodb-js/zstd', await loadMongodbZstd()],
];

for (const [name, loaded] of backends) {
  describe(`zstd by ${name}`, () => {
    if (loaded === undefined) {
      it.skip(`${name} is not installed`);
      return;
    }
    const backend = loaded;

    const accepted: readonly (readonly [string, Uint8Array, Uint8Array])[] = [
      ['a single segment', helloFrame, hello],
      ['a frame with a window and no content size', frame(`0058 ${helloBlock}`), hello],
      ['a frame with a window and a content size', frame(`8058 05000000 ${helloBlock}`), hello],
      ['a content size of 8 bytes', frame(`e0 0500000000000000 ${helloBlock}`), hello],
      ['a dictionary ID of 0', frame(`2100 05 ${helloBlock}`), hello],
      ['the unused bit set', frame(`3005 ${helloBlock}`), hello],
      ['a checksum', frame(`2405 ${helloBlock} a36d9f88`), hello],
      ['an RLE block', concat(frame('6000ff'), rle(0xff00 + 256, true)), letters(0xff00 + 256)],
      ['a full RLE block after another', concat(frame('0058'), rle(131_072, false), rle(131_072, true)), letters(262_144)],
      ['an empty text', frame('2000 010000'), new Uint8Array(0)],
      ['an empty text without content size', frame('0058 010000'), new Uint8Array(0)],
      ['garbage behind the frame', concat(helloFrame, latin1('garbage')), hello],
      ['garbage behind a frame without content size', concat(frame(`0058 ${helloBlock}`), latin1('garbage')), hello],
      ['one byte behind the frame', concat(helloFrame, bytes('00')), hello],
      ['a skippable frame behind the frame', concat(helloFrame, skippable), hello],
      ['the first of two frames', concat(helloFrame, frame(`2003 190000 616263`)), hello],
      ['the first of two frames, empty', concat(frame('2000 010000'), helloFrame), new Uint8Array(0)],
      ['the first of two frames without content size', concat(frame(`0058 ${helloBlock}`), helloFrame), hello],
    ];
    for (const [title, chunk, expected] of accepted) {
      it(`reads ${title}`, async () => {
        assertBytes(await decompressOne(backend, chunk), expected);
        assertBytes(await decompressOne(backend, chunk, expected.length), expected);
        if (expected.length > 0) assertFault(await decompressOne(backend, chunk, expected.length - 1), 'CHUNK_SIZE');
      });
    }

    const tied: readonly (readonly [string, Uint8Array, number])[] = [
      ['1 byte', frame(`2107 05 ${helloBlock}`), 7],
      ['2 bytes', frame(`220102 05 ${helloBlock}`), 513],
      ['4 bytes', frame(`23010000ff 05 ${helloBlock}`), 4278190081],
    ];
    for (const [title, chunk, id] of tied) {
      it(`asks for the dictionary that a frame names in ${title}`, async () => {
        assertFault(await decompressOne(backend, chunk), 'DICTIONARY_MISSING', new RegExp(`dictionary with ID ${id} `));
      });
    }

    const refused: readonly (readonly [string, Uint8Array, RegExp?])[] = [
      ['a skippable frame before the frame', concat(skippable, helloFrame), /magic/],
      ['another magic number', flipped(helloFrame, 1), /magic/],
      ['a wrong checksum', frame(`2405 ${helloBlock} a26d9f88`), /check/i],
      ['a missing checksum', frame(`2405 ${helloBlock}`), /truncated/],
      ['a checksum cut short', frame(`2405 ${helloBlock} a36d9f`), /truncated/],
      ['a frame cut in its header', frame('20'), /header/],
      ['a frame cut in its magic number', bytes('28b52f'), /header/],
      ['a frame cut in its block header', frame('2005 2900'), /truncated/],
      ['a frame cut in its block', helloFrame.subarray(0, -1), /truncated/],
      ['a frame without a last block', frame('2005 280000 68656c6c6f'), /truncated/],
      ['the reserved block type', frame('2005 2f0000 68656c6c6f'), /reserved/],
      ['the reserved header bit', frame(`2805 ${helloBlock}`), /reserved/],
      ['a content size above what its blocks hold', frame(`2006 ${helloBlock}`), /says 6 bytes/],
      ['a content size below what its blocks hold', frame(`2004 ${helloBlock}`)],
      ['a window above 128 MiB', frame(`0089 ${helloBlock}`), /window of 150994944 bytes/],
      ['a block above 128 KiB', concat(frame('0058'), rle(131_073, true)), /131073/],
      ['rubbish in a compressed block', frame('2005 2d0000 ffffffffff')],
    ];
    for (const [id, chunk] of [[7, frame(`2107 05 ${helloBlock}`)], [513, frame(`220102 05 ${helloBlock}`)], [4_278_190_081, frame(`23010000ff 05 ${helloBlock}`)]] as const) {
      it(`refuses the dictionary ID ${id}: no dictionary was given`, async () => {
        assertFault(await decompressOne(backend, chunk), 'DICTIONARY_MISSING', new RegExp(`dictionary with ID ${id} `));
      });
    }

    for (const [title, chunk, message] of refused) {
      it(`refuses ${title}`, async () => {
        assertFault(await decompressOne(backend, chunk), 'CHUNK_DAMAGED', message);
      });
    }

    it('accepts a window of 128 MiB', async () => {
      assertBytes(await decompressOne(backend, frame(`0088 ${helloBlock}`)), hello);
    });

    it('does not believe a frame that promises gigabytes', async () => {
      await assertSmall(async () => {
        // 1 GiB in a single segment needs a window that is refused; with a window of its own, the blocks cannot hold it.
        assertFault(await decompressOne(backend, frame(`a0 00000040 ${helloBlock}`)), 'CHUNK_DAMAGED', /window/);
        assertFault(await decompressOne(backend, frame(`8058 00000040 ${helloBlock}`)), 'CHUNK_DAMAGED', /1073741824/);
        assertFault(await decompressOne(backend, frame(`c058 0000000001000000 ${helloBlock}`)), 'CHUNK_SIZE');
        assertFault(await decompressOne(backend, frame(`e0 ffffffffffffffff ${helloBlock}`)), 'CHUNK_DAMAGED', /window/);
      });
    });

    it('stops a bomb at the limit', async () => {
      // 80 kB of RLE blocks that become 2.6 GB.
      const blocks = concat(...Array.from({ length: 20_000 }, () => rle(131_072, false)), rle(1, true));
      await assertSmall(async () => {
        assertFault(await decompressOne(backend, concat(frame('0058'), blocks), 1 << 20), 'CHUNK_SIZE');
        assertFault(await decompressOne(backend, concat(frame('0058'), blocks)), 'CHUNK_SIZE');
        assertFault(await decompressOne(backend, concat(frame('8058 05000000'), blocks), 1 << 20), 'CHUNK_DAMAGED');
      });
    });

    it('stops a bomb of compressed blocks at the limit', async () => {
      const one = await compressOne(backend, letters(4 << 20));
      assert.ok(one !== undefined && one.length < 2000);
      assertFault(await decompressOne(backend, one, 100_000), 'CHUNK_SIZE');
      assertBytes(await decompressOne(backend, one, 4 << 20), letters(4 << 20));
      // Without its content size: of its blocks only the most they may hold is known.
      const header = readFrameHeader(one);
      assert.ok(!(header instanceof DecodeFault));
      const unsized = concat(frame('0058'), one.subarray(header.headerBytes));
      assertFault(await decompressOne(backend, unsized, 100_000), 'CHUNK_SIZE');
      assertFault(await decompressOne(backend, unsized, (4 << 20) - 1), 'CHUNK_SIZE');
      assertBytes(await decompressOne(backend, unsized, 4 << 20), letters(4 << 20));
    });

    it('gives the good chunks between bad ones, and never overwrites a result', async () => {
      const decompressor = backend.createDecompressor();
      const chunks = [helloFrame, flipped(helloFrame, 1), helloFrame, frame('2005 2d0000 ffffffffff'), helloFrame];
      const all = [
        await decompressor.decompress(chunks, chunks.map(() => 10)),
        await decompressor.decompress(chunks, chunks.map(() => 10)),
      ];
      for (const results of all) {
        for (const i of [0, 2, 4]) assertBytes(results[i], hello);
        for (const i of [1, 3]) assertFault(results[i], 'CHUNK_DAMAGED');
      }
    });

    it('tries 50 bytes and not 49', async () => {
      assert.equal(await compressOne(backend, letters(49)), undefined);
      assert.ok((await compressOne(backend, letters(50))) !== undefined);
    });

    it('keeps only what is strictly shorter', async () => {
      for (let noisy = 30; noisy <= 120; noisy++) {
        const chunk = await compressOne(backend, concat(noise(noisy), letters(120 - noisy)));
        if (chunk !== undefined) assert.ok(chunk.length < 120);
      }
      assert.equal(await compressOne(backend, noise(1000)), undefined);
      assert.equal(await compressOne(backend, noise(200_000)), undefined);
    });

    it('writes one frame with its content size, no dictionary and no checksum', async () => {
      for (const size of [50, 255, 256, 300, 65_791, 65_792, 1_000_000, 3_000_000]) {
        const chunk = await compressOne(backend, compressible(size));
        assert.ok(chunk !== undefined);
        const header = readFrameHeader(chunk);
        assert.ok(!(header instanceof DecodeFault));
        assert.deepEqual([header.contentSize, header.dictionaryId, header.checksum], [size, 0, false]);
        const extent = measureFrame(chunk, header);
        assert.ok(!(extent instanceof DecodeFault) && extent.end === chunk.length);
      }
    });

    it('takes level 0 for level 3', async () => {
      const input = concat(compressible(3000), noise(300), compressible(3000), noise(300));
      const [zero, three, none] = await Promise.all([0, 3, undefined].map((level) => compressOne(backend, input, { level })));
      assert.ok(zero !== undefined && three !== undefined && none !== undefined);
      assert.equal(hex(zero), hex(three));
      assert.equal(hex(none), hex(three));
    });

    it('uses the level', async () => {
      const input = latin1(Array.from({ length: 3000 }, (_, i) => `${(i * i) % 977} ${(i * 31) % 101}`).join('\n'));
      const [fast, small] = [await compressOne(backend, input, { level: 1 }), await compressOne(backend, input, { level: 19 })];
      assert.ok(fast !== undefined && small !== undefined && small.length < fast.length);
    });

    it('round trip of any batch', () => fc.assert(fc.asyncProperty(texts, (inputs) => assertRoundTrip(backend, inputs)), { numRuns: 40 }));

    it('round trip of large texts', () => assertRoundTrip(backend, [compressible(9_000_000), concat(noise(300_000), noise(300_000)), letters(70_000)]));

    it('reads what the zstd program writes, and the program reads what it writes', async function () {
      const input = concat(compressible(100_000), noise(1000));
      if (runProgram('zstd', ['--version'], new Uint8Array(0)) === undefined) {
        this.skip(); // no zstd program on this machine
      }
      for (const options of [['-1'], ['-19'], ['--no-check'], ['--check']]) {
        const written = runProgram('zstd', ['-c', '-q', ...options], input);
        assert.ok(written !== undefined);
        assertBytes(await decompressOne(backend, written, input.length), input);
        assertFault(await decompressOne(backend, written.subarray(0, -1), input.length), 'CHUNK_DAMAGED');
      }
      for (const size of [50, 300, 70_000, 3_000_000]) {
        const chunk = await compressOne(backend, compressible(size));
        assert.ok(chunk !== undefined);
        assertBytes(runProgram('zstd', ['-d', '-c', '-q'], chunk), compressible(size));
      }
    });
  });
}

describe('zstd: the two backends', () => {
  const [napi, mongodb] = backends.map(([, backend]) => backend);

  it('read the same, or find the same fault, in a frame with one byte damaged', async function () {
    if (napi === undefined || mongodb === undefined) {
      this.skip(); // one of the packages is not installed
    }
    const good = await compressOne(napi, concat(compressible(300), noise(30), compressible(100)), { checksum: true });
    assert.ok(good !== undefined);
    await fc.assert(
      fc.asyncProperty(fc.nat(good.length - 1), fc.integer({ min: 1, max: 255 }), async (at, mask) => {
        const chunk = flipped(good, at, mask);
        const [first, second] = [await decompressOne(napi, chunk, 10_000), await decompressOne(mongodb, chunk, 10_000)];
        if (first instanceof DecodeFault) assertFault(second, first.code);
        else assertBytes(second, first);
      }),
    );
  });

  it('zstd-napi writes checksums', async function () {
    if (napi === undefined) {
      this.skip(); // zstd-napi is not installed
    }
    const input = compressible(1000);
    const [plain, checked] = [await compressOne(napi, input), await compressOne(napi, input, { checksum: true })];
    assert.ok(plain !== undefined && checked?.length === plain.length + 4);
    assertBytes(await decompressOne(napi, checked), input);
    assertFault(await decompressOne(napi, flipped(checked, -1)), 'CHUNK_DAMAGED');
  });

  it('zstd-napi writes the same bytes whatever it wrote before', async function () {
    if (napi === undefined) {
      this.skip(); // zstd-napi is not installed
    }
    const inputs = [100, 5000, 70, 200_000, 300].map((size) => concat(noise(20), compressible(size), noise(20)));
    const reused = napi.createCompressor({});
    for (const input of [...inputs, ...[...inputs].reverse()]) {
      const [found] = await reused.compress([input]);
      const fresh = await compressOne(napi, input);
      assert.ok(found !== undefined && fresh !== undefined);
      assert.equal(hex(found), hex(fresh));
    }
  });

  it('@mongodb-js/zstd refuses checksums and names zstd-napi', () => {
    const backend = mongodbZstdBackend({ compress: () => Promise.reject(new Error()), decompress: () => Promise.reject(new Error()) });
    assert.throws(() => backend.createCompressor({ checksum: true }), hasCode('ENGINE_MISSING', 'zstd-napi', '@mongodb-js/zstd'));
  });

  it('@mongodb-js/zstd has a bounded number of chunks in flight', async () => {
    let inFlight = 0;
    let most = 0;
    const decompress = async (): Promise<Uint8Array> => {
      most = Math.max(most, ++inFlight);
      await new Promise((resolve) => setImmediate(resolve));
      inFlight--;
      return hello;
    };
    const backend = mongodbZstdBackend({ compress: () => Promise.reject(new Error()), decompress });
    const chunks = Array.from({ length: 500 }, () => helloFrame);
    const results = await backend.createDecompressor().decompress(chunks, chunks.map(() => 5));
    assert.equal(results.length, 500);
    assert.ok(most > 1 && most <= 64, `${most} in flight`);
  });

  it('are not there where their packages are not, or do not work', async () => {
    assert.equal(await loadZstdNapi(() => Promise.reject(new Error('not found'))), undefined);
    assert.equal(await loadMongodbZstd(() => Promise.reject(new Error('not found'))), undefined);
    assert.equal(await loadMongodbZstd(() => Promise.resolve({ compress: 1 })), undefined);
    const same = (data: Uint8Array): Promise<Uint8Array> => Promise.resolve(data);
    assert.equal(await loadMongodbZstd(() => Promise.resolve({ compress: same, decompress: same })), undefined);
    class Lying {
      compress2(): number {
        return 1;
      }
      setParameter(): void {
        // takes anything
      }
      loadDictionary(): void {
        // takes anything
      }
      decompress(): number {
        return 3;
      }
    }
    const CParameter = { compressionLevel: 1, checksumFlag: 2, windowLog: 3, chainLog: 4, hashLog: 5, searchLog: 6, minMatch: 7, targetLength: 8, strategy: 9 };
    const lying = { CCtx: Lying, DCtx: Lying, CParameter };
    assert.throws(() => zstdNapiBackend(lying), TypeError);
    assert.equal(await loadZstdNapi(() => Promise.resolve(lying)), undefined);
  });

  it('the bound of a frame is that of the library', function () {
    if (napi === undefined) {
      this.skip(); // zstd-napi is not installed
    }
    const binding = createRequire(import.meta.url)('zstd-napi/binding.js') as { compressBound: (size: number) => number };
    for (const size of [0, 1, 50, 1000, 131_071, 131_072, 131_073, 10_000_000]) {
      assert.equal(compressBound(size), binding.compressBound(size));
    }
  });
});
