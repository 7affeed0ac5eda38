import { checkLevel, ENGINES } from '../engines/registry.js';
import { RevconvertError } from '../errors.js';
import type { RevlogKind } from '../formats/record.js';
import { REVLOG_KINDS } from '../formats/record.js';
import { MAX_DICTIONARY_BYTES } from '../formats/zstd-dictionary.js';
import { MIN_TRAINED_BYTES } from '../repository/dictionaries/choice.js';
import { fillJobs } from '../repository/jobs.js';

export interface EvaluationOptions {
  /** Bytes of the dictionaries, 256 to 16 MiB each. @default 16, 32, 64, 112 and 256 KiB */
  readonly sizes?: readonly number[] | undefined;
  /** Levels of zstd, 1 to 22. @default 1, 3, 9, 19 */
  readonly levels?: readonly number[] | undefined;
  /** One kind of revlogs instead of all. */
  readonly kind?: RevlogKind | undefined;
  /** Stops the work. */
  readonly signal?: AbortSignal | undefined;
}

/** Filled in and checked. */
export interface FilledEvaluationOptions {
  readonly sizes: readonly number[];
  readonly levels: readonly number[];
  readonly kind: RevlogKind | undefined;
  /** Programs that may train at a time. */
  readonly jobs: number;
  readonly signal: AbortSignal | undefined;
}

const DEFAULT_SIZES = [16, 32, 64, 112, 256].map((kib) => kib * 1024);
const DEFAULT_LEVELS = [1, 3, 9, 19];

const KNOWN_OPTIONS: ReadonlySet<string> = new Set<keyof EvaluationOptions>(['sizes', 'levels', 'kind', 'signal']);

/** @throws RevconvertError USAGE, LEVEL */
export function fillEvaluationOptions(options: EvaluationOptions): FilledEvaluationOptions {
  const unknown = Object.keys(options).find((key) => !KNOWN_OPTIONS.has(key));
  if (unknown !== undefined) throw new RevconvertError('USAGE', `unknown option '${unknown}'`);
  const { sizes = DEFAULT_SIZES, levels = DEFAULT_LEVELS, kind, signal } = options;
  const bad = sizes.find((size) => !Number.isInteger(size) || size < MIN_TRAINED_BYTES || size > MAX_DICTIONARY_BYTES);
  if (bad !== undefined) throw new RevconvertError('USAGE', `sizes must be whole numbers of bytes from ${MIN_TRAINED_BYTES} to ${MAX_DICTIONARY_BYTES}, found ${bad}`);
  for (const level of levels) checkLevel(ENGINES.zstd, level);
  if (sizes.length === 0 || levels.length === 0) throw new RevconvertError('USAGE', 'at least one size and one level are expected');
  if (kind !== undefined && !REVLOG_KINDS.includes(kind)) throw new RevconvertError('USAGE', `kind must be one of ${REVLOG_KINDS.join(', ')}, found '${kind as string}'`);
  return { sizes: [...new Set(sizes)], levels: [...new Set(levels)], kind, jobs: fillJobs(), signal };
}
