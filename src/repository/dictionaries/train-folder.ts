import { checkLevel, ENGINES } from '../../engines/registry.js';
import { RevconvertError } from '../../errors.js';
import type { RevlogKind } from '../../formats/record.js';
import { checkDestination } from '../destination.js';
import { discoverRevlogs } from '../discover.js';
import { fillJobs } from '../jobs.js';
import { openRepository } from '../open.js';
import { asFailure } from '../with-source.js';
import type { DictionaryOptions } from './choice.js';
import { fillDictionaryOptions, formatDictionaryFiles } from './choice.js';
import type { GroupWithout, NewDictionary } from './compose.js';
import { readDictionaries } from './folder.js';
import { writeNewFolder } from './new-folder.js';
import { prepareDictionaries } from './prepare.js';

export interface TrainOptions extends Pick<DictionaryOptions, 'dictionarySize' | 'dictionarySamples'> {
  /** Level of zstd that gains are estimated with, 1 to 22. @default 3 */
  readonly level?: number | undefined;
  /** Programs that train at a time, 1 to 256. @default the cores of the machine */
  readonly jobs?: number | undefined;
  /** Stops the work; nothing is left behind. */
  readonly signal?: AbortSignal | undefined;
}

/** A dictionary in a file of its own. */
export interface TrainedFile extends Pick<NewDictionary, 'gain'> {
  /** What it is for: a kind of revlog, or a suffix of files. */
  readonly name: string;
  /** Absolute path. */
  readonly file: string;
  readonly bytes: number;
  /** Chunks that it was trained on. */
  readonly samples: number;
}

/** What was trained. Plain data. */
export interface TrainReport {
  /** The folder that holds `.hg`, as an absolute path. */
  readonly repository: string;
  /** Where the files are, as an absolute path; nothing is there where none was made. */
  readonly folder: string;
  /** What would gain most comes first. */
  readonly trained: readonly TrainedFile[];
  /** Kinds, and suffixes, for which no dictionary was made. */
  readonly without: readonly GroupWithout[];
  /** What `--dict` takes to use them; undefined: there are none, or there is a comma in a path, or a comma or an equals sign in a suffix, which `--dict` takes for its own. */
  readonly option: string | undefined;
}

const KNOWN_OPTIONS: ReadonlySet<string> = new Set<keyof TrainOptions>(['dictionarySize', 'dictionarySamples', 'level', 'jobs', 'signal']);

/**
 * Trains dictionaries on the chunks of a repository, as a conversion with `dictionaries: 'auto'` does, and writes them into
 * a folder, for conversions of this repository or of others: `changelog.zdict`, `manifest.zdict`, `filelog.zdict`, and
 * `filelog.py.zdict` for filelogs of files `*.py` alone. What would gain less than its dictionary takes gets none; where
 * nothing gets one, no folder is made. The same store gives the same dictionaries. Takes no lock, and writes nothing into
 * the repository.
 * @param repository the folder that holds `.hg`
 * @param folder does not exist, or is empty; the folder it lies in exists. It is complete when the promise resolves, and as
 *   it was when it rejects
 * @throws RevconvertError USAGE, LEVEL; as openRepository; DESTINATION_EXISTS, DESTINATION_OVERLAPS, DESTINATION_PARENT;
 *   FNCACHE_CORRUPT, STORE_DISORDER; DICTIONARY_INDEX, DICTIONARY_MISSING, DICTIONARY_DAMAGED (those of the repository, which
 *   reading it takes); ENGINE_MISSING, ZSTD_PROGRAM; NO_SPACE, PERMISSION, SYSTEM, CANCELLED
 * @example
 * const { trained, option } = await trainDictionaries('src', 'dictionaries');
 */
export async function trainDictionaries(repository: string, folder: string, options: TrainOptions = {}): Promise<TrainReport> {
  const { size, samples, levels, jobs, signal } = fillOptions(options);
  try {
    const opened = openRepository(repository);
    const place = checkDestination(opened.root, folder);
    const source = readDictionaries(opened);
    const { revlogs } = discoverRevlogs(opened);
    const { storeFolder } = opened;
    const { set, added, without } = await prepareDictionaries({ choice: 'auto', size, samples, levels, checksum: false, jobs, signal, revlogs, storeFolder, source });
    const trained = added.flatMap(({ id, names, bytes, samples: count = 0, gain }) => names.map((name) => ({ id, name, bytes, samples: count, gain, file: `${place}/${fileNameFor(name)}` })));
    const contents = new Map(set.dictionaries.map(({ id, bytes }) => [id, bytes]));
    const files = trained.flatMap(({ id, name }) => ({ name: fileNameFor(name), bytes: contents.get(id) ?? NO_BYTES }));
    if (files.length > 0) await writeNewFolder(place, opened, files, signal);
    return {
      repository: opened.root,
      folder: place,
      trained: trained.map(({ name, file, bytes, samples: count, gain }) => ({ name, file, bytes, samples: count, gain })),
      without,
      option: formatDictionaryFiles(Object.fromEntries(trained.map(({ name, file }) => [name, file]))),
    };
  } catch (error) {
    throw asFailure(error, signal);
  }
}

const NO_BYTES = new Uint8Array(0);

const fileNameFor = (name: string): string => `${name.startsWith('.') ? `filelog${name}` : name}.zdict`;

interface FilledOptions {
  readonly size: number | undefined;
  readonly samples: number | undefined;
  readonly levels: Readonly<Record<RevlogKind, number | undefined>>;
  readonly jobs: number;
  readonly signal: AbortSignal | undefined;
}

function fillOptions(options: TrainOptions): FilledOptions {
  const unknown = Object.keys(options).find((key) => !KNOWN_OPTIONS.has(key));
  if (unknown !== undefined) throw new RevconvertError('USAGE', `unknown option '${unknown}'`);
  const { dictionarySize, dictionarySamples, level, signal } = options;
  const jobs = fillJobs(options.jobs);
  const { size, samples } = fillDictionaryOptions({ dictionaries: 'auto', dictionarySize, dictionarySamples });
  const checked = checkLevel(ENGINES.zstd, level);
  return { size, samples, levels: { changelog: checked, manifest: checked, filelog: checked }, jobs, signal };
}
