import { statSync } from 'node:fs';

import type { Part } from '../dictionaries/part.js';
import { bytes, times } from '../dictionaries/part.js';
import { spread } from '../measure.js';
import type { Claim } from '../published/reproduction.js';
import { isLonger, renderVerdict } from '../published/reproduction.js';
import type { Contender, Result } from './turns.js';
import { column, ratio, runInTurns } from './turns.js';
import type { StoreEngine, Workspace } from './workspace.js';
import { bundleCommand, hgCommand } from './workspace.js';

/** What was published: seconds of processor time. */
interface Row {
  readonly engine: StoreEngine;
  readonly to: string;
  readonly published: number;
}

const ROWS = [
  { engine: 'zlib', to: 'none-v2', published: 102.8 },
  { engine: 'zstd', to: 'none-v2', published: 97.8 },
  { engine: 'zlib', to: 'gzip-v2', published: 191.6 },
  { engine: 'zstd', to: 'zstd-v2', published: 115.4 },
] as const satisfies readonly Row[];

/** What does a bundle cost in processor time, by the compression of the store? */
export function measurePublished(workspace: Workspace): Promise<Part> {
  const contenders = ROWS.flatMap(({ engine, to }): Contender[] => {
    const repository = workspace.repository(engine);
    return [
      { name: 'hg', command: (made) => hgCommand(repository, 'bundle', '-q', '-a', '-t', to, made) },
      { name: 'revconvert', command: (made) => bundleCommand('--quiet', '--from-repo', repository, '--to', to, made) },
    ];
  });
  const results = runInTurns(workspace, contenders, (made) => statSync(made).size);
  const theirs = results.filter(({ name }) => name === 'hg');
  const ours = results.filter(({ name }) => name === 'revconvert');
  const pairs: readonly (readonly [zlib: number, zstd: number])[] = [
    [0, 1],
    [2, 3],
  ];
  const ratios = (some: readonly Result[]): number[] => pairs.map(([zlib, zstd]) => ratio(some[zlib], some[zstd], 'cpu'));
  const [theirRatios, ourRatios] = [ratios(theirs), ratios(ours)];
  const published = pairs.map(([zlib, zstd]) => (ROWS[zstd]?.published ?? NaN) / (ROWS[zlib]?.published ?? NaN));
  return Promise.resolve({
    name: 'published',
    title: 'The published comparison',
    isTimed: true,
    about:
      "Processor time of all threads for a bundle of everything, from a store that is zlib and from one that is zstd: uncompressed, and compressed with the store's own engine (gzip level 6, zstd level 3). Published: a larger history, with Mercurial. Ours: medium.hg.",
    grids: [
      {
        head: ['', 'published, CPU s', 'hg, CPU s', 'revconvert, CPU s', 'times less than hg', 'hg, bytes', 'revconvert, bytes'],
        rows: ROWS.map(({ engine, to, published: one }, i) => [
          `${to} from the ${engine} store`,
          one.toFixed(1),
          spread(column(theirs[i], 'cpu')),
          spread(column(ours[i], 'cpu')),
          times(ratio(ours[i], theirs[i], 'cpu')),
          bytes(theirs[i]?.bytes ?? NaN),
          bytes(ours[i]?.bytes ?? NaN),
        ]),
      },
      {
        head: ['from the zstd store, to the zlib store', 'published', 'hg', 'revconvert'],
        rows: ['uncompressed', "compressed with the store's engine"].map((what, i) => [what, ...[published, theirRatios, ourRatios].map((some) => times(some[i] ?? NaN))]),
      },
    ],
    answer: renderVerdict(publishedClaims(theirRatios, ourRatios, published)),
  });
}

/**
 * What was published, and whether it holds.
 * @param theirs processor time from the zstd store to that from the zlib store, of Mercurial: uncompressed, and compressed
 */
export function publishedClaims(theirs: readonly number[], ours: readonly number[], published: readonly number[]): Claim[] {
  const list = (i: number): string => `${times(theirs[i] ?? NaN)} with hg, ${times(ours[i] ?? NaN)} with revconvert; published ${times(published[i] ?? NaN)}`;
  const cheaper = (i: number): boolean => [theirs[i], ours[i]].every((one) => isLonger(1, one ?? NaN));
  const notDearer = [theirs[0], ours[0]].every((one) => !isLonger(one ?? NaN, 1));
  return [
    { holds: notDearer, yes: `an uncompressed bundle costs no more from a zstd store than from a zlib store (times as much: ${list(0)})`, no: `an uncompressed bundle costs more from a zstd store (times as much: ${list(0)})` },
    { holds: cheaper(1), yes: `a compressed one costs less with zstd throughout than with zlib throughout (${list(1)})`, no: `a compressed one does not cost less with zstd (${list(1)})` },
  ];
}

