import { execFileSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';

import type { Part } from '../dictionaries/part.js';
import { bytes, change, times } from '../dictionaries/part.js';
import { median } from '../measure.js';
import { seconds, SHORT_RUNS } from '../published/read-times.js';
import type { Grid } from '../published/reproduction.js';
import { percent } from '../published/reproduction.js';
import { answerChangelog } from './changelog-answer.js';
import { timeSending } from './changelog-sending.js';
import type { StorePair } from './changelog-stores.js';
import { makeChangelogs, makeStores, shareOfDeltas } from './changelog-stores.js';
import { unbundleScript } from './to-repo.js';
import type { Contender, Result } from './turns.js';
import { compareResults, ratio, runInTurns } from './turns.js';
import type { BundleKind, Workspace } from './workspace.js';
import { bundleCommand, hgCommand } from './workspace.js';

const KINDS: readonly BundleKind[] = ['none-v2', 'zstd-v2', 'gzip-v2'];

/** A way in which changesets stand in a bundle. */
interface Variant {
  readonly name: string;
  /** Of which store. */
  readonly store: keyof StorePair;
  readonly options: readonly string[];
}

const VARIANTS = [
  { name: 'full texts, as they are stored', store: 'without', options: [] },
  { name: 'full texts of stored deltas (`--redelta none`)', store: 'with', options: ['--redelta', 'none'] },
  { name: 'deltas against a parent, as they are stored', store: 'with', options: [] },
  { name: 'deltas against a parent (`--redelta parent`)', store: 'without', options: ['--redelta', 'parent'] },
  { name: 'deltas against the previous one (`--redelta previous`)', store: 'without', options: ['--redelta', 'previous'] },
] as const satisfies readonly Variant[];

/** What do full texts against null cost in a bundle, and what do they save? */
export async function measureChangelog(workspace: Workspace): Promise<Part> {
  const { hg, bundle, remove } = workspace;
  const changelogs = makeChangelogs(workspace);
  const share = await shareOfDeltas(changelogs.with);
  const made = VARIANTS.map((variant) => KINDS.map((kind) => makeBundle(workspace, changelogs, variant, kind)));
  if (made[0]?.some((path, i) => !readFileSync(path).equals(readFileSync(made[1]?.[i] ?? path)))) throw new Error('full texts are not the same from both stores');
  const sizes = made.map((paths) => paths.map((path) => statSync(path).size));
  const whole = KINDS.map((kind) => statSync(bundle(kind)).size);
  const sending = sendInTurns(workspace, changelogs);
  const sendingRatio = median(sending.without) / median(sending.with);
  const making = runInTurns(workspace, VARIANTS.map(({ name, store, options }) => ({ name, command: (path) => bundleCommand('--quiet', '--from-repo', changelogs[store], '--to', 'none-v2', ...options, path) })));
  // The second is the first, byte by byte.
  const received = VARIANTS.map(({ name }, i) => ({ name, path: made[i]?.[0] ?? '' })).filter((_, i) => i !== 1);
  const receiving = runInTurns(workspace, [
    ...received.map(({ name, path }): Contender => ({ name: `hg: ${name}`, command: (repository) => ['bash', '-c', unbundleScript(repository, path)] })),
    ...received.map(({ name, path }): Contender => ({ name: `revconvert: ${name}`, command: (repository) => bundleCommand('--quiet', '--to-repo', repository, '--to', 'zstd', path) })),
  ]);
  remove(...made.flat());
  const [wholeMaking, wholeGrid] = makeWhole(workspace);
  return {
    name: 'changelog',
    title: 'A changelog without deltas, in a bundle',
    isTimed: true,
    about:
      `The changelog of medium.hg alone: repositories and bundles with all changesets, and no manifests and files. Since 4.0 Mercurial stores each changeset whole; in the store with deltas ${percent(share)} of the changesets are deltas against a parent, made to the byte. ` +
      `Mercurial ${hg.version} sends full texts from either store; revconvert sends what is stored. Published, for this history: with the Mercurial that gave the deltas up, which made one to send where none was stored. ` +
      'First, bytes of the bundle, and the change against the first row; then, seconds that Mercurial takes to make the share of the changelog, in its own process; making a bundle (none-v2) with revconvert; receiving it (`hg init` and `hg unbundle`, `--to-repo`). Last, a bundle of everything (none-v2), from stores that differ in the changelog only.',
    grids: [
      sizeGrid(sizes, whole),
      {
        head: [`Mercurial ${hg.version} makes the changelog's share`, 'published s', 's', 'times as long'],
        rows: [
          ['from a store with deltas', '1.589', seconds(sending.with), times(1)],
          ['from a store without', '1.788', seconds(sending.without), times(sendingRatio)],
        ],
      },
      named('making the bundle', compareResults(making, making[0])),
      named('receiving the bundle: Mercurial', compareResults(receiving.slice(0, received.length), receiving[0])),
      named('receiving the bundle: revconvert', compareResults(receiving.slice(received.length), receiving[received.length])),
      wholeGrid,
    ],
    answer: answerChangelog({
      full: sizes[0] ?? [],
      parent: sizes[3] ?? [],
      previous: sizes[4] ?? [],
      whole,
      sending: sendingRatio,
      wholeSending: ratio(wholeMaking[1], wholeMaking[0], 'cpu'),
      makingParent: ratio(making[0], making[3], 'cpu'),
      makingPrevious: ratio(making[0], making[4], 'cpu'),
      receivingParent: ratio(receiving[0], receiving[2], 'cpu'),
      receivingPrevious: ratio(receiving[0], receiving[3], 'cpu'),
    }),
  };
}

function makeBundle({ newPath }: Workspace, changelogs: StorePair, { store, options }: Variant, kind: BundleKind): string {
  const path = `${newPath()}.hg`;
  const [program = '', ...args] = bundleCommand('--quiet', '--from-repo', changelogs[store], '--to', kind, ...options, path);
  execFileSync(program, args, { stdio: ['ignore', 'ignore', 'inherit'] });
  return path;
}

/** Seconds of Mercurial, run by run; none where it runs no scripts. */
function sendInTurns({ hg, rounds }: Workspace, changelogs: StorePair): Readonly<Record<keyof StorePair, number[]>> {
  const found: Record<keyof StorePair, number[]> = { without: [], with: [] };
  for (let round = 0; round < rounds; round++) {
    for (const store of ['with', 'without'] as const) found[store].push(...(timeSending(hg, changelogs[store], SHORT_RUNS) ?? []));
  }
  return found;
}

/** A bundle of everything, from stores with and without deltas in the changelog: Mercurial's two come first. */
function makeWhole(workspace: Workspace): readonly [readonly Result[], Grid] {
  const stores = makeStores(workspace);
  const names = { with: 'from the store with deltas in the changelog', without: 'from the one without' };
  const makers = [
    { name: 'hg', command: (store: string, path: string) => hgCommand(store, 'bundle', '-q', '-a', '-t', 'none-v2', path) },
    { name: 'revconvert', command: (store: string, path: string) => bundleCommand('--quiet', '--from-repo', store, '--to', 'none-v2', path) },
  ];
  const contenders = makers.flatMap(({ name, command }) => (['with', 'without'] as const).map((store): Contender => ({ name: `${name}: ${names[store]}`, command: (path) => command(stores[store], path) })));
  const results = runInTurns(workspace, contenders, (path) => statSync(path).size);
  workspace.remove(stores.with, stores.without);
  return [results, named('making a bundle of everything', compareResults(results, results[0], 'bytes'))];
}

const named = (name: string, { head, rows }: Grid): Grid => ({ head: [name, ...head.slice(1)], rows });

function sizeGrid(sizes: readonly (readonly number[])[], whole: readonly number[]): Grid {
  const [first = []] = sizes;
  return {
    head: ['changesets in the bundle', ...KINDS.flatMap((kind) => [kind, 'change'])],
    rows: [
      ...VARIANTS.map(({ name }, row) => [name, ...KINDS.flatMap((_, i) => [bytes(sizes[row]?.[i] ?? NaN), row === 0 ? '' : change(sizes[row]?.[i] ?? NaN, first[i] ?? NaN)])]),
      ['a bundle of everything, as Mercurial makes it', ...whole.flatMap((size) => [bytes(size), ''])],
    ],
  };
}
