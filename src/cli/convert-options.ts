import type { Options } from 'yargs';

import type { EngineName } from '../engines/engine.js';
import { ENGINE_NAMES, ENGINES } from '../engines/registry.js';
import { RevconvertError } from '../errors.js';
import { parseDictionaryChoice } from '../repository/dictionaries/choice.js';
import type { ConvertOptions } from '../repository/options.js';
import type { RawOptions } from './command.js';
import { flagOption, numberOption, repositoryArgument, textOption } from './command.js';
import { POLICY_OPTIONS, readPolicyOptions } from './policy-options.js';

/** What the command line asked for. */
export interface ConvertArguments {
  readonly source: string;
  readonly destination: string | undefined;
  readonly options: ConvertOptions;
  readonly dryRun: boolean;
  readonly json: boolean;
  readonly quiet: boolean;
}

const levelsHelp = ENGINE_NAMES.flatMap((name) => {
  const { levels } = ENGINES[name];
  return levels === undefined ? [] : [`${name} ${levels.min}-${levels.max}, default ${levels.default}`];
}).join('; ');

/** The options of a conversion, for yargs. */
export const CONVERT_OPTIONS = {
  to: { type: 'string', requiresArg: true, describe: `Compression of the new store: ${ENGINE_NAMES.join(', ')} [default: the source's]. lz4 is read by Mercurial with the lz4revlog extension only` },
  level: { type: 'string', requiresArg: true, describe: `Compression level (${levelsHelp}, with --redelta and --dict 9; none and lz4 have none)` },
  'changelog-level': { type: 'string', requiresArg: true, describe: 'Level for the changelog [default: --level]' },
  'manifest-level': { type: 'string', requiresArg: true, describe: 'Level for manifests [default: --level]' },
  'filelog-level': { type: 'string', requiresArg: true, describe: 'Level for filelogs [default: --level]' },
  checksum: { type: 'boolean', describe: 'Write a checksum into each zstd frame (4 bytes a chunk)' },
  ...POLICY_OPTIONS,
  dict: {
    type: 'string',
    requiresArg: true,
    describe:
      'With --to zstd: compress with dictionaries, in a store that Mercurial reads with the extension contrib/hg/revlogdict.py only. ' +
      "auto: new ones, trained on the chunks (needs the program zstd); FILE, or KIND=FILE,KIND=FILE (kinds: changelog, manifest, filelog, or a suffix like .py): those of files; from:REPO: those of another repository; keep: the source's; refresh: new ones too, for the chunks that gain; add: new ones too, for chunks to come; none [default: keep without --to, none with it]",
  },
  'dict-size': { type: 'string', requiresArg: true, describe: 'Bytes of each new dictionary [default: a twentieth of what it is for, at most 1 MiB]' },
  'dict-samples': { type: 'string', requiresArg: true, describe: 'How many chunks each is trained on [default: as many as make twelve times its size, at most 4096; with --redelta eight times as many]' },
  'no-generaldelta': { type: 'boolean', describe: 'Leave a source without generaldelta as it is; with --redelta: write manifests and filelogs without it' },
  jobs: { type: 'string', requiresArg: true, describe: 'Threads [default: the cores]; the output does not depend on it' },
  check: { type: 'string', requiresArg: true, choices: ['none', 'chunks'], describe: 'chunks: decode each written chunk again and compare; with --redelta also texts with their nodes and new deltas with texts [default: chunks]' },
  'keep-going': { type: 'boolean', describe: 'Carry damaged revisions over as they are, list them, and end with status 1' },
  'no-lock': { type: 'boolean', describe: 'Do not lock the source: only where nobody writes to it' },
  'lock-timeout': { type: 'string', requiresArg: true, describe: 'Seconds to wait for a lock [default: 600]' },
  'dry-run': { type: 'boolean', describe: 'Print what would be done; write nothing' },
  json: { type: 'boolean', describe: 'Print the result, or the error, as JSON on standard output' },
  quiet: { type: 'boolean', describe: 'Print nothing but warnings and errors' },
} as const satisfies Readonly<Record<string, Options>>;

/**
 * Turns what yargs found into what was asked for.
 * @throws RevconvertError USAGE; also as readPolicyOptions
 */
export function readConvertArguments([src, dst]: readonly string[], raw: RawOptions): ConvertArguments {
  const dryRun = flagOption(raw, 'dry-run') ?? false;
  const source = repositoryArgument(src, 'source repository');
  if (dst === '' || (dst === undefined && !dryRun)) throw new RevconvertError('USAGE', 'the destination is missing');
  return {
    source,
    destination: dst,
    dryRun,
    json: flagOption(raw, 'json') ?? false,
    quiet: flagOption(raw, 'quiet') ?? false,
    options: { ...readStoreOptions(raw), ...readLockOptions(raw), keepGoing: flagOption(raw, 'keep-going') },
  };
}

/** How a store is written, whatever it is made of. @throws RevconvertError USAGE; also as readPolicyOptions */
export function readStoreOptions(raw: RawOptions): Omit<ConvertOptions, 'onProgress'> {
  const dict = textOption(raw, 'dict');
  return {
    to: textOption(raw, 'to') as EngineName | undefined,
    level: numberOption(raw, 'level'),
    levels: {
      changelog: numberOption(raw, 'changelog-level'),
      manifest: numberOption(raw, 'manifest-level'),
      filelog: numberOption(raw, 'filelog-level'),
    },
    checksum: flagOption(raw, 'checksum'),
    jobs: numberOption(raw, 'jobs'),
    check: textOption(raw, 'check') as ConvertOptions['check'],
    ...readPolicyOptions(raw),
    dictionaries: dict === undefined ? undefined : parseDictionaryChoice(dict),
    dictionarySize: numberOption(raw, 'dict-size'),
    dictionarySamples: numberOption(raw, 'dict-samples'),
    generaldelta: flagOption(raw, 'no-generaldelta') === true ? false : undefined,
  };
}

/** How a repository is locked that is read. @throws RevconvertError USAGE */
export const readLockOptions = (raw: RawOptions): Pick<ConvertOptions, 'lock' | 'lockTimeout'> => ({
  lock: flagOption(raw, 'no-lock') === true ? false : undefined,
  lockTimeout: numberOption(raw, 'lock-timeout'),
});
