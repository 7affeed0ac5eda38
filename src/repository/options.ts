import { availableParallelism } from 'node:os';

import type { EngineName } from '../engines/engine.js';
import { checkLevel, findEngine } from '../engines/registry.js';
import { RevconvertError } from '../errors.js';
import type { RevlogKind } from '../formats/record.js';
import { REVLOG_KINDS } from '../formats/record.js';

/** How far a conversion has come. */
export interface Progress {
  readonly revlogsDone: number;
  readonly revlogsTotal: number;
  /** Bytes of the source that were converted. */
  readonly bytesDone: number;
  readonly bytesTotal: number;
}

export interface ConvertOptions {
  /** The compression of the new store. @default the source's */
  readonly to?: EngineName | undefined;
  /** Level for all revlogs; higher is smaller and slower. @default the engine's default: zlib 6, zstd 3 */
  readonly level?: number | undefined;
  /** Levels that differ by kind of revlog. @default `level` */
  readonly levels?: Readonly<Partial<Record<RevlogKind, number | undefined>>> | undefined;
  /** Write zstd frame checksums: 4 bytes a chunk. @default false */
  readonly checksum?: boolean | undefined;
  /** Threads; 1 starts none. Output does not depend on it. @default the cores of the machine */
  readonly jobs?: number | undefined;
  /** `chunks`: decode every chunk that was written and compare it. @default 'chunks' */
  readonly check?: 'none' | 'chunks' | undefined;
  /** False: leave a source without generaldelta as it is. @default true */
  readonly generaldelta?: boolean | undefined;
  /** Carry damaged revisions over byte for byte and report them, instead of stopping at the first. @default false */
  readonly keepGoing?: boolean | undefined;
  /** False: do not lock the source. Only for repositories that nobody writes to. @default true */
  readonly lock?: boolean | undefined;
  /** Seconds to wait for a lock that another process holds. @default 600, as Mercurial */
  readonly lockTimeout?: number | undefined;
  /** Stops the conversion; nothing is left behind. */
  readonly signal?: AbortSignal | undefined;
  /** Called as revlogs are done; not more often than 20 times a second. */
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  /** Called with a line of text where something takes a while, like a lock that must be waited for. */
  readonly onNotice?: ((notice: string) => void) | undefined;
}

/** Options with every default filled in and every value checked. */
export interface FilledOptions {
  readonly to: EngineName | undefined;
  readonly level: number | undefined;
  readonly levels: Readonly<Partial<Record<RevlogKind, number | undefined>>>;
  readonly checksum: boolean;
  readonly jobs: number;
  readonly check: 'none' | 'chunks';
  readonly generaldelta: boolean;
  readonly keepGoing: boolean;
  readonly lock: boolean;
  readonly lockTimeout: number;
  readonly signal: AbortSignal | undefined;
  readonly onProgress: ((progress: Progress) => void) | undefined;
  readonly onNotice: ((notice: string) => void) | undefined;
}

export const DEFAULT_LOCK_TIMEOUT = 600;
const MAX_JOBS = 256;

const KNOWN_OPTIONS: ReadonlySet<string> = new Set<keyof ConvertOptions>([
  'to',
  'level',
  'levels',
  'checksum',
  'jobs',
  'check',
  'generaldelta',
  'keepGoing',
  'lock',
  'lockTimeout',
  'signal',
  'onProgress',
  'onNotice',
]);

/**
 * Fills the defaults and checks the values.
 * @throws RevconvertError USAGE, ENGINE_UNKNOWN, LEVEL
 */
export function fillOptions(options: ConvertOptions): FilledOptions {
  const unknown = Object.keys(options).find((key) => !KNOWN_OPTIONS.has(key));
  if (unknown !== undefined) throw new RevconvertError('USAGE', `unknown option '${unknown}'`);
  const { to, jobs = Math.min(availableParallelism(), MAX_JOBS), lockTimeout = DEFAULT_LOCK_TIMEOUT, check = 'chunks' } = options;
  if (!Number.isInteger(jobs) || jobs < 1 || jobs > MAX_JOBS) {
    throw new RevconvertError('USAGE', `jobs must be a whole number from 1 to ${MAX_JOBS}, found ${jobs}`);
  }
  if (!Number.isFinite(lockTimeout) || lockTimeout < 0) {
    throw new RevconvertError('USAGE', `lock-timeout must be a number of seconds, 0 or more, found ${lockTimeout}`);
  }
  const checks: readonly string[] = ['none', 'chunks'];
  if (!checks.includes(check)) throw new RevconvertError('USAGE', `check must be one of ${checks.join(', ')}, found ${check}`);
  if (to !== undefined) {
    for (const level of [options.level, ...REVLOG_KINDS.map((kind) => options.levels?.[kind])]) checkLevel(findEngine(to), level);
  }
  return {
    to,
    level: options.level,
    levels: options.levels ?? {},
    checksum: options.checksum ?? false,
    jobs,
    check,
    generaldelta: options.generaldelta ?? true,
    keepGoing: options.keepGoing ?? false,
    lock: options.lock ?? true,
    lockTimeout,
    signal: options.signal,
    onProgress: options.onProgress,
    onNotice: options.onNotice,
  };
}
