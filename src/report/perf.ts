import { resolve } from 'node:path';

import { Arena } from '../engines/arena.js';
import { loadDecoders } from '../engines/chunk-codec.js';
import type { RevlogKind } from '../formats/record.js';
import { readDictionariesOf } from '../repository/dictionaries/folder.js';
import type { ListedRevlog } from '../repository/list-revlogs.js';
import type { RevlogReader } from '../streams/read-revlog.js';
import { openRevlog } from '../streams/read-revlog.js';
import { Turns } from '../streams/turns.js';
import type { ChainEnd } from './longest-chain.js';
import { findLongestChain } from './longest-chain.js';
import type { BenchmarkName } from './perf-benchmarks.js';
import { BENCHMARKS, createBenchmarks } from './perf-benchmarks.js';
import type { FilledPerfOptions, PerfOptions } from './perf-options.js';
import { fillPerfOptions } from './perf-options.js';
import type { ReadTools } from './perf-reads.js';
import { chooseRevlogs } from './perf-revlogs.js';
import type { Samples } from './perf-samples.js';
import { median, sampleInTurns } from './perf-samples.js';

/** What was measured, and how fast it was. */
export interface PerfReport {
  /** Every N-th text was resolved. */
  readonly every: number;
  /** Texts were compared with their nodes. */
  readonly checkNodes: boolean;
  readonly stores: readonly StorePerf[];
}

export interface StorePerf {
  /** Its folder, as an absolute path. */
  readonly repository: string;
  readonly revlogs: readonly RevlogPerf[];
}

export interface RevlogPerf {
  /** What the store calls it. */
  readonly path: string;
  readonly kind: RevlogKind;
  readonly revisions: number;
  /** Bytes of index and data file. */
  readonly fileBytes: number;
  /** Undefined: no revisions. */
  readonly longestChain: ChainEnd | undefined;
  readonly benchmarks: readonly BenchmarkResult[];
}

export interface BenchmarkResult {
  readonly name: BenchmarkName;
  /** Chunks decoded or texts resolved in a run. */
  readonly revisions: number;
  /** Bytes asked of the files in a run. */
  readonly readBytes: number;
  /** Bytes that came out of a run: decoded chunks, texts, or the index. */
  readonly bytes: number;
  /** The sum of one byte of each thing made, modulo 2^32: equal where the same things were made. */
  readonly sum: number;
  /** Runs that were made first and do not count; 0: the one run took longer than all were meant to. */
  readonly warmUps: number;
  /** What each run took, in the order in which they were made. */
  readonly milliseconds: readonly number[];
  readonly best: number;
  readonly median: number;
  /** How many times as long as in the first store: the median over the rounds. Undefined for the first store itself. */
  readonly ratio: number | undefined;
}

/**
 * Runs the read benchmarks on one repository. Takes no lock and writes nothing.
 * @throws RevconvertError USAGE; DICTIONARY_*; what `listRevlogs` and `openRevlog` throw; CHUNK_*, DELTA_MALFORMED, NODE_MISMATCH; CANCELLED
 * @example
 * const { stores: [store] } = await measureStore('src', { manifest: true, every: 1000 });
 */
export const measureStore = (repository: string, options: PerfOptions = {}): Promise<PerfReport> => measureStores([repository], options);

/**
 * The same on several repositories that hold the same history, in turns: a run on each, then again. A revlog that was
 * not asked for by its name is measured where all of them have it.
 * @param repositories folders that hold `.hg`
 */
export async function measureStores(repositories: readonly string[], options: PerfOptions = {}): Promise<PerfReport> {
  const filled = fillPerfOptions(options);
  const memory = new Arena();
  const turns = new Turns(filled.signal);
  const tools: ReadTools[] = [];
  // Each store has its own dictionaries, under the same IDs.
  for (const repository of repositories) tools.push({ decoders: await loadDecoders({ memory, dictionaries: readDictionariesOf(repository) }), memory, turns });
  const stores = repositories.map((repository) => ({ repository: resolve(repository), revlogs: [] as RevlogPerf[] }));
  for (const inStores of chooseRevlogs(repositories, filled)) {
    const measured = await measureRevlog(inStores, tools, turns, filled);
    stores.forEach(({ revlogs }, i) => revlogs.push(...measured.slice(i, i + 1)));
  }
  return { every: filled.every, checkNodes: filled.checkNodes, stores };
}

/** One revlog, as it is in each repository. */
async function measureRevlog(inStores: readonly ListedRevlog[], tools: readonly ReadTools[], turns: Turns, options: FilledPerfOptions): Promise<RevlogPerf[]> {
  const readers: RevlogReader[] = [];
  try {
    const subjects = inStores.flatMap((files, i) => {
      const reader = openRevlog(files);
      readers.push(reader);
      const own = tools[i];
      return own === undefined ? [] : [{ files, index: reader.index, run: createBenchmarks(files, reader, own, options), results: [] as BenchmarkResult[] }];
    });
    for (const name of BENCHMARKS) {
      options.onBenchmark?.(inStores[0]?.path ?? '', name);
      const samples = await sampleInTurns(subjects.map(({ run }) => run[name]), options, turns);
      samples.forEach((own, i) => subjects[i]?.results.push(resultOf(name, own, i === 0 ? undefined : samples[0])));
    }
    return subjects.map(({ files, index, results }) => ({
      path: files.path,
      kind: files.kind,
      revisions: index.length,
      fileBytes: files.bytes,
      longestChain: findLongestChain(index),
      benchmarks: results,
    }));
  } finally {
    for (const reader of readers) reader.close();
  }
}

function resultOf(name: BenchmarkName, { tally, warmUps, milliseconds }: Samples, first: Samples | undefined): BenchmarkResult {
  return {
    name,
    ...tally,
    warmUps,
    milliseconds,
    best: Math.min(...milliseconds),
    median: median(milliseconds),
    ratio: first === undefined ? undefined : median(milliseconds.map((own, round) => own / (first.milliseconds[round] ?? own))),
  };
}
