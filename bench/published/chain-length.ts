import { join } from 'node:path';

import { createIndexCheck } from '../../src/delta/node-hash.js';
import { Arena } from '../../src/engines/arena.js';
import { loadDecoders } from '../../src/engines/chunk-codec.js';
import type { ReadTools } from '../../src/report/perf-reads.js';
import { readTexts } from '../../src/report/perf-reads.js';
import type { RevlogReader } from '../../src/streams/read-revlog.js';
import { openRevlog } from '../../src/streams/read-revlog.js';
import { Turns } from '../../src/streams/turns.js';
import { median, spread } from '../measure.js';
import type { Line } from './fit.js';
import { fitLine } from './fit.js';
import { bestOf } from './read-times.js';
import type { Claim, Reproduction } from './reproduction.js';
import { grouped } from './reproduction.js';
import type { Mercurial, Workspace } from './workspace.js';

/** Length of the chain, the full text counted; and the milliseconds that were published. */
const PUBLISHED: readonly (readonly [length: number, milliseconds: number])[] = [
  [1, 50],
  [2500, 78],
  [5000, 104],
  [10000, 142],
  [20000, 199],
  [30000, 278],
  [45000, 407],
];

const LEAST_R2 = 0.98;

/** Fewer lengths make no line. */
const LEAST_LENGTHS = 4;

/** Runs for each round of the bench. */
const RUNS = 3;

/** Milliseconds by length, run by run. */
type Runs = Map<number, number[]>;

/** Table 1: what does a long chain cost? */
export async function reproduceChainLength({ longChain, hg, rounds }: Workspace): Promise<Reproduction> {
  const repository = longChain();
  const store = join(repository, '.hg/store/00manifest');
  const reader = openRevlog({ indexFile: `${store}.i`, dataFile: `${store}.d`, path: '00manifest.i', kind: 'manifest' });
  try {
    const lengths = PUBLISHED.map(([length]) => length).filter((length) => length <= reader.index.length);
    const resolve = await createResolver(reader);
    const ours: Runs = new Map();
    const theirs: Runs = new Map();
    for (const length of lengths) await resolve(length - 1);
    for (let round = 0; round < rounds * RUNS; round++) {
      for (const length of lengths) note(ours, length, await resolve(length - 1));
      timeMercurial(hg, repository, lengths)?.forEach((milliseconds, i) => note(theirs, lengths[i] ?? 0, milliseconds));
    }
    return compare(ours, theirs, reader.index.rawSize(0), hg);
  } finally {
    reader.close();
  }
}

function note(runs: Runs, length: number, milliseconds: number): void {
  runs.set(length, [...(runs.get(length) ?? []), milliseconds]);
}

/** Resolves one text with nothing cached and compares it with its node; gives the milliseconds. */
async function createResolver({ origin, index }: RevlogReader): Promise<(rev: number) => Promise<number>> {
  const memory = new Arena();
  const tools: ReadTools = { decoders: await loadDecoders({ memory }), memory, turns: new Turns(undefined) };
  const wrongHash = createIndexCheck(index);
  const check = (rev: number, text: Uint8Array): void => {
    if (wrongHash(rev, text) !== undefined) throw new Error(`revision ${rev}: wrong text`);
  };
  return async (rev) => {
    const started = performance.now();
    await readTexts([rev], origin, tools, check);
    return performance.now() - started;
  };
}

/** The same in Mercurial, in its own process and after a first text that does not count; undefined where it runs no scripts. */
function timeMercurial(hg: Mercurial, repository: string, lengths: readonly number[]): number[] | undefined {
  const script = `
import json, time
revlog = repo.manifestlog.getstorage(b'')._revlog
def resolve(rev):
    revlog.clearcaches()
    started = time.perf_counter()
    revlog.revision(rev)
    return (time.perf_counter() - started) * 1000
resolve(0)
print(json.dumps([resolve(length - 1) for length in ${JSON.stringify(lengths)}]))
`;
  const printed = hg.runScript(repository, script);
  return printed === undefined ? undefined : (JSON.parse(printed) as number[]);
}

const lineOf = (runs: Runs, value: (times: readonly number[]) => number): Line | undefined =>
  runs.size < 2 ? undefined : fitLine([...runs].map(([x, times]) => ({ x, y: value(times) })));

/** Microseconds a delta. */
const slopeOf = (line: Line | undefined): string => (line === undefined ? '' : (line.slope * 1000).toFixed(1));

function compare(ours: Runs, theirs: Runs, textBytes: number, hg: Mercurial): Reproduction {
  const own = lineOf(ours, bestOf);
  const published = fitLine(PUBLISHED.map(([x, y]) => ({ x, y })));
  const cell = (runs: Runs, length: number): string => {
    const times = runs.get(length);
    if (times !== undefined) return spread(times, 0);
    const line = lineOf(runs, bestOf);
    return line === undefined ? 'not measured' : `${(line.start + line.slope * length).toFixed(0)}, extrapolated`;
  };
  const rows = PUBLISHED.map(([length, milliseconds]) => [grouped(length), String(milliseconds), cell(theirs, length), cell(ours, length)]);
  const summary = (name: string, of: (runs: Runs) => string, there: string): string[] => [name, there, of(theirs), of(ours)];
  const longest = Math.max(...ours.keys());
  return {
    title: '1. Chain length against the time to resolve',
    about: `A manifest of 130,558 entries (\`long_chain.py\`: ${grouped(textBytes)} bytes; the published one had 12.8 MB) in one chain of zlib deltas, measured up to a length of ${grouped(longest)}, the full text counted. Milliseconds for one text, files in the page cache, nothing else cached, node checked, here and in Mercurial ${hg.version} (\`revlog.revision\` inside its process, after \`clearcaches\`): median (range).`,
    grids: [
      {
        head: ['chain', 'published', `Mercurial ${hg.version}`, 'revconvert'],
        rows: [
          ...rows,
          summary('microseconds a delta', (runs) => slopeOf(lineOf(runs, bestOf)), slopeOf(published)),
          summary('the same by the medians', (runs) => slopeOf(lineOf(runs, median)), ''),
          summary('R² of a straight line', (runs) => lineOf(runs, bestOf)?.r2.toFixed(3) ?? '', published.r2.toFixed(3)),
        ],
      },
    ],
    claims: own === undefined || ours.size < LEAST_LENGTHS ? [] : claimsOf(own, published, lineOf(theirs, bestOf)),
  };
}

function claimsOf(own: Line, published: Line, theirs: Line | undefined): Claim[] {
  const slopes = `${slopeOf(own)} microseconds a delta against ${slopeOf(published)}${theirs === undefined ? '' : ` (Mercurial on this machine: ${slopeOf(theirs)})`}`;
  return [
    {
      holds: own.r2 >= LEAST_R2,
      yes: 'the time grows in a straight line with the length of the chain',
      no: `R² is ${own.r2.toFixed(3)}, which is no straight line: see the ranges for how much the machine was disturbed`,
    },
    { holds: own.slope < published.slope, yes: `the slope is smaller than the published one: ${slopes}`, no: `the slope is not smaller: ${slopes}` },
  ];
}
