import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { constants, deflateSync, gzipSync } from 'node:zlib';

import { describe, it } from 'mocha';

import { compressBundle } from '../../../src/engines/streams/compress-bundle.js';
import { decompressBundle } from '../../../src/engines/streams/decompress-bundle.js';
import type { ErrorCode } from '../../../src/errors.js';
import { RevconvertError } from '../../../src/errors.js';
import { PROJECT_ROOT } from '../../support/paths.js';
import { bytes, compressible, concat, flipped, latin1, noise } from '../support.js';
import { assertCode, collect, slices, slowly, WatchedSource, whole } from './support.js';

const TEXT = latin1('revconvert: a bundle, \0\xff, and no more.\n');

/** TEXT, as Python's zlib and bz2 and the program zstd (without and with its checksum) write it. */
const VECTORS = [
  ['zlib', bytes('789c2b4a2d4bcecf2b4b2d2ab1524854482acd4bc949d55160f8afa3909897a29097af909b5f94aac705001d970d76')],
  ['bzip2', bytes('425a683931415926535985a7240b0000105980c010400500103e0797000000a00022993434d019a85309a680d310d12a56e36413e261e5e8a12d581e5605236c0ee3e2ee48a70a1210b4e48160')],
  ['zstd', bytes('28b52ffd0058390100726576636f6e766572743a20612062756e646c652c2000ff2c20616e64206e6f206d6f72652e0a')],
  ['zstd', bytes('28b52ffd0458390100726576636f6e766572743a20612062756e646c652c2000ff2c20616e64206e6f206d6f72652e0a443430be')],
] as const;

/** What a stream may be that is not what it was. */
const BAD: readonly ErrorCode[] = ['BUNDLE_COMPRESSION', 'BUNDLE_TRUNCATED', 'BUNDLE_TRAILING', 'WINDOW_SIZE'];

/** Streams long enough for many pieces. */
const LONG = concat(compressible(3_000_000), noise(400_000), compressible(1_000_000));
const longStream = async (compression: 'zlib' | 'zstd'): Promise<Uint8Array> => (compression === 'zlib' ? deflateSync(LONG) : whole(compressBundle('zstd', slices(LONG, 65_536))));

describe('decompressBundle', () => {
  for (const [i, [compression, stream]] of VECTORS.entries()) {
    const name = `${compression}, vector ${i}`;

    it(`${name}: in slices of any size`, async () => {
      for (const length of [1, 7, 65_536]) assert.deepEqual(await whole(decompressBundle(compression, slices(stream, length))), Buffer.from(TEXT));
    });

    it(`${name}: cut at any byte, it is truncated there, and what could be decompressed is what it should be`, async () => {
      for (let length = 0; length < stream.length; length++) {
        const { bytes: found, error } = await collect(decompressBundle(compression, slices(stream.subarray(0, length), length % 2 === 0 ? 1 : 65_536), { start: 100 }));
        assertCode(error, 'BUNDLE_TRUNCATED', `byte ${100 + length},`, compression);
        assert.ok(found.equals(TEXT.subarray(0, found.length)));
      }
    });

    const hasTrailer = compression !== 'zstd' || i === 3;
    if (hasTrailer) {
      it(`${name}: without the last of its trailer, all of its data is given out first`, async () => {
        const { bytes: found, error } = await collect(decompressBundle(compression, slices(stream.subarray(0, -1), 5)));
        assertCode(error, 'BUNDLE_TRUNCATED');
        assert.deepEqual(found, Buffer.from(TEXT));
      });
    }

    it(`${name}: bytes behind its end are found, and said where, when all has been given out`, async () => {
      for (const rest of [bytes('00'), stream, latin1('BZh')]) {
        for (const length of [1, stream.length, 65_536]) {
          const { bytes: found, error } = await collect(decompressBundle(compression, slices(concat(stream, rest), length), { start: 6 }));
          assertCode(error, 'BUNDLE_TRAILING', `byte ${6 + stream.length} `);
          assert.deepEqual(found, Buffer.from(TEXT));
        }
      }
    });

    it(`${name}: a flipped bit never goes unnoticed where the format has a checksum, and never breaks anything`, async () => {
      // One of seven where each takes a while: all bits of a byte have their turn.
      for (let bit = 0; bit < stream.length * 8; bit += compression === 'bzip2' ? 7 : 1) {
        const { bytes: found, error } = await collect(decompressBundle(compression, slices(flipped(stream, bit >> 3, 1 << (bit & 7)), 65_536)));
        if (error === undefined) assert.ok(!hasTrailer || found.equals(TEXT), `bit ${bit}`);
        else assert.ok(error instanceof RevconvertError && BAD.includes(error.code), `bit ${bit}`);
      }
    });
  }

  it('no compression: the pieces themselves', async () => {
    const { bytes: found, sizes } = await collect(decompressBundle('none', slices(TEXT, 7)));
    assert.deepEqual(found, Buffer.from(TEXT));
    assert.deepEqual(sizes, [7, 7, 7, 7, 7, 4]);
  });

  it('nothing compressed is nothing; nothing at all is truncated', async () => {
    for (const [compression, stream] of [['zlib', deflateSync(Buffer.alloc(0))], ['bzip2', bytes('425a683917724538509000000000')], ['zstd', bytes('28b52ffd0000010000')]] as const) {
      assert.deepEqual(await whole(decompressBundle(compression, slices(stream, 3))), Buffer.alloc(0), compression);
      assertCode((await collect(decompressBundle(compression, slices(Buffer.alloc(0), 1)))).error, 'BUNDLE_TRUNCATED', 'byte 0,');
    }
  });

  for (const compression of ['zlib', 'zstd'] as const) {
    it(`${compression}: large pieces come of a fast source`, async () => {
      const { bytes: found, sizes, error } = await collect(decompressBundle(compression, slices(await longStream(compression), 65_536)));
      assert.equal(error, undefined);
      assert.ok(found.equals(LONG));
      assert.ok(sizes.length < 40, `${sizes.length} pieces`);
    });

    it(`${compression}: a slow source gives what it has`, async () => {
      const stream = await longStream(compression);
      const source = new WatchedSource();
      let found = 0;
      for await (const piece of decompressBundle(compression, source.pieces(stream.subarray(0, stream.length >> 1), 1000, true))) {
        found += piece.length;
        if (found >= 3_000_000) break;
      }
      assert.ok(found >= 3_000_000);
      assert.deepEqual(await whole(decompressBundle(compression, slowly(stream, 20_000, 1))), Buffer.from(LONG));
    });

    it(`${compression}: damage far in comes late`, async () => {
      const stream = await longStream(compression);
      const damaged = concat(stream.subarray(0, -9000), noise(9000));
      const { bytes: found, error } = await collect(decompressBundle(compression, slices(damaged, 65_536)));
      assertCode(error, 'BUNDLE_COMPRESSION', compression);
      assert.ok(found.length > 3_000_000 && found.equals(LONG.subarray(0, found.length)), `${found.length} bytes`);
    });

    it(`${compression}: more than the source gives is not asked for while nobody takes what there is`, async () => {
      const bomb = compression === 'zlib' ? deflateSync(Buffer.alloc(200 << 20)) : await whole(compressBundle('zstd', slices(Buffer.alloc(200 << 20), 1 << 20)));
      const source = new WatchedSource();
      const stream = decompressBundle(compression, source.pieces(bomb, 1000));
      await stream.next();
      await delay(100);
      const before = process.memoryUsage().arrayBuffers;
      for (let i = 0; i < 20; i++) await stream.next();
      await delay(50);
      assert.ok(process.memoryUsage().arrayBuffers - before < 64 << 20);
      await stream.return();
      assert.ok(source.closed);
    });
  }

  for (const [compression, stream] of VECTORS.slice(0, 3)) {
    it(`${compression}: who leaves early closes the source`, async () => {
      const source = new WatchedSource();
      for await (const piece of decompressBundle(compression, source.pieces(concat(stream, stream), 5))) {
        assert.ok(piece.length > 0);
        break;
      }
      assert.ok(source.closed);
    });

    it(`${compression}: what the source throws comes out as it is`, async () => {
      const failure = new Error('mine');
      const failing = async function* (): AsyncGenerator<Uint8Array> {
        yield await Promise.resolve(stream.subarray(0, -1));
        throw failure;
      };
      assert.equal((await collect(decompressBundle(compression, failing()))).error, failure);
    });

    it(`${compression}: the signal ends the wait for a source`, async () => {
      const stop = new AbortController();
      setTimeout(() => {
        stop.abort();
      }, 20);
      const source = new WatchedSource();
      assertCode((await collect(decompressBundle(compression, source.pieces(stream.subarray(0, -1), 5, true), { signal: stop.signal }))).error, 'CANCELLED');
    });

    it(`${compression}: a stream as source that waits is destroyed`, async () => {
      const source = new Readable({ read: () => undefined });
      source.push(stream.subarray(0, 5));
      const stop = new AbortController();
      setTimeout(() => {
        stop.abort();
      }, 20);
      assertCode((await collect(decompressBundle(compression, source, { signal: stop.signal }))).error, 'CANCELLED');
      assert.ok(source.destroyed);
    });
  }

  it('zlib: what is gzip is called so', async () => {
    assertCode((await collect(decompressBundle('zlib', slices(gzipSync(TEXT), 65_536)))).error, 'BUNDLE_COMPRESSION', 'gzip');
  });

  it('zlib: a stream that needs a dictionary is refused', async () => {
    const stream = deflateSync(TEXT, { dictionary: Buffer.from('revconvert') });
    assertCode((await collect(decompressBundle('zlib', slices(stream, 65_536)))).error, 'BUNDLE_COMPRESSION', 'dictionary');
  });

  it('zlib: what has been flushed is given out before more comes', async () => {
    const source = new WatchedSource();
    const flushed = deflateSync(TEXT, { finishFlush: constants.Z_SYNC_FLUSH });
    const stream = decompressBundle('zlib', source.pieces(flushed, 65_536, true));
    const first = await stream.next();
    assert.deepEqual(first.value, Buffer.from(TEXT));
    await stream.return();
  });

  it('zlib: a signal at any moment is never taken for the end', async () => {
    const stream = deflateSync(LONG);
    for (let turns = 0; turns < 60; turns++) {
      const stop = new AbortController();
      let left = turns;
      const source = async function* (): AsyncGenerator<Uint8Array> {
        for await (const slice of slices(stream, 2000)) {
          if (left-- === 0) stop.abort();
          yield slice;
        }
      };
      assertCode((await collect(decompressBundle('zlib', source(), { signal: stop.signal }))).error, 'CANCELLED');
    }
  });

  for (const [compression, stream] of VECTORS.slice(0, 3)) {
    it(`${compression}: a process that leaves its standard input early ends`, async () => {
      const script = `
        import { decompressBundle } from ${JSON.stringify(pathToFileURL(join(PROJECT_ROOT, 'dist/src/engines/streams/decompress-bundle.js')).href)};
        for await (const piece of decompressBundle('${compression}', process.stdin)) { process.stdout.write(piece); break; }`;
      const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['pipe', 'pipe', 'inherit'] });
      // It stays open. Of bzip2 and zlib the end is needed, too.
      child.stdin.write(stream);
      const ended = once(child, 'close');
      const said: Buffer[] = [];
      for await (const piece of child.stdout as AsyncIterable<Buffer>) said.push(piece);
      assert.deepEqual(await ended, [0, null]);
      assert.ok(Buffer.concat(said).length > 0);
      child.stdin.destroy();
    });
  }
});
