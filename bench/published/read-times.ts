import { measureStores } from '../../src/report/perf.js';
import type { BenchmarkName } from '../../src/report/perf-benchmarks.js';
import type { PerfOptions } from '../../src/report/perf-options.js';
import { median, spread } from '../measure.js';

/** Seconds that a benchmark of one revlog took, run by run, for each repository. */
export type ReadTimes = (path: string, benchmark: BenchmarkName) => readonly (readonly number[])[];

/** Runs for each round of the bench, of what takes a fraction of a second. */
export const SHORT_RUNS = 5;

/** Seconds after which no further run is begun: runs are meant to be bounded by their number. */
const SECONDS = 600;

/** Reads the same revlogs of several repositories in turns. */
export async function timeReads(repositories: readonly string[], options: PerfOptions): Promise<ReadTimes> {
  const { stores } = await measureStores(repositories, { seconds: SECONDS, ...options });
  return (path, benchmark) =>
    stores.map(({ revlogs }) => {
      const own = revlogs.find((revlog) => revlog.path === path)?.benchmarks.find(({ name }) => name === benchmark);
      if (own === undefined) throw new Error(`${path}: '${benchmark}' was not measured`);
      return own.milliseconds.map((milliseconds) => milliseconds / 1000);
    });
}

/** Seconds: median and range. */
export const seconds = (times: readonly number[] | undefined): string => spread(times ?? [], 3);

/** The best run: what disturbs a run only adds to it. */
export const bestOf = (times: readonly number[] | undefined): number => Math.min(...(times ?? [NaN]));

/** How many times as long as `others`, by the best run of each. */
export const bestRatio = (times: readonly number[] | undefined, others: readonly number[] | undefined): number => bestOf(times) / bestOf(others);

/** How many times as long as `others`, of runs in turns: the median of the ratios pair by pair. */
export const pairRatio = (times: readonly number[] | undefined, others: readonly number[] | undefined): number =>
  median((times ?? []).map((time, i) => time / (others?.[i] ?? NaN)));
