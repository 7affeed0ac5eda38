import assert from 'node:assert/strict';
import { monitorEventLoopDelay } from 'node:perf_hooks';

import { describe, it } from 'mocha';

import { blockAsStream, findMagic, magicAt, readBits, readHeader } from '../../../src/engines/streams/bzip2-bits.js';
import { Bzip2Blocks } from '../../../src/engines/streams/bzip2-blocks.js';
import type { Bzip2Decoder } from '../../../src/engines/streams/bzip2-library.js';
import { loadBzip2 } from '../../../src/engines/streams/bzip2-library.js';
import { decompressBundle } from '../../../src/engines/streams/decompress-bundle.js';
import { RevconvertError } from '../../../src/errors.js';
import { assertSmall, bytes, compressible, concat, flipped, hex, latin1, noise, runProgram } from '../support.js';
import { assertCode, collect, slices, whole } from './support.js';

/** `bzip2 -1` of compressible(250,000): three blocks. */
const THREE_BLOCKS = bytes(
  '425a68313141592653597c078195002b64910000023fc020007041931026aa0467528896128896528896928896d28897128897c9444bf4a225d4a225e' +
    '3141592653597c078195002b64910000023fc020007041931026aa0467528896128896528896928896d28897128897c9444bf4a225d4a225e' +
    '31415926535937b9e4ac0015b7110000023fc020007041931026aa2327a982225a1112cf2a112f6a112e54225da844bea844b2a112e88897e2ee48a70a1207f51c3a60',
);
const TEXT = Buffer.from(compressible(250_000));
/** What its first two blocks hold: a little less than 100,000 bytes each. */
const BLOCK_BYTES = 99_981;

/** Under a kilobyte. */
const bomb = (): Uint8Array | undefined => runProgram('bzip2', ['-9'], Buffer.alloc(200_000_000));

describe('bzip2 streams', () => {
  it('are read block by block, in slices of any size', async () => {
    for (const length of [1, 7, 65_536]) {
      const { bytes: found, sizes } = await collect(decompressBundle('bzip2', slices(THREE_BLOCKS, length)));
      assert.ok(found.equals(TEXT));
      assert.deepEqual(sizes, [BLOCK_BYTES, BLOCK_BYTES, 250_000 - 2 * BLOCK_BYTES]);
    }
  });

  it('cut at any byte: the blocks before are given out, and it is truncated', async () => {
    for (let length = 0; length < THREE_BLOCKS.length; length++) {
      const { bytes: found, error } = await collect(decompressBundle('bzip2', slices(THREE_BLOCKS.subarray(0, length), 64)));
      assertCode(error, 'BUNDLE_TRUNCATED', `byte ${length},`);
      assert.ok([0, BLOCK_BYTES, 2 * BLOCK_BYTES, 250_000].includes(found.length) && found.equals(TEXT.subarray(0, found.length)), `${length}: ${found.length}`);
      if (length > THREE_BLOCKS.length - 10) assert.equal(found.length, 250_000, `${length}: the last block is whole`);
    }
  });

  it('a flipped bit: the blocks before are given out, and it is damaged', async () => {
    for (let at = 0; at < THREE_BLOCKS.length; at++) {
      const { bytes: found, error } = await collect(decompressBundle('bzip2', slices(flipped(THREE_BLOCKS, at, 1 << (at & 7)), 65_536)));
      // Not every bit means something: the padding, the codes of symbols that are not used.
      if (error === undefined) assert.equal(found.length, 250_000);
      else assert.ok(error instanceof RevconvertError && ['BUNDLE_COMPRESSION', 'BUNDLE_TRUNCATED'].includes(error.code), `byte ${at}`);
      assert.ok(found.equals(TEXT.subarray(0, found.length)), `${at}: ${found.length}`);
      // The magic of a block is the end of the one before.
      if (at > 124) assert.ok(found.length >= 2 * BLOCK_BYTES, `${at}: ${found.length}`);
    }
  });

  it('each checksum is looked at', async () => {
    // That of the second block, and that of the stream, whose blocks are all sound.
    for (const [at, given] of [[60 + 8, BLOCK_BYTES], [THREE_BLOCKS.length - 3, 250_000]] as const) {
      const { bytes: found, error } = await collect(decompressBundle('bzip2', slices(flipped(THREE_BLOCKS, at, 4), 65_536)));
      assertCode(error, 'BUNDLE_COMPRESSION', 'bzip2');
      assert.equal(found.length, given);
    }
  });

  it('what is not bzip2 is damaged, at once', async () => {
    for (const text of ['<!DOCTYPE html>', 'BZ0', 'BZh0', 'B1', 'BZh9123456']) {
      const endless = async function* (): AsyncGenerator<Uint8Array> {
        for (;;) yield await Promise.resolve(latin1(text));
      };
      assertCode((await collect(decompressBundle('bzip2', endless()))).error, 'BUNDLE_COMPRESSION', 'byte');
    }
  });

  it('a block that never ends is not read for ever', async () => {
    const endless = async function* (): AsyncGenerator<Uint8Array> {
      yield await Promise.resolve(THREE_BLOCKS.subarray(0, 30));
      for (;;) yield Buffer.alloc(65_536, 0x5a);
    };
    await assertSmall(async () => {
      assertCode((await collect(decompressBundle('bzip2', endless()))).error, 'BUNDLE_COMPRESSION', 'does not end');
    });
  });

  it('a bomb takes the memory of one block, and the event loop has its turns', async function () {
    const stream = bomb();
    if (stream === undefined) this.skip();
    const delays = monitorEventLoopDelay({ resolution: 5 });
    delays.enable();
    let length = 0;
    for await (const piece of decompressBundle('bzip2', slices(stream, 65_536))) {
      assert.ok(piece.length <= 47_000_000);
      length += piece.length;
    }
    delays.disable();
    assert.equal(length, 200_000_000);
    assert.ok(stream.length < 1000 && delays.max < 5e9);
  });

  it('the program writes, this reads', async function () {
    const data = concat(compressible(1_000_000), noise(1_300_000), Buffer.alloc(500_000));
    for (const level of [1, 5, 9]) {
      const stream = runProgram('bzip2', [`-${level}`], data);
      if (stream === undefined) this.skip();
      assert.ok((await whole(decompressBundle('bzip2', slices(stream, 50_000)))).equals(data), `level ${level}`);
    }
  });
});

describe('the bits of bzip2', () => {
  it('headers, as far as they are there', () => {
    assert.deepEqual(['', 'B', 'BZ', 'BZh', 'BZh1', 'BZh9', 'BZh0', 'BZh:', 'BZH1', 'Bz', 'X'].map((text) => readHeader(latin1(text))), [9, 9, 9, 9, 1, 9, undefined, undefined, undefined, undefined, undefined]);
  });

  it('reads up to 48 bits from any bit', () => {
    const data = noise(16);
    const binary = Array.from(data, (byte) => byte.toString(2).padStart(8, '0')).join('');
    for (let at = 0; at < 64; at++) {
      for (let count = 1; count <= 48; count++) assert.equal(readBits(data, at, count), parseInt(binary.slice(at, at + count), 2), `${count} bits from ${at}`);
    }
  });

  it('finds both magics at any bit, and nothing else', () => {
    const data = noise(4000);
    assert.ok(findMagic(data, 0) < 0);
    for (const [magic, value] of [['block', 0x314159265359n], ['end', 0x177245385090n]] as const) {
      for (let at = 0; at < 24; at++) {
        const bits = 8n * 20n;
        const text = ((1n << bits) - 1n) ^ ((((1n << 48n) - 1n) ^ value) << (bits - 48n - BigInt(at)));
        const placed = concat(data.subarray(0, 100), Buffer.from(text.toString(16).padStart(40, '0'), 'hex'));
        assert.equal(findMagic(placed, 0), 800 + at);
        assert.equal(magicAt(placed, 800 + at), magic);
        assert.ok(findMagic(placed, 801 + at) < 0);
        // It comes byte by byte.
        let from = 0;
        for (let length = 0; length < placed.length && from >= 0; length++) {
          const found = findMagic(placed.subarray(0, length), from);
          from = found < 0 ? -1 - found : -1;
          if (found >= 0) assert.equal(found, 800 + at);
        }
        assert.equal(from, -1);
      }
    }
  });

  it('a block alone is a stream: the same as the program makes of its data', function () {
    const expected = runProgram('bzip2', ['-1'], TEXT.subarray(0, BLOCK_BYTES));
    if (expected === undefined) this.skip();
    const end = findMagic(THREE_BLOCKS, 100);
    assert.equal(hex(blockAsStream(THREE_BLOCKS, 32, end, 1, true)), hex(expected));
    const second = findMagic(THREE_BLOCKS, end + 1);
    assert.notEqual(end & 7, 0);
    const again = runProgram('bzip2', ['-dc'], blockAsStream(THREE_BLOCKS, end, second, 1, true));
    assert.ok(again !== undefined && TEXT.subarray(BLOCK_BYTES, 2 * BLOCK_BYTES).equals(again));
  });
});

describe('data of a block that looks like a magic', () => {
  const magic = bytes('314159265359');
  const end = bytes('177245385090');
  const crc = bytes('00000000');
  /** Takes a stream for sound where it has as many bytes as are wanted. */
  const decoderOf = (length: number): Bzip2Decoder => ({ decode: (stream) => (stream.length === length ? latin1('made') : 'damaged') });
  const stream = (...inner: readonly Uint8Array[]): Uint8Array => concat(latin1('BZh9'), magic, crc, bytes('aaaa'), ...inner, bytes('bbbb'), end, crc);

  it('is data, once', () => {
    const data = stream(magic, bytes('cc'));
    const blocks = new Bzip2Blocks(decoderOf(data.length), 0);
    blocks.add(data);
    assert.equal(blocks.next()?.toString(), 'made');
    assert.equal(blocks.next(), undefined);
    blocks.checkEnd();
  });

  it('is damage, where there is more of it than chance would have', () => {
    const data = stream(magic, magic, magic, magic);
    const blocks = new Bzip2Blocks(decoderOf(data.length), 50);
    blocks.add(data);
    assert.throws(() => blocks.next(), (error) => {
      assertCode(error, 'BUNDLE_COMPRESSION', 'byte 54 ');
      return true;
    });
  });
});

describe('the library for bzip2', () => {
  it('leaves the process as it was', async () => {
    const count = (): number[] => ['uncaughtException', 'unhandledRejection'].map((event) => process.listenerCount(event));
    const before = count();
    assert.ok((await loadBzip2()) !== undefined);
    assert.deepEqual(count(), before);
  });

  it('is not used where it is missing, or not what it was', async () => {
    assert.equal(await loadBzip2(() => Promise.reject(new Error('not installed'))), undefined);
    assert.equal(await loadBzip2(() => Promise.resolve({ init: () => Promise.resolve({ decompress: () => latin1('a') }) })), undefined);
  });

  it('says what is wrong', async () => {
    const decoder = await loadBzip2();
    assert.ok(decoder !== undefined);
    assert.deepEqual(decoder.decode(THREE_BLOCKS, 250_000), new Uint8Array(TEXT));
    assert.equal(decoder.decode(THREE_BLOCKS, 249_999), 'too-large');
    assert.equal(decoder.decode(THREE_BLOCKS.subarray(0, -1), 300_000), 'truncated');
    assert.equal(decoder.decode(flipped(THREE_BLOCKS, 20), 300_000), 'damaged');
    assert.equal(decoder.decode(latin1('rubbish'), 100), 'damaged');
  });
});
