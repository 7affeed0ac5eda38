import { createIndexCheck } from '../delta/node-hash.js';
import { RevconvertError } from '../errors.js';
import type { BatchOrigin, RevlogFiles, RevlogReader } from '../streams/read-revlog.js';
import { openRevlog } from '../streams/read-revlog.js';
import { findLongestChain } from './longest-chain.js';
import type { ReadTools, Tally, Visit } from './perf-reads.js';
import { downwards, emptyTally, readChunksInBatches, readChunksSingly, readTexts, upwards } from './perf-reads.js';

/** What is measured of a revlog, in this order. */
export const BENCHMARKS = ['index', 'chunks', 'chunks, in batches', 'texts forward', 'texts in reverse', 'last of the longest chain'] as const;

export type BenchmarkName = (typeof BENCHMARKS)[number];

export interface BenchmarkOptions {
  readonly every: number;
  readonly checkNodes: boolean;
}

/** The benchmarks of an open revlog, each to be run as often as wanted. */
export type RevlogBenchmarks = Readonly<Record<BenchmarkName, () => Promise<Tally>>>;

export function createBenchmarks(files: RevlogFiles, { origin, index }: RevlogReader, tools: ReadTools, { every, checkNodes }: BenchmarkOptions): RevlogBenchmarks {
  const check = checkNodes ? createNodeCheck(origin) : undefined;
  const texts = (revs: Iterable<number>): Promise<Tally> => readTexts(revs, origin, tools, check);
  const last = findLongestChain(index);
  return {
    'index': () => Promise.resolve(readIndexAnew(files)),
    'chunks': () => readChunksSingly(origin, tools),
    'chunks, in batches': () => readChunksInBatches(origin, tools),
    'texts forward': () => texts(upwards(index.length, every)),
    'texts in reverse': () => texts(downwards(index.length, every)),
    'last of the longest chain': () => texts(last === undefined ? [] : [last.rev]),
  };
}

/** Opens a revlog, reads and checks its index, and closes it. */
function readIndexAnew(files: RevlogFiles): Tally {
  const reader = openRevlog(files);
  reader.close();
  const { length, table } = reader.index;
  return { ...emptyTally(), revisions: length, readBytes: table.length, bytes: table.length, sum: table[table.length >> 1] ?? 0 };
}

/** Compares each text with its node, where the node is the hash of it. */
function createNodeCheck({ index, path }: BatchOrigin): Visit {
  const check = createIndexCheck(index);
  return (rev, text) => {
    if (check(rev, text) === undefined) return;
    throw new RevconvertError('NODE_MISMATCH', 'the node is not the hash of parents and text', { path, rev, offset: index.position(rev) });
  };
}
