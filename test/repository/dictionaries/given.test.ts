import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';

import { before, describe, it } from 'mocha';

import type { LoadedEngine } from '../../../src/engines/registry.js';
import { loadEngine } from '../../../src/engines/registry.js';
import { readDictionariesFrom, readDictionaryFile, readDictionaryFiles } from '../../../src/repository/dictionaries/given.js';
import { giveDictionaries, requireZstd, trainByProgram, withBadTables, withId } from '../../support/dictionary-files.js';
import { buildRepository } from '../../support/repository-builder.js';
import { assertThrows, Scratch } from '../support.js';

describe('dictionaries that are given', function () {
  const scratch = Scratch.use();
  let engine: LoadedEngine;
  let good: Buffer;
  before(async function () {
    requireZstd(this);
    engine = await loadEngine('zstd');
    good = trainByProgram();
  });

  const put = (name: string, bytes: Uint8Array): string => {
    writeFileSync(scratch.at(name), bytes);
    return scratch.at(name);
  };

  const bad: readonly (readonly [title: string, place: (path: string) => void, message: RegExp])[] = [
    ['is not there', () => undefined, /there is no such file/],
    ['is a folder', (path) => mkdirSync(path), /not a regular file/],
    ['is a FIFO', (path) => execFileSync('mkfifo', [path]), /not a regular file/],
    ['is a link to nowhere', (path) => symlinkSync('nowhere', path), /there is no such file/],
    ['is a device', (path) => symlinkSync('/dev/zero', path), /not a regular file/],
    ['is empty', (path) => writeFileSync(path, ''), /no trained zstd dictionary/],
    ['is raw content without the magic number', (path) => writeFileSync(path, good.subarray(8)), /no trained zstd dictionary/],
    ['is text', (path) => writeFileSync(path, 'return buffer;\n'.repeat(100)), /no trained zstd dictionary/],
    ['is a zstd frame', (path) => writeFileSync(path, Buffer.from('28b52ffd2005290000 68656c6c6f'.replace(' ', ''), 'hex')), /no trained zstd dictionary/],
    ['is a header alone', (path) => writeFileSync(path, good.subarray(0, 8)), /no trained zstd dictionary/],
    ['is cut short within its tables', (path) => writeFileSync(path, good.subarray(0, 60)), /zstd does not take it/],
    ['has rubbish for tables', (path) => writeFileSync(path, withBadTables(good)), /zstd does not take it/],
    ['is larger than any', (path) => {
      writeFileSync(path, good);
      truncateSync(path, (16 << 20) + 1);
    }, /16777217 bytes; at most 16777216/],
  ];
  for (const [title, place, message] of bad) {
    it(`a file that ${title}: DICTIONARY, with the file`, () => {
      place(scratch.at('file'));
      for (const files of [{ all: scratch.at('file') }, { '.c': put('good', good), 'manifest': scratch.at('file') }]) {
        assertThrows(() => readDictionaryFiles({ files }, engine), { code: 'DICTIONARY', path: scratch.at('file'), message });
      }
    });
  }

  it('a file of the largest size is read', () => {
    const path = put('file', good);
    truncateSync(path, 16 << 20);
    assert.equal(readDictionaryFile(path, engine).length, 16 << 20);
  });

  it('all stands for the kinds that have none of their own, not for suffixes', () => {
    const other = withId(good, 9);
    const [all, manifest] = [put('all', good), put('manifest', other)];
    const given = readDictionaryFiles({ files: { manifest, all, '.c': manifest } }, engine);
    assert.deepEqual([...given.keys()].sort(), ['.c', 'changelog', 'filelog', 'manifest']);
    assert.deepEqual([given.get('changelog'), given.get('filelog')].map((bytes) => Buffer.compare(bytes ?? other, good)), [0, 0]);
    assert.equal(given.get('manifest'), given.get('.c'), 'a file is read once');
  });

  it('those of a repository are those that it writes with', () => {
    const repository = buildRepository(scratch.at('other'));
    giveDictionaries(repository.hg, [1, 2, 3].map((id) => ({ id, bytes: withId(good, id) })), { changelog: 0, filelog: 3, suffixes: { '.c': 2, '.txt': 0 } });
    const given = readDictionariesFrom({ from: repository.root }, engine);
    assert.deepEqual([...given].map(([name, bytes]) => [name, Buffer.compare(bytes, withId(good, name === '.c' ? 2 : 3))]), [['filelog', 0], ['.c', 0]]);
  });

  it('a repository without any, or none, is refused', () => {
    assertThrows(() => readDictionariesFrom({ from: scratch.at('nowhere') }, engine), { code: 'NOT_A_REPOSITORY', path: 'nowhere' });
    const { root } = buildRepository(scratch.at('other'));
    assertThrows(() => readDictionariesFrom({ from: root }, engine), { code: 'DICTIONARY', path: root, message: /has no dictionaries/ });
  });

  it('a repository whose dictionary zstd does not take is refused', () => {
    const repository = buildRepository(scratch.at('other'));
    giveDictionaries(repository.hg, [{ id: 9, bytes: withBadTables(withId(good, 9)) }], { filelog: 9 });
    assertThrows(() => readDictionariesFrom({ from: repository.root }, engine), { code: 'DICTIONARY_DAMAGED', path: repository.root, message: /ID 9 / });
  });
});
