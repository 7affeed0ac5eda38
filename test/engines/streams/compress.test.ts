import assert from 'node:assert/strict';
import { inflateSync } from 'node:zlib';

import { describe, it } from 'mocha';

import { compressBundle } from '../../../src/engines/streams/compress-bundle.js';
import { decompressBundle } from '../../../src/engines/streams/decompress-bundle.js';
import { compressible, concat, noise } from '../support.js';
import { assertCode, collect, slices, slowly, WatchedSource, whole } from './support.js';

const LONG = concat(compressible(2_000_000), noise(1_000_000), compressible(2_000_000));
const COMPRESSIONS = ['none', 'zlib', 'zstd'] as const;

describe('compressBundle', () => {
  for (const compression of COMPRESSIONS) {
    it(`${compression}: comes back as it was, however it was cut`, async () => {
      for (const [data, length] of [[Buffer.alloc(0), 1], [LONG.subarray(0, 20_000), 1], [LONG.subarray(0, 100_000), 7], [LONG, 65_536], [LONG, LONG.length]] as const) {
        const stream = await whole(compressBundle(compression, slices(data, length)));
        assert.ok((await whole(decompressBundle(compression, slices(stream, 50_000)))).equals(data), `${data.length} bytes in slices of ${length}`);
      }
    });

    it(`${compression}: who leaves early closes the source`, async () => {
      const source = new WatchedSource();
      for await (const piece of compressBundle(compression, source.pieces(LONG, 100_000))) {
        assert.ok(piece.length > 0);
        break;
      }
      assert.ok(source.closed);
    });

    it(`${compression}: what the source throws comes out as it is`, async () => {
      const failure = new Error('mine');
      const failing = async function* (): AsyncGenerator<Uint8Array> {
        yield await Promise.resolve(LONG);
        throw failure;
      };
      assert.equal((await collect(compressBundle(compression, failing()))).error, failure);
    });

    it(`${compression}: the signal ends the wait for a source`, async () => {
      const stop = new AbortController();
      setTimeout(() => {
        stop.abort();
      }, 20);
      assertCode((await collect(compressBundle(compression, new WatchedSource().pieces(LONG, 100_000, true), { signal: stop.signal }))).error, 'CANCELLED');
    });
  }

  for (const compression of ['zlib', 'zstd'] as const) {
    it(`${compression}: gives out large pieces, and the same bytes for any slices, fast or slow`, async () => {
      const { bytes: expected, sizes } = await collect(compressBundle(compression, slices(LONG, 65_536)));
      assert.ok(sizes.slice(0, -1).every((size) => size >= 65_536), String(sizes));
      for (const source of [slices(LONG, 10_007), slices(LONG, LONG.length), slowly(LONG, 500_000, 5)]) assert.ok((await whole(compressBundle(compression, source))).equals(expected));
    });
  }

  it('zlib: begins as Mercurial has it, at level 6 unless told otherwise', async () => {
    const stream = await whole(compressBundle('zlib', slices(LONG, 65_536)));
    assert.equal(stream.subarray(0, 2).toString('hex'), '789c');
    assert.ok(inflateSync(stream).equals(LONG));
    const sizes = await Promise.all([1, 6, 9].map(async (level) => (await whole(compressBundle('zlib', slices(LONG, 65_536), { level }))).length));
    assert.equal(sizes[1], stream.length);
    assert.ok((sizes[0] ?? 0) > stream.length);
  });

  it('zstd: one frame without size and checksum and with the window of level 3, as Mercurial has it', async () => {
    const stream = await whole(compressBundle('zstd', slices(LONG, 65_536)));
    assert.equal(stream.subarray(0, 6).toString('hex'), '28b52ffd0058');
  });

  it('zstd: the same bytes for any number of threads but none', async () => {
    const data = Buffer.concat(Array.from({ length: 6 }, () => LONG));
    const made = await Promise.all([undefined, 1, 2, 3, 0].map(async (threads) => whole(compressBundle('zstd', slices(data, 300_000), { threads }))));
    const [usual, ...others] = made;
    assert.ok(usual !== undefined);
    for (const other of others.slice(0, 3)) assert.ok(usual.equals(other));
    for (const other of others) assert.ok((await whole(decompressBundle('zstd', slices(other, 65_536)))).equals(data));
  });

  it('zstd: high levels too', async () => {
    for (const [level, threads] of [[13, undefined], [19, undefined], [19, 1]] as const) {
      const stream = await whole(compressBundle('zstd', slices(LONG, 65_536), { level, threads }));
      assert.ok((await whole(decompressBundle('zstd', slices(stream, 65_536)))).equals(LONG), `level ${level}`);
    }
  });

  it('refuses levels and threads that are not there', async () => {
    for (const [compression, level] of [['none', 1], ['zlib', 10], ['zlib', -1], ['zstd', 23], ['zstd', 1.5]] as const) {
      assertCode((await collect(compressBundle(compression, slices(LONG, 65_536), { level }))).error, 'LEVEL', compression, String(level));
    }
    for (const threads of [-1, 1.5, 257]) assertCode((await collect(compressBundle('zstd', slices(LONG, 65_536), { threads }))).error, 'USAGE', String(threads));
  });
});
