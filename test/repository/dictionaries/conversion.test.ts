/** Conversions to dictionaries, from them, and between them. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { after, before, describe, it } from 'mocha';

import type { ConvertOptions, EngineName } from '../../../src/index.js';
import { convertRepository } from '../../../src/index.js';
import type { DictionaryChoice } from '../../../src/repository/dictionaries/choice.js';
import { giveDictionaries, requireZstd, trainByProgram, withId } from '../../support/dictionary-files.js';
import { countFrames } from '../../support/dictionary-repository.js';
import { type FixtureName, FIXTURES, useFixtures } from '../../support/fixtures.js';
import { buildRepository, type LayoutName, LAYOUTS, rawChunk, type RepositoryOptions } from '../../support/repository-builder.js';
import { assertFails, assertGone, convert, picture, Scratch } from '../support.js';
import { assertPlain, assertSoundWithDictionaries, assertVerified, chunksOfStore, dictionariesAt, dictionaryFolder, idsIn, indexOf, meaningOfStore, requirementsOf, storeOf } from './support.js';

/** Enough of each kind for a dictionary. */
const ENOUGH: RepositoryOptions = { commits: 150, files: ['a.c', 'lib/b.c', 'split.py', 'notes.txt'], textBytes: 500 };
/** With a revlog that is cut into ranges. */
const LARGE: RepositoryOptions = { files: ['split.txt', 'a.txt'], commits: 600, textBytes: 2000, compress: rawChunk };

describe('conversion with dictionaries', function () {
  this.timeout(60_000);
  const scratch = Scratch.use();
  const unpack = useFixtures();
  const prepared = mkdtempSync(join(tmpdir(), 'revconvert-test-'));
  before(function () {
    requireZstd(this);
  });
  after(() => rmSync(prepared, { recursive: true, force: true }));

  const at = (name: string): string => scratch.at(name);
  /** Builds the source; each only once. */
  function build(options: RepositoryOptions = ENOUGH): void {
    const known = join(prepared, createHash('sha1').update(JSON.stringify({ ...options, compress: options.compress?.name })).digest('hex'));
    if (!existsSync(known)) buildRepository(known, options);
    cpSync(known, at('src'), { recursive: true });
  }

  async function auto(options: ConvertOptions = {}): Promise<string> {
    build();
    await convert(at('src'), at('dict'), { dictionaries: 'auto', ...options });
    return at('dict');
  }

  /** Files of dictionaries for texts like those of the builder: those that a conversion trains. */
  async function files(): Promise<{ all: string; python: string }> {
    buildRepository(at('other'), { ...ENOUGH, files: ['x.c', 'y.py'] });
    await convert(at('other'), at('other-dict'), { dictionaries: 'auto', dictionarySize: 1024 });
    const [first, second] = [...dictionariesAt(at('other-dict')).values()];
    writeFileSync(at('all.zdict'), withId(first?.bytes ?? Buffer.alloc(0), 0x12345678));
    writeFileSync(at('python.zdict'), withId(second?.bytes ?? Buffer.alloc(0), 0));
    return { all: at('all.zdict'), python: at('python.zdict') };
  }

  describe('auto', () => {
    it('trains a dictionary for each kind that gains, and says so', async () => {
      build();
      const summary = await convert(at('src'), at('dict'), { dictionaries: 'auto' });
      await assertSoundWithDictionaries(at('dict'));
      assert.deepEqual(countFrames(at('dict')), { 'changelog 3': 150, 'filelog 1': 600, 'manifest 2': 150 });
      const { dictionaries } = summary;
      assert.equal(dictionaries.choice, 'auto');
      assert.deepEqual(dictionaries.added.map(({ id, names }) => [id, names]), [[1, ['filelog']], [2, ['manifest']], [3, ['changelog']]]);
      assert.deepEqual(dictionaries.added.map(({ bytes }) => bytes), [1, 2, 3].map((id) => dictionariesAt(at('dict')).get(id)?.bytes.length));
      assert.equal(dictionaries.bytes, dictionaries.added.reduce((sum, { bytes }) => sum + bytes, 0));
      assert.deepEqual(dictionaries.used.map(({ id, chunks }) => [id, chunks]), [[1, 600], [2, 150], [3, 150]]);
      assert.ok(dictionaries.used.reduce((sum, { bytes }) => sum + bytes, 0) < summary.bytesAfter);
      assert.deepEqual([dictionaries.without, dictionaries.revlogsWithout], [[], 0]);
      assert.deepEqual(summary.requirements.added, ['exp-revlog-zstd-dictionary.1', 'revlog-compression-zstd']);
      assert.deepEqual(indexOf(at('dict')).dictionaries.map(({ kind }) => kind), ['filelog', 'manifest', 'changelog']);
      assert.deepEqual(indexOf(at('dict')).write, { changelog: 3, manifest: 2, filelog: 1 });
      const plain = await convert(at('src'), at('plain'));
      assert.ok(summary.bytesAfter + dictionaries.bytes < plain.bytesAfter, 'smaller, dictionaries and all');
    });

    it('takes a size and a number of samples', async () => {
      build();
      const { dictionaries } = await convert(at('src'), at('dict'), { dictionaries: 'auto', dictionarySize: 700, dictionarySamples: 50 });
      for (const { bytes, samples } of dictionaries.added) assert.ok(bytes <= 700 && samples !== undefined && samples <= 60);
      assert.equal(dictionaries.added.length, 3);
    });

    it('a kind that gains less than its dictionary takes does without', async () => {
      build();
      const { dictionaries } = await convert(at('src'), at('dict'), { dictionaries: 'auto', dictionarySize: 20_000 });
      assert.ok(dictionaries.without.some(({ name, why }) => name === 'changelog' && /gain \d+ bytes; the dictionary takes \d+|nothing of its/.test(why)), JSON.stringify(dictionaries));
      assert.ok(!Object.keys(countFrames(at('dict'))).some((key) => /^changelog [1-9]/.test(key)));
    });

    for (const [title, options] of [
      ['without a commit', { commits: 0, files: [] }],
      ['of one commit', { commits: 1 }],
      ['of a few commits', { commits: 5 }],
    ] as const) {
      it(`a repository ${title} does without, and needs nothing`, async () => {
        build(options);
        const { dictionaries, requirements: { added } } = await convert(at('src'), at('dst'), { dictionaries: 'auto' });
        await convert(at('src'), at('plain'));
        assert.deepEqual(picture(at('dst')), picture(at('plain')));
        assert.deepEqual([dictionaries.added, dictionaries.bytes, dictionaries.used], [[], 0, []]);
        assert.deepEqual(dictionaries.without.map(({ name }) => name).sort(), ['changelog', ...(options.commits === 0 ? [] : ['filelog']), 'manifest']);
        assert.deepEqual(added, ['revlog-compression-zstd']);
      });
    }

    it('leaves the old dictionaries behind, and takes other IDs', async () => {
      await auto();
      await convert(at('dict'), at('again'), { dictionaries: 'auto' });
      await assertSoundWithDictionaries(at('again'));
      assert.deepEqual([...dictionariesAt(at('again')).keys()].sort(), [4, 5, 6]);
      assert.deepEqual(idsIn(at('again')), [4, 5, 6]);
    });

    it('where IDs run out, takes those that the source does not have', async () => {
      const repository = buildRepository(at('src'), ENOUGH);
      giveDictionaries(repository.hg, [1, 3, 255].map((id) => ({ id, bytes: trainByProgram({ id }) })));
      await convert(at('src'), at('dict'), { dictionaries: 'auto' });
      await assertSoundWithDictionaries(at('dict'));
      assert.deepEqual(idsIn(at('dict')), [2, 4, 5]);
    });

    it('trains on new deltas, where both are asked for', async () => {
      build();
      const { dictionaries, redelta } = await convert(at('src'), at('dict'), { dictionaries: 'auto', redelta: 'all' });
      assert.equal(redelta, 'all');
      assert.equal(dictionaries.added.length, 3);
      await assertSoundWithDictionaries(at('dict'));
      assert.deepEqual(readdirSync(at('dict')), ['.hg'], 'what lay between is gone');
      await convert(at('src'), at('redelta'), { redelta: 'all' });
      assert.deepEqual(await meaningOfStore(at('dict')), await meaningOfStore(at('redelta')));
    });
  });

  describe('comes back', () => {
    const ways: readonly (readonly [title: string, options: () => Promise<ConvertOptions>])[] = [
      ['auto', () => Promise.resolve({ dictionaries: 'auto' })],
      ['auto, at another level, with checksums', () => Promise.resolve({ dictionaries: 'auto', level: 12, checksum: true })],
      ['a file for all', async () => ({ dictionaries: { files: { all: (await files()).all } } })],
      ['files for kinds and suffixes', async () => ({ dictionaries: { files: { 'manifest': (await files()).all, '.py': at('python.zdict'), '.c': at('all.zdict') } } })],
      ['those of another repository', async () => ({ dictionaries: { from: (await files(), at('other-dict')) } })],
    ];
    for (const [title, options] of ways) {
      it(`${title}: as what it would have been without`, async () => {
        build();
        const { dictionaries } = await convert(at('src'), at('dict'), await options());
        assert.ok(dictionaries.added.length > 0, JSON.stringify(dictionaries));
        await assertSoundWithDictionaries(at('dict'));
        assert.deepEqual(await meaningOfStore(at('dict')), await meaningOfStore(at('src')));
        for (const to of ['zlib', 'none', 'zstd'] as const satisfies EngineName[]) {
          await convert(at('src'), at(`${to}-direct`), { to });
          await convert(at('dict'), at(to), { to });
          await assertPlain(at(to));
          assert.deepEqual(picture(at(to)), picture(at(`${to}-direct`)), to);
        }
      });
    }
  });

  describe('is the same for any number of threads, and each time', () => {
    const ways: readonly (readonly [title: string, built: RepositoryOptions, options: ConvertOptions])[] = [
      ['auto', ENOUGH, { dictionaries: 'auto' }],
      ['auto, with revlogs that are cut', LARGE, { dictionaries: 'auto' }],
      ['auto, with new deltas', ENOUGH, { dictionaries: 'auto', redelta: 'all' }],
      ['auto, with new deltas and revlogs that are cut', LARGE, { dictionaries: 'auto', redelta: 'fulladd' }],
    ];
    for (const [title, built, options] of ways) {
      it(title, async () => {
        build(built);
        await convert(at('src'), at('one'), options);
        assert.ok(existsSync(dictionaryFolder(at('one'))));
        await assertVerified(at('one'));
        for (const [name, jobs] of [['again', 1], ['two', 2], ['four', 4]] as const) {
          await convert(at('src'), at(name), { ...options, jobs });
          assert.deepEqual(picture(at(name)), picture(at('one')), `${jobs} jobs`);
        }
      });
    }

    for (const dictionaries of ['keep', 'refresh', 'add', 'auto'] as const) {
      it(`${dictionaries}, from a store with some`, async () => {
        build(LARGE);
        await convert(at('src'), at('dict'), { dictionaries: 'auto', dictionarySize: 256 });
        await convert(at('dict'), at('one'), { dictionaries });
        for (const [name, jobs] of [['again', 1], ['two', 2]] as const) {
          await convert(at('dict'), at(name), { dictionaries, jobs });
          assert.deepEqual(picture(at(name)), picture(at('one')), `${jobs} jobs`);
        }
        await assertSoundWithDictionaries(at('one'));
      });
    }
  });

  describe('keep', () => {
    for (const [title, options] of [['where nothing is said', {}], ['where it is said', { dictionaries: 'keep' }], ['where the engine is said too', { dictionaries: 'keep', to: 'zstd' }]] as const) {
      it(`${title}: the very same store`, async () => {
        await auto();
        const { dictionaries } = await convertRepository(at('dict'), at('kept'), { jobs: 1, ...options });
        assert.deepEqual(picture(at('kept')), picture(at('dict')));
        assert.deepEqual([dictionaries.choice, dictionaries.added, dictionaries.used.map(({ id }) => id)], ['keep', [], [1, 2, 3]]);
      });
    }

    it('keeps dictionaries that no chunk uses, with their rules', async () => {
      const repository = buildRepository(at('src'), ENOUGH);
      giveDictionaries(repository.hg, [{ id: 9, bytes: trainByProgram({ id: 9 }), kind: 'filelog' }], { suffixes: { '.zzz': 9 } });
      await convertRepository(at('src'), at('kept'), { jobs: 1 });
      assert.deepEqual([...dictionariesAt(at('kept')).keys()], [9]);
      assert.deepEqual(indexOf(at('kept')).write, { changelog: 0, manifest: 0, filelog: 0, suffixes: { '.zzz': 9 } });
      assert.deepEqual(idsIn(at('kept')), [0]);
      await assertSoundWithDictionaries(at('kept'));
    });

    it('makes new deltas with the dictionaries of the source', async () => {
      await auto();
      await convertRepository(at('dict'), at('kept'), { jobs: 1, redelta: 'all' });
      await assertSoundWithDictionaries(at('kept'));
      assert.deepEqual(idsIn(at('kept')), [1, 2, 3]);
      assert.deepEqual(picture(dictionaryFolder(at('kept'))), picture(dictionaryFolder(at('dict'))));
    });

    it('none, where nothing else is said, takes them away and leaves the engine', async () => {
      await auto();
      await convertRepository(at('dict'), at('none'), { jobs: 1, dictionaries: 'none' });
      await convert(at('src'), at('plain'));
      assert.deepEqual(picture(at('none')), picture(at('plain')));
    });

    it('from a source without any is none', async () => {
      build();
      const { dictionaries } = await convert(at('src'), at('dst'), { dictionaries: 'keep' });
      assert.equal(dictionaries.choice, 'none');
      await assertPlain(at('dst'));
    });
  });

  for (const dictionaries of ['auto', 'refresh', 'add', { files: { all: 'x' } }, { from: 'x' }] as const satisfies DictionaryChoice[]) {
    it(`${JSON.stringify(dictionaries)} needs zstd`, async () => {
      build({});
      for (const to of ['zlib', 'none', undefined] as const) await assertFails(convert(at('src'), at('dst'), { to, dictionaries }), { code: 'USAGE', message: /only zstd has dictionaries/ });
      assert.deepEqual(readdirSync(scratch.root), ['src']);
    });
  }

  describe('refresh and add', () => {
    /** A store whose only dictionary is that of one suffix. */
    async function stale(): Promise<void> {
      build();
      await files();
      await convert(at('src'), at('dict'), { dictionaries: { files: { '.py': at('all.zdict') } } });
      assert.deepEqual(Object.keys(countFrames(at('dict'), '.py.i')), ['filelog 1']);
      assert.deepEqual(idsIn(at('dict')), [0, 1]);
    }
    type Chunks = Record<string, string[]>;
    const pairs = (before: Chunks, after: Chunks): (readonly [string, string])[] => Object.entries(before).flatMap(([name, chunks]) => chunks.map((chunk, rev) => [chunk, after[name]?.[rev] ?? ''] as const));

    it('refresh rewrites the chunks that get shorter, and no others', async () => {
      await stale();
      const [before_, { dictionaries }] = [await chunksOfStore(at('dict')), await convert(at('dict'), at('fresh'), { dictionaries: 'refresh' })];
      await assertSoundWithDictionaries(at('fresh'));
      // A new one for the suffix may or may not be worth what it takes; it stays set apart.
      assert.deepEqual(Object.keys(indexOf(at('fresh')).write['suffixes'] ?? {}), ['.py']);
      assert.deepEqual(await meaningOfStore(at('fresh')), await meaningOfStore(at('dict')));
      assert.ok(dictionaries.added.length >= 2 && dictionaries.added.every(({ id }) => id > 1), JSON.stringify(dictionaries));
      const changed = pairs(before_, await chunksOfStore(at('fresh'))).filter(([old, now]) => old !== now);
      assert.ok(changed.length > 100);
      for (const [old, now] of changed) assert.ok(now.length < old.length);
      assert.deepEqual(readFileSync(join(dictionaryFolder(at('fresh')), '1.zdict')), readFileSync(join(dictionaryFolder(at('dict')), '1.zdict')));
    });

    it('add rewrites no chunk: what is new is for chunks to come', async () => {
      await stale();
      const { dictionaries } = await convert(at('dict'), at('more'), { dictionaries: 'add' });
      await assertSoundWithDictionaries(at('more'));
      assert.deepEqual(await chunksOfStore(at('more')), await chunksOfStore(at('dict')));
      const ids = dictionaries.added.map(({ id }) => id);
      assert.ok(ids.length >= 2);
      assert.deepEqual([...dictionariesAt(at('more')).keys()].sort(), [1, ...ids].sort());
      assert.equal(indexOf(at('more')).write['filelog'], dictionaries.added.find(({ names }) => names.includes('filelog'))?.id);
      assert.equal(dictionaries.revlogsWithout, 0);
    });

    for (const dictionaries of ['refresh', 'add'] as const) {
      it(`${dictionaries} of a store that has what it would get: the very same store`, async () => {
        await auto();
        const done = await convert(at('dict'), at('same'), { dictionaries });
        assert.deepEqual(picture(at('same')), picture(at('dict')));
        assert.deepEqual([done.dictionaries.added, done.dictionaries.without.length], [[], 3]);
      });

      it(`${dictionaries} of a store without any adds some`, async () => {
        build();
        await convert(at('src'), at('plain'));
        const done = await convert(at('plain'), at('dict'), { dictionaries });
        await assertSoundWithDictionaries(at('dict'));
        assert.ok(done.dictionaries.added.length > 0);
        assert.deepEqual(idsIn(at('dict')), dictionaries === 'add' ? [0] : [1, 2, 3]);
      });

      it(`${dictionaries} leaves no chunk behind that only an extension for lz4 reads`, async () => {
        build();
        await convert(at('src'), at('lz4'), { to: 'lz4' });
        await assertFails(convert(at('lz4'), at('dst'), { to: 'zstd', dictionaries }), { code: 'USAGE', message: /keeps chunks as they are, and those of the source are lz4: use --dict auto/ });
        await convert(at('lz4'), at('dst'), { to: 'zstd', dictionaries: 'auto' });
        await assertSoundWithDictionaries(at('dst'));
      });

      it(`${dictionaries} of a store with all IDs taken is refused`, async () => {
        const repository = buildRepository(at('src'), ENOUGH);
        giveDictionaries(repository.hg, Array.from({ length: 254 }, (_, i) => ({ id: i + 1, bytes: trainByProgram({ id: 1, size: 256 }) })).map(({ id, bytes }) => ({ id, bytes: withId(bytes, id) })));
        await assertFails(convert(at('src'), at('dst'), { dictionaries }), { code: 'DICTIONARY', message: /has 254 dictionaries, and 255 at most: .*--dict auto/ });
        assert.deepEqual(readdirSync(scratch.root), ['src']);
      });
    }
  });

  describe('files and suffixes', () => {
    it('each revlog is compressed with the dictionary that is for it', async () => {
      build();
      const { all, python } = await files();
      await convert(at('src'), at('dict'), { dictionaries: { files: { 'filelog': all, '.py': python, 'manifest': python } } });
      const { write } = indexOf(at('dict'));
      assert.ok(typeof write['filelog'] === 'number' && write['filelog'] > 0);
      for (const [suffix, id] of [['.c.i', write['filelog']], ['.txt.i', write['filelog']]] as const) assert.deepEqual(Object.keys(countFrames(at('dict'), suffix)), [`filelog ${id}`]);
      assert.equal(write['changelog'], 0);
      assert.deepEqual(Object.keys(countFrames(at('dict'), '00changelog.i')), ['changelog 0']);
      await assertSoundWithDictionaries(at('dict'));
    });

    it('a file that serves several is stored once, for any', async () => {
      build();
      const { all } = await files();
      await convert(at('src'), at('dict'), { dictionaries: { files: { all } } });
      assert.equal(dictionariesAt(at('dict')).size, 1);
      assert.deepEqual(indexOf(at('dict')).dictionaries.map(({ id, kind }) => [id, kind]), [[1, 'any']]);
    });

    it('a dictionary that gains nothing does not come along', async () => {
      build();
      writeFileSync(at('code.zdict'), trainByProgram({ size: 8192 }));
      const { dictionaries } = await convert(at('src'), at('dst'), { dictionaries: { files: { all: at('code.zdict') } } });
      assert.deepEqual(dictionaries.added, []);
      assert.equal(dictionaries.without.length, 3);
      await assertPlain(at('dst'));
    });

    it('a missing file is an error, and nothing is left', async () => {
      build({});
      await assertFails(convert(at('src'), at('dst'), { dictionaries: { files: { all: at('nowhere') } } }), { code: 'DICTIONARY', path: 'nowhere' });
      assert.deepEqual(readdirSync(scratch.root), ['src']);
    });
  });

  describe('of every layout', () => {
    for (const layout of Object.keys(LAYOUTS) as LayoutName[]) {
      it(layout, async () => {
        build({ ...ENOUGH, layout });
        const { dictionaries } = await convert(at('src'), at('dict'), { dictionaries: 'auto' });
        assert.equal(dictionaries.added.length, 3, JSON.stringify(dictionaries));
        await assertSoundWithDictionaries(at('dict'));
        await convert(at('src'), at('direct'), { to: 'zlib' });
        await convert(at('dict'), at('back'), { to: 'zlib' });
        assert.deepEqual(picture(at('back')), picture(at('direct')));
        if (layout !== 'share-safe') return;
        await convert(at('src'), at('redelta'), { dictionaries: 'auto', redelta: 'parent' });
        await assertSoundWithDictionaries(at('redelta'));
      });
    }

    for (const name of Object.keys(FIXTURES) as FixtureName[]) {
      it(`the fixture ${name}`, async () => {
        const source = unpack(name);
        for (const [place, options] of [['dict', {}], ['dict-redelta', { redelta: 'all' }]] as const) {
          await convert(source, at(place), { dictionaries: 'auto', dictionarySize: 256, ...options });
          const direct = `${place}-direct`;
          await convert(source, at(direct), { to: 'zlib', ...options });
          await convert(at(place), at(`${place}-back`), { to: 'zlib' });
          // The policy weighs chunks as zstd makes them: other deltas are as good.
          if (place === 'dict') assert.deepEqual(picture(storeOf(at(`${place}-back`))), picture(storeOf(at(direct))));
          else await assertVerified(at(`${place}-back`));
        }
        assert.ok(name === 'split' || requirementsOf(at('dict')).includes('revlog-compression-zstd'));
      });
    }
  });

  it('a folder of dictionaries that nothing requires does not come along', async () => {
    const { hg } = buildRepository(at('src'));
    mkdirSync(join(hg, 'store', 'revlog-dictionaries'));
    writeFileSync(join(hg, 'store', 'revlog-dictionaries', 'index.json'), 'rubbish');
    await convert(at('src'), at('dst'));
    assertGone(dictionaryFolder(at('dst')));
  });
});
