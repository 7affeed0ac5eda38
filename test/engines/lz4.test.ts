import assert from 'node:assert/strict';

import fc from 'fast-check';
import { before, describe, it } from 'mocha';

import { loadLz4 } from '../../src/engines/backends/lz4-napi.js';
import type { LoadedBackend } from '../../src/engines/engine.js';
import {
  assertBytes,
  assertFault,
  assertRoundTrip,
  assertSmall,
  bytes,
  compressible,
  compressOne,
  decompressOne,
  latin1,
  noise,
  texts,
} from './support.js';

describe('lz4 by lz4-napi', () => {
  let lz4: LoadedBackend;

  before(async function () {
    const loaded = await loadLz4();
    if (loaded === undefined) {
      this.skip(); // lz4-napi is not installed
    }
    lz4 = loaded;
  });

  // Blocks by hand, from the LZ4 Block Format Description: a token (literals, match length - 4), literals, offset.
  const accepted: readonly (readonly [string, string, Uint8Array])[] = [
    ['literals only', '34 05000000 50 68656c6c6f', latin1('hello')],
    ['one match that overlaps itself', '34 11000000 17 61 0100 50 6262626262', latin1(`${'a'.repeat(12)}bbbbb`)],
    ['a long run of literals', `34 14000000 f005 ${'63'.repeat(20)}`, latin1('c'.repeat(20))],
    ['an empty text', '34 00000000 00', new Uint8Array(0)],
  ];
  for (const [title, chunk, expected] of accepted) {
    it(`reads ${title}`, async () => {
      assertBytes(await decompressOne(lz4, bytes(chunk), expected.length), expected);
    });
  }

  const refused: readonly (readonly [string, string, RegExp?])[] = [
    ['a marker alone', '34', /too few/],
    ['no block', '34 05000000', /too few/],
    ['a raw length over what the block holds', '34 06000000 50 68656c6c6f', /expected 6 bytes, found 5/],
    ['a raw length below it', '34 04000000 50 68656c6c6f'],
    ['a truncated block', '34 05000000 50 68656c'],
    ['a match before the start', '34 11000000 17 61 0900 50 6262626262'],
    ['a raw length that no such block can have', '34 ffffff7f 50 68656c6c6f', /cannot hold/],
  ];
  for (const [title, chunk, message] of refused) {
    it(`refuses ${title}`, async () => {
      assertFault(await decompressOne(lz4, bytes(chunk)), 'CHUNK_DAMAGED', message);
    });
  }

  it('holds the limit before it decompresses', async () => {
    assertBytes(await decompressOne(lz4, bytes('34 05000000 50 68656c6c6f'), 5), latin1('hello'));
    assertFault(await decompressOne(lz4, bytes('34 05000000 50 68656c6c6f'), 4), 'CHUNK_SIZE', /5 bytes, over the limit of 4/);
    await assertSmall(async () => {
      assertFault(await decompressOne(lz4, bytes('34 ffffffff 50 68656c6c6f')), 'CHUNK_SIZE');
    });
  });

  it('keeps only what is strictly shorter, marker included', async () => {
    assert.equal(await compressOne(lz4, latin1('a')), undefined);
    assert.equal(await compressOne(lz4, noise(1000)), undefined);
    for (let size = 1; size < 60; size++) {
      const chunk = await compressOne(lz4, new Uint8Array(size));
      if (chunk !== undefined) assert.ok(chunk.length < size);
    }
  });

  it('writes the marker, the length, and the block', async () => {
    const chunk = await compressOne(lz4, compressible(1000));
    assert.ok(chunk !== undefined);
    assert.deepEqual([...chunk.subarray(0, 5)], [0x34, 0xe8, 0x03, 0, 0]);
  });

  it('round trip of any batch', () => fc.assert(fc.asyncProperty(texts, (inputs) => assertRoundTrip(lz4, inputs)), { numRuns: 40 }));

  it('round trip of a large text', () => assertRoundTrip(lz4, [compressible(3_000_000)]));

  it('is not there where the package is not, or does not work', async () => {
    assert.equal(await loadLz4(() => Promise.reject(new Error('not found'))), undefined);
    const lying = { compressSync: (data: Uint8Array) => data, uncompressSync: (data: Uint8Array) => data };
    assert.equal(await loadLz4(() => Promise.resolve(lying)), undefined);
  });
});
