/** The requirements of the destination, for each source and target. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';

import { describe, it } from 'mocha';

import type { PolicyInput } from '../../src/delta/policy-input.js';
import { resolvePolicy } from '../../src/delta/policy-input.js';
import type { EngineName } from '../../src/engines/engine.js';
import { findEngine } from '../../src/engines/registry.js';
import { engineOfSource, planRequirements } from '../../src/repository/requirement-plan.js';
import { buildRepository } from '../support/repository-builder.js';
import { assertThrows, convert, Scratch } from './support.js';

const words = (text: string): string[] => text.split(' ').filter((word) => word !== '');

const TODAY = 'dotencode fncache generaldelta revlogv1 sparserevlog store';
const OLD_LAYOUT = 'dotencode fncache generaldelta revlogv1 share-safe sparserevlog store';

interface PlanCase {
  readonly title: string;
  readonly source: string;
  readonly to: EngineName;
  readonly generaldelta?: boolean;
  readonly added: string;
  readonly removed: string;
  /** Lines of .hg/requires. */
  readonly workingCopy: string;
  /** Lines of .hg/store/requires, where there is one. */
  readonly store?: string;
}

const CASES: readonly PlanCase[] = [
  { title: 'zlib to zstd', source: TODAY, to: 'zstd', added: 'revlog-compression-zstd', removed: '', workingCopy: 'dotencode fncache generaldelta revlog-compression-zstd revlogv1 sparserevlog store' },
  { title: 'zstd to zlib', source: `${TODAY} revlog-compression-zstd`, to: 'zlib', added: '', removed: 'revlog-compression-zstd', workingCopy: TODAY },
  { title: 'zstd to zstd', source: `${TODAY} revlog-compression-zstd`, to: 'zstd', added: '', removed: '', workingCopy: 'dotencode fncache generaldelta revlog-compression-zstd revlogv1 sparserevlog store' },
  { title: 'to none', source: TODAY, to: 'none', added: 'exp-compression-none', removed: '', workingCopy: 'dotencode exp-compression-none fncache generaldelta revlogv1 sparserevlog store' },
  { title: 'to lz4', source: TODAY, to: 'lz4', added: 'lz4revlog', removed: '', workingCopy: 'dotencode fncache generaldelta lz4revlog revlogv1 sparserevlog store' },
  { title: 'lz4 to zlib', source: `${TODAY} lz4revlog`, to: 'zlib', added: '', removed: 'lz4revlog', workingCopy: TODAY },
  { title: 'the older name of zstd', source: `${TODAY} exp-compression-zstd`, to: 'zstd', added: 'revlog-compression-zstd', removed: 'exp-compression-zstd', workingCopy: 'dotencode fncache generaldelta revlog-compression-zstd revlogv1 sparserevlog store' },
  { title: 'the draft name of zstd', source: `${TODAY} compenginezstd`, to: 'zlib', added: '', removed: 'compenginezstd', workingCopy: TODAY },
  { title: 'two engines: none stays', source: `${TODAY} exp-compression-none exp-compression-zlib`, to: 'zlib', added: '', removed: 'exp-compression-none exp-compression-zlib', workingCopy: TODAY },
  {
    title: 'share-safe: two files',
    source: `${TODAY} share-safe dirstate-v2 exp-sparse bookmarksinstore`,
    to: 'zstd',
    added: 'revlog-compression-zstd',
    removed: '',
    workingCopy: 'dirstate-v2 exp-sparse share-safe',
    store: 'bookmarksinstore dotencode fncache generaldelta revlog-compression-zstd revlogv1 sparserevlog store',
  },
  { title: 'generaldelta is added', source: 'fncache revlogv1 store', to: 'zlib', added: 'generaldelta', removed: '', workingCopy: 'fncache generaldelta revlogv1 store' },
  { title: 'generaldelta is declined', source: 'fncache revlogv1 store', to: 'zlib', generaldelta: false, added: '', removed: '', workingCopy: 'fncache revlogv1 store' },
  { title: 'no store: today\'s layout', source: 'revlogv1', to: 'zstd', added: 'dotencode fncache generaldelta revlog-compression-zstd share-safe sparserevlog store', removed: '', workingCopy: 'share-safe', store: 'dotencode fncache generaldelta revlog-compression-zstd revlogv1 sparserevlog store' },
  { title: 'version 0 in a store: today\'s layout', source: 'dotencode fncache store', to: 'zlib', added: 'generaldelta revlogv1 share-safe sparserevlog', removed: '', workingCopy: 'share-safe', store: TODAY },
  { title: 'version 0, generaldelta declined', source: '', to: 'zlib', generaldelta: false, added: 'dotencode fncache revlogv1 share-safe store', removed: '', workingCopy: 'share-safe', store: 'dotencode fncache revlogv1 store' },
  { title: 'what is only carried stays', source: `${TODAY} treemanifest lfs largefiles persistent-nodemap internal-phase-2`, to: 'zlib', added: '', removed: '', workingCopy: 'dotencode fncache generaldelta internal-phase-2 largefiles lfs persistent-nodemap revlogv1 sparserevlog store treemanifest' },
];

const SOURCES: readonly (readonly [requirements: string, engine: EngineName])[] = [
  [TODAY, 'zlib'],
  ['exp-compression-zlib', 'zlib'],
  ['revlog-compression-zstd', 'zstd'],
  ['exp-compression-zstd', 'zstd'],
  ['compenginezstd', 'zstd'],
  ['exp-compression-none', 'none'],
  ['lz4revlog', 'lz4'],
];

interface PolicyCase {
  readonly title: string;
  readonly source: string;
  readonly policy: PolicyInput;
  readonly added?: string;
  readonly removed?: string;
}

const WITHOUT = 'dotencode fncache revlogv1 store';

/** Where deltas are made anew. */
const POLICIES: readonly PolicyCase[] = [
  { title: 'Mercurial\'s, over its own', source: TODAY, policy: {} },
  { title: 'Mercurial\'s, over a store without either', source: WITHOUT, policy: {}, added: 'generaldelta sparserevlog' },
  { title: 'Mercurial 3.7\'s takes snapshots away', source: TODAY, policy: { preset: 'mercurial-3.7' }, removed: 'sparserevlog' },
  { title: 'Mercurial 3.7\'s, over a store without either', source: WITHOUT, policy: { preset: 'mercurial-3.7' }, added: 'generaldelta' },
  { title: 'without generaldelta neither is required', source: TODAY, policy: { generaldelta: false }, removed: 'generaldelta sparserevlog' },
  { title: 'without it over a store without it', source: WITHOUT, policy: { generaldelta: false } },
  { title: 'one kind with it is enough', source: WITHOUT, policy: { manifest: { generaldelta: false } }, added: 'generaldelta sparserevlog' },
  { title: 'one kind with snapshots is enough', source: TODAY, policy: { filelog: { sparse: false } } },
  { title: 'the changelog with it is enough', source: WITHOUT, policy: { generaldelta: false, changelog: { deltas: true, generaldelta: true } }, added: 'generaldelta' },
  { title: 'no deltas at all: those to come have both', source: WITHOUT, policy: { deltas: false }, added: 'generaldelta sparserevlog' },
  { title: 'an old layout', source: '', policy: { sparse: false }, added: 'dotencode fncache generaldelta revlogv1 share-safe store' },
  { title: 'an old layout, without generaldelta', source: 'revlogv1', policy: { generaldelta: false }, added: 'dotencode fncache share-safe store' },
  { title: 'details of deltas stay', source: `${TODAY} delta-info-revlog`, policy: {} },
  { title: 'details of deltas, snapshots for one kind', source: `${TODAY} delta-info-revlog`, policy: { filelog: { sparse: false } } },
];

describe('requirements of new deltas', () => {
  for (const { title, source, policy, added = '', removed = '' } of POLICIES) {
    it(title, () => {
      const plan = planRequirements(new Set(words(source)), { engine: findEngine('zlib'), generaldelta: true, policy: resolvePolicy(policy) });
      assert.deepEqual({ added: plan.added, removed: plan.removed }, { added: words(added), removed: words(removed) });
    });
  }

  for (const [key, message] of [['generaldelta', /^generaldelta: .*delta-info-revlog, which implies generaldelta$/], ['sparse', /^sparse: .*delta-info-revlog, which implies sparserevlog$/]] as const) {
    it(`details of deltas, ${key} turned off: USAGE`, () => {
      const source = new Set(words(`${TODAY} delta-info-revlog`));
      const policy = resolvePolicy({ [key]: false });
      assertThrows(() => planRequirements(source, { engine: findEngine('zlib'), generaldelta: true, policy }), { code: 'USAGE', message });
    });
  }
});

describe('requirements of the destination', () => {
  for (const { title, source, to, generaldelta = true, added, removed, workingCopy, store } of CASES) {
    it(title, () => {
      const from = new Set(words(source));
      const plan = planRequirements(from, { engine: findEngine(to), generaldelta });
      assert.deepEqual(
        { added: plan.added, removed: plan.removed, workingCopy: plan.workingCopy, store: plan.store },
        { added: words(added), removed: words(removed), workingCopy: words(workingCopy), store: store === undefined ? undefined : words(store) },
      );
      assert.deepEqual(plan.kept, [...from].filter((name) => !plan.removed.includes(name)).sort());
      assert.deepEqual([...plan.all].sort(), [...plan.kept, ...plan.added].sort());
    });
  }

  for (const name of ['generaldelta', 'sparserevlog', 'delta-info-revlog']) {
    it(`generaldelta cannot be taken away: ${name}`, () => {
      assertThrows(() => planRequirements(new Set(['revlogv1', 'store', name]), { engine: findEngine('zstd'), generaldelta: false }), { code: 'USAGE' });
    });
  }

  for (const [requirements, engine] of SOURCES) {
    it(`the engine of a source: ${requirements} is ${engine}`, () => assert.equal(engineOfSource(new Set(words(requirements))).name, engine));
  }

  it('the new layout is today\'s for any old one', () => {
    const { all } = planRequirements(new Set(), { engine: findEngine('zlib'), generaldelta: true });
    assert.deepEqual([...all].sort(), words(OLD_LAYOUT));
  });
});

describe('requirements, written', () => {
  const scratch = Scratch.use();
  const linesOf = (...names: string[]): string => readFileSync(scratch.at('dst', '.hg', ...names), 'utf8');

  it('with share-safe in two files', async () => {
    buildRepository(scratch.at('src'));
    await convert(scratch.at('src'), scratch.at('dst'));
    assert.equal(linesOf('requires'), 'share-safe\n');
    assert.equal(linesOf('store', 'requires'), 'dotencode\nfncache\ngeneraldelta\nrevlog-compression-zstd\nrevlogv1\nsparserevlog\nstore\n');
  });

  it('without it in one', async () => {
    buildRepository(scratch.at('src'), { layout: 'fncache and dotencode' });
    await convert(scratch.at('src'), scratch.at('dst'));
    assert.equal(linesOf('requires'), 'dotencode\nfncache\ngeneraldelta\nrevlog-compression-zstd\nrevlogv1\nsparserevlog\nstore\n');
    assert.throws(() => linesOf('store', 'requires'), { code: 'ENOENT' });
  });
});
