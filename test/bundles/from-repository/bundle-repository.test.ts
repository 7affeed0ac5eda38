import assert from 'node:assert/strict';
import { appendFileSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, it } from 'mocha';

import { bundleRepository } from '../../../src/bundles/from-repository/bundle-repository.js';
import type { BundleRepositoryOptions } from '../../../src/bundles/from-repository/options.js';
import type { ErrorCode, ErrorPlace } from '../../../src/errors.js';
import { RevconvertError } from '../../../src/errors.js';
import type { BundleItem } from '../../../src/formats/bundle/items.js';
import { parseBundleSpec } from '../../../src/formats/bundle/spec.js';
import { writeBundleBytes } from '../../../src/sinks/bundle/write-bundle.js';
import { hunk } from '../../support/bundle-builder.js';
import { soundHistory, storeHistory, writeHistory } from '../../support/history-builder.js';
import { buildRepository } from '../../support/repository-builder.js';
import { useTempFolder } from '../../support/temp-folder.js';

type Options = Partial<Omit<BundleRepositoryOptions, 'spec'>>;

const bundle = (root: string, spec: string, options: Options = {}): AsyncGenerator<readonly BundleItem[], void, void> => bundleRepository(root, { spec: parseBundleSpec(spec), jobs: 1, ...options });

async function itemsOf(root: string, spec: string, options: Options = {}): Promise<BundleItem[]> {
  const items: BundleItem[] = [];
  for await (const portion of bundle(root, spec, options)) items.push(...portion);
  return items;
}

async function bytesOf(root: string, spec: string, options: Options = {}): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of writeBundleBytes(bundle(root, spec, options))) pieces.push(piece);
  return Buffer.concat(pieces);
}

/** The revisions of a group, read by hand: the columns of version 02 as hexadecimal digits, and the delta. */
function revisionsOf(items: readonly BundleItem[], name: string): { readonly nodes: readonly string[]; readonly flags: string; readonly delta: Buffer }[] {
  const found = items.flatMap((item) => (item.type === 'chunks' && item.group.name === name && item.group.kind === 'filelog' ? [item] : []));
  const version = found[0]?.version;
  const columns = version === '01' ? 4 : 5;
  const bytes = Buffer.concat(found.flatMap((item) => item.bytes));
  const revisions = [];
  for (let at = 0; at < bytes.length; at += bytes.readInt32BE(at)) {
    const end = at + bytes.readInt32BE(at);
    const flagsAt = at + 4 + columns * 20;
    const deltaAt = flagsAt + (version === '03' ? 2 : 0);
    const nodes = Array.from({ length: columns }, (_, i) => bytes.toString('hex', at + 4 + i * 20, at + 24 + i * 20));
    revisions.push({ nodes, flags: bytes.toString('hex', flagsAt, deltaAt), delta: bytes.subarray(deltaAt, end) });
  }
  return revisions;
}

const fails =
  (code: ErrorCode, place: ErrorPlace = {}) =>
  (error: unknown): boolean => {
    assert.ok(error instanceof RevconvertError, String(error));
    assert.equal(error.code, code, error.message);
    for (const [key, value] of Object.entries(place)) assert.equal(error.at[key as keyof ErrorPlace], value);
    return true;
  };

describe('bundles of repositories', () => {
  const at = useTempFolder();

  it('begin with what they are, hold every group in order, and end', async () => {
    const { root } = writeHistory(at('r'), storeHistory(soundHistory()));
    const items = await itemsOf(root, 'gzip-v2;phases=yes');
    assert.deepEqual(
      items.map((item) => (item.type === 'part' ? `${item.part.id} ${item.part.type}` : item.type === 'group' ? `group ${item.group.kind} ${item.group.name}` : item.type === 'chunks' ? `${item.version} ${item.revisions}` : item.type)),
      ['bundle', '0 changegroup', 'group changelog ', '02 3', 'group manifest ', '02 3', 'group filelog a', '02 3', 'group filelog d/b', '02 2', 'part-end', '1 cache:rev-branch-cache', 'data', 'part-end', '2 phase-heads', 'data', 'part-end', 'end'],
    );
    const [start, part] = items;
    assert.deepEqual(start, { type: 'bundle', container: 'HG20', compression: 'zlib', parameters: [] });
    assert.deepEqual(part?.type === 'part' ? [part.part.mandatory, part.part.mandatoryParameters, part.part.advisoryParameters] : [], [true, [{ name: 'version', value: '02' }], [{ name: 'nbchanges', value: '3' }]]);
  });

  it('of version 01 have no other parts', async () => {
    const { root } = writeHistory(at('r'), storeHistory(soundHistory()));
    const types = (await itemsOf(root, 'none-v1;phases=yes')).map(({ type }) => type);
    assert.deepEqual(types, ['bundle', 'part', 'group', 'chunks', 'group', 'chunks', 'group', 'chunks', 'group', 'chunks', 'part-end', 'end']);
  });

  it('send stored texts against the null revision, and in version 01 in the place of the one before', async () => {
    const revlogs = storeHistory(soundHistory());
    const { root } = writeHistory(at('r'), revlogs);
    const stored = (revlogs['data/a.i'] ?? []).map(({ node }) => node.toString('hex'));
    const changesets = (revlogs['00changelog.i'] ?? []).map(({ node }) => node.toString('hex'));
    const none = '0'.repeat(40);
    const second = revisionsOf(await itemsOf(root, 'none-v2'), 'a');
    assert.deepEqual(second.map(({ nodes }) => nodes), [0, 1, 2].map((rev) => [stored[rev], stored[rev - 1] ?? none, none, none, changesets[rev]]));
    assert.deepEqual(second.map(({ delta }) => delta), ['a0\n', 'a1\n', 'a2\n'].map((text) => hunk(0, 0, text)));
    const first = revisionsOf(await itemsOf(root, 'none-v1'), 'a');
    assert.deepEqual(first.map(({ nodes }) => nodes), [0, 1, 2].map((rev) => [stored[rev], stored[rev - 1] ?? none, none, changesets[rev]]));
    assert.deepEqual(first.map(({ delta }) => delta), ['a0\n', 'a1\n', 'a2\n'].map((text, rev) => hunk(0, rev === 0 ? 0 : 3, text)));
  });

  it('send flags where there is room, but not those of the store', async () => {
    const revlogs = storeHistory(soundHistory());
    revlogs['data/a.i'] = (revlogs['data/a.i'] ?? []).map((revision, rev) => ({ ...revision, flags: [0x2000, 0x0fc0, 0x8400][rev] ?? 0 }));
    const { root } = writeHistory(at('r'), revlogs, ['lfs']);
    assert.deepEqual(revisionsOf(await itemsOf(root, 'none-v2'), 'a').map(({ flags }) => flags), ['2000', '0000', '8000']);
    await assert.rejects(itemsOf(root, 'none-v2;cg.version=02'), fails('BUNDLE_HOLDS'));
    await assert.rejects(itemsOf(root, 'none-v1'), fails('BUNDLE_HOLDS'));
  });

  it('of version 02 refuse a flag that no requirement names, with the revision', async () => {
    const revlogs = storeHistory(soundHistory());
    revlogs['data/a.i'] = (revlogs['data/a.i'] ?? []).map((revision, rev) => (rev === 1 ? { ...revision, flags: 0x4000 } : revision));
    const { root } = writeHistory(at('r'), revlogs);
    await assert.rejects(itemsOf(root, 'none-v2'), fails('BUNDLE_HOLDS', { path: 'data/a.i', rev: 1 }));
  });

  it('are none where there is no changeset', async () => {
    const { root, store } = buildRepository(at('r'), { commits: 1 });
    writeFileSync(join(store, '00changelog.i'), '');
    assert.deepEqual(await itemsOf(root, 'none-v2'), []);
    rmSync(join(store, '00changelog.i'));
    assert.deepEqual(await itemsOf(root, 'none-v2'), []);
  });

  for (const [from, to] of [[-1, 2], [0, 3], [2, 1], [0.5, 1], [3, 3], [0, NaN]] as const) {
    it(`refuse the range ${from}:${to} of three changesets`, async () => {
      const { root } = writeHistory(at('r'), storeHistory(soundHistory()));
      await assert.rejects(itemsOf(root, 'none-v2', { range: { from, to } }), fails('USAGE'));
    });
  }

  it('of a range send what its changesets brought, against what the receiver has', async () => {
    const { root } = buildRepository(at('r'), { commits: 4, files: ['a'] });
    const all = revisionsOf(await itemsOf(root, 'none-v2'), 'a');
    const some = revisionsOf(await itemsOf(root, 'none-v2', { range: { from: 1, to: 2 } }), 'a');
    assert.deepEqual(some, all.slice(1, 3));
    assert.equal(some[0]?.nodes[3], all[0]?.nodes[0]);
  });

  it('do not depend on the number of threads', async () => {
    const { root } = buildRepository(at('r'), { commits: 60, files: ['a', 'b', 'split-large', 'z'], textBytes: 40_000 });
    const one = await bytesOf(root, 'none-v2');
    assert.ok(one.length > 5_000_000);
    assert.ok((await bytesOf(root, 'none-v2', { jobs: 3 })).equals(one));
    assert.ok((await bytesOf(root, 'none-v1', { jobs: 3 })).equals(await bytesOf(root, 'none-v1')));
  });

  it('name the revision that is damaged', async () => {
    const built = buildRepository(at('r'), { commits: 4, files: ['a'], textBytes: 4000 });
    const file = join(built.store, 'data/a.i');
    const bytes = readFileSync(file);
    bytes.fill(0xff, built.revlog('data/a.i').chunkAt(2) + 20, built.revlog('data/a.i').chunkAt(2) + 40);
    writeFileSync(file, bytes);
    await assert.rejects(itemsOf(built.root, 'none-v2'), fails('CHUNK_DAMAGED', { path: 'data/a.i', rev: 2 }));
    assert.ok(!existsSync(join(built.store, 'lock')));
  });

  it('name a revision that no changeset brought', async () => {
    const history = soundHistory();
    const told = history.files['a']?.[1];
    assert.ok(told !== undefined);
    told.link = 7;
    const { root } = writeHistory(at('r'), storeHistory(history));
    await assert.rejects(itemsOf(root, 'none-v2'), fails('LINKREV', { path: 'data/a.i', rev: 1 }));
  });

  it('miss a file that a changeset names, and no other', async () => {
    const { root, store } = writeHistory(at('r'), storeHistory(soundHistory()));
    appendFileSync(join(store, 'fncache'), 'data/never.i\n');
    assert.equal((await itemsOf(root, 'none-v2')).at(-1)?.type, 'end');
    rmSync(join(store, 'data/d/b.i'));
    await assert.rejects(itemsOf(root, 'none-v2'), fails('REVLOG_MISSING', { path: 'data/d/b.i' }));
    rmSync(join(store, '00manifest.i'));
    await assert.rejects(itemsOf(root, 'none-v2'), fails('REVLOG_MISSING', { path: '00manifest.i' }));
  });

  it('lock the repository for as long as they are asked for', async () => {
    const { root, store } = writeHistory(at('r'), storeHistory(soundHistory()));
    const items = bundle(root, 'none-v2');
    await items.next();
    await assert.rejects(itemsOf(root, 'none-v2', { lockTimeout: 0 }), fails('LOCKED'));
    await items.return();
    assert.ok(!existsSync(join(store, 'lock')));
    assert.equal((await itemsOf(root, 'none-v2')).at(-1)?.type, 'end');
  });

  it('notice that an unlocked repository was written to', async () => {
    const { root, store } = writeHistory(at('r'), storeHistory(soundHistory()));
    const items = bundle(root, 'none-v2', { lock: false });
    await items.next();
    appendFileSync(join(store, 'data/a.i'), Buffer.alloc(64));
    await assert.rejects(async () => {
      for await (const portion of items) assert.ok(!portion.some(({ type }) => type === 'end'));
    }, fails('SOURCE_CHANGED'));
  });

  it('end where the signal says so', async () => {
    const { root, store } = buildRepository(at('r'), { commits: 60, files: ['a', 'b', 'c'], textBytes: 40_000 });
    await assert.rejects(itemsOf(root, 'none-v2', { signal: AbortSignal.abort() }), fails('CANCELLED'));
    const controller = new AbortController();
    await assert.rejects(async () => {
      for await (const portion of bundle(root, 'none-v2', { signal: controller.signal, jobs: 2 })) if (portion.some(({ type }) => type === 'chunks')) controller.abort();
    }, fails('CANCELLED'));
    assert.ok(!existsSync(join(store, 'lock')));
  });

  it('refuse options that are none', async () => {
    const { root } = writeHistory(at('r'), storeHistory(soundHistory()));
    await assert.rejects(itemsOf(root, 'packed1'), fails('BUNDLE_SPEC'));
    await assert.rejects(itemsOf(root, 'none-v2', { jobs: 0 }), fails('USAGE'));
    await assert.rejects(itemsOf(at('nothing'), 'none-v2'), fails('NOT_A_REPOSITORY'));
  });
});
