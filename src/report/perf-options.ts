import { RevconvertError } from '../errors.js';
import { checkWhole } from '../repository/check-whole.js';

export interface PerfOptions {
  /** Measure the changelog. @default true where no revlog is named */
  readonly changelog?: boolean | undefined;
  /** Measure the manifest. @default true where no revlog is named */
  readonly manifest?: boolean | undefined;
  /** Measure the revlog of this tracked file, or that of this name in the store. @default the largest filelog, where no revlog is named */
  readonly file?: string | undefined;
  /** Resolve the text of every N-th revision only. @default 1 */
  readonly every?: number | undefined;
  /** Hash each text and compare it with its node, as Mercurial does whenever it reads one. @default false */
  readonly checkNodes?: boolean | undefined;
  /** The most timed runs of a benchmark; at least 3. @default 10 */
  readonly runs?: number | undefined;
  /** Seconds of timed runs of a benchmark after which no further one is begun. @default 10 */
  readonly seconds?: number | undefined;
  /** Called before each benchmark. */
  readonly onBenchmark?: ((path: string, benchmark: string) => void) | undefined;
  /** Stops it. */
  readonly signal?: AbortSignal | undefined;
}

/** Options with defaults filled in and values checked. */
export interface FilledPerfOptions {
  readonly changelog: boolean;
  readonly manifest: boolean;
  readonly file: string | undefined;
  /** No revlog was named: the largest filelog is measured too. */
  readonly largest: boolean;
  readonly every: number;
  readonly checkNodes: boolean;
  readonly runs: number;
  readonly seconds: number;
  readonly onBenchmark: ((path: string, benchmark: string) => void) | undefined;
  readonly signal: AbortSignal | undefined;
}

const MIN_RUNS = 3;
const MAX_RUNS = 10_000;
const MAX_EVERY = 2 ** 31 - 1;
const MAX_SECONDS = 86_400;

/** @throws RevconvertError USAGE */
export function fillPerfOptions(options: PerfOptions): FilledPerfOptions {
  const { changelog = false, manifest = false, file, every = 1, checkNodes = false, runs = 10, seconds = 10 } = options;
  checkWhole('every', every, 1, MAX_EVERY);
  checkWhole('runs', runs, MIN_RUNS, MAX_RUNS);
  if (!(seconds > 0 && seconds <= MAX_SECONDS)) throw new RevconvertError('USAGE', `seconds must be a number above 0, at most ${MAX_SECONDS}, found ${seconds}`);
  const isNamed = changelog || manifest || file !== undefined;
  return {
    changelog: changelog || !isNamed,
    manifest: manifest || !isNamed,
    file,
    largest: !isNamed,
    every,
    checkNodes,
    runs,
    seconds,
    onBenchmark: options.onBenchmark,
    signal: options.signal,
  };
}
