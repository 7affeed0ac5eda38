import { resolve } from 'node:path';

import type { LoadedEngine } from '../engines/registry.js';
import { loadEngine } from '../engines/registry.js';
import { RevconvertError } from '../errors.js';
import { readDictionaryId } from '../formats/zstd-dictionary.js';
import { contentOffsetOf } from '../formats/zstd-dictionary-tables.js';
import { dictionaryFileName, readDictionary, readDictionaryIndex, sha256Of } from '../repository/dictionaries/folder.js';
import { readDictionaryFile, refusalOf } from '../repository/dictionaries/given.js';
import { openRepository } from '../repository/open.js';

/** What can be said of a dictionary that zstd takes. Plain data. */
export interface DictionaryInspection {
  /** Its file, as an absolute path. */
  readonly file: string;
  /** By which frames name it, 0 to 2^32-1. A store uses 1 to 255, and gives each dictionary that comes to it a new one. */
  readonly id: number;
  readonly bytes: number;
  /** 64 hexadecimal digits. */
  readonly sha256: string;
  /** Where tables end and content begins; undefined: its tables are not understood. */
  readonly contentOffset: number | undefined;
  /** The last bytes of the content, as UTF-8. What is used most is at the end. It may hold anything: escape it for a terminal. */
  readonly end: string;
}

/**
 * Looks at a dictionary in a file, and lets zstd try it.
 * @param file of a trained zstd dictionary, at most 16 MiB
 * @throws RevconvertError DICTIONARY: it is not there, no trained dictionary, or zstd does not take it; ENGINE_MISSING; PERMISSION, SYSTEM
 * @example
 * const { id, bytes } = await inspectDictionary('changelog.zdict');
 */
export async function inspectDictionary(file: string): Promise<DictionaryInspection> {
  const bytes = readDictionaryFile(file, await loadEngine('zstd'));
  return describe(resolve(file), bytes);
}

/**
 * Looks at a dictionary of a store, checks it against the store's list, and lets zstd try it.
 * @param repository the folder that holds `.hg`
 * @param id 1 to 255
 * @throws RevconvertError as openRepository; USAGE: the store does not list it; DICTIONARY_INDEX, DICTIONARY_MISSING,
 *   DICTIONARY_DAMAGED; ENGINE_MISSING; PERMISSION, SYSTEM
 */
export async function inspectStoredDictionary(repository: string, id: number): Promise<DictionaryInspection> {
  const opened = openRepository(repository);
  const { dictionaries } = readDictionaryIndex(opened);
  const entry = dictionaries.find((one) => one.id === id);
  if (entry === undefined) {
    const known = dictionaries.length === 0 ? 'the store has none' : `the store lists ${dictionaries.map((one) => one.id).join(', ')}`;
    throw new RevconvertError('USAGE', `there is no dictionary ${id}; ${known}`, { path: opened.root });
  }
  const { bytes } = readDictionary(opened, entry);
  const path = `${opened.storeFolder}/${dictionaryFileName(id)}`;
  checkTaken(bytes, path, await loadEngine('zstd'));
  return describe(path, bytes);
}

function checkTaken(bytes: Uint8Array, path: string, engine: LoadedEngine): void {
  const refusal = refusalOf(bytes, engine);
  if (refusal !== undefined) throw new RevconvertError('DICTIONARY_DAMAGED', `zstd does not take it: ${refusal.message}`, { path }, { cause: refusal });
}

/** Bytes of the content that are shown. */
const END_BYTES = 400;

function describe(file: string, bytes: Uint8Array): DictionaryInspection {
  const contentOffset = contentOffsetOf(bytes);
  const shown = bytes.subarray(Math.max(contentOffset ?? 0, bytes.length - END_BYTES));
  return {
    file,
    id: readDictionaryId(bytes) ?? 0,
    bytes: bytes.length,
    sha256: sha256Of(bytes),
    contentOffset,
    // The first character may have lost its beginning.
    end: new TextDecoder().decode(shown).replace(/^\ufffd{1,3}/, ''),
  };
}
