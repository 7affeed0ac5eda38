import type { EngineName } from '../engines/engine.js';
import { ENGINE_NAMES, ENGINES } from '../engines/registry.js';
import { RevconvertError } from '../errors.js';
import type { ConvertOptions } from '../repository/options.js';

/** What the command line asked for. */
export interface ConvertArguments {
  readonly source: string;
  readonly destination: string | undefined;
  readonly options: ConvertOptions;
  readonly dryRun: boolean;
  readonly json: boolean;
  readonly quiet: boolean;
}

/** What yargs makes of the options of `convert`; the keys as they are written. */
export interface RawArguments {
  readonly src?: string | undefined;
  readonly dst?: string | undefined;
  readonly to?: string | undefined;
  readonly level?: string | undefined;
  readonly 'changelog-level'?: string | undefined;
  readonly 'manifest-level'?: string | undefined;
  readonly 'filelog-level'?: string | undefined;
  readonly checksum?: boolean | undefined;
  readonly redelta?: string | undefined;
  readonly 'no-generaldelta'?: boolean | undefined;
  readonly jobs?: string | undefined;
  readonly check?: string | undefined;
  readonly 'keep-going'?: boolean | undefined;
  readonly 'no-lock'?: boolean | undefined;
  readonly 'lock-timeout'?: string | undefined;
  readonly 'dry-run'?: boolean | undefined;
  readonly json?: boolean | undefined;
  readonly quiet?: boolean | undefined;
}

const levelsHelp = ENGINE_NAMES.flatMap((name) => {
  const { levels } = ENGINES[name];
  return levels === undefined ? [] : [`${name} ${levels.min}-${levels.max}, default ${levels.default}`];
}).join('; ');

/** The options, for yargs. Defaults are the library's: none is added here. */
export const OPTIONS = {
  to: { type: 'string', requiresArg: true, describe: `Compression of the new store: ${ENGINE_NAMES.join(', ')} [default: the source's]` },
  level: { type: 'string', requiresArg: true, describe: `Compression level (${levelsHelp}; none and lz4 have none)` },
  'changelog-level': { type: 'string', requiresArg: true, describe: 'Level for the changelog [default: --level]' },
  'manifest-level': { type: 'string', requiresArg: true, describe: 'Level for manifests [default: --level]' },
  'filelog-level': { type: 'string', requiresArg: true, describe: 'Level for filelogs [default: --level]' },
  checksum: { type: 'boolean', describe: 'Write a checksum into each zstd frame (4 bytes a chunk)' },
  redelta: { type: 'string', requiresArg: true, choices: ['never'], describe: 'Which deltas to compute anew [default: never: all are kept]' },
  'no-generaldelta': { type: 'boolean', describe: 'Leave a source without generaldelta as it is' },
  jobs: { type: 'string', requiresArg: true, describe: 'Threads [default: the cores]; the output does not depend on it' },
  check: { type: 'string', requiresArg: true, choices: ['none', 'chunks'], describe: 'chunks: decode each written chunk again and compare [default: chunks]' },
  'keep-going': { type: 'boolean', describe: 'Carry damaged revisions over as they are, list them, and end with status 1' },
  'no-lock': { type: 'boolean', describe: 'Do not lock the source: only where nobody writes to it' },
  'lock-timeout': { type: 'string', requiresArg: true, describe: 'Seconds to wait for a lock [default: 600]' },
  'dry-run': { type: 'boolean', describe: 'Print what would be done; write nothing' },
  json: { type: 'boolean', describe: 'Print the result, or the error, as JSON on standard output' },
  quiet: { type: 'boolean', describe: 'Print nothing but warnings and errors' },
} as const;

/** @throws RevconvertError USAGE where the text is no plain decimal number */
function number(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^-?\d+(?:\.\d+)?$/.test(text)) throw new RevconvertError('USAGE', `--${name}: a number is expected, found '${text}'`);
  return Number(text);
}

/**
 * Turns what yargs found into the library's options.
 * @throws RevconvertError USAGE
 */
export function readArguments(raw: RawArguments): ConvertArguments {
  const { src, dst } = raw;
  const dryRun = raw['dry-run'] ?? false;
  if (src !== undefined && /^[a-z][a-z+]+:\/\//i.test(src)) {
    throw new RevconvertError('USAGE', `${src} is a URL: clone it first (hg clone --noupdate), then convert the clone`);
  }
  if (src === undefined || src === '') throw new RevconvertError('USAGE', 'the source repository is missing');
  if (dst === '' || (dst === undefined && !dryRun)) throw new RevconvertError('USAGE', 'the destination is missing');
  return {
    source: src,
    destination: dst,
    dryRun,
    json: raw.json ?? false,
    quiet: raw.quiet ?? false,
    options: {
      to: raw.to as EngineName | undefined,
      level: number('level', raw.level),
      levels: {
        changelog: number('changelog-level', raw['changelog-level']),
        manifest: number('manifest-level', raw['manifest-level']),
        filelog: number('filelog-level', raw['filelog-level']),
      },
      checksum: raw.checksum,
      jobs: number('jobs', raw.jobs),
      check: raw.check as ConvertOptions['check'],
      generaldelta: raw['no-generaldelta'] === true ? false : undefined,
      keepGoing: raw['keep-going'],
      lock: raw['no-lock'] === true ? false : undefined,
      lockTimeout: number('lock-timeout', raw['lock-timeout']),
    },
  };
}
