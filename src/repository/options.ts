import type { PolicySet } from '../delta/policy.js';
import type { PolicyInput, RedeltaMode } from '../delta/policy-input.js';
import { policyFor, REDELTA_MODES, resolvePolicy } from '../delta/policy-input.js';
import type { EngineName } from '../engines/engine.js';
import { checkLevel, findEngine } from '../engines/registry.js';
import { RevconvertError } from '../errors.js';
import type { RevlogKind } from '../formats/record.js';
import { REVLOG_KINDS } from '../formats/record.js';
import type { DictionaryOptions, FilledDictionaryOptions } from './dictionaries/choice.js';
import { fillDictionaryOptions } from './dictionaries/choice.js';
import { fillJobs } from './jobs.js';

/** How far a conversion has come. */
export interface Progress {
  readonly revlogsDone: number;
  readonly revlogsTotal: number;
  /** Bytes of the source that were converted. */
  readonly bytesDone: number;
  readonly bytesTotal: number;
}

export interface ConvertOptions extends DictionaryOptions {
  /** The compression of the new store. @default the source's */
  readonly to?: EngineName | undefined;
  /** Level for all revlogs; higher is smaller and slower. @default the engine's default: zlib 6, zstd 3; with new deltas and dictionaries zstd 9 */
  readonly level?: number | undefined;
  /** Levels that differ by kind of revlog. @default `level` */
  readonly levels?: Readonly<Partial<Record<RevlogKind, number | undefined>>> | undefined;
  /** Write zstd frame checksums: 4 bytes a chunk. @default false */
  readonly checksum?: boolean | undefined;
  /** Threads; 1 starts none. Output does not depend on it. @default the cores of the machine */
  readonly jobs?: number | undefined;
  /** `chunks`: decode every chunk that was written and compare it. @default 'chunks' */
  readonly check?: 'none' | 'chunks' | undefined;
  /** Which deltas to compute anew; `never`: all are kept. @default 'never' */
  readonly redelta?: RedeltaMode | undefined;
  /** How deltas are chosen, where any are; of several policies a later one wins over an earlier one. @default Mercurial's */
  readonly policy?: PolicyInput | readonly PolicyInput[] | undefined;
  /** False: leave a source without generaldelta as it is; with `redelta`: as in the (last) policy, manifests and filelogs without it. @default true */
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
  readonly redelta: RedeltaMode;
  /** Of new deltas: it says nothing where `redelta` is never. */
  readonly policy: PolicySet;
  readonly dictionaries: FilledDictionaryOptions;
  readonly generaldelta: boolean;
  readonly keepGoing: boolean;
  readonly lock: boolean;
  readonly lockTimeout: number;
  readonly signal: AbortSignal | undefined;
  readonly onProgress: ((progress: Progress) => void) | undefined;
  readonly onNotice: ((notice: string) => void) | undefined;
}

export const DEFAULT_LOCK_TIMEOUT = 600;

const KNOWN_OPTIONS: ReadonlySet<string> = new Set<keyof ConvertOptions>([
  'to',
  'level',
  'levels',
  'checksum',
  'jobs',
  'check',
  'redelta',
  'policy',
  'dictionaries',
  'dictionarySize',
  'dictionarySamples',
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
 * @throws RevconvertError USAGE, ENGINE_UNKNOWN, LEVEL, POLICY
 */
export function fillOptions(options: ConvertOptions): FilledOptions {
  const unknown = Object.keys(options).find((key) => !KNOWN_OPTIONS.has(key));
  if (unknown !== undefined) throw new RevconvertError('USAGE', `unknown option '${unknown}'`);
  const { to, lockTimeout = DEFAULT_LOCK_TIMEOUT, check = 'chunks' } = options;
  const jobs = fillJobs(options.jobs);
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
    ...fillDeltas(options),
    dictionaries: fillDictionaries(options),
    generaldelta: options.generaldelta ?? true,
    keepGoing: options.keepGoing ?? false,
    lock: options.lock ?? true,
    lockTimeout,
    signal: options.signal,
    onProgress: options.onProgress,
    onNotice: options.onNotice,
  };
}

function fillDictionaries(options: ConvertOptions): FilledDictionaryOptions {
  const filled = fillDictionaryOptions(options);
  const { choice } = filled;
  if ((choice === 'refresh' || choice === 'add') && options.redelta !== undefined && options.redelta !== 'never') {
    throw new RevconvertError('USAGE', `--dict ${choice} keeps chunks as they are, and --redelta makes all anew: use --dict auto`);
  }
  return filled;
}

function fillDeltas({ redelta = 'never', policy, generaldelta }: ConvertOptions): Pick<FilledOptions, 'redelta' | 'policy'> {
  if (!REDELTA_MODES.includes(redelta)) throw new RevconvertError('USAGE', `redelta must be one of ${REDELTA_MODES.join(', ')}, found ${redelta as string}`);
  if (redelta === 'never') {
    if (policy === undefined) return { redelta, policy: resolvePolicy() };
    throw new RevconvertError('USAGE', 'a policy (--preset, --policy, --delta, --changelog-deltas) has no effect without --redelta parent, multibase, all or fulladd: all deltas are kept');
  }
  const inputs = policy === undefined ? [] : [policy].flat();
  const policies = resolvePolicy(...inputs);
  if (generaldelta !== false) return { redelta, policy: policyFor(redelta, policies) };
  const last = inputs.at(-1);
  if (last?.generaldelta === true) throw new RevconvertError('POLICY', 'generaldelta: true contradicts the option generaldelta: false');
  return { redelta, policy: policyFor(redelta, resolvePolicy(...inputs.slice(0, -1), { ...last, generaldelta: false })) };
}
