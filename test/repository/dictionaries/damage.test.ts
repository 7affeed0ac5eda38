/** Stores with dictionaries that are damaged: nothing that is carried may need a dictionary that does not come along. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { appendFileSync, copyFileSync, cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { after, before, describe, it } from 'mocha';

import type { ConversionSummary, ConvertOptions } from '../../../src/index.js';
import { convertRepository, openRevlog } from '../../../src/index.js';
import { requireZstd, withBadTables } from '../../support/dictionary-files.js';
import { buildRepository } from '../../support/repository-builder.js';
import { assertFails, convert, patch, picture, Scratch } from '../support.js';
import { assertPlain, chunksOfStore, dictionaryFolder, idsIn, readStore, requirementsOf, storeOf } from './support.js';

/** What a store without dictionaries may be. */
const PLAIN: readonly (readonly [title: string, options: ConvertOptions])[] = [
  ['zstd', { to: 'zstd' }],
  ['zlib', { to: 'zlib' }],
  ['none', { to: 'none' }],
  ['zstd with new deltas', { to: 'zstd', redelta: 'all' }],
];
/** What a store with other dictionaries may be. */
const OTHERS: readonly (readonly [title: string, options: ConvertOptions])[] = [
  ['other dictionaries', { to: 'zstd', dictionaries: 'auto' }],
  ['other dictionaries and new deltas', { to: 'zstd', dictionaries: 'auto', redelta: 'all' }],
];

const NAME = 'data/split.py.i';
const STRAY = 'data/stray.py.i';

/** A chunk that names one of the dictionaries 1 to 3, in hexadecimal. */
const OLD_FRAME = /^28b52ffd[2-9a-f][15](?:0[123])/;

describe('damage in a store with dictionaries', function () {
  this.timeout(60_000);
  const scratch = Scratch.use();
  const prepared = mkdtempSync(join(tmpdir(), 'revconvert-test-'));
  before(async function () {
    requireZstd(this);
    buildRepository(join(prepared, 'src'), { commits: 150, files: ['a.c', 'lib/b.c', 'split.py', 'notes.txt'], textBytes: 500 });
    await convert(join(prepared, 'src'), join(prepared, 'dict'), { dictionaries: 'auto' });
  });
  after(() => rmSync(prepared, { recursive: true, force: true }));

  const at = (name: string): string => scratch.at(name);
  const source = (): string => {
    cpSync(join(prepared, 'dict'), at('dict'), { recursive: true });
    return at('dict');
  };
  const fileOf = (root: string, name: string): string => join(storeOf(root), name);

  /** Where an entry and a chunk of the revlog stand, and in which files. */
  function placeOf(root: string, rev: number): { entry: number; file: string; chunk: number } {
    const indexFile = fileOf(root, NAME);
    const dataFile = `${indexFile.slice(0, -1)}d`;
    const reader = openRevlog({ indexFile, dataFile });
    const { inline } = reader.index.header;
    const chunk = reader.index.position(rev);
    reader.close();
    return { entry: inline ? chunk - 64 : rev * 64, file: inline ? indexFile : dataFile, chunk };
  }

  /** Spoils the blocks of a chunk: it cannot be decoded. */
  const spoil = (root: string, rev: number): void => {
    const { file, chunk } = placeOf(root, rev);
    patch(file, chunk + 9, Buffer.alloc(12, 0xff));
  };
  /** Makes the index lie about the length of a text: the chunk can be decoded, and is damaged all the same. */
  const lieAboutLength = (root: string, rev: number): void => patch(fileOf(root, NAME), placeOf(root, rev).entry + 12, Uint8Array.from([0, 0, 0x70, 0]));
  /** The index is of a version that is none. */
  const spoilIndex = (root: string): void => patch(fileOf(root, NAME), 0, Buffer.from([0, 9, 0, 9]));

  const keepGoing = (options: ConvertOptions, to = 'dst'): Promise<ConversionSummary> => convertRepository(at('dict'), at(to), { jobs: 1, keepGoing: true, ...options });

  for (const [title, options] of [...PLAIN, ...OTHERS]) {
    it(`a chunk that cannot be decoded stops a conversion to ${title}`, async () => {
      spoil(source(), 20);
      await assertFails(convertRepository(at('dict'), at('dst'), { jobs: 1, ...options }), { code: 'CHUNK_DAMAGED', path: NAME, rev: 20 });
      assert.deepEqual(readdirSync(scratch.root), ['dict']);
    });

    it(`--keep-going, to ${title}: of damaged revisions only those that cannot be decoded need a dictionary`, async () => {
      source();
      lieAboutLength(at('dict'), 149);
      spoil(at('dict'), 148);
      const old = await chunksOfStore(at('dict'), true);
      const { warnings } = await keepGoing(options);
      assert.deepEqual(warnings.map(({ code, at: { path, rev } }) => [code, path, rev]).sort(), [['CHUNK_DAMAGED', NAME, 148], ['CHUNK_SIZE', NAME, 149]]);
      const made = await chunksOfStore(at('dst'), true);
      assert.equal(made[NAME]?.[148], old[NAME]?.[148], 'carried byte for byte');
      assert.match(made[NAME]?.[149] ?? '', /^(?:75|00)/, 'stored raw');
      const tied = Object.entries(made).flatMap(([name, chunks]) => chunks.flatMap((chunk, rev) => (OLD_FRAME.test(chunk) ? [`${name} ${rev}`] : [])));
      assert.deepEqual(tied, [`${NAME} 148`]);
      const isPlain = options.dictionaries === undefined;
      assert.equal(existsSync(dictionaryFolder(at('dst'))), !isPlain);
      assert.equal(requirementsOf(at('dst')).includes('exp-revlog-zstd-dictionary.1'), !isPlain);
      await keepGoing({ ...options, jobs: 2 }, 'two');
      assert.deepEqual(picture(at('two')), picture(at('dst')));
    });

    it(`--keep-going, to ${title}: a revlog whose index is damaged would have to be carried whole, and is not`, async () => {
      spoilIndex(source());
      await assertFails(keepGoing(options), { code: 'REVLOG_VERSION', path: NAME, message: /dictionaries that do not come along: --dict keep/ });
      assert.deepEqual(readdirSync(scratch.root), ['dict']);
    });
  }

  for (const dictionaries of ['keep', 'refresh', 'add'] as const) {
    it(`--keep-going, ${dictionaries}: what is damaged is carried byte for byte, with the dictionary that it needs`, async () => {
      source();
      lieAboutLength(at('dict'), 149);
      spoil(at('dict'), 148);
      const old = await chunksOfStore(at('dict'), true);
      await keepGoing({ dictionaries });
      const made = await chunksOfStore(at('dst'), true);
      for (const rev of [148, 149]) assert.equal(made[NAME]?.[rev], old[NAME]?.[rev]);
      assert.deepEqual(readFileSync(join(dictionaryFolder(at('dst')), '1.zdict')), readFileSync(join(dictionaryFolder(at('dict')), '1.zdict')));
    });

    it(`--keep-going, ${dictionaries}: a revlog whose index is damaged is carried whole`, async () => {
      spoilIndex(source());
      const { warnings } = await keepGoing({ dictionaries });
      assert.deepEqual(warnings.map(({ code }) => code), ['REVLOG_VERSION']);
      assert.deepEqual(readFileSync(fileOf(at('dst'), NAME)), readFileSync(fileOf(at('dict'), NAME)));
    });
  }

  it('new dictionaries are trained around the damage', async () => {
    spoil(source(), 20);
    const { dictionaries } = await keepGoing({ to: 'zstd', dictionaries: 'auto' });
    assert.equal(dictionaries.added.length, 3);
  });

  describe('a revlog that is not listed', () => {
    /** A copy of a filelog that the fncache does not name. @returns its file of chunks */
    const addStray = (): string => {
      source();
      for (const letter of ['i', 'd']) if (existsSync(fileOf(at('dict'), `data/split.py.${letter}`))) copyFileSync(fileOf(at('dict'), `data/split.py.${letter}`), fileOf(at('dict'), `data/stray.py.${letter}`));
      return placeOf(at('dict'), 0).file.replace('split', 'stray');
    };
    for (const [title, options] of PLAIN) {
      it(`is converted to ${title} as the others are`, async () => {
        addStray();
        await convertRepository(at('dict'), at('dst'), { jobs: 1, ...options });
        assert.equal((await readStore(at('dst')))[STRAY]?.length, 150);
        assert.deepEqual(idsIn(at('dst')).filter((id) => id !== 0), []);
      });

      it(`with damage is converted to ${title}, but for what cannot be decoded`, async () => {
        const file = addStray();
        patch(file, placeOf(at('dict'), 148).chunk + 9, Buffer.alloc(12, 0xff));
        const { warnings } = await convertRepository(at('dict'), at('dst'), { jobs: 1, ...options });
        const chunks = (await chunksOfStore(at('dst'), true))[STRAY] ?? [];
        assert.equal(chunks.length, 150);
        assert.deepEqual(chunks.flatMap((chunk, rev) => (OLD_FRAME.test(chunk) ? [rev] : [])), [148]);
        assert.ok(warnings.some(({ code, at: { path, rev } }) => code === 'CHUNK_DAMAGED' && path === STRAY && rev === 148), JSON.stringify(warnings));
      });
    }

    it('that is no revlog is carried as it is', async () => {
      source();
      writeFileSync(fileOf(at('dict'), STRAY), 'rubbish');
      await convertRepository(at('dict'), at('dst'), { jobs: 1, to: 'zlib' });
      assert.equal(readFileSync(fileOf(at('dst'), STRAY), 'utf8'), 'rubbish');
    });
  });

  describe('a dictionary that does not serve', () => {
    const all: readonly ConvertOptions[] = [{}, { to: 'zlib' }, { to: 'zstd' }, { dictionaries: 'auto' }, { dictionaries: 'refresh' }, { redelta: 'all' }, { keepGoing: true }, { to: 'zlib', keepGoing: true }];
    for (const [title, damage, code, path] of [
      ['is missing', (folder: string) => rmSync(join(folder, '2.zdict')), 'DICTIONARY_MISSING', '2.zdict'],
      ['is damaged', (folder: string) => patch(join(folder, '2.zdict'), 900, Buffer.from('xx')), 'DICTIONARY_DAMAGED', '2.zdict'],
      ['is listed as another', (folder: string) => writeFileSync(join(folder, 'index.json'), readFileSync(join(folder, 'index.json'), 'utf8').replace('"id": 2', '"id": 9')), 'DICTIONARY_INDEX', 'index.json'],
    ] as const) {
      it(`since it ${title}: ${code}, whatever is asked for, and nothing is written`, async () => {
        damage(dictionaryFolder(source()));
        for (const options of all) {
          for (const jobs of [1, 2]) await assertFails(convertRepository(at('dict'), at('dst'), { jobs, ...options }), { code, path });
        }
        assert.deepEqual(readdirSync(scratch.root), ['dict']);
      });
    }

    it('since frames name one that is not listed: DICTIONARY_MISSING with the revision, the ID and the file', async () => {
      const folder = dictionaryFolder(source());
      const index = JSON.parse(readFileSync(join(folder, 'index.json'), 'utf8')) as { dictionaries: { id: number }[] };
      writeFileSync(join(folder, 'index.json'), JSON.stringify({ version: 1, dictionaries: index.dictionaries.filter(({ id }) => id !== 1), write: {} }));
      for (const options of [{}, { to: 'zlib' }, { dictionaries: 'auto', to: 'zstd' }] as const) {
        await assertFails(convertRepository(at('dict'), at('dst'), { jobs: 1, ...options }), { code: 'DICTIONARY_MISSING', path: '.i', rev: 0, message: /ID 1 \(revlog-dictionaries\/1\.zdict\)/ });
      }
      assert.deepEqual(readdirSync(scratch.root), ['dict']);
    });

    it('since its tables are rubbish, though its hash is as listed: DICTIONARY_DAMAGED, also where no chunk names it', async () => {
      const folder = dictionaryFolder(source());
      const bad = withBadTables(readFileSync(join(folder, '1.zdict')));
      writeFileSync(join(folder, '1.zdict'), bad);
      const index = JSON.parse(readFileSync(join(folder, 'index.json'), 'utf8')) as { dictionaries: { id: number; sha256: string }[] };
      const listed = index.dictionaries.find(({ id }) => id === 1);
      assert.ok(listed !== undefined);
      listed.sha256 = createHash('sha256').update(bad).digest('hex');
      writeFileSync(join(folder, 'index.json'), JSON.stringify(index));
      await assertFails(convertRepository(at('dict'), at('dst'), { jobs: 1 }), { code: 'DICTIONARY_DAMAGED', path: '.i', message: /ID 1 / });

      await convert(join(prepared, 'src'), at('plain'));
      cpSync(folder, dictionaryFolder(at('plain')), { recursive: true });
      appendFileSync(join(at('plain'), '.hg/store/requires'), 'exp-revlog-zstd-dictionary.1\n');
      await assertFails(convertRepository(at('plain'), at('dst'), { jobs: 1 }), { code: 'DICTIONARY_DAMAGED', path: '.i', message: /ID 1 / });
      assert.ok(!existsSync(at('dst')));
      await convertRepository(at('plain'), at('dst'), { jobs: 1, dictionaries: 'none' });
      await assertPlain(at('dst'));
    });
  });
});
