import assert from 'node:assert/strict';
import { chmodSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { deflateSync } from 'node:zlib';

import { describe, it } from 'mocha';

import { loadDecoders } from '../../../src/engines/chunk-codec.js';
import type { SampleOptions, Samples } from '../../../src/repository/dictionaries/samples.js';
import { takeSamples } from '../../../src/repository/dictionaries/samples.js';
import { openRepository } from '../../../src/repository/open.js';
import { gatherFacts } from '../../../src/repository/plan.js';
import type { BuiltRepository, RepositoryOptions } from '../../support/repository-builder.js';
import { buildRepository, buildRevlog, nodeOf, writeRevlogFiles } from '../../support/repository-builder.js';
import { patch, Scratch } from '../support.js';

const decoders = await loadDecoders();

describe('samples of a store', () => {
  const scratch = Scratch.use();
  const build = (options: RepositoryOptions = {}): BuiltRepository => buildRepository(scratch.at('src'), { commits: 50, files: ['a.txt', 'split.txt', 'c.txt'], ...options });

  function take(root: string, change: Partial<SampleOptions> = {}, name = ''): Promise<Samples> {
    const { repository, discovery } = gatherFacts(openRepository(root));
    return takeSamples({ revlogs: discovery.revlogs.filter((one) => one.name.includes(name)), storeFolder: repository.storeFolder, decoders, count: 40, maxBytes: 1 << 20, phase: 0.5, ...change });
  }
  const told = ({ deltas }: Samples): string[] => deltas.map((delta) => Buffer.from(delta).toString('hex'));

  for (const layout of ['share-safe', 'fncache without dotencode', 'store without fncache', 'no store', 'version 0 in a store', 'version 0 without a store'] as const) {
    it(`are what chunks hold, spread over all, and the same each time: ${layout}`, async () => {
      const { root, revlogs } = build({ layout });
      const samples = await take(root);
      assert.deepEqual(told(await take(root)), told(samples));
      assert.ok(samples.deltas.length >= 30 && samples.deltas.length <= 50, `${samples.deltas.length}`);
      for (const name of revlogs.keys()) assert.ok((await take(root, { count: 10 }, name)).deltas.length >= 9, name);
    });
  }

  it('are others for another phase', async () => {
    const { root } = build();
    assert.notDeepEqual(told(await take(root, { phase: 0.21 })), told(await take(root)));
  });

  it('come from the whole of a revlog, not from its beginning', async () => {
    const { root, revlog } = build();
    const samples = told(await take(root, { count: 5 }, 'data/a.txt'));
    const all = revlog('data/a.txt.i').revisions.length;
    assert.equal(samples.length, 5);
    const last = told(await take(root, { count: all }, 'data/a.txt'));
    assert.deepEqual(samples.map((one) => last.indexOf(one)), [5, 15, 25, 35, 45]);
  });

  it('know what their chunks take in the store, with index entries', async () => {
    const { root, revlog } = build();
    const { storedBytes, chunkBytes, deltas } = await take(root, { count: 1000 }, 'data/split');
    assert.equal(deltas.length, 50);
    assert.deepEqual(chunkBytes, revlog('data/split.txt.i').revisions.map(({ chunk }) => chunk.length));
    assert.equal(storedBytes, revlog('data/split.txt.i').revisions.reduce((sum, { chunk }) => sum + chunk.length + 64, 0));
  });

  it('are cut to a length, and end with a number of bytes', async () => {
    const { root } = build();
    for (const delta of (await take(root, { longest: 100 })).deltas) assert.ok(delta.length <= 100);
    const { deltas } = await take(root, { count: 1000, maxBytes: 2000 });
    const bytes = deltas.reduce((sum, { length }) => sum + length, 0);
    assert.ok(bytes > 2000 && bytes < 2000 + 1000, `${bytes}`);
  });

  it('are few where chunks are small and their texts are not', async () => {
    const { root, store, revlog } = build({ files: ['split.txt'] });
    const zeros = Buffer.alloc(30 << 20);
    const chunk = deflateSync(zeros);
    const node = nodeOf(zeros, Buffer.alloc(20), Buffer.alloc(20));
    const revisions = revlog('data/split.txt.i').revisions.map((revision, rev) => ({ ...revision, chunk, rawSize: zeros.length, base: rev, node }));
    writeRevlogFiles(store, 'data/split.txt.i', buildRevlog(revisions, 'split'));
    const { deltas } = await take(root, { count: 40, maxBytes: 4 << 20 }, 'data/split');
    assert.equal(deltas.length, 1, 'one of 30 MiB is more than enough');
  });

  it('are never more than there are revisions; none of empty chunks', async () => {
    const { root, store } = build({ commits: 3 });
    assert.equal((await take(root, { count: 1000 })).deltas.length, 15);
    const empty = Buffer.alloc(0);
    const node = nodeOf(empty, Buffer.alloc(20), Buffer.alloc(20));
    writeRevlogFiles(store, 'data/a.txt.i', buildRevlog([0, 1].map((rev) => ({ chunk: empty, rawSize: 0, base: rev, linkRev: rev, p1: -1, p2: -1, node })), 'inline'));
    assert.deepEqual((await take(root, {}, 'data/a.txt')).deltas, []);
  });

  it('are none of no revlogs, and of an empty store', async () => {
    const { root } = build({ commits: 0, files: [] });
    assert.deepEqual(await take(root), { deltas: [], chunkBytes: [], storedBytes: 0 });
    assert.deepEqual(await take(root, { revlogs: [] }), { deltas: [], chunkBytes: [], storedBytes: 0 });
  });

  it('are taken of a few of very many revlogs', async () => {
    const { root } = build({ commits: 1, files: Array.from({ length: 900 }, (_, i) => `f${i}.txt`), textBytes: 100 });
    const { deltas } = await take(root, { count: 2000 }, 'data/');
    assert.ok(deltas.length >= 300 && deltas.length <= 400, `${deltas.length}`);
    assert.deepEqual(told(await take(root, { count: 2000 }, 'data/')), told({ deltas, chunkBytes: [], storedBytes: 0 }));
  });

  const damages: readonly (readonly [title: string, damage: (repository: BuiltRepository) => void])[] = [
    ['a data file that is cut short', ({ inStore }) => truncateSync(inStore('data/split.txt.d'), 500)],
    ['a data file that is empty', ({ inStore }) => truncateSync(inStore('data/split.txt.d'), 0)],
    ['a data file that is missing', ({ inStore }) => rmSync(inStore('data/split.txt.d'))],
    ['an index that is cut short', ({ inStore }) => truncateSync(inStore('data/split.txt.i'), 1000)],
    ['an index of another version', ({ inStore }) => patch(inStore('data/split.txt.i'), 2, Buffer.from([0xff, 0xff]))],
    ['an index of rubbish', ({ inStore }) => writeFileSync(inStore('data/split.txt.i'), Buffer.alloc(6400, 0xee))],
    ['a base that comes later', ({ inStore, revlog }) => patch(inStore('data/split.txt.i'), revlog('data/split.txt.i').entryAt(3) + 16, Buffer.from([0, 0, 0, 40]))],
    ['an offset that is far away', ({ inStore, revlog }) => patch(inStore('data/split.txt.i'), revlog('data/split.txt.i').entryAt(25), Buffer.from([0x7f, 0xff, 0xff, 0xff]))],
    ['a chunk length of gigabytes', ({ inStore, revlog }) => patch(inStore('data/split.txt.i'), revlog('data/split.txt.i').entryAt(25) + 8, Buffer.from([0x7f, 0xff, 0xff, 0xff]))],
    ['a text length below zero', ({ inStore, revlog }) => patch(inStore('data/split.txt.i'), revlog('data/split.txt.i').entryAt(25) + 12, Buffer.from([0xff, 0xff, 0xff, 0xff]))],
    ['chunks of rubbish', ({ inStore }) => patch(inStore('data/split.txt.d'), 0, Buffer.alloc(4000, 0xee))],
    ['chunks of zeros', ({ inStore }) => patch(inStore('data/split.txt.d'), 0, Buffer.alloc(4000))],
    ['chunks that name a dictionary', ({ inStore, revlog }) => patch(inStore('data/split.txt.d'), revlog('data/split.txt.i').chunkAt(25), Buffer.from('28b52ffd2107', 'hex'))],
  ];
  for (const [title, damage] of damages) {
    it(`are taken around damage: ${title}`, async () => {
      const repository = build();
      damage(repository);
      const samples = await take(repository.root, { count: 100 });
      assert.ok(samples.deltas.length > 50, `${samples.deltas.length}`);
      assert.deepEqual(told(await take(repository.root, { count: 100 })), told(samples));
    });
  }

  it('are taken around a revlog that may not be read', async function () {
    if (process.getuid?.() === 0) this.skip();
    const { root, inStore } = build();
    chmodSync(inStore('data/split.txt.i'), 0);
    assert.ok((await take(root, { count: 100 })).deltas.length > 50);
  });
});
