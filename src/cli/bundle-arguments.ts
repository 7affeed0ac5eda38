import type { Options } from 'yargs';

import type { RevisionRange } from '../bundles/from-repository/selection.js';
import type { FilterStep } from '../bundles/options.js';
import type { EngineName } from '../engines/engine.js';
import { ENGINE_NAMES } from '../engines/registry.js';
import { RevconvertError } from '../errors.js';
import type { ConvertOptions } from '../repository/options.js';
import { REDELTA_MODES } from '../transforms/bundle/redelta.js';
import type { RawOptions } from './command.js';
import { flagOption, numberOption, textOption, textOptions } from './command.js';
import { CONVERT_OPTIONS, readStoreOptions } from './convert-options.js';

/** What is done with a bundle, or a repository. */
export type BundleMode = 'convert' | 'inspect' | 'verify' | 'from-repo' | 'to-repo';

/** Standard input, or output. */
export const STANDARD = '-';

/** What the command line asked for. */
export interface BundleArguments {
  readonly mode: BundleMode;
  readonly input: string;
  readonly output: string;
}

/** The options of a bundle's own; those of a repository that is made of one are those of a conversion. */
export const BUNDLE_OPTIONS = {
  to: {
    type: 'string',
    requiresArg: true,
    describe:
      "Kind of bundle to write, as `hg bundle -t` names it: none, gzip, bzip2 or zstd, with -v1 or -v2 (zstd without v1), and parameters: 'zstd-v2;level=19;cg.version=03'; phases=no, obsolescence=no, tagsfnodescache=no and revbranchcache=no leave those parts out; stream clones: none-packed1, 'none-v2;stream=v2' [default: that of the source]. With --to-repo: compression of the new store",
  },
  level: { type: 'string', requiresArg: true, describe: 'Compression level (gzip 0-9, default 6; bzip2 1-9, default 9; zstd 1-22, default 3)' },
  threads: { type: 'string', requiresArg: true, describe: 'Threads that compress zstd beside the main one; 0: none [default: 1, from level 13 on 0]; the output of 1 and more is the same' },
  'drop-part': { type: 'string', requiresArg: true, describe: 'Leave parts of this type out; may be repeated' },
  'only-part': { type: 'string', requiresArg: true, describe: 'Leave all parts out but those of this type; may be repeated' },
  filter: { type: 'string', requiresArg: true, describe: 'An ES module that looks at the revisions as they pass, and may drop files; may be repeated (docs/bundles.md). Filters, --drop-part, --only-part (where the first stands) and --redelta act in the order given' },
  redelta: {
    type: 'string',
    requiresArg: true,
    describe: `What deltas are made against: ${REDELTA_MODES.join(', ')} (none: each changeset whole; other revisions as they are). With --to-repo as in a conversion: never, parent, multibase, all, fulladd`,
  },
  'max-window': { type: 'string', requiresArg: true, describe: 'The largest window of a zstd stream that is read, in MiB [default: 128]' },
  inspect: { type: 'boolean', describe: 'Print what the bundle is made of, as `hg debugbundle` does' },
  all: { type: 'boolean', describe: 'With --inspect: every revision' },
  verify: { type: 'boolean', describe: 'Rebuild and hash every revision whose delta base is in the bundle; write nothing' },
  'from-repo': { type: 'string', requiresArg: true, describe: 'Make the bundle of this repository' },
  'rev-range': { type: 'string', requiresArg: true, describe: 'With --from-repo: only the revisions A to B, as A:B, by number (A: to the last); for receivers that have all before A' },
  'to-repo': { type: 'string', requiresArg: true, describe: 'Make a new repository of the bundle, in this folder' },
  stream: { type: 'boolean', describe: 'With --from-repo: a stream clone bundle (the files of the store)' },
  engine: { type: 'string', requiresArg: true, choices: ENGINE_NAMES, describe: 'With --from-repo and --stream: convert the store to this compression first; --level is that of the store then' },
} as const satisfies Readonly<Record<string, Options>>;

const STORE_GROUP = 'How the store of a new repository (--to-repo) is written, and that of a stream clone that is converted first (--engine: the first four):';

/** Options of a conversion that say how the store of a new repository is written. */
const STORE_OPTION_NAMES = ['changelog-level', 'manifest-level', 'filelog-level', 'checksum', 'preset', 'policy', 'delta', 'changelog-deltas', 'dict', 'dict-size', 'dict-samples', 'no-generaldelta', 'check'] as const;

/** Of them those that also go with --engine. */
const STREAM_STORE_OPTIONS: readonly string[] = ['changelog-level', 'manifest-level', 'filelog-level', 'checksum'];

const { jobs, 'no-lock': noLock, 'lock-timeout': lockTimeout } = CONVERT_OPTIONS;

/** Those options, and how threads and locks are used. */
export const STORE_OPTIONS: Readonly<Record<string, Options>> = {
  ...Object.fromEntries(STORE_OPTION_NAMES.map((name): [string, Options] => [name, { ...CONVERT_OPTIONS[name], group: STORE_GROUP }])),
  'check': { type: 'string', requiresArg: true, choices: ['none', 'chunks', 'nodes'], group: STORE_GROUP, describe: 'chunks: decode each written chunk again and compare; nodes: also rebuild and hash every revision [default: chunks]' },
  jobs,
  'no-lock': noLock,
  'lock-timeout': lockTimeout,
};

/** Options that may be given more than once, where each counts. */
export const REPEATABLE_BUNDLE_OPTIONS = ['drop-part', 'only-part', 'filter', 'redelta'] as const;

const MODES = ['inspect', 'verify', 'from-repo', 'to-repo'] as const;

/** @throws RevconvertError USAGE where there are several */
export function modeOf(raw: RawOptions): BundleMode {
  const given = MODES.filter((mode) => (mode === 'inspect' || mode === 'verify' ? flagOption(raw, mode) === true : textOption(raw, mode) !== undefined));
  if (given.length > 1) throw new RevconvertError('USAGE', `--${given.join(' and --')} do not go together`);
  return given[0] ?? 'convert';
}

/**
 * What is to be done, and with which files.
 * @throws RevconvertError USAGE
 */
export function readBundleArguments(positionals: readonly string[], raw: RawOptions): BundleArguments {
  const mode = modeOf(raw);
  const most = mode === 'convert' ? 2 : 1;
  if (positionals.length > most) throw new RevconvertError('USAGE', mode === 'convert' ? 'only a bundle to read and one to write are expected' : `with --${mode} only one bundle is expected`);
  const [first = STANDARD, second = STANDARD] = positionals;
  if (first === '' || second === '') throw new RevconvertError('USAGE', 'the name of a bundle is missing');
  checkCompany(mode, raw);
  return mode === 'from-repo' ? { mode, input: STANDARD, output: first } : { mode, input: first, output: second };
}

/** Options that have a meaning in some modes only. */
const COMPANY: readonly (readonly [option: string, modes: readonly BundleMode[]])[] = [
  ['all', ['inspect']],
  ['rev-range', ['from-repo']],
  ['stream', ['from-repo']],
  ['engine', ['from-repo']],
  ['threads', ['convert', 'from-repo']],
  ['drop-part', ['convert', 'from-repo', 'to-repo']],
  ['only-part', ['convert', 'from-repo', 'to-repo']],
  ['filter', ['convert', 'from-repo', 'to-repo']],
  ['redelta', ['convert', 'from-repo', 'to-repo']],
  ['to', ['convert', 'from-repo', 'to-repo']],
  ['level', ['convert', 'from-repo', 'to-repo']],
  ['max-window', ['convert', 'inspect', 'verify', 'to-repo']],
  ['jobs', ['from-repo', 'to-repo']],
  ['no-lock', ['from-repo']],
  ['lock-timeout', ['from-repo']],
  ...STORE_OPTION_NAMES.map((option): readonly [string, readonly BundleMode[]] => [option, STREAM_STORE_OPTIONS.includes(option) ? ['to-repo', 'from-repo'] : ['to-repo']]),
];

function checkCompany(mode: BundleMode, raw: RawOptions): void {
  for (const [option, modes] of COMPANY) {
    if (raw[option] === undefined || modes.includes(mode)) continue;
    throw new RevconvertError('USAGE', mode === 'convert' ? `--${option} goes with ${modes.map((one) => `--${one}`).join(' or ')}` : `--${option} does not go with --${mode}`);
  }
}

/** How the store of a stream clone is converted first; undefined: it is taken as it is. @throws RevconvertError USAGE */
export function readStreamStore(raw: RawOptions): ConvertOptions | undefined {
  const to = textOption(raw, 'engine') as EngineName | undefined;
  const lone = to === undefined ? STREAM_STORE_OPTIONS.find((option) => raw[option] !== undefined) : undefined;
  if (lone !== undefined) throw new RevconvertError('USAGE', `--${lone} goes with --engine, or with --to-repo`);
  if (to === undefined) return undefined;
  if (flagOption(raw, 'stream') !== true && !/stream|packed/.test(textOption(raw, 'to') ?? '')) throw new RevconvertError('USAGE', '--engine goes with --stream');
  return { ...readStoreOptions({ ...raw, redelta: undefined }), to };
}

/**
 * The filters in the order in which they were given, which the parsed options do not tell.
 * @param argv the command line
 * @param without those that mean something else here
 * @throws RevconvertError USAGE
 */
export function readFilters(argv: readonly string[], raw: RawOptions, without: readonly string[] = []): FilterStep[] {
  const steps: FilterStep[] = [];
  const only = textOptions(raw, 'only-part');
  const left = new Map<string, string[]>(['drop-part', 'filter', 'redelta'].filter((name) => !without.includes(name)).map((name) => [name, [...textOptions(raw, name)]]));
  for (const argument of argv) {
    const name = /^--([a-z-]+)(?:=|$)/.exec(argument)?.[1] ?? '';
    if (name === 'only-part' && !steps.some(({ type }) => type === 'only-parts')) steps.push({ type: 'only-parts', parts: only.map(partType) });
    const value = left.get(name)?.shift();
    if (value !== undefined) steps.push(stepOf(name, value));
  }
  return steps;
}

function stepOf(name: string, value: string): FilterStep {
  if (name === 'drop-part') return { type: 'drop-parts', parts: [partType(value)] };
  if (name === 'filter' && value === '') throw new RevconvertError('USAGE', '--filter: the file is missing');
  if (name === 'filter') return { type: 'module', path: value };
  const mode = REDELTA_MODES.find((one) => one === value);
  if (mode === undefined) throw new RevconvertError('USAGE', `--redelta: one of ${REDELTA_MODES.join(', ')} is expected, found '${value}'`);
  return { type: 'redelta', mode };
}

/** Parts are known in lower case, whether they are mandatory or not. */
function partType(text: string): string {
  if (/^[a-zA-Z0-9_:-]+$/.test(text)) return text.toLowerCase();
  throw new RevconvertError('USAGE', `the type of a part is expected, like obsmarkers, found '${text}'`);
}

const MIB = 1 << 20;

/** In bytes. @throws RevconvertError USAGE */
export function readMaxWindow(raw: RawOptions): number | undefined {
  const mib = numberOption(raw, 'max-window');
  if (mib === undefined) return undefined;
  if (Number.isInteger(mib) && mib >= 1 && mib <= 2048) return mib * MIB;
  throw new RevconvertError('USAGE', `--max-window: MiB from 1 to 2048 are expected, found ${mib}`);
}

/** Revisions by number, both of them included. @throws RevconvertError USAGE */
export function readRange(text: string | undefined): RevisionRange | undefined {
  if (text === undefined) return undefined;
  const found = /^(\d{1,9}):(\d{1,9}|tip)?$/.exec(text);
  const from = Number(found?.[1]);
  const to = found?.[2] === undefined || found[2] === 'tip' ? undefined : Number(found[2]);
  if (found !== null && (to === undefined || from <= to)) return { from, to };
  throw new RevconvertError('USAGE', `--rev-range: two revision numbers are expected, the smaller first, as in 100:200, or one and a colon, for all from there on, found '${text}'`);
}
