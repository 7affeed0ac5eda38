/** The figures of `revconvert stats` are those of `hg debugrevlog`: every line that it prints, for every layout of a revlog. */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import type { Context } from 'mocha';
import { describe, it } from 'mocha';

import type { NamedStats, RevlogStats, StoreStats } from '../../src/index.js';
import { collectStats } from '../../src/index.js';
import { assertSameFigures } from '../support/debugrevlog.js';
import { hgVersion, runHgOk, withHg } from '../support/hg-session.js';
import { churnHistory } from '../support/histories.js';
import { LAYOUTS, made } from '../support/layouts.js';
import type { Mercurial } from '../support/mercurial.js';
import { requireMercurials } from '../support/mercurial.js';
import type { RevlogLayout } from '../support/revlog-builder.js';
import { buildRevlog, placeRevlog } from '../support/revlog-builder.js';
import { useTempFolder } from '../support/temp-folder.js';
import { randomHistory } from './random-history.js';

/** The Mercurials at hand that can read something; skips the test where there are none. */
function capable(context: Context, { minVersion = [0, 0] }: { readonly minVersion?: readonly [number, number] }): Mercurial[] {
  const able = requireMercurials(context).filter(({ hg }) => {
    const [major, minor] = hgVersion(hg);
    return major > minVersion[0] || (major === minVersion[0] && minor >= minVersion[1]);
  });
  return able.length > 0 ? able : context.skip();
}

/** How Mercurial is asked for a revlog. */
function argumentsOf(path: string): readonly string[] {
  if (path === '00changelog.i') return ['-c'];
  if (path === '00manifest.i') return ['-m'];
  const [, folder] = /^meta\/(.*)\/00manifest\.i$/.exec(path) ?? [];
  return folder === undefined ? ['--', path.slice('data/'.length, -'.i'.length)] : ['--dir', folder];
}

/** So many are compared; in the one layout that has more, they are all alike. */
const ENOUGH = 100;

/** Our figures of each revlog must add up to those of the whole. */
function checkTotal({ total, largest }: StoreStats): void {
  const sum = (value: (stats: RevlogStats) => number): number => largest.reduce((all, one) => all + value(one), 0);
  for (const value of [
    ({ revlogs }: RevlogStats) => revlogs,
    ({ revisions }: RevlogStats) => revisions,
    ({ fileBytes }: RevlogStats) => fileBytes,
    ({ storedBytes }: RevlogStats) => storedBytes,
    ({ rawBytes }: RevlogStats) => rawBytes,
    ({ fullTexts }: RevlogStats) => fullTexts.count,
    ({ deltas }: RevlogStats) => deltas.count,
  ]) {
    assert.equal(sum(value), value(total), String(value));
  }
}

/** The changelog, manifests and files of a repository. */
async function compareAll(hg: string, repository: string, config: readonly string[] = []): Promise<NamedStats[]> {
  const stats = await collectStats(repository, { top: 1_000_000 });
  assert.deepEqual(stats.errors, []);
  checkTotal(stats);
  const compared: NamedStats[] = [];
  await withHg(hg, repository, config, async (session) => {
    for (const one of stats.largest.slice(0, ENOUGH)) {
      const { path, revisions } = one;
      if (revisions === 0) continue;
      // Names that are not shown as they are cannot be given here.
      if (/\ufffd|\\u\{/.test(path)) continue;
      assertSameFigures(await session.run('debugrevlog', ...argumentsOf(path)), one);
      compared.push(one);
    }
  });
  return compared;
}

/** Those that differ in how revlogs are written. */
const COMPARED = [
  ...['zlib', 'zstd', 'none', 'split changelog, manifest and filelog', 'changelog with deltas', 'no generaldelta', 'generaldelta without sparse-revlog'],
  ...['no store', 'version 0 with store', 'tree manifests', 'censored', 'lfs', 'mixed zlib and zstd', 'delta-info', 'fileindex'],
];

describe('stats and hg debugrevlog', () => {
  const temporary = useTempFolder();

  it('know the layouts that are compared', () => {
    const names = LAYOUTS.map(({ name }) => name);
    assert.deepEqual(COMPARED.filter((name) => !names.includes(name)), []);
  });

  for (const layout of LAYOUTS.filter(({ name }) => COMPARED.includes(name))) {
    it(`agree: ${layout.name}`, async function () {
      for (const { hg, version } of capable(this, layout)) {
        const repository = temporary(version);
        await layout.build(hg, repository);
        const compared = await compareAll(hg, repository, layout.config);
        assert.ok(compared.length >= 3, `${compared.length} revlogs`);
      }
    });
  }

  for (const [title, config] of [
    ['with snapshots', []],
    ['without sparse-revlog', ['format.sparse-revlog=no']],
    ['without generaldelta', ['format.usegeneraldelta=no', 'format.sparse-revlog=no']],
  ] as const) {
    it(`agree on a history with much change and merges, ${title}`, async function () {
      for (const { hg, version } of requireMercurials(this)) {
        const repository = temporary(version);
        await made(config, churnHistory)(hg, repository);
        const compared = await compareAll(hg, repository);
        const file = compared.find(({ path }) => path === 'data/churn.txt.i');
        assert.ok(file !== undefined);
        assert.ok(file.revisions > 150);
        assert.equal(file.snapshots.length >= 2, config.length === 0, JSON.stringify(file.snapshots));
        assert.ok(compared.some(({ kind, merges }) => kind === 'changelog' && merges > 0));
      }
    });
  }
});

interface HandMade {
  readonly title: string;
  readonly config: readonly string[];
  readonly layout: Omit<RevlogLayout, 'inline'>;
  readonly deltaInfo?: boolean;
  /** The first Mercurial that reads it. */
  readonly minVersion?: readonly [number, number];
}

const HAND_MADE: readonly HandMade[] = [
  { title: 'generaldelta with snapshots', config: [], layout: { version: 1, generaldelta: true } },
  { title: 'generaldelta without snapshots', config: ['format.sparse-revlog=no'], layout: { version: 1, generaldelta: true } },
  { title: 'no generaldelta, in a store with snapshots', config: [], layout: { version: 1, generaldelta: false } },
  {
    title: 'delta-info',
    config: ['format.use-delta-info-flags=yes'],
    layout: { version: 1, generaldelta: true, headerWord: 0x000e0001 },
    deltaInfo: true,
    minVersion: [7, 2],
  },
];

const INLINE_BIT = 0x10000;
const HISTORIES = Array.from({ length: 25 }, (_, seed) => ({ seed, file: `file-${seed}`, inline: seed % 2 === 0 }));

/** A file that was always empty. */
const NOTHING = 'nothing';
const FILES = [...HISTORIES.map(({ file }) => file), NOTHING];

/** Builds an empty repository and puts revlogs in its store, one for each file. */
function placeRandom(hg: string, repository: string, { config, layout, deltaInfo = false }: HandMade, empties: boolean): void {
  runHgOk(hg, ['init', repository], { config });
  const folder = join(repository, '.hg', 'store', 'data');
  mkdirSync(folder);
  for (const { seed, file, inline } of HISTORIES) {
    const word = layout.headerWord === undefined ? {} : { headerWord: layout.headerWord + (inline ? INLINE_BIT : 0) };
    const specs = randomHistory(seed, { generaldelta: layout.generaldelta, empties, flags: deltaInfo });
    placeRevlog(folder, buildRevlog({ ...layout, inline, ...word }, specs), file);
  }
  placeRevlog(folder, buildRevlog({ ...layout, inline: true, ...(deltaInfo ? { headerWord: 0x000f0001 } : {}) }, [{ text: Buffer.alloc(0) }]), NOTHING);
  writeFileSync(join(repository, '.hg', 'store', 'fncache'), FILES.map((file) => `data/${file}.i\n`).join(''));
}

describe('stats and hg debugrevlog on revlogs that no Mercurial would write', () => {
  const temporary = useTempFolder();

  for (const made of HAND_MADE) {
    for (const empties of [false, true]) {
      it(`agree: ${made.title}, ${empties ? 'with' : 'without'} empty texts and deltas`, async function () {
        for (const { hg, version } of capable(this, made)) {
          const repository = temporary(version);
          placeRandom(hg, repository, made, empties);
          const isSix = hgVersion(hg)[0] < 7;
          await withHg(hg, repository, [], async (session) => {
            for (const file of FILES) {
              const output = await session.run('debugrevlog', file);
              const { largest, errors } = await collectStats(repository, { only: { file } });
              assert.deepEqual(errors, []);
              for (const one of largest) assertSameFigures(output, one, !(isSix && empties));
            }
          });
          const { total } = await collectStats(repository);
          assert.equal(total.revlogs, FILES.length);
          assert.equal(total.emptyTexts > 1 && total.emptyDeltas > 0, empties);
          const { snapshot, previousP2, previousOther, p1, p2, other } = total.bases;
          if (made === HAND_MADE[0]) assert.ok(Math.min(snapshot, previousP2, previousOther, p1, p2, other) > 0, JSON.stringify(total.bases));
        }
      });
    }
  }
});
