import assert from 'node:assert/strict';
import { symlinkSync } from 'node:fs';

import { describe, it } from 'mocha';

import type { BenchmarkName, BenchmarkResult, PerfOptions, RevlogPerf } from '../../src/index.js';
import { convertRepository, measureStore, measureStores } from '../../src/index.js';
import { assertError, assertFails, failureOf, patch, picture, Scratch } from '../repository/support.js';
import type { FixtureName } from '../support/fixtures.js';
import { FIXTURES, useFixtures } from '../support/fixtures.js';
import { buildRepository, sampleText, writeAt } from '../support/repository-builder.js';

/** As little as is allowed. */
const QUICK: PerfOptions = { runs: 3, seconds: 0.01 };

const benchmark = ({ benchmarks }: RevlogPerf, name: BenchmarkName): BenchmarkResult =>
  benchmarks.find((one) => one.name === name) ?? assert.fail(`no benchmark ${name}`);

const factsOf = (result: BenchmarkResult): unknown => [result.revisions, result.bytes, result.sum];

/** What holds for every revlog: benchmarks that make the same things agree. */
function assertConsistent(revlog: RevlogPerf): void {
  assert.deepEqual(factsOf(benchmark(revlog, 'chunks')), factsOf(benchmark(revlog, 'chunks, in batches')), revlog.path);
  assert.deepEqual(factsOf(benchmark(revlog, 'texts forward')), factsOf(benchmark(revlog, 'texts in reverse')), revlog.path);
  for (const { name, revisions, milliseconds, best, median } of revlog.benchmarks) {
    assert.equal(revisions, name === 'last of the longest chain' ? Math.min(1, revlog.revisions) : revlog.revisions, name);
    assert.ok(milliseconds.length >= 1 && milliseconds.length <= 3, name);
    assert.equal(best, Math.min(...milliseconds));
    assert.ok(median >= best && median <= Math.max(...milliseconds));
  }
}

describe('measuring a store', () => {
  const scratch = Scratch.use();

  it('what is read is what the index says', async () => {
    const { revlogs, revlog } = buildRepository(scratch.at('src'), { commits: 9 });
    const { stores } = await measureStore(scratch.at('src'), QUICK);
    const [store] = stores;
    assert.equal(stores.length, 1);
    assert.equal(store?.repository, scratch.at('src'));
    assert.deepEqual(store.revlogs.map(({ path, kind }) => [path, kind]), [['00changelog.i', 'changelog'], ['00manifest.i', 'manifest'], ['data/split.txt.i', 'filelog']]);
    for (const measured of store.revlogs) {
      assertConsistent(measured);
      const { revisions, index, data } = revlogs.get(measured.path) ?? assert.fail(measured.path);
      assert.equal(measured.revisions, 9);
      assert.equal(measured.fileBytes, index.length + (data?.length ?? 0));
      assert.deepEqual(measured.longestChain, { rev: 8, deltas: measured.kind === 'changelog' ? 8 : 1 });
      const stored = revisions.reduce((total, { chunk }) => total + chunk.length, 0);
      assert.equal(benchmark(measured, 'chunks, in batches').readBytes, stored + (data === undefined ? 8 * 64 : 0), 'from the first chunk to the end of the last');
      assert.equal(benchmark(measured, 'chunks').readBytes, data?.length ?? index.length, 'one window');
      assert.equal(benchmark(measured, 'texts forward').bytes, revisions.reduce((total, { rawSize }) => total + rawSize, 0));
      assert.equal(benchmark(measured, 'last of the longest chain').bytes, revisions[8]?.rawSize);
      assert.equal(benchmark(measured, 'index').bytes, 9 * 64);
    }
    assert.equal(revlog('data/a.txt.i').revisions.length, 9);
  });

  const CHOICES: readonly (readonly [title: string, options: PerfOptions, paths: readonly string[]])[] = [
    ['the changelog', { changelog: true }, ['00changelog.i']],
    ['the manifest', { manifest: true }, ['00manifest.i']],
    ['a tracked file', { file: 'a.txt' }, ['data/a.txt.i']],
    ['a revlog by its name in the store', { file: 'data/a.txt.i' }, ['data/a.txt.i']],
    ['several', { file: 'a.txt', changelog: true, manifest: true }, ['00changelog.i', '00manifest.i', 'data/a.txt.i']],
  ];
  for (const [title, options, paths] of CHOICES) {
    it(`only what was named: ${title}`, async () => {
      buildRepository(scratch.at('src'));
      const { stores } = await measureStore(scratch.at('src'), { ...QUICK, ...options });
      assert.deepEqual(stores[0]?.revlogs.map(({ path }) => path), paths);
    });
  }

  it('every N-th text only, chunks all', async () => {
    buildRepository(scratch.at('src'), { commits: 10 });
    const { every, stores } = await measureStore(scratch.at('src'), { ...QUICK, manifest: true, every: 4 });
    const [manifest] = stores[0]?.revlogs ?? [];
    assert.ok(manifest !== undefined);
    assert.equal(every, 4);
    assert.deepEqual(manifest.benchmarks.map(({ revisions }) => revisions), [10, 10, 10, 3, 3, 1]);
    assert.deepEqual(factsOf(benchmark(manifest, 'texts forward')), factsOf(benchmark(manifest, 'texts in reverse')));
  });

  it('two stores, side by side: the same texts, and a ratio for the second', async () => {
    buildRepository(scratch.at('a'), { commits: 12, textBytes: 5000 });
    await convertRepository(scratch.at('a'), scratch.at('b'), { to: 'zstd', jobs: 1 });
    const { stores } = await measureStores([scratch.at('a'), scratch.at('b')], QUICK);
    const [a, b] = stores;
    assert.ok(a !== undefined && b !== undefined);
    assert.deepEqual(b.revlogs.map(({ path }) => path), a.revlogs.map(({ path }) => path));
    for (const [i, own] of b.revlogs.entries()) {
      assertConsistent(own);
      for (const result of own.benchmarks) {
        const other = benchmark(a.revlogs[i] ?? assert.fail(), result.name);
        if (result.name !== 'index') assert.deepEqual(factsOf(result), factsOf(other), result.name);
        assert.equal(result.milliseconds.length, other.milliseconds.length);
        assert.equal(other.ratio, undefined);
        assert.ok(result.ratio !== undefined && result.ratio > 0);
      }
    }
  });

  it('what only one of two has is left out, unless it was named', async () => {
    buildRepository(scratch.at('a'), { files: ['a.txt', 'split.txt'] });
    buildRepository(scratch.at('b'), { files: ['a.txt', 'c.txt'] });
    const both = [scratch.at('a'), scratch.at('b')];
    const { stores } = await measureStores(both, QUICK);
    assert.deepEqual(stores[1]?.revlogs.map(({ path }) => path), ['00changelog.i', '00manifest.i', 'data/a.txt.i']);
    await assertFails(measureStores(both, { ...QUICK, file: 'c.txt' }), { code: 'USAGE', message: /no file c\.txt/ });
  });

  it('a store without revisions has nothing to measure', async () => {
    writeAt(scratch.at('src', '.hg', 'requires'), 'dotencode\nfncache\ngeneraldelta\nrevlogv1\nstore\n');
    writeAt(scratch.at('src', '.hg', 'store', '00changelog.i'), '');
    const { stores } = await measureStore(scratch.at('src'), QUICK);
    const [changelog, ...others] = stores[0]?.revlogs ?? [];
    assert.deepEqual(others, []);
    if (changelog !== undefined) assertConsistent(changelog);
  });

  it('takes no lock, and writes nothing', async () => {
    buildRepository(scratch.at('src'));
    for (const lock of ['wlock', 'store/lock']) symlinkSync('elsewhere:1', scratch.at('src', '.hg', lock));
    const before = picture(scratch.root);
    await measureStore(scratch.at('src'), QUICK);
    assert.deepEqual(picture(scratch.root), before);
  });

  it('says what it is about to measure', async () => {
    buildRepository(scratch.at('src'));
    const said: string[] = [];
    await measureStore(scratch.at('src'), { ...QUICK, manifest: true, onBenchmark: (path, name) => said.push(`${path} ${name}`) });
    assert.equal(said.length, 6);
    assert.equal(said[0], '00manifest.i index');
  });

  it('a damaged chunk is an error with its place', async () => {
    const { inStore, revlog } = buildRepository(scratch.at('src'));
    patch(inStore('data/split.txt.d'), revlog('data/split.txt.i').chunkAt(2), Buffer.from('x damaged'));
    assertError(await failureOf(measureStore(scratch.at('src'), QUICK)), { code: 'CHUNK_DAMAGED', path: 'data/split.txt.i', rev: 2 });
  });

  it('a text that is not what its node says is found where nodes are checked, and only there', async () => {
    const { inStore, revlog } = buildRepository(scratch.at('src'));
    patch(inStore('00manifest.i'), revlog('00manifest.i').entryAt(1) + 32, Buffer.alloc(20, 7));
    await measureStore(scratch.at('src'), { ...QUICK, manifest: true });
    await assertFails(measureStore(scratch.at('src'), { ...QUICK, manifest: true, checkNodes: true }), { code: 'NODE_MISMATCH', path: '00manifest.i', rev: 1 });
  });

  it('a signal stops it', async () => {
    buildRepository(scratch.at('src'));
    await assertFails(measureStore(scratch.at('src'), { ...QUICK, signal: AbortSignal.abort() }), { code: 'CANCELLED' });
  });

  const MISTAKES: readonly (readonly [options: PerfOptions, message: RegExp])[] = [
    [{ runs: 2 }, /runs must be a whole number from 3/],
    [{ runs: 3.5 }, /runs.*found 3\.5/],
    [{ every: 0 }, /every must be a whole number from 1/],
    [{ seconds: 0 }, /seconds.*found 0/],
    [{ seconds: NaN }, /seconds.*found NaN/],
    [{ file: 'nowhere.txt' }, /no file nowhere\.txt/],
  ];
  for (const [options, message] of MISTAKES) {
    it(`refuses ${JSON.stringify(options)}`, async () => {
      buildRepository(scratch.at('src'));
      await assertFails(measureStore(scratch.at('src'), options), { code: 'USAGE', message });
    });
  }
});

describe('measuring the fixtures', () => {
  const unpack = useFixtures();
  const scratch = Scratch.use();

  for (const name of Object.keys(FIXTURES) as FixtureName[]) {
    it(`${name}: every text is what its node says, and the benchmarks agree`, async () => {
      const { stores } = await measureStore(unpack(name), { ...QUICK, checkNodes: true });
      const { revlogs } = stores[0] ?? assert.fail();
      assert.equal(revlogs.length, 3);
      for (const revlog of revlogs) assertConsistent(revlog);
    });
  }

  it('large texts in a long chain, in reverse', async () => {
    const text = sampleText('large', 300_000).toString('latin1');
    buildRepository(scratch.at('src'), { commits: 40, files: ['split.txt'], textBytes: text.length });
    const { stores } = await measureStore(scratch.at('src'), { ...QUICK, checkNodes: true });
    for (const revlog of stores[0]?.revlogs ?? []) assertConsistent(revlog);
  });
});
