import { pairRatio, seconds, SHORT_RUNS, timeReads } from './read-times.js';
import type { Claim, Reproduction } from './reproduction.js';
import { grouped, percent } from './reproduction.js';
import type { Workspace } from './workspace.js';

interface Published {
  readonly level: number;
  /** Megabytes of the store. */
  readonly store: string;
  readonly read: string;
  readonly write: string;
}

const PUBLISHED: readonly Published[] = [
  { level: 1, store: '49.4', read: '0.170', write: '53.3' },
  { level: 6, store: '47.2', read: '0.183', write: '56.3' },
  { level: 9, store: '47.1', read: '0.189', write: '56.3' },
];

const READ_EVERY = 100;

interface Level {
  readonly store: number;
  readonly manifest: number;
  readonly writes: number[];
  /** The store that is read. */
  readonly folder: string;
}

/** Table 4: what does the level of zlib change? */
export async function reproduceZlibLevels({ medium, convert, remove, rounds }: Workspace): Promise<Reproduction> {
  const levels = new Map<number, Level>();
  for (let round = 0; round < rounds; round++) {
    for (const { level } of PUBLISHED) {
      const { folder, summary } = await convert(medium, { to: 'zlib', level, redelta: 'fulladd' });
      const known = levels.get(level);
      if (known !== undefined) remove(folder);
      const own = known ?? { store: summary.bytesAfter, manifest: summary.kinds.manifest.bytesAfter, writes: [], folder };
      own.writes.push(summary.milliseconds / 1000);
      levels.set(level, own);
    }
  }
  const all = [...levels.values()];
  const times = await timeReads(all.map(({ folder }) => folder), { manifest: true, every: READ_EVERY, runs: rounds * SHORT_RUNS });
  remove(...all.map(({ folder }) => folder));
  const reads = times('00manifest.i', 'texts forward');
  const rows = PUBLISHED.map((row, i) => [
    String(row.level),
    row.store,
    row.read,
    row.write,
    grouped(all[i]?.store ?? NaN),
    grouped(all[i]?.manifest ?? NaN),
    seconds(reads[i]),
    seconds(all[i]?.writes),
  ]);
  return {
    title: '4. Levels of zlib, every delta recomputed',
    about:
      `The whole store, every delta recomputed from the texts (\`--redelta fulladd\`) under Mercurial's present rules, compressed at the level. Bytes of index and data files; seconds to read every ${READ_EVERY}th manifest in order; seconds to write the store with one thread: median (range). ` +
      'The published figures are those of Mercurial on another machine, when the history was shorter: only the proportions compare.',
    grids: [
      {
        head: ['level', 'published: store MB', 'read s', 'write s', 'ours: store bytes', 'manifest bytes', 'read s', 'write s'],
        rows,
      },
    ],
    claims: claimsOf(all, reads),
  };
}

function claimsOf(levels: readonly Level[], reads: readonly (readonly number[])[]): Claim[] {
  const [one, six, nine] = levels;
  if (one === undefined || six === undefined || nine === undefined) return [];
  const change = (to: Level, from: Level): string => percent(to.store / from.store - 1);
  const read = [pairRatio(reads[1], reads[0]), pairRatio(reads[2], reads[0])];
  const write = [pairRatio(six.writes, one.writes), pairRatio(nine.writes, one.writes)];
  const both = (ratios: readonly number[]): string => ratios.map((ratio) => ratio.toFixed(2)).join(' and ');
  return [
    {
      holds: one.store > six.store && six.store >= nine.store && nine.store > six.store * 0.99,
      yes: `level 6 makes the store a little smaller than level 1 (${change(six, one)}; published -4.5 %), level 9 next to nothing more (${change(nine, six)}; published -0.2 %)`,
      no: `from level 1 to 6 the store changes by ${change(six, one)} and to 9 by ${change(nine, six)}, since other sizes lead to other deltas`,
    },
    {
      holds: isLittle(read),
      yes: `the level does little to read times (levels 6 and 9: ${both(read)} times as long as level 1; published 1.08 and 1.11)`,
      no: `read times differ (levels 6 and 9: ${both(read)} times as long as level 1; published 1.08 and 1.11), since other sizes lead to other chains`,
    },
    {
      holds: isLittle(write),
      yes: `and little to write times (${both(write)}; published 1.06 and 1.06)`,
      no: `write times grow with the level (${both(write)} times; published 1.06 and 1.06), because our deltas take a fraction of the published time to find and compression is more of what is left`,
    },
  ];
}

/** The published ratios were up to 1.11. */
const LITTLE = 0.15;

const isLittle = (ratios: readonly number[]): boolean => ratios.every((ratio) => Math.abs(ratio - 1) <= LITTLE);
