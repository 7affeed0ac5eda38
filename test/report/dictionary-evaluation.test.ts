import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';

import { describe, it } from 'mocha';

import type { KindEvaluation } from '../../src/index.js';
import { evaluateDictionaries } from '../../src/index.js';
import { breakEven } from '../../src/report/dictionary-evaluation.js';
import { assertFails, picture, Scratch } from '../repository/support.js';
import type { BuiltRevlog } from '../support/repository-builder.js';
import { buildRepository, rawChunk } from '../support/repository-builder.js';
import { requireZstd } from '../support/zstd-program.js';

/** What zstd makes of the chunks of a revlog, as Mercurial stores it: where that is not shorter, the data with a byte before it unless it begins with a NUL. */
async function sizeByZstd({ revisions }: BuiltRevlog, level: number): Promise<number> {
  const { compress } = await import('zstd-napi');
  return revisions.reduce((sum, { chunk }) => {
    const data = chunk[0] === 0 ? chunk : chunk.subarray(1);
    return sum + Math.min(compress(data, { compressionLevel: level }).length, chunk.length);
  }, 0);
}

const only = (kinds: readonly KindEvaluation[]): KindEvaluation => {
  const [one] = kinds;
  assert.ok(one !== undefined && kinds.length === 1);
  return one;
};

describe('what dictionaries would do', () => {
  const scratch = Scratch.use();

  it('is said by kind, size and level, and nothing is written', async function () {
    requireZstd(this);
    buildRepository(scratch.at('src'), { commits: 60, files: ['a.txt', 'b.txt', 'split.txt'], textBytes: 1500 });
    const before = picture(scratch.root);
    const { repository, kinds } = await evaluateDictionaries(scratch.at('src'), { sizes: [1024, 2048], levels: [1, 3] });
    assert.equal(repository, scratch.at('src'));
    assert.deepEqual(kinds.map(({ kind, chunks }) => [kind, chunks]), [['filelog', 180], ['manifest', 60], ['changelog', 60]]);
    for (const { plain, dictionaries } of kinds) {
      assert.deepEqual(plain.map(({ level }) => level), [1, 3]);
      assert.deepEqual(dictionaries.map(({ size, levels }) => [size, levels.map(({ level }) => level)]), [[1024, [1, 3]], [2048, [1, 3]]]);
      for (const { compressRate, decompressRate } of [...plain, ...dictionaries.flatMap(({ levels }) => levels)]) assert.ok(compressRate > 0 && decompressRate > 0);
    }
    assert.deepEqual(picture(scratch.root), before);
  });

  it('is what zstd says where all chunks are measured', async function () {
    requireZstd(this);
    const { revlog } = buildRepository(scratch.at('src'), { commits: 80, files: ['a.txt'], textBytes: 900, compress: rawChunk });
    for (const [kind, name] of [['changelog', '00changelog.i'], ['manifest', '00manifest.i'], ['filelog', 'data/a.txt.i']] as const) {
      const one = only((await evaluateDictionaries(scratch.at('src'), { sizes: [512], levels: [3, 19], kind })).kinds);
      const built = revlog(name);
      assert.deepEqual([one.kind, one.chunks, one.judged], [kind, 80, 80]);
      assert.equal(one.chunkBytes, built.revisions.reduce((sum, { chunk }) => sum + chunk.length, 0));
      assert.equal(one.fileBytes, built.index.length);
      for (const { level, bytes } of one.plain) {
        const expected = await sizeByZstd(built, level);
        assert.ok(Math.abs(bytes - expected) <= 1, `${kind}, level ${level}: ${bytes}, expected ${expected}`);
      }
    }
  });

  it('says from how many chunks on a dictionary pays for itself', async function () {
    requireZstd(this);
    buildRepository(scratch.at('src'), { commits: 100, files: ['a.txt', 'b.txt'], compress: rawChunk });
    const one = only((await evaluateDictionaries(scratch.at('src'), { sizes: [512, 1024], levels: [3], kind: 'changelog' })).kinds);
    const [plain] = one.plain;
    for (const { bytes, levels } of one.dictionaries) {
      const [own] = levels;
      assert.ok(own?.breakEvenChunks !== undefined && plain !== undefined);
      assert.equal(own.bytesInAll, own.bytes + bytes);
      const gainOf = (chunks: number): number => ((plain.bytes - own.bytes) * chunks) / one.chunks;
      assert.ok(gainOf(own.breakEvenChunks + 1) >= bytes && gainOf(own.breakEvenChunks - 2) < bytes);
      assert.ok(own.breakEvenRawBytes !== undefined && own.breakEvenRawBytes > own.breakEvenChunks);
    }
  });

  it('is that it never pays where nothing gets smaller', () => {
    assert.deepEqual([breakEven(1000, 0, 50), breakEven(1000, -1, 50)], [undefined, undefined]);
    assert.deepEqual([breakEven(1000, 500, 50), breakEven(1000, 3000, 50), breakEven(1000, 1000, 50)], [100, 17, 50]);
  });

  it('says why there is no dictionary of a size', async function () {
    requireZstd(this);
    buildRepository(scratch.at('src'), { commits: 1, files: ['a.txt'] });
    const { kinds } = await evaluateDictionaries(scratch.at('src'), { sizes: [256 * 1024], levels: [3] });
    for (const { dictionaries } of kinds) assert.deepEqual(dictionaries.map(({ bytes, why, levels }) => [bytes, /nothing of its \d+ samples/.test(why ?? ''), levels]), [[0, true, []]]);
  });

  it('is nothing of an empty store', async () => {
    const { inStore } = buildRepository(scratch.at('src'), { files: [] });
    for (const name of ['00changelog.i', '00manifest.i']) rmSync(inStore(name));
    assert.deepEqual((await evaluateDictionaries(scratch.at('src'))).kinds, []);
  });

  const wrong: readonly (readonly [title: string, options: object, code: 'USAGE' | 'LEVEL', message: RegExp])[] = [
    ['a size below 256', { sizes: [1024, 100] }, 'USAGE', /sizes must be whole numbers of bytes from 256 to 16777216, found 100/],
    ['no size', { sizes: [] }, 'USAGE', /at least one size/],
    ['a level that there is not', { levels: [3, 40] }, 'LEVEL', /found 40/],
    ['a kind that there is not', { kind: 'all' }, 'USAGE', /kind must be one of changelog, manifest, filelog, found 'all'/],
    ['an option that there is not', { size: 1024 }, 'USAGE', /unknown option 'size'/],
  ];
  for (const [title, options, code, message] of wrong) {
    it(`cannot be said with ${title}: ${code}`, async () => {
      buildRepository(scratch.at('src'));
      await assertFails(evaluateDictionaries(scratch.at('src'), options), { code, message });
    });
  }

  it('ends with CANCELLED once the work is cancelled, whatever the reason', async () => {
    buildRepository(scratch.at('src'));
    for (const signal of [AbortSignal.abort(), AbortSignal.abort('enough')]) await assertFails(evaluateDictionaries(scratch.at('src'), { signal }), { code: 'CANCELLED' });
  });
});
