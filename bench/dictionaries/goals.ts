import { measureStores } from '../../src/report/perf.js';
import type { BenchmarkName } from '../../src/report/perf-benchmarks.js';
import type { Goal } from '../goal.js';
import { goalGrid } from '../goal.js';
import { median, spread } from '../measure.js';
import { SHORT_RUNS } from '../published/read-times.js';
import type { Grid } from '../published/reproduction.js';
import type { Part } from './part.js';
import { bytes, speedup, times } from './part.js';
import { timeStoreReads } from './read-store.js';
import type { Converted, Workspace } from './workspace.js';
import { PLAIN, WITH } from './workspace.js';

const REDELTA = ['--redelta', 'all'] as const;

/** What a chunk is read for: texts only now and then, since those of manifests are large. */
const EVERY = 1000;

/** What was wanted of dictionaries, and what they reach, on medium.hg. */
export async function measureGoals(workspace: Workspace): Promise<Part> {
  const { repository, upgrade, rounds, stored } = workspace;
  const source = repository('medium');
  const plainTheirs = upgrade(source, []);
  const redeltaTheirs = upgrade(source, ['--optimize', 're-delta-all']);
  const kept = convertInTurns(workspace, source, PLAIN, WITH, rounds);
  const anew = convertInTurns(workspace, source, [...PLAIN, ...REDELTA], [...WITH, ...REDELTA], Math.ceil(rounds / 2));
  const other = workspace.unbundledByNewest('medium');
  const otherTheirs = upgrade(other, []);
  const otherOurs = workspace.convert(other, WITH);
  workspace.remove(other, otherOurs.folder);
  const plain = stored('medium', 'plain').folder;
  const dictionaries = stored('medium', 'dictionaries').folder;
  const [before, after] = await timeStoreReads([plain, dictionaries], rounds);
  const perf = await measureStores([plain, dictionaries], { runs: rounds * SHORT_RUNS, every: EVERY });
  const size = (what: string, wanted: number, value: number, other: number): Goal => ({ what, wanted, more: false, ratio: value / other, pair: `${bytes(value)} / ${bytes(other)}` });
  const read = (what: string, own: readonly number[] | undefined, other: readonly number[] | undefined): Goal => ({
    what: `all chunks read in batches: ${what}`,
    wanted: 1.5,
    more: true,
    ratio: speedup(own, other),
    pair: `${spread(other ?? [], 3)} s / ${spread(own ?? [], 3)} s`,
  });
  const readsOfPerf = (perf.stores[0]?.revlogs ?? []).map(({ path }, i): Goal => {
    const [other, own] = perf.stores.map(({ revlogs }) => secondsOf(revlogs[i]?.benchmarks, 'chunks, in batches'));
    return read(`\`${path}\``, own, other);
  });
  const time = (what: string, { dictionaries: own, plain: other }: Pair): Goal => ({ what, wanted: 1.4, more: false, ratio: speedup(other.wall, own.wall), pair: `${spread(own.wall)} s / ${spread(other.wall)} s` });
  const goals: Goal[] = [
    size('whole store with dictionaries, to that of Mercurial with zstd', 0.8, kept.dictionaries.made.total, plainTheirs),
    size(`the same, of medium.hg as Mercurial ${workspace.hg.version} unbundles it`, 0.8, otherOurs.total, otherTheirs),
    size('with `--redelta all`, to the first store of Mercurial', 0.7, anew.dictionaries.made.total, plainTheirs),
    size("the same, to Mercurial's store with `--optimize re-delta-all`", 0.82, anew.dictionaries.made.total, redeltaTheirs),
    read('the whole store', after?.all, before?.all),
    read('changelog', after?.changelog, before?.changelog),
    read('manifests', after?.manifest, before?.manifest),
    read('filelogs', after?.filelog, before?.filelog),
    ...readsOfPerf,
    time('converting with `--dict auto`, training included, to converting without', kept),
  ];
  return {
    name: 'goals',
    title: 'What was wanted, and what is reached',
    isTimed: true,
    about:
      `On medium.hg (40,919 changesets). A whole store is its index files, its data files and its folder of dictionaries. medium.hg was unbundled by Mercurial ${workspace.unbundler.version}; Mercurial ${workspace.hg.version} made its stores of that with \`hg debugupgraderepo\`. ` +
      `Commands ran in turns, ${rounds} of each, with all threads; reads in turns on one thread, files in the page cache. Median (range); ratios are medians of the ratios pair by pair. The second table is one of the same runs.`,
    grids: [goalGrid(goals), perfGrid(perf), conversionGrid({ plainTheirs, redeltaTheirs, kept, anew })],
  };
}

interface Side {
  readonly made: Pick<Converted, 'store' | 'dictionaries' | 'total'>;
  readonly wall: readonly number[];
}

interface Pair {
  readonly plain: Side;
  readonly dictionaries: Side;
}

function convertInTurns({ convert, remove }: Workspace, source: string, plain: readonly string[], dictionaries: readonly string[], rounds: number): Pair {
  const sides = [plain, dictionaries].map((options) => ({ options, wall: [] as number[], made: { store: NaN, dictionaries: NaN, total: NaN } }));
  for (let round = 0; round < rounds; round++) {
    for (const side of sides) {
      const made = convert(source, side.options);
      side.wall.push(made.wall);
      side.made = made;
      remove(made.folder);
    }
  }
  const [first, second] = sides;
  if (first === undefined || second === undefined) throw new Error('nothing was converted');
  return { plain: first, dictionaries: second };
}

type Perf = Awaited<ReturnType<typeof measureStores>>;
type Benchmarks = Perf['stores'][number]['revlogs'][number]['benchmarks'];

const secondsOf = (benchmarks: Benchmarks | undefined, wanted: BenchmarkName): number[] => (benchmarks?.find(({ name }) => name === wanted)?.milliseconds ?? []).map((milliseconds) => milliseconds / 1000);

/** How many times as fast each read of `revconvert perf` is. */
function perfGrid({ stores: [plain, dictionaries] }: Perf): Grid {
  const names: readonly BenchmarkName[] = ['chunks', 'chunks, in batches', 'texts forward', 'texts in reverse', 'last of the longest chain'];
  return {
    head: ['`revconvert perf`, times as fast with dictionaries', ...names.map((name) => (name.startsWith('texts') ? `${name}, every ${EVERY}th` : name))],
    rows: (plain?.revlogs ?? []).map(({ path, benchmarks }, i) => [
      `\`${path}\``,
      ...names.map((name) => times(median(secondsOf(benchmarks, name).map((time, run) => time / (secondsOf(dictionaries?.revlogs[i]?.benchmarks, name)[run] ?? NaN))))),
    ]),
  };
}

interface Stores {
  readonly plainTheirs: number;
  readonly redeltaTheirs: number;
  readonly kept: Pair;
  readonly anew: Pair;
}

function conversionGrid({ plainTheirs, redeltaTheirs, kept, anew }: Stores): Grid {
  const row = (name: string, { made, wall }: Side): string[] => [name, bytes(made.store), bytes(made.dictionaries), bytes(made.total), (made.total / plainTheirs).toFixed(3), spread(wall)];
  const theirs = (name: string, total: number): string[] => [name, bytes(total), '', bytes(total), (total / plainTheirs).toFixed(3), ''];
  return {
    head: ['store of medium.hg', '.i and .d', 'dictionaries', 'together', 'to the first', 'wall s'],
    rows: [
      theirs('Mercurial', plainTheirs),
      row('revconvert', kept.plain),
      row('revconvert `--dict auto`', kept.dictionaries),
      theirs('Mercurial, re-delta-all', redeltaTheirs),
      row('revconvert `--redelta all`', anew.plain),
      row('revconvert `--redelta all --dict auto` (its default is level 9)', anew.dictionaries),
    ],
  };
}
