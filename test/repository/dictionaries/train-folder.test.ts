import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';

import { describe, it } from 'mocha';

import type { ErrorCode, TrainOptions } from '../../../src/index.js';
import { trainDictionaries } from '../../../src/index.js';
import { parseDictionaryChoice } from '../../../src/repository/dictionaries/choice.js';
import { sourceText } from '../../support/histories.js';
import { buildRepository, buildRevlog, rawChunk, storeTexts, writeAt, writeRevlogFiles } from '../../support/repository-builder.js';
import { countByDictionary } from '../../support/stored-chunks.js';
import { requireZstd } from '../../support/zstd-program.js';
import { assertFails, convert, picture, Scratch } from '../support.js';

/** Changesets are alike, so that a dictionary pays for them; texts of files have no two lines in common. */
const buildSource = (root: string, commits = 300): ReturnType<typeof buildRepository> => buildRepository(root, { commits, files: ['a.txt'], textBytes: 200, compress: rawChunk });

const headerOf = (file: string): { magic: number; id: number } => {
  const bytes = readFileSync(file);
  return { magic: bytes.readUInt32LE(0), id: bytes.readUInt32LE(4) };
};

describe('dictionaries trained into a folder', () => {
  const scratch = Scratch.use();

  it('are those that --dict auto makes, byte for byte but for their IDs', async function () {
    requireZstd(this);
    buildSource(scratch.at('src'));
    const before = picture(scratch.at('src'));
    const report = await trainDictionaries(scratch.at('src'), scratch.at('dicts'));
    assert.deepEqual(picture(scratch.at('src')), before);
    assert.ok(report.trained.some(({ name }) => name === 'changelog'));
    assert.deepEqual(readdirSync(scratch.at('dicts')).sort(), report.trained.map(({ name }) => `${name}.zdict`).sort());
    await convert(scratch.at('src'), scratch.at('auto'), { dictionaries: 'auto' });
    const folder = scratch.at('auto', '.hg', 'store', 'revlog-dictionaries');
    const { write } = JSON.parse(readFileSync(`${folder}/index.json`, 'utf8')) as { write: Record<string, number> };
    for (const { name, file, bytes, samples, gain } of report.trained) {
      assert.equal(headerOf(file).magic, 0xec30a437);
      assert.deepEqual(readFileSync(file).subarray(8), readFileSync(`${folder}/${write[name] ?? 0}.zdict`).subarray(8));
      assert.deepEqual([bytes, samples > 0, gain > bytes], [readFileSync(file).length, true, true]);
    }
    for (const { name } of report.without) assert.equal(write[name] ?? 0, 0);
  });

  it('can be used by the option that is reported', async function () {
    requireZstd(this);
    buildSource(scratch.at('src'));
    const { trained, option } = await trainDictionaries(scratch.at('src'), scratch.at('dicts'), { dictionarySize: 1024 });
    assert.equal(option, trained.map(({ name, file }) => `${name}=${file}`).join(','));
    await convert(scratch.at('src'), scratch.at('given'), { dictionaries: { files: Object.fromEntries(trained.map(({ name, file }) => [name, file])) } });
    await convert(scratch.at('src'), scratch.at('auto'), { dictionaries: 'auto', dictionarySize: 1024 });
    assert.deepEqual(picture(scratch.at('given')), picture(scratch.at('auto')));
    assert.ok([...countByDictionary(scratch.at('given', '.hg', 'store')).keys()].some((id) => id > 0));
  });

  it('have files of their own for suffixes with much history', async function () {
    requireZstd(this);
    const { store, inStore } = buildRepository(scratch.at('src'), { files: [] });
    // The few others gain too little for one of theirs, which then is there for nobody.
    const names = ['data/a.py.i', 'data/b.c.i', 'data/others.i'];
    for (const [i, name] of names.entries()) {
      const texts = Array.from({ length: name === 'data/others.i' ? 10 : 800 }, (_, rev) => Buffer.from(sourceText(30, i * 1000 + rev)));
      writeRevlogFiles(store, name, buildRevlog(storeTexts(texts, rawChunk), 'inline'));
    }
    writeAt(inStore('fncache'), names.map((name) => `${name}\n`).join(''));
    const { trained, option } = await trainDictionaries(scratch.at('src'), scratch.at('dicts'), { dictionarySize: 2048 });
    assert.deepEqual(trained.map(({ name, file }) => [name, file.slice(scratch.at('dicts').length)]).sort(), [['.c', '/filelog.c.zdict'], ['.py', '/filelog.py.zdict']]);
    const parsed = parseDictionaryChoice(option ?? '');
    assert.deepEqual(parsed, { files: Object.fromEntries(trained.map(({ name, file }) => [name, file])) });
  });

  it('take the place of an empty folder', async function () {
    requireZstd(this);
    buildSource(scratch.at('src'));
    mkdirSync(scratch.at('dicts'));
    assert.ok((await trainDictionaries(scratch.at('src'), scratch.at('dicts'))).trained.length > 0);
    assert.deepEqual(readdirSync(scratch.root).sort(), ['dicts', 'src']);
  });

  it('are none, and there is no folder, where none is worth its bytes', async function () {
    requireZstd(this);
    buildSource(scratch.at('src'), 2);
    const { trained, without, option } = await trainDictionaries(scratch.at('src'), scratch.at('dicts'));
    assert.deepEqual([trained, option], [[], undefined]);
    assert.deepEqual(without.map(({ name }) => name).sort(), ['changelog', 'filelog', 'manifest']);
    assert.deepEqual(readdirSync(scratch.root), ['src']);
  });

  it('have no option where a name holds a comma', async function () {
    requireZstd(this);
    buildSource(scratch.at('src'));
    for (const folder of ['a,b', 'x,manifest=y']) assert.equal((await trainDictionaries(scratch.at('src'), scratch.at(folder))).option, undefined);
  });

  const refused: readonly (readonly [title: string, code: ErrorCode, folder: string])[] = [
    ['a folder with something in it', 'DESTINATION_EXISTS', 'full'],
    ['a file', 'DESTINATION_EXISTS', 'file'],
    ['a folder in a folder that is not there', 'DESTINATION_PARENT', 'nowhere/dicts'],
    ['a folder in the repository', 'DESTINATION_OVERLAPS', 'src/dicts'],
  ];
  for (const [title, code, folder] of refused) {
    it(`are not put into ${title}: ${code}`, async () => {
      buildSource(scratch.at('src'), 3);
      mkdirSync(scratch.at('full'));
      writeFileSync(scratch.at('full', 'something'), '');
      writeFileSync(scratch.at('file'), '');
      const before = picture(scratch.root);
      await assertFails(trainDictionaries(scratch.at('src'), scratch.at(folder)), { code, path: folder.startsWith('nowhere') ? 'nowhere' : folder });
      assert.deepEqual(picture(scratch.root), before);
    });
  }

  const wrong: readonly (readonly [title: string, options: TrainOptions, code: ErrorCode, message: RegExp])[] = [
    ['a size of 10', { dictionarySize: 10 }, 'USAGE', /dict-size must be a whole number from 256/],
    ['3 samples', { dictionarySamples: 3 }, 'USAGE', /dict-samples must be a whole number from 16/],
    ['level 40', { level: 40 }, 'LEVEL', /found 40/],
    ['no jobs', { jobs: 0 }, 'USAGE', /jobs must be a whole number from 1 to 256, found 0/],
  ];
  for (const [title, options, code, message] of wrong) {
    it(`are not made with ${title}: ${code}`, async () => {
      await assertFails(trainDictionaries(scratch.at('src'), scratch.at('dicts'), options), { code, message });
    });
  }

  it('leave nothing behind where training fails, or is cancelled', async () => {
    buildSource(scratch.at('src'));
    const before = picture(scratch.root);
    await assertFails(trainDictionaries(scratch.at('src'), scratch.at('dicts'), { signal: AbortSignal.abort('enough') }), { code: 'CANCELLED' });
    const path = process.env['PATH'];
    process.env['PATH'] = '';
    try {
      await assertFails(trainDictionaries(scratch.at('src'), scratch.at('dicts')), { code: 'ZSTD_PROGRAM' });
    } finally {
      process.env['PATH'] = path;
    }
    assert.deepEqual(picture(scratch.root), before);
  });
});
