/** Streams from and for programs that know nothing of this project: Python's zlib and bz2, zstd. Each is skipped where it is missing. */

import assert from 'node:assert/strict';

import type { Context } from 'mocha';
import { describe, it } from 'mocha';

import { compressBundle } from '../../../src/engines/streams/compress-bundle.js';
import { decompressBundle } from '../../../src/engines/streams/decompress-bundle.js';
import { compressible, concat, noise, runProgram } from '../support.js';
import { assertCode, collect, slices, whole } from './support.js';

const DATA = Buffer.from(concat(compressible(1_500_000), noise(700_000), Buffer.alloc(300_000)));

/** What a program makes of its input. */
function run(test: Context, program: string, args: readonly string[], input: Uint8Array): Buffer {
  const output = runProgram(program, args, input);
  if (output === undefined) {
    process.stderr.write(`      skipped: ${program} is missing, or did not do it\n`);
    test.skip();
  }
  return Buffer.from(output);
}

const python = (test: Context, expression: string, input: Uint8Array): Buffer =>
  run(test, 'python3', ['-c', `import sys, zlib, bz2; d = sys.stdin.buffer.read(); sys.stdout.buffer.write(${expression})`], input);

describe('streams and other programs', () => {
  for (const level of [0, 1, 6, 9]) {
    it(`zlib at level ${level}, there and back`, async function () {
      const stream = python(this, `zlib.compress(d, ${level})`, DATA);
      assert.ok((await whole(decompressBundle('zlib', slices(stream, 10_000)))).equals(DATA));
      const ours = await whole(compressBundle('zlib', slices(DATA, 65_536), { level }));
      assert.ok(python(this, 'zlib.decompress(d)', ours).equals(DATA));
      assert.ok(Math.abs(ours.length - stream.length) < stream.length / 20, `${ours.length} and ${stream.length} bytes`);
    });
  }

  it('bzip2 of Python', async function () {
    for (const level of [1, 9]) assert.ok((await whole(decompressBundle('bzip2', slices(python(this, `bz2.compress(d, ${level})`, DATA), 10_000)))).equals(DATA));
  });

  for (const options of [[], ['-1'], ['-19'], ['--check'], ['--no-check'], ['--zstd=wlog=27'], ['-T2']]) {
    it(`zstd ${options.join(' ')}, there and back`, async function () {
      const stream = run(this, 'zstd', ['-q', '-c', ...options], DATA);
      assert.ok((await whole(decompressBundle('zstd', slices(stream, 10_000)))).equals(DATA));
      for (const threads of [0, 2]) {
        const ours = await whole(compressBundle('zstd', slices(DATA, 65_536), { threads }));
        assert.ok(run(this, 'zstd', ['-q', '-d', '-c'], ours).equals(DATA));
      }
    });
  }

  it('zstd with a large window, where that is allowed', async function () {
    const stream = run(this, 'zstd', ['-q', '-c', '--long=28'], DATA);
    assertCode((await collect(decompressBundle('zstd', slices(stream, 65_536)))).error, 'WINDOW_SIZE', '268435456 bytes', '134217728');
    assert.ok((await whole(decompressBundle('zstd', slices(stream, 65_536), { maxWindow: 2 ** 28 }))).equals(DATA));
  });
});
