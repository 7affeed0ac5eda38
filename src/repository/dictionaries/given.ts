import type { LoadedEngine } from '../../engines/registry.js';
import { RevconvertError, toRevconvertError } from '../../errors.js';
import { REVLOG_KINDS } from '../../formats/record.js';
import { MAX_DICTIONARY_BYTES, readDictionaryId } from '../../formats/zstd-dictionary.js';
import { openRepository } from '../open.js';
import { readSoundFile } from '../read-file.js';
import type { DictionariesFrom, DictionaryFiles } from './choice.js';
import { readDictionaries } from './folder.js';

/** Dictionaries by what they are for: a kind of revlog, or a suffix. One may be for several. */
export type GivenDictionaries = ReadonlyMap<string, Uint8Array>;

/**
 * Reads dictionaries from files.
 * @throws RevconvertError DICTIONARY with the file: it is not there, or no trained zstd dictionary; PERMISSION, SYSTEM
 */
export function readDictionaryFiles({ files }: DictionaryFiles, engine: LoadedEngine): GivenDictionaries {
  const byPath = new Map<string, Uint8Array>();
  const given = new Map<string, Uint8Array>();
  for (const [target, path] of Object.entries(files)) {
    const bytes = byPath.get(path) ?? known(byPath, readDictionaryFile(path, engine));
    byPath.set(path, bytes);
    for (const name of target === 'all' ? REVLOG_KINDS : [target]) if (target !== 'all' || !Object.hasOwn(files, name)) given.set(name, bytes);
  }
  return given;
}

/** The same dictionary in two files is stored once. */
const known = (byPath: ReadonlyMap<string, Uint8Array>, bytes: Uint8Array): Uint8Array =>
  [...byPath.values()].find((other) => Buffer.compare(other, bytes) === 0) ?? bytes;

/**
 * Reads one dictionary.
 * @param engine zstd; undefined: it is not tried
 * @throws as {@link readDictionaryFiles}
 */
export function readDictionaryFile(path: string, engine: LoadedEngine | undefined): Uint8Array {
  const bad = (message: string, options?: ErrorOptions): RevconvertError => new RevconvertError('DICTIONARY', message, { path }, options);
  const bytes = readSoundFile(path, MAX_DICTIONARY_BYTES, bad);
  if (bytes === undefined) throw bad('there is no such file');
  if (readDictionaryId(bytes) === undefined) throw bad('it is no trained zstd dictionary');
  const refusal = engine === undefined ? undefined : refusalOf(bytes, engine);
  if (refusal !== undefined) throw bad('its tables are damaged, zstd does not take it', { cause: refusal });
  return bytes;
}

/**
 * @param engine zstd
 * @returns why zstd does not take a dictionary; undefined: it does
 * @throws RevconvertError ENGINE_MISSING
 */
export function refusalOf(dictionary: Uint8Array, engine: LoadedEngine): RevconvertError | undefined {
  try {
    engine.createCompressor({ dictionary: { id: 1, bytes: dictionary } });
    return undefined;
  } catch (error) {
    if (error instanceof RevconvertError && error.code === 'DICTIONARY_DAMAGED') return error;
    throw error;
  }
}

/**
 * The dictionaries by which new chunks of another repository are compressed.
 * @throws RevconvertError as openRepository; DICTIONARY: it has none; DICTIONARY_*
 */
export function readDictionariesFrom({ from }: DictionariesFrom, engine: LoadedEngine): GivenDictionaries {
  const repository = openRepository(from);
  const { dictionaries, write } = readDictionaries(repository);
  if (dictionaries.length === 0) throw new RevconvertError('DICTIONARY', 'the repository has no dictionaries', { path: repository.root });
  const given = new Map<string, Uint8Array>();
  const { suffixes, ...kinds } = write;
  for (const [name, id] of [...Object.entries(kinds), ...suffixes]) {
    const found = dictionaries.find((dictionary) => dictionary.id === id);
    if (found === undefined) continue;
    try {
      engine.createCompressor({ dictionary: found });
    } catch (error) {
      throw toRevconvertError(error, { path: repository.root });
    }
    given.set(name, found.bytes);
  }
  return given;
}
