import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';

import { describe, it } from 'mocha';

import { exportDictionaries } from '../../../src/index.js';
import { buildDictionaryStore, dictionaryFile } from '../../support/dictionary-store.js';
import { buildRepository, rawChunk } from '../../support/repository-builder.js';
import { namedDictionary, storedChunks } from '../../support/stored-chunks.js';
import { decompressWithProgram, requireZstd } from '../../support/zstd-program.js';
import { assertFails, convert, picture, Scratch } from '../support.js';

describe('dictionaries of a store as files', () => {
  const scratch = Scratch.use();

  const build = (): void => {
    buildDictionaryStore(scratch.at('src'), { dictionaries: [{ id: 9, kind: 'filelog' }, { id: 2, kind: 'any' }, { id: 200, kind: 'manifest' }] });
  };

  it('are those of the store, byte for byte, all or some', async () => {
    build();
    const before = picture(scratch.at('src'));
    const all = await exportDictionaries(scratch.at('src'), scratch.at('all'));
    assert.deepEqual(all, {
      repository: scratch.at('src'),
      folder: scratch.at('all'),
      dictionaries: [[2, 'any'], [9, 'filelog'], [200, 'manifest']].map(([id, kind]) => ({ id, kind, file: scratch.at('all', `${String(id)}.zdict`), bytes: 300 })),
    });
    assert.deepEqual(readdirSync(scratch.at('all')).sort(), ['2.zdict', '200.zdict', '9.zdict']);
    for (const { id, file } of all.dictionaries) assert.deepEqual(readFileSync(file), readFileSync(dictionaryFile(scratch.at('src'), id)));
    mkdirSync(scratch.at('some'));
    const some = await exportDictionaries(scratch.at('src'), scratch.at('some'), { ids: [200, 2, 200] });
    assert.deepEqual(some.dictionaries.map(({ id }) => id), [2, 200]);
    assert.deepEqual(readdirSync(scratch.at('some')).sort(), ['2.zdict', '200.zdict']);
    assert.deepEqual(picture(scratch.at('src')), before);
  });

  it('are what the zstd program decompresses the chunks by', async function () {
    requireZstd(this);
    buildRepository(scratch.at('src'), { commits: 300, files: ['a.txt'], textBytes: 200, compress: rawChunk });
    await convert(scratch.at('src'), scratch.at('zstd'), { dictionaries: 'auto' });
    const { dictionaries } = await exportDictionaries(scratch.at('zstd'), scratch.at('dicts'));
    const chunks = storedChunks(scratch.at('zstd', '.hg', 'store'));
    for (const { id, file } of dictionaries) {
      const [first] = chunks.filter(({ chunk }) => namedDictionary(chunk) === id);
      assert.ok(first !== undefined && decompressWithProgram(first.chunk, readFileSync(file)).length > first.chunk.length);
    }
    assert.ok(dictionaries.length > 0);
  });

  it('are refused where one is damaged or missing; the others are not', async () => {
    build();
    truncateSync(dictionaryFile(scratch.at('src'), 2), 200);
    rmSync(dictionaryFile(scratch.at('src'), 9));
    const before = picture(scratch.root);
    await assertFails(exportDictionaries(scratch.at('src'), scratch.at('dicts')), { code: 'DICTIONARY_DAMAGED', path: '2.zdict' });
    await assertFails(exportDictionaries(scratch.at('src'), scratch.at('dicts'), { ids: [9] }), { code: 'DICTIONARY_MISSING', path: '9.zdict' });
    assert.deepEqual(picture(scratch.root), before);
    assert.equal((await exportDictionaries(scratch.at('src'), scratch.at('dicts'), { ids: [200] })).dictionaries.length, 1);
  });

  it('must be there', async () => {
    build();
    await assertFails(exportDictionaries(scratch.at('src'), scratch.at('dicts'), { ids: [2, 3] }), { code: 'USAGE', path: 'src', message: /no dictionary 3; the store lists 2, 9, 200/ });
    buildRepository(scratch.at('plain'));
    await assertFails(exportDictionaries(scratch.at('plain'), scratch.at('dicts')), { code: 'USAGE', path: 'plain', message: /has no dictionaries/ });
  });

  it('are not put where something is, and not written once the work is cancelled', async () => {
    build();
    mkdirSync(scratch.at('full'));
    writeFileSync(scratch.at('full', '2.zdict'), '');
    const before = picture(scratch.root);
    await assertFails(exportDictionaries(scratch.at('src'), scratch.at('full')), { code: 'DESTINATION_EXISTS', path: 'full' });
    await assertFails(exportDictionaries(scratch.at('src'), scratch.at('dicts'), { signal: AbortSignal.abort() }), { code: 'CANCELLED' });
    assert.deepEqual(picture(scratch.root), before);
  });
});
