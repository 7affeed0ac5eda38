import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';

import { describe, it } from 'mocha';

import { contentOffsetOf } from '../../src/formats/zstd-dictionary-tables.js';
import type { ErrorCode } from '../../src/index.js';
import { inspectDictionary, inspectStoredDictionary } from '../../src/index.js';
import { assertFails, Scratch } from '../repository/support.js';
import { buildDictionaryStore, dictionaryFile, dictionaryLike } from '../support/dictionary-store.js';
import { sampleText } from '../support/repository-builder.js';
import { requireZstd, trainWithProgram } from '../support/zstd-program.js';

const SAMPLES = Array.from({ length: 200 }, (_, i) => sampleText(`sample ${i % 40}`, 300 + i));

/** `zstd --train` gives every dictionary these recent offsets; content follows. */
const RECENT_OFFSETS = Buffer.from('010000000400000008000000', 'hex');

describe('one dictionary', () => {
  const scratch = Scratch.use();

  it('is described: ID, size, hash, content, and its end', async function () {
    requireZstd(this);
    for (const [id, size] of [[1, 1024], [255, 4096], [2_000_000_000, 2048]] as const) {
      const content = trainWithProgram(SAMPLES, id, size);
      writeFileSync(scratch.at('d.zdict'), content);
      const found = await inspectDictionary(scratch.at('d.zdict'));
      assert.deepEqual(found, {
        file: scratch.at('d.zdict'),
        id,
        bytes: content.length,
        sha256: createHash('sha256').update(content).digest('hex'),
        contentOffset: content.indexOf(RECENT_OFFSETS) + RECENT_OFFSETS.length,
        end: content.subarray(-400).toString('latin1'),
      });
      assert.match(found.end, /a line of text/);
    }
  });

  it('of a store is checked against the list', async function () {
    requireZstd(this);
    const content = trainWithProgram(SAMPLES, 7);
    buildDictionaryStore(scratch.at('src'), { dictionaries: [{ id: 7, kind: 'any', content }] });
    const found = await inspectStoredDictionary(scratch.at('src'), 7);
    assert.deepEqual([found.id, found.bytes, found.file], [7, content.length, dictionaryFile(scratch.at('src'), 7)]);
    await assertFails(inspectStoredDictionary(scratch.at('src'), 8), { code: 'USAGE', path: 'src', message: /no dictionary 8; the store lists 7/ });
    writeFileSync(dictionaryFile(scratch.at('src'), 7), content.fill(0, content.length - 1));
    await assertFails(inspectStoredDictionary(scratch.at('src'), 7), { code: 'DICTIONARY_DAMAGED', path: '7.zdict' });
  });

  it('of a store must be one that zstd takes', async () => {
    buildDictionaryStore(scratch.at('src'), { dictionaries: [{ id: 7, kind: 'any', content: dictionaryLike(7) }] });
    await assertFails(inspectStoredDictionary(scratch.at('src'), 7), { code: 'DICTIONARY_DAMAGED', path: '7.zdict', message: /zstd does not take it/ });
  });

  const wrong: readonly (readonly [title: string, code: ErrorCode, make: (path: string) => void])[] = [
    ['that is not there', 'DICTIONARY', () => undefined],
    ['that is a folder', 'DICTIONARY', (path) => mkdirSync(path)],
    ['that is something else', 'DICTIONARY', (path) => writeFileSync(path, 'text that is no dictionary')],
    ['that zstd does not take', 'DICTIONARY', (path) => writeFileSync(path, dictionaryLike(1))],
  ];
  for (const [title, code, make] of wrong) {
    it(`${title} is an error: ${code}`, async () => {
      make(scratch.at('d.zdict'));
      await assertFails(inspectDictionary(scratch.at('d.zdict')), { code, path: 'd.zdict' });
    });
  }
});

describe('where the content of a dictionary begins', () => {
  it('is where its tables end, whatever was trained on', function () {
    requireZstd(this);
    const kinds = [
      SAMPLES,
      SAMPLES.map((sample) => Buffer.from(sample.toString('hex'))),
      Array.from({ length: 400 }, (_, i) => Buffer.from(`${i} `.repeat(40))),
      Array.from({ length: 300 }, (_, i) => createHash('sha512').update(`${i % 30}`).digest()),
    ];
    for (const samples of kinds) {
      for (const size of [512, 1024, 8192]) {
        const content = trainWithProgram(samples, 1, size);
        assert.equal(contentOffsetOf(content), content.indexOf(RECENT_OFFSETS) + RECENT_OFFSETS.length);
      }
    }
  });

  it('cannot be told where there are no sound tables; nothing is thrown', function () {
    assert.equal(contentOffsetOf(Buffer.alloc(100)), undefined);
    for (let fill = 0; fill < 256; fill++) {
      const offset = contentOffsetOf(dictionaryLike(fill, 50));
      assert.ok(offset === undefined || offset < 50);
    }
    requireZstd(this);
    const content = trainWithProgram(SAMPLES, 1);
    const begin = contentOffsetOf(content) ?? 0;
    for (let length = 0; length <= begin; length++) assert.equal(contentOffsetOf(content.subarray(0, length)), undefined);
    assert.equal(contentOffsetOf(content.subarray(0, begin + 1)), begin);
  });
});
