/** Stores that lie about their dictionaries. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { appendFileSync, chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { before, describe, it } from 'mocha';

import type { ErrorCode } from '../../../src/errors.js';
import { NO_DICTIONARIES, readDictionaries, readDictionariesOf, writeDictionaries } from '../../../src/repository/dictionaries/folder.js';
import { DICTIONARY_REQUIREMENT, giveDictionaries, putDictionaries, requireZstd, trainByProgram, withId } from '../../support/dictionary-files.js';
import { buildRepository } from '../../support/repository-builder.js';
import { assertThrows, isRoot, Scratch } from '../support.js';

describe('the dictionaries of a store', function () {
  const scratch = Scratch.use();
  let two: Buffer;
  before(function () {
    requireZstd(this);
    two = trainByProgram({ id: 2 });
  });

  const storeFolder = (): string => {
    mkdirSync(scratch.at('store'), { recursive: true });
    return scratch.at('store');
  };
  const requiring = { requirements: new Set([DICTIONARY_REQUIREMENT]) };
  const pair = (): { id: number; bytes: Buffer; kind: string }[] => [{ id: 2, bytes: two, kind: 'manifest' }, { id: 200, bytes: withId(two, 200), kind: 'any' }];

  it('are read, by rising ID, with the rules', () => {
    putDictionaries(storeFolder(), pair().reverse(), { manifest: 2, suffixes: { '.c': 200 } });
    const { dictionaries, write } = readDictionaries({ ...requiring, storeFolder: storeFolder() });
    assert.deepEqual(dictionaries.map(({ id, kind }) => [id, kind]), [[2, 'manifest'], [200, 'any']]);
    assert.deepEqual(dictionaries.map(({ bytes }) => Buffer.from(bytes)), pair().map(({ bytes }) => bytes));
    assert.deepEqual(write, { changelog: 0, manifest: 2, filelog: 0, suffixes: new Map([['.c', 200]]) });
  });

  it('are none where the store does not require them, whatever lies there', () => {
    putDictionaries(storeFolder(), pair(), {}, () => 'rubbish');
    assert.deepEqual(readDictionaries({ requirements: new Set(['store']), storeFolder: storeFolder() }), NO_DICTIONARIES);
  });

  it('may be none', () => {
    putDictionaries(storeFolder(), []);
    assert.deepEqual(readDictionaries({ ...requiring, storeFolder: storeFolder() }).dictionaries, []);
  });

  it('may lie beside files that are not listed', () => {
    const folder = putDictionaries(storeFolder(), pair());
    writeFileSync(join(folder, '9.zdict'), 'rubbish');
    mkdirSync(join(folder, 'old'));
    assert.equal(readDictionaries({ ...requiring, storeFolder: storeFolder() }).dictionaries.length, 2);
  });

  it('are given to stages by ID', () => {
    const repository = buildRepository(scratch.at('src'));
    assert.equal(readDictionariesOf(repository.root).size, 0);
    giveDictionaries(repository.hg, pair());
    assert.deepEqual([...readDictionariesOf(repository.root)].map(([id, { id: same, bytes }]) => [id, same, Buffer.compare(bytes, withId(two, id))]), [[2, 2, 0], [200, 200, 0]]);
  });

  const relist = (folder: string, change: (text: string) => string): void => writeFileSync(join(folder, 'index.json'), change(readFileSync(join(folder, 'index.json'), 'utf8')));

  const lies: readonly (readonly [title: string, lie: (folder: string) => void, code: ErrorCode, path: string, message: RegExp])[] = [
    ['no folder', (folder) => rmSync(folder, { recursive: true }), 'DICTIONARY_INDEX', 'index.json', /missing, though the store requires exp-revlog-zstd-dictionary\.1/],
    ['a file in place of the folder', (folder) => {
      rmSync(folder, { recursive: true });
      writeFileSync(folder, '');
    }, 'DICTIONARY_INDEX', 'index.json', /.*/],
    ['no index', (folder) => rmSync(join(folder, 'index.json')), 'DICTIONARY_INDEX', 'index.json', /missing/],
    ['an index that is a folder', (folder) => {
      rmSync(join(folder, 'index.json'));
      mkdirSync(join(folder, 'index.json'));
    }, 'DICTIONARY_INDEX', 'index.json', /not a regular file/],
    ['an index that is a FIFO', (folder) => {
      rmSync(join(folder, 'index.json'));
      execFileSync('mkfifo', [join(folder, 'index.json')]);
    }, 'DICTIONARY_INDEX', 'index.json', /not a regular file/],
    ['an index without an end', (folder) => truncateSync(join(folder, 'index.json'), 4 << 20), 'DICTIONARY_INDEX', 'index.json', /4194304 bytes/],
    ['an index that is cut short', (folder) => relist(folder, (text) => text.slice(0, -1)), 'DICTIONARY_INDEX', 'index.json', /not JSON/],
    ['an index with a rule to nowhere', (folder) => relist(folder, (text) => text.replace('"write":{', '"write":{"filelog":9,')), 'DICTIONARY_INDEX', 'index.json', /filelog: .*found 9/],
    ['a dictionary that is missing', (folder) => rmSync(join(folder, '2.zdict')), 'DICTIONARY_MISSING', '2.zdict', /dictionary 2 is missing/],
    ['a dictionary that is a folder', (folder) => {
      rmSync(join(folder, '2.zdict'));
      mkdirSync(join(folder, '2.zdict'));
    }, 'DICTIONARY_DAMAGED', '2.zdict', /dictionary 2: not a regular file/],
    ['a dictionary that is a FIFO', (folder) => {
      rmSync(join(folder, '2.zdict'));
      execFileSync('mkfifo', [join(folder, '2.zdict')]);
    }, 'DICTIONARY_DAMAGED', '2.zdict', /dictionary 2: not a regular file/],
    ['a dictionary without an end', (folder) => truncateSync(join(folder, '2.zdict'), (16 << 20) + 1), 'DICTIONARY_DAMAGED', '2.zdict', /dictionary 2: 16777217 bytes/],
    ['a dictionary that is cut short', (folder) => truncateSync(join(folder, '2.zdict'), 100), 'DICTIONARY_DAMAGED', '2.zdict', /dictionary 2: 100 bytes; index\.json says \d+/],
    ['a dictionary that is empty', (folder) => truncateSync(join(folder, '2.zdict'), 0), 'DICTIONARY_DAMAGED', '2.zdict', /dictionary 2: 0 bytes/],
    ['a dictionary with a byte more', (folder) => appendFileSync(join(folder, '2.zdict'), 'x'), 'DICTIONARY_DAMAGED', '2.zdict', /dictionary 2: \d+ bytes/],
    ['a dictionary with a byte changed', (folder) => {
      const bytes = Buffer.from(two);
      bytes[1000] = (bytes[1000] ?? 0) ^ 1;
      writeFileSync(join(folder, '2.zdict'), bytes);
    }, 'DICTIONARY_DAMAGED', '2.zdict', /dictionary 2: its SHA-256/],
    ['a dictionary that is another', (folder) => writeFileSync(join(folder, '2.zdict'), withId(two, 200)), 'DICTIONARY_DAMAGED', '2.zdict', /dictionary 2: its header says that its ID is 200/],
    ['a dictionary that is none', (folder) => writeFileSync(join(folder, '2.zdict'), Buffer.alloc(two.length)), 'DICTIONARY_DAMAGED', '2.zdict', /dictionary 2: it is no trained zstd dictionary/],
  ];
  for (const [title, lie, code, path, message] of lies) {
    it(`that has ${title}: ${code}, with the file`, () => {
      lie(putDictionaries(storeFolder(), pair(), { manifest: 2 }));
      assertThrows(() => readDictionaries({ ...requiring, storeFolder: storeFolder() }), { code, path: `store/revlog-dictionaries/${path}`, message });
    });
  }

  it('that may not be read: PERMISSION', function () {
    if (isRoot) this.skip();
    chmodSync(join(putDictionaries(storeFolder(), pair()), '2.zdict'), 0);
    assertThrows(() => readDictionaries({ ...requiring, storeFolder: storeFolder() }), { code: 'PERMISSION', path: '2.zdict' });
  });

  it('are written as they are read, with the modes of the store', () => {
    putDictionaries(storeFolder(), pair(), { filelog: 200, suffixes: { '.c': 2 } });
    const set = readDictionaries({ ...requiring, storeFolder: storeFolder() });
    mkdirSync(scratch.at('new'));
    writeDictionaries(scratch.at('new'), set, { file: 0o640, folder: 0o2750 });
    const folder = scratch.at('new', 'revlog-dictionaries');
    assert.deepEqual(readdirSync(folder).sort(), ['2.zdict', '200.zdict', 'index.json']);
    for (const name of readdirSync(folder)) assert.equal(statSync(join(folder, name)).mode & 0o777, 0o640, name);
    assert.equal(statSync(folder).mode & 0o777, 0o750);
    assert.deepEqual(readDictionaries({ ...requiring, storeFolder: scratch.at('new') }), set);
  });

  it('are not written over others', () => {
    putDictionaries(storeFolder(), pair());
    assertThrows(() => writeDictionaries(storeFolder(), NO_DICTIONARIES, { file: undefined, folder: undefined }), { code: 'SYSTEM', path: 'store/revlog-dictionaries' });
  });
});
