import assert from 'node:assert/strict';

import { before, describe, it } from 'mocha';

import { decompressBundle } from '../../../src/engines/streams/decompress-bundle.js';
import { findNodeZstd, nodeZstdCompress, nodeZstdDecompress } from '../../../src/engines/streams/node-zstd.js';
import type { Decompress } from '../../../src/engines/streams/stream-engine.js';
import { loadZstdStreams } from '../../../src/engines/streams/zstd-binding.js';
import { assertSmall, bytes, compressible, concat, flipped, latin1, noise } from '../support.js';
import { assertCode, collect, slices, whole } from './support.js';

/** A frame with one raw block. @param descriptor of the window @param id bytes of a dictionary's ID */
const frame = (descriptor: number, id = bytes('')): Uint8Array => concat(bytes('28b52ffd'), Uint8Array.of([0, 1, 2, 0, 3][id.length] ?? 0, descriptor), id, bytes('190000616263'));
/** A single segment that says how long it is. */
const segment = (length: number): Uint8Array => {
  const header = Buffer.alloc(9);
  header.set(bytes('28b52ffda0'));
  header.writeUInt32LE(length, 5);
  return concat(header, bytes('190000616263'));
};

const built = findNodeZstd();
const BACKENDS: readonly (readonly [name: string, decompress: Decompress | undefined])[] = [
  ['the package', (source, options) => decompressBundle('zstd', source, options)],
  ['Node', built === undefined ? undefined : nodeZstdDecompress(built)],
];

for (const [name, decompress] of BACKENDS) {
  describe(`zstd streams with ${name}`, () => {
    const read = (...[source, options]: Parameters<Decompress>): ReturnType<Decompress> => {
      assert.ok(decompress !== undefined);
      return decompress(source, options);
    };
    before(function () {
      if (decompress === undefined) this.skip();
    });

    it('a window is read up to the limit, and refused above it before anything is allocated', async () => {
      // 88: 128 MiB; 89: 144 MiB; 90: 160 MiB; 80: 64 MiB; a8: 2 GiB; ff: 3.75 TiB
      const cases: [descriptor: number, maxWindow: number | undefined, bytes: number | undefined][] = [
        [0x88, undefined, undefined],
        [0x89, undefined, 150_994_944],
        [0xff, undefined, 15 * 2 ** 38],
        [0x80, 2 ** 26, undefined],
        [0x81, 2 ** 26, 75_497_472],
        [0x58, 2 ** 20, 2 ** 21],
        [0x98, 2 ** 29, undefined],
        [0x90, 2 ** 27 + 1, 2 ** 28],
        [0xa9, 2 ** 40, 2 ** 31 + 2 ** 28],
      ];
      for (const [descriptor, maxWindow, refused] of cases) {
        await assertSmall(async () => {
          const { bytes: found, error } = await collect(read(slices(frame(descriptor), 2), { maxWindow }));
          if (refused === undefined) assert.deepEqual([error, found.toString()], [undefined, 'abc']);
          else assertCode(error, 'WINDOW_SIZE', `${refused} bytes`);
        });
      }
    });

    it('a single segment is a window of its size', async () => {
      assertCode((await collect(read(slices(segment(2 ** 27 + 1), 65_536), {}))).error, 'WINDOW_SIZE', '134217729 bytes');
      assertCode((await collect(read(slices(segment(2 ** 20), 65_536), {}))).error, 'BUNDLE_COMPRESSION', 'zstd');
    });

    it('a dictionary is refused by its ID', async () => {
      for (const [id, found] of [['07', '7'], ['0102', '513'], ['01000080', '2147483649']] as const) assertCode((await collect(read(slices(frame(0x58, bytes(id)), 1), {}))).error, 'BUNDLE_COMPRESSION', `ID ${found},`);
      assert.equal((await whole(read(slices(frame(0x58, bytes('00')), 1), {}))).toString(), 'abc');
    });

    it('skippable frames and a second frame are no part of it: Mercurial reads one frame', async () => {
      const skippable = bytes('502a4d180200000000ff');
      assertCode((await collect(read(slices(concat(skippable, frame(0x58)), 1), {}))).error, 'BUNDLE_COMPRESSION', '0x184d2a50');
      for (const rest of [skippable, frame(0x58)]) {
        const { bytes: found, error } = await collect(read(slices(concat(frame(0x58), rest), 65_536), { start: 22 }));
        assert.equal(found.toString(), 'abc');
        assertCode(error, 'BUNDLE_TRAILING', 'byte 34 ');
      }
    });

    it('what is not zstd is damaged', async () => {
      for (const text of ['<!DOCTYPE html>', 'BZh91AY&SY']) assertCode((await collect(read(slices(latin1(text), 65_536), {}))).error, 'BUNDLE_COMPRESSION', 'magic number');
      assertCode((await collect(read(slices(flipped(frame(0x58), 4, 8), 65_536), {}))).error, 'BUNDLE_COMPRESSION', 'reserved bit');
      assertCode((await collect(read(slices(flipped(frame(0x58), 6, 6), 65_536), {}))).error, 'BUNDLE_COMPRESSION', 'zstd');
    });

    it('blocks that make much of little', async () => {
      // RLE blocks of 128 KiB, the last one marked.
      const run = bytes('02001041');
      const frameOfRuns = concat(bytes('28b52ffd0058'), ...Array.from({ length: 999 }, () => run), bytes('03001041'));
      const { bytes: found, error } = await collect(read(slices(frameOfRuns, 65_536), {}));
      assert.equal(error, undefined);
      assert.ok(found.equals(Buffer.alloc(1000 << 17, 0x41)));
    });
  });
}

describe('zstd streams of Node', () => {
  before(function () {
    if (built === undefined) this.skip();
  });

  it('are read by either', async () => {
    assert.ok(built !== undefined);
    const data = concat(compressible(2_000_000), noise(300_000));
    const stream = await whole(nodeZstdCompress(built)(slices(data, 10_000), {}));
    assert.equal(stream.subarray(0, 6).toString('hex'), '28b52ffd0058');
    assert.ok((await whole(decompressBundle('zstd', slices(stream, 65_536)))).equals(data));
    assert.ok((await whole(nodeZstdDecompress(built)(slices(stream, 65_536), {}))).equals(data));
  });
});

describe('the binding of zstd', () => {
  it('is not used where it is missing, or not what it was', async () => {
    assert.ok((await loadZstdStreams()) !== undefined);
    assert.equal(await loadZstdStreams(() => Promise.reject(new Error('not installed'))), undefined);
    const binding = await loadZstdStreams();
    assert.ok(binding !== undefined);
    const changed = { ...binding, DCtx: class { setParameter = (): void => undefined; decompressStream = (): readonly [number, number, number] => [1, 0, 0]; } };
    assert.equal(await loadZstdStreams(() => Promise.resolve(changed)), undefined);
  });
});

describe('Node without zstd', () => {
  it('is known by what its zlib lacks', () => {
    assert.equal(findNodeZstd({}), undefined);
  });
});
