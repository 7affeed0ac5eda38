/** Whole conversions: nothing lost, nothing shared with the source written to, the same for any number of threads. */
import assert from 'node:assert/strict';
import { appendFileSync, existsSync, linkSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { describe, it } from 'mocha';

import type { EngineName, Progress } from '../../src/index.js';
import { listAvailableEngines } from '../../src/index.js';
import { setChunk } from '../bad-input/support.js';
import { assertNoDescriptors } from '../support/descriptors.js';
import type { LayoutName, RepositoryOptions } from '../support/repository-builder.js';
import { buildRepository, LAYOUTS, rawChunk, writeAt } from '../support/repository-builder.js';
import { assertFails, convert, meaningOf, picture, readBack, Scratch } from './support.js';

const LAYOUT_NAMES = Object.keys(LAYOUTS) as LayoutName[];

/** Revlogs larger than a MiB, which are cut into ranges, and small ones. */
const LARGE: RepositoryOptions = { files: ['split.txt', 'a.txt', 'b.txt'], commits: 30, textBytes: 60_000, compress: rawChunk };

/** Files below a folder, with paths relative to it. */
const filesBelow = (root: string): string[] =>
  readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))
    .sort();

describe('conversion', function () {
  this.timeout(60_000);
  const scratch = Scratch.use();

  describe('keeps every revision', () => {
    for (const layout of LAYOUT_NAMES) {
      it(layout, async () => {
        const { store, revlogs } = buildRepository(scratch.at('src'), { layout });
        const before = picture(scratch.at('src'));
        await convert(scratch.at('src'), scratch.at('dst'));
        await convert(scratch.at('dst'), scratch.at('back'), { to: 'zlib' });
        for (const name of revlogs.keys()) {
          const texts = (await readBack(join(store, name))).map(({ delta }) => Buffer.from(delta ?? []).toString('base64'));
          const from = meaningOf(await readBack(join(store, name)));
          for (const place of ['dst', 'back']) {
            const to = await readBack(scratch.at(place, '.hg', 'store', name));
            assert.deepEqual(meaningOf(to), from, name);
            assert.deepEqual(to.map(({ delta }) => Buffer.from(delta ?? []).toString('base64')), texts);
          }
        }
        assert.deepEqual(picture(scratch.at('src')), before);
      });
    }
  });

  describe('to each engine and back gives the same store', () => {
    for (const to of ['none', 'zlib', 'zstd', 'lz4'] as const satisfies readonly EngineName[]) {
      it(to, async function () {
        if (!(await listAvailableEngines()).some(({ name }) => name === to)) this.skip();
        buildRepository(scratch.at('src'));
        await convert(scratch.at('src'), scratch.at('zlib'), { to: 'zlib' });
        await convert(scratch.at('zlib'), scratch.at('there'), { to });
        await convert(scratch.at('there'), scratch.at('back'), { to: 'zlib' });
        assert.deepEqual(picture(scratch.at('back')), picture(scratch.at('zlib')));
      });
    }
  });

  for (const check of ['chunks', 'none'] as const) {
    it(`the output does not depend on the threads, --check ${check}`, async () => {
      buildRepository(scratch.at('src'), LARGE);
      for (const jobs of [1, 2, 4]) await convert(scratch.at('src'), scratch.at(`${jobs}`), { jobs, check });
      assert.deepEqual(picture(scratch.at('2')), picture(scratch.at('1')));
      assert.deepEqual(picture(scratch.at('4')), picture(scratch.at('1')));
      const names = filesBelow(scratch.at('1'));
      assert.ok(names.includes('.hg/store/data/split.txt.d'), names.join());
    });
  }

  it('large revlogs keep every revision, whatever their form', async () => {
    const { store } = buildRepository(scratch.at('src'), LARGE);
    await convert(scratch.at('src'), scratch.at('dst'), { jobs: 2 });
    for (const name of ['data/split.txt.i', 'data/a.txt.i']) {
      assert.deepEqual(meaningOf(await readBack(scratch.at('dst', '.hg', 'store', name))), meaningOf(await readBack(join(store, name))));
    }
  });

  it('files that a clone shares by hard link are not written to', async () => {
    const { root } = buildRepository(scratch.at('src'));
    writeAt(join(root, '.hg', 'store', 'phaseroots'), '');
    const files = filesBelow(root);
    for (const name of files) {
      mkdirSync(dirname(scratch.at('clone', name)), { recursive: true });
      linkSync(join(root, name), scratch.at('clone', name));
    }
    const before = picture(scratch.at('clone'));
    await convert(root, scratch.at('dst'));
    assert.deepEqual(picture(scratch.at('clone')), before);
    const shared = new Set(files.map((name) => statSync(join(root, name)).ino));
    for (const name of filesBelow(scratch.at('dst'))) assert.ok(!shared.has(statSync(scratch.at('dst', name)).ino), `${name} is the source's own file`);
  });

  it('what rolls back is not taken along: it would cut the new files', async () => {
    const { hg, store } = buildRepository(scratch.at('src'));
    for (const name of ['undo', 'undo.backupfiles', 'undo.phaseroots']) writeAt(join(store, name), 'x');
    for (const name of ['undo.dirstate', 'undo.bookmarks', 'undo.desc']) writeAt(join(hg, name), 'x');
    const { dropped } = await convert(scratch.at('src'), scratch.at('dst'));
    assert.deepEqual(filesBelow(scratch.at('dst')).filter((name) => name.includes('undo')), []);
    assert.equal(dropped.length, 6);
  });

  it('the list has the data of every revlog that is split now', async () => {
    buildRepository(scratch.at('src'), { files: ['a.txt', 'split.txt'], commits: 12, textBytes: 20_000 });
    const list = (place: string): string[] => readFileSync(scratch.at(place, '.hg', 'store', 'fncache'), 'utf8').split('\n').slice(0, -1);
    await convert(scratch.at('src'), scratch.at('none'), { to: 'none' });
    assert.deepEqual(list('none'), ['data/a.txt.d', 'data/a.txt.i', 'data/split.txt.d', 'data/split.txt.i']);
    for (const name of list('none')) assert.ok(existsSync(scratch.at('none', '.hg', 'store', name)), name);
    await convert(scratch.at('none'), scratch.at('small'), { to: 'zstd', level: 19 });
    for (const name of list('small')) assert.ok(existsSync(scratch.at('small', '.hg', 'store', name)), name);
    assert.deepEqual(filesBelow(scratch.at('small', '.hg', 'store', 'data')).map((name) => `data/${name}`), list('small'));
  });

  it('the summary counts what there was', async () => {
    const { revlogs } = buildRepository(scratch.at('src'));
    const { kinds, revisions, bytesBefore, bytesAfter, from, to, jobs, checked } = await convert(scratch.at('src'), scratch.at('dst'));
    const sizes = [...revlogs.values()].map(({ index, data }) => index.length + (data?.length ?? 0));
    assert.equal(bytesBefore, sizes.reduce((sum, size) => sum + size, 0));
    const written = filesBelow(scratch.at('dst', '.hg', 'store')).filter((name) => /\.[id]$/.test(name));
    assert.equal(bytesAfter, written.reduce((sum, name) => sum + statSync(scratch.at('dst', '.hg', 'store', name)).size, 0));
    assert.deepEqual([kinds.changelog.revisions, kinds.manifest.revisions, kinds.filelog.revisions, revisions], [4, 4, 8, 16]);
    assert.deepEqual([from, to, jobs, checked], ['zlib', 'zstd', 1, 'chunks']);
  });

  it('a source without generaldelta is left as it is where that is asked for', async () => {
    const { store } = buildRepository(scratch.at('src'), { layout: 'no store' });
    await convert(scratch.at('src'), scratch.at('dst'), { generaldelta: false });
    const header = readFileSync(scratch.at('dst', '.hg', 'store', 'data', 'a.txt.i')).readUInt32BE(0);
    assert.equal(header & 0x20000, 0);
    assert.deepEqual(meaningOf(await readBack(scratch.at('dst', '.hg', 'store', 'data', 'a.txt.i'))), meaningOf(await readBack(join(store, 'data', 'a.txt.i'))));
  });
});

describe('progress', () => {
  const scratch = Scratch.use();

  for (const jobs of [1, 2]) {
    it(`grows, ends with everything, and never says more than there is: ${jobs} jobs`, async () => {
      buildRepository(scratch.at('src'), LARGE);
      const seen: Progress[] = [];
      await convert(scratch.at('src'), scratch.at('dst'), { jobs, onProgress: (progress) => seen.push(progress) });
      const last = seen.at(-1);
      assert.deepEqual([last?.revlogsDone, last?.bytesDone], [last?.revlogsTotal, last?.bytesTotal]);
      assert.equal(last?.revlogsTotal, 5);
      for (const [i, { bytesDone, revlogsDone, bytesTotal }] of seen.entries()) {
        assert.ok(bytesDone <= bytesTotal && bytesDone >= (seen[i - 1]?.bytesDone ?? 0));
        assert.ok(revlogsDone >= (seen[i - 1]?.revlogsDone ?? 0));
      }
    });
  }
});

describe('an abort', function () {
  this.timeout(60_000);
  const scratch = Scratch.use();

  async function assertCancelled(running: Promise<unknown>): Promise<void> {
    await assertFails(running, { code: 'CANCELLED' });
    assert.deepEqual(readdirSync(scratch.root), ['src']);
    assert.deepEqual(readdirSync(scratch.at('src', '.hg')).filter((name) => name.includes('lock')), []);
    assertNoDescriptors(scratch.root);
  }

  it('before it begins: CANCELLED, nothing is left', async () => {
    buildRepository(scratch.at('src'));
    await assertCancelled(convert(scratch.at('src'), scratch.at('dst'), { signal: AbortSignal.abort() }));
  });

  for (const jobs of [1, 2, 4]) {
    it(`in the middle, ${jobs} jobs: CANCELLED, nothing is left`, async () => {
      buildRepository(scratch.at('src'), LARGE);
      const controller = new AbortController();
      await assertCancelled(convert(scratch.at('src'), scratch.at('dst'), { jobs, signal: controller.signal, onProgress: () => controller.abort() }));
    });
  }

  for (const [title, reason] of [['an error', new Error('enough')], ['a timeout', new DOMException('late', 'TimeoutError')], ['a text', 'stop']] as const) {
    it(`with ${title} as its reason: CANCELLED all the same`, async () => {
      buildRepository(scratch.at('src'), LARGE);
      const controller = new AbortController();
      await assertCancelled(convert(scratch.at('src'), scratch.at('dst'), { signal: controller.signal, onProgress: () => controller.abort(reason) }));
    });
  }

  it('while many files are carried: nothing is left, also not later', async () => {
    const { store } = buildRepository(scratch.at('src'), LARGE);
    for (let i = 0; i < 500; i++) writeAt(join(store, 'lfs', 'objects', `${i % 50}`, `${i}`), 'blob');
    const controller = new AbortController();
    await assertCancelled(convert(scratch.at('src'), scratch.at('dst'), { signal: controller.signal, onProgress: () => controller.abort() }));
    await new Promise((resolve) => setTimeout(resolve, 50));
    assert.deepEqual(readdirSync(scratch.root), ['src']);
  });

  it('after the end: nothing happens', async () => {
    buildRepository(scratch.at('src'));
    const controller = new AbortController();
    await convert(scratch.at('src'), scratch.at('dst'), { signal: controller.signal });
    controller.abort();
    assert.ok(existsSync(scratch.at('dst', '.hg')));
  });
});

describe('a failure', function () {
  this.timeout(60_000);
  const scratch = Scratch.use();

  it('while many files are carried: nothing is left, also not later', async () => {
    const repository = buildRepository(scratch.at('src'));
    for (let i = 0; i < 500; i++) writeAt(repository.inStore(`lfs/objects/${i % 50}/${i}`), 'blob');
    setChunk('data/a.txt.i', 0, 0, Buffer.of(0x12))(repository);
    await assertFails(convert(scratch.at('src'), scratch.at('dst')), { code: 'CHUNK_MARKER', path: 'data/a.txt.i', rev: 0, offset: 64 });
    assert.deepEqual(readdirSync(scratch.root), ['src']);
    await new Promise((resolve) => setTimeout(resolve, 50));
    assert.deepEqual(readdirSync(scratch.root), ['src']);
    assertNoDescriptors(scratch.root);
  });

  // Stopping a thread that is still loading its modules ended the whole process in an earlier version.
  it('while threads are starting, again and again: each time the same error, and the process lives', async () => {
    const repository = buildRepository(scratch.at('src'), { ...LARGE, commits: 60 });
    appendFileSync(repository.inStore('00manifest.i'), 'torn');
    for (let i = 0; i < 8; i++) {
      const found = convert(scratch.at('src'), scratch.at('dst'), { jobs: 8 });
      await assertFails(found, { code: 'INDEX_TRUNCATED', path: '00manifest.i', rev: 60 });
      assert.deepEqual(readdirSync(scratch.root), ['src']);
    }
  });

  it('in several threads at once: the process lives, and nothing is left', async () => {
    const repository = buildRepository(scratch.at('src'), LARGE);
    for (const name of ['data/split.txt.i', 'data/a.txt.i', 'data/b.txt.i']) setChunk(name, 0, 0, Buffer.of(0x12))(repository);
    for (let i = 0; i < 5; i++) {
      await assert.rejects(convert(scratch.at('src'), scratch.at('dst'), { jobs: 4 }), { code: 'CHUNK_MARKER' });
      assert.deepEqual(readdirSync(scratch.root), ['src']);
      assertNoDescriptors(scratch.root);
    }
  });
});
