import assert from 'node:assert/strict';
import { readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';

import { describe, it } from 'mocha';

import type { DictionaryReport, ErrorCode } from '../../src/index.js';
import { listDictionaries } from '../../src/index.js';
import { assertFails, picture, Scratch } from '../repository/support.js';
import { buildDictionaryStore, DICTIONARY_FOLDER, dictionaryFile, dictionaryLike, frameWith } from '../support/dictionary-store.js';
import { buildRepository, rawChunk, zlibChunk } from '../support/repository-builder.js';
import { countByDictionary, storedChunks } from '../support/stored-chunks.js';

const used = ({ dictionaries, without, unlisted }: DictionaryReport): Map<number, { chunks: number; bytes: number }> =>
  new Map([
    [0, { ...without }],
    ...dictionaries.map(({ id, used: { chunks, bytes } }) => [id, { chunks, bytes }] as const),
    ...unlisted.map(({ id, chunks, bytes }) => [id, { chunks, bytes }] as const),
  ]);

/** Chunks of all sorts, in turns. */
function mixedChunks(): (data: Buffer) => Buffer {
  const sorts = [(data: Buffer) => frameWith(1, data), rawChunk, (data: Buffer) => frameWith(2, data), zlibChunk, (data: Buffer) => frameWith(300, data, 2), (data: Buffer) => frameWith(70_000, data, 4)];
  let next = 0;
  return (data) => (sorts[next++ % sorts.length] ?? rawChunk)(data);
}

describe('dictionaries of a store', () => {
  const scratch = Scratch.use();

  it('are listed with what they are for, and with the chunks that name them', async () => {
    const { store } = buildDictionaryStore(scratch.at('src'), {
      commits: 9,
      files: ['a.txt', 'split.py'],
      compress: mixedChunks(),
      dictionaries: [{ id: 2, kind: 'filelog' }, { id: 1, kind: 'any' }, { id: 7, kind: 'manifest' }],
      write: { changelog: 1, filelog: 1, suffixes: { '.py': 2, '.txt': 0 } },
    });
    const before = picture(scratch.root);
    const report = await listDictionaries(scratch.at('src'));
    assert.equal(report.repository, scratch.at('src'));
    assert.deepEqual(report.dictionaries.map(({ id, kind, writes, bytes, error }) => [id, kind, writes, bytes, error]), [
      [1, 'any', ['changelog', 'filelog'], 300, undefined],
      [2, 'filelog', ['.py'], 300, undefined],
      [7, 'manifest', [], 300, undefined],
    ]);
    assert.deepEqual(report.writesWithout, ['manifest', '.txt']);
    assert.deepEqual(report.unlisted.map(({ id }) => id), [300, 70_000]);
    const counted = countByDictionary(store);
    assert.ok([0, 1, 2, 300, 70_000].every((id) => (counted.get(id)?.chunks ?? 0) > 0));
    assert.deepEqual(used(report), new Map(counted).set(7, { chunks: 0, bytes: 0 }));
    assert.deepEqual(report.errors, []);
    assert.deepEqual(picture(scratch.root), before);
  });

  it('are none where the store has none', async () => {
    const { store } = buildRepository(scratch.at('src'));
    const report = await listDictionaries(scratch.at('src'));
    assert.deepEqual([report.dictionaries, report.unlisted, report.errors], [[], [], []]);
    assert.deepEqual({ ...report.without }, countByDictionary(store).get(0));
  });

  it('may be named by frames cut short, and by chunks that only look like frames: those name none', async () => {
    const { store } = buildDictionaryStore(scratch.at('src'), { compress: () => frameWith(3, Buffer.alloc(0)).subarray(0, 5), dictionaries: [{ id: 3, kind: 'any' }] });
    const report = await listDictionaries(scratch.at('src'));
    assert.deepEqual(report.without, { chunks: storedChunks(store).length, bytes: 5 * storedChunks(store).length });
    assert.deepEqual(report.dictionaries.map((one) => one.used.chunks), [0]);
  });

  const damages: readonly (readonly [title: string, code: ErrorCode, damage: (file: string) => void])[] = [
    ['missing', 'DICTIONARY_MISSING', (file) => rmSync(file)],
    ['cut short', 'DICTIONARY_DAMAGED', (file) => truncateSync(file, 100)],
    ['empty', 'DICTIONARY_DAMAGED', (file) => truncateSync(file, 0)],
    ['changed', 'DICTIONARY_DAMAGED', (file) => writeFileSync(file, readFileSync(file).fill(9, 200))],
    ['another', 'DICTIONARY_DAMAGED', (file) => writeFileSync(file, dictionaryLike(5))],
    ['no dictionary', 'DICTIONARY_DAMAGED', (file) => writeFileSync(file, Buffer.alloc(300))],
    ['too large', 'DICTIONARY_DAMAGED', (file) => truncateSync(file, 2 ** 25)],
  ];
  for (const [title, code, damage] of damages) {
    it(`are listed where one is ${title}, which is said`, async () => {
      buildDictionaryStore(scratch.at('src'), { compress: (data) => frameWith(2, data), dictionaries: [{ id: 1, kind: 'filelog' }, { id: 2, kind: 'any' }] });
      damage(dictionaryFile(scratch.at('src'), 2));
      const { dictionaries, without } = await listDictionaries(scratch.at('src'));
      assert.deepEqual(dictionaries.map(({ error }) => error?.code), [undefined, code]);
      assert.ok(dictionaries[1]?.error?.at.path?.endsWith(`${DICTIONARY_FOLDER}/2.zdict`));
      assert.deepEqual([dictionaries.map(({ used: { chunks } }) => chunks), without.chunks], [[0, 16], 0]);
    });
  }

  it('leave out revlogs that are damaged or missing, and say so', async () => {
    const { inStore } = buildDictionaryStore(scratch.at('src'), { compress: (data) => frameWith(2, data), dictionaries: [{ id: 2, kind: 'any' }], files: ['a.txt', 'b.txt', 'split.txt'] });
    truncateSync(inStore('data/split.txt.d'), 100);
    rmSync(inStore('data/b.txt.i'));
    const { dictionaries, errors } = await listDictionaries(scratch.at('src'));
    assert.deepEqual(errors.map(({ code, at }) => [code, at.path]), [['REVLOG_MISSING', 'data/b.txt.i'], ['DATA_TRUNCATED', 'data/split.txt.i']]);
    assert.deepEqual(dictionaries.map((one) => one.used.chunks), [12]);
  });

  const lies: readonly (readonly [title: string, change: (text: string) => string])[] = [
    ['is no JSON', (text) => text.slice(0, -1)],
    ['chooses what it does not list', (text) => text.replace('"write":{}', '"write":{"changelog":9}')],
    ['lists one twice', (text) => text.replace('"id":1', '"id":2')],
  ];
  for (const [title, change] of lies) {
    it(`are an error where index.json ${title}`, async () => {
      const { inStore } = buildDictionaryStore(scratch.at('src'), { dictionaries: [{ id: 1, kind: 'any' }, { id: 2, kind: 'any' }] });
      const file = inStore(`${DICTIONARY_FOLDER}/index.json`);
      writeFileSync(file, change(readFileSync(file, 'utf8')));
      await assertFails(listDictionaries(scratch.at('src')), { code: 'DICTIONARY_INDEX', path: 'index.json' });
    });
  }

  it('are an error where index.json is missing', async () => {
    const { inStore } = buildDictionaryStore(scratch.at('src'), { dictionaries: [{ id: 1, kind: 'any' }] });
    rmSync(inStore(`${DICTIONARY_FOLDER}/index.json`));
    await assertFails(listDictionaries(scratch.at('src')), { code: 'DICTIONARY_INDEX', path: 'index.json', message: /missing/ });
  });

  it('end with CANCELLED once the work is cancelled', async () => {
    buildRepository(scratch.at('src'));
    await assertFails(listDictionaries(scratch.at('src'), { signal: AbortSignal.abort() }), { code: 'CANCELLED' });
  });
});
