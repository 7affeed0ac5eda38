import assert from 'node:assert/strict';
import { copyFileSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';

import { describe, it } from 'mocha';

import type { ErrorCode, NamedStats, StatsOptions, StoreStats } from '../../src/index.js';
import { collectStats } from '../../src/index.js';
import { assertFails, picture, Scratch } from '../repository/support.js';
import { useFixtures } from '../support/fixtures.js';
import { buildRepository, rawChunk, writeAt } from '../support/repository-builder.js';

/** Bytes of the chunks of a revlog. */
const stored = (chunks: readonly { readonly chunk: Buffer }[]): number => chunks.reduce((sum, { chunk }) => sum + chunk.length, 0);

const onlyOf = (stats: StoreStats): NamedStats => {
  const [one] = stats.largest;
  assert.ok(one !== undefined);
  assert.equal(stats.largest.length, 1);
  return one;
};

describe('figures of a store', () => {
  const scratch = Scratch.use();

  it('are those of its revlogs, by kind and together', async () => {
    const { revlogs } = buildRepository(scratch.at('src'), { commits: 6, files: ['a.txt', 'b.txt', 'split.txt'] });
    const before = picture(scratch.root);
    const { repository, total, kinds, largest, errors } = await collectStats(scratch.at('src'));
    assert.equal(repository, scratch.at('src'));
    assert.deepEqual(errors, []);
    assert.deepEqual([kinds.changelog.revlogs, kinds.manifest.revlogs, kinds.filelog.revlogs, total.revlogs], [1, 1, 3, 5]);
    assert.deepEqual([kinds.changelog.revisions, kinds.manifest.revisions, kinds.filelog.revisions, total.revisions], [6, 6, 18, 30]);
    const all = [...revlogs.values()];
    assert.equal(total.storedBytes, all.reduce((sum, { revisions }) => sum + stored(revisions), 0));
    assert.equal(total.fileBytes, total.storedBytes + 30 * 64);
    assert.equal(total.rawBytes, all.flatMap(({ revisions }) => revisions).reduce((sum, { rawSize }) => sum + rawSize, 0));
    assert.equal(total.ratio, total.rawBytes / total.storedBytes);
    // The builder's base is always 0: the second revision is against the previous, the others against a full text that is no parent.
    assert.deepEqual([kinds.filelog.fullTexts.count, kinds.filelog.bases.previousP1, kinds.filelog.bases.snapshot], [3, 3, 12]);
    assert.deepEqual(kinds.filelog.snapshots.map(({ depth, count }) => [depth, count]), [[1, 12]]);
    // Without generaldelta each is against the revision before.
    assert.deepEqual([kinds.changelog.fullTexts.count, kinds.changelog.bases.previousP1, kinds.changelog.chains.longest], [1, 5, 5]);
    assert.equal(kinds.filelog.chains.longest, 1);
    assert.equal(largest.length, 5);
    assert.deepEqual(largest.map(({ fileBytes }) => fileBytes), all.map(({ index, data }) => index.length + (data?.length ?? 0)).sort((a, b) => b - a));
    assert.deepEqual(picture(scratch.root), before);
  });

  it('name as many of the largest revlogs as are asked for', async () => {
    buildRepository(scratch.at('src'), { files: ['a.txt', 'b.txt', 'c.txt', 'd.txt', 'e.txt'] });
    for (const [top, expected] of [[undefined, 5], [0, 0], [2, 2], [100, 7]] as const) {
      assert.equal((await collectStats(scratch.at('src'), { top })).largest.length, expected);
    }
  });

  it('are those of one revlog where one is asked for', async () => {
    const built = buildRepository(scratch.at('src'), { commits: 3, files: ['dir/a.txt', 'split.txt'], compress: rawChunk });
    const cases: readonly (readonly [StatsOptions['only'], string])[] = [
      ['changelog', '00changelog.i'],
      ['manifest', '00manifest.i'],
      [{ file: 'dir/a.txt' }, 'data/dir/a.txt.i'],
      [{ file: 'split.txt' }, 'data/split.txt.i'],
    ];
    for (const [only, name] of cases) {
      const stats = await collectStats(scratch.at('src'), { only, top: 0 });
      const one = onlyOf(stats);
      const { revisions, form } = built.revlog(name);
      assert.equal(one.path, name);
      assert.equal(one.header.inline, form === 'inline');
      assert.equal(one.storedBytes, stored(revisions));
      assert.deepEqual([stats.total.revlogs, stats.total.revisions, stats.total.storedBytes], [1, 3, one.storedBytes]);
      // Full texts have a 'u' before them, deltas begin with a NUL.
      assert.deepEqual(one.markers.map(({ name: marker, count }) => [marker, count]), [['raw (NUL)', 2], ['raw (u)', 1]]);
    }
  });

  it('are none of a changelog that is not there yet', async () => {
    const { inStore } = buildRepository(scratch.at('src'), { files: [] });
    rmSync(inStore('00changelog.i'));
    const { largest, total, errors } = await collectStats(scratch.at('src'), { only: 'changelog' });
    assert.deepEqual([largest, errors, total.revlogs, total.revisions], [[], [], 0, 0]);
  });

  it('are measured in version 0, where no index says the lengths of texts', async () => {
    const layouts = ['version 0 in a store', 'version 0 without a store'] as const;
    for (const layout of layouts) {
      const { revlogs } = buildRepository(scratch.at(layout), { layout });
      const { total } = await collectStats(scratch.at(layout));
      assert.equal(total.rawBytes, [...revlogs.values()].flatMap(({ revisions }) => revisions).reduce((sum, { rawSize }) => sum + rawSize, 0));
      assert.equal(total.texts.count, total.revisions);
      assert.equal(total.snapshots.length, 0);
    }
  });

  it('find a file whose name is no UTF-8 by how it is shown', async () => {
    const { inStore } = buildRepository(scratch.at('src'));
    copyFileSync(inStore('data/a.txt.i'), inStore('data/caf~e9.i'));
    copyFileSync(inStore('data/a.txt.i'), inStore('data/caf~c3~a9.i'));
    writeFileSync(inStore('fncache'), Buffer.concat([readFileSync(inStore('fncache')), Buffer.from('data/caf\xe9.i\n', 'latin1'), Buffer.from('data/café.i\n')]));
    for (const file of ['caf\ufffd', 'café']) assert.equal(onlyOf(await collectStats(scratch.at('src'), { only: { file } })).path, `data/${file}.i`);
    copyFileSync(inStore('data/a.txt.i'), inStore('data/caf~e8.i'));
    await assertFails(collectStats(scratch.at('src'), { only: { file: 'caf\ufffd' } }), { code: 'USAGE', message: /2 files/ });
  });
});

describe('figures of a damaged store', () => {
  const scratch = Scratch.use();

  const damages: readonly (readonly [title: string, code: ErrorCode, path: string, damage: (inStore: (name: string) => string) => void])[] = [
    ['a data file cut short', 'DATA_TRUNCATED', 'data/split.txt.i', (inStore) => truncateSync(inStore('data/split.txt.d'), 100)],
    ['a data file missing', 'DATA_MISSING', 'data/split.txt.d', (inStore) => rmSync(inStore('data/split.txt.d'))],
    ['an index cut short', 'INDEX_TRUNCATED', 'data/split.txt.i', (inStore) => truncateSync(inStore('data/split.txt.i'), 100)],
    ['an index missing', 'REVLOG_MISSING', 'data/split.txt.i', (inStore) => rmSync(inStore('data/split.txt.i'))],
    ['a version that there is not', 'REVLOG_VERSION', 'data/split.txt.i', (inStore) => writeAt(inStore('data/split.txt.i'), Buffer.alloc(64, 9))],
  ];
  for (const [title, code, path, damage] of damages) {
    it(`leave out what is damaged, and say so: ${title}`, async () => {
      const { inStore, revlog } = buildRepository(scratch.at('src'));
      damage(inStore);
      const { errors, total, kinds, largest } = await collectStats(scratch.at('src'));
      assert.deepEqual(errors.map((error) => [error.code, error.at.path]), [[code, path]]);
      assert.deepEqual([total.revlogs, kinds.filelog.revlogs, total.revisions, largest.length], [3, 1, 12, 3]);
      assert.equal(kinds.filelog.storedBytes, stored(revlog('data/a.txt.i').revisions));
    });
  }

  it('leave out a revlog of version 0 with a chunk that cannot be decompressed', async () => {
    const { inStore, revlog } = buildRepository(scratch.at('src'), { layout: 'version 0 in a store' });
    const bytes = Buffer.from(revlog('data/a.txt.i').data ?? []);
    bytes[1] = 0;
    writeFileSync(inStore('data/a.txt.d'), bytes);
    const { errors, total } = await collectStats(scratch.at('src'));
    assert.deepEqual(errors.map((error) => [error.code, error.at.path, error.at.rev]), [['CHUNK_DAMAGED', 'data/a.txt.i', 0]]);
    assert.equal(total.revlogs, 3);
  });

  it('count chunks by their first byte, whatever it is', async () => {
    const { inStore, revlog } = buildRepository(scratch.at('src'));
    const { index, chunkAt } = revlog('data/a.txt.i');
    index[chunkAt(1)] = 0xee;
    writeFileSync(inStore('data/a.txt.i'), index);
    const { errors, kinds } = await collectStats(scratch.at('src'));
    assert.deepEqual(errors, []);
    assert.deepEqual(kinds.filelog.markers.filter(({ name }) => name === 'unknown').map(({ byte, count }) => [byte, count]), [[0xee, 1]]);
  });

  it('say that the one revlog that was asked for is missing', async () => {
    const { inStore } = buildRepository(scratch.at('src'));
    rmSync(inStore('data/a.txt.i'));
    const { errors, largest } = await collectStats(scratch.at('src'), { only: { file: 'a.txt' } });
    assert.deepEqual(errors.map((error) => [error.code, error.at.path]), [['REVLOG_MISSING', 'data/a.txt.i']]);
    assert.deepEqual(largest, []);
  });
});

describe('figures that cannot be had', () => {
  const scratch = Scratch.use();
  const fixture = useFixtures();

  it('of no repository', async () => {
    await assertFails(collectStats(scratch.at('nowhere')), { code: 'NOT_A_REPOSITORY', path: 'nowhere' });
  });

  it('of a file that is not there', async () => {
    buildRepository(scratch.at('src'));
    for (const file of ['nowhere.txt', '', 'a.txt.i', 'data/a.txt']) {
      await assertFails(collectStats(scratch.at('src'), { only: { file } }), { code: 'USAGE', message: /no file/ });
    }
  });

  const wrong: readonly (readonly [title: string, options: object, message: RegExp])[] = [
    ['a negative number', { top: -1 }, /top must be a whole number, 0 or more, found -1/],
    ['half a number', { top: 1.5 }, /found 1\.5/],
    ['an option that there is not', { depth: 1 }, /unknown option 'depth'/],
    ['a choice that there is not', { only: 'everything' }, /only must be one of changelog, manifest/],
  ];
  for (const [title, options, message] of wrong) {
    it(`with ${title}`, async () => {
      buildRepository(scratch.at('src'));
      await assertFails(collectStats(scratch.at('src'), options), { code: 'USAGE', message });
    });
  }

  it('once the work is cancelled', async () => {
    await assertFails(collectStats(fixture('zstd'), { signal: AbortSignal.abort() }), { code: 'CANCELLED' });
  });
});
