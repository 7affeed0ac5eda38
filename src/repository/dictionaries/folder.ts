import { createHash } from 'node:crypto';
import { mkdirSync } from 'node:fs';

import type { Dictionaries, Dictionary } from '../../engines/engine.js';
import { RevconvertError, toRevconvertError } from '../../errors.js';
import type { DictionaryEntry, DictionaryIndex, DictionaryKind, WriteRules } from '../../formats/dictionary-index.js';
import { parseDictionaryIndex, serialiseDictionaryIndex } from '../../formats/dictionary-index.js';
import { DICTIONARY_REQUIREMENT } from '../../formats/requires.js';
import { MAX_DICTIONARY_BYTES, readDictionaryId } from '../../formats/zstd-dictionary.js';
import type { Repository } from '../open.js';
import { openRepository } from '../open.js';
import { readSoundFile } from '../read-file.js';
import { writeNew } from '../write-new.js';

/** Where a store keeps its dictionaries. */
export const DICTIONARY_FOLDER = 'revlog-dictionaries';

const INDEX_NAME = 'index.json';
const MAX_INDEX_BYTES = 1 << 20;

/** A dictionary of a store, and what it was trained for. */
export interface StoredDictionary extends Dictionary {
  readonly kind: DictionaryKind;
}

/** The dictionaries of a store. */
export interface DictionarySet {
  /** By rising ID. */
  readonly dictionaries: readonly StoredDictionary[];
  /** By which of them new chunks are compressed. */
  readonly write: WriteRules;
}

const NO_RULES: WriteRules = { changelog: 0, manifest: 0, filelog: 0, suffixes: new Map() };

/** A store without any. */
export const NO_DICTIONARIES: DictionarySet = { dictionaries: [], write: NO_RULES };

/** The same by ID, for a decoder. */
export const dictionaryMap = ({ dictionaries }: DictionarySet): Dictionaries => new Map(dictionaries.map(({ id, bytes }) => [id, { id, bytes }]));

/**
 * The dictionaries of a repository, for stages of one's own: `decompress({ dictionaries: readDictionariesOf('src') })`.
 * @param repository the folder that holds `.hg`
 * @returns by ID; none where the store has none
 * @throws RevconvertError as openRepository; DICTIONARY_INDEX, DICTIONARY_MISSING, DICTIONARY_DAMAGED
 */
export const readDictionariesOf = (repository: string): Dictionaries => dictionaryMap(readDictionaries(openRepository(repository)));

/** Where a message says that the dictionary lies, below `.hg/store`. */
export const dictionaryFileName = (id: number): string => `${DICTIONARY_FOLDER}/${id}.zdict`;

/**
 * Reads all dictionaries that the index of a store lists, and checks them against it.
 * @returns none where the store does not require any
 * @throws RevconvertError DICTIONARY_INDEX, DICTIONARY_MISSING, DICTIONARY_DAMAGED with the file; PERMISSION, SYSTEM
 */
export function readDictionaries(repository: Pick<Repository, 'requirements' | 'storeFolder'>): DictionarySet {
  const { dictionaries, write } = readDictionaryIndex(repository);
  return { write, dictionaries: dictionaries.map((entry) => readDictionary(repository, entry)) };
}

const NOTHING_LISTED: DictionaryIndex = { dictionaries: [], write: NO_RULES };

/**
 * What the index of a store says of its dictionaries, which are not looked at.
 * @returns none where the store does not require any
 * @throws RevconvertError DICTIONARY_INDEX; PERMISSION, SYSTEM
 */
export function readDictionaryIndex({ requirements, storeFolder }: Pick<Repository, 'requirements' | 'storeFolder'>): DictionaryIndex {
  return requirements.has(DICTIONARY_REQUIREMENT) ? readIndex(storeFolder) : NOTHING_LISTED;
}

function readIndex(storeFolder: string): DictionaryIndex {
  const path = `${storeFolder}/${DICTIONARY_FOLDER}/${INDEX_NAME}`;
  const bad = (what: string): RevconvertError => new RevconvertError('DICTIONARY_INDEX', what, { path });
  const bytes = readSoundFile(path, MAX_INDEX_BYTES, bad);
  if (bytes === undefined) throw bad(`missing, though the store requires ${DICTIONARY_REQUIREMENT}`);
  try {
    return parseDictionaryIndex(bytes);
  } catch (error) {
    throw toRevconvertError(error, { path });
  }
}

/**
 * Reads one dictionary that the index of a store lists, and checks it against that.
 * @throws RevconvertError DICTIONARY_MISSING, DICTIONARY_DAMAGED with the file; PERMISSION, SYSTEM
 */
export function readDictionary({ storeFolder }: Pick<Repository, 'storeFolder'>, { id, kind, bytes: length, sha256 }: DictionaryEntry): StoredDictionary {
  const path = `${storeFolder}/${dictionaryFileName(id)}`;
  const bad = (what: string): RevconvertError => new RevconvertError('DICTIONARY_DAMAGED', `dictionary ${id}: ${what}`, { path });
  const bytes = readSoundFile(path, MAX_DICTIONARY_BYTES, bad);
  if (bytes === undefined) throw new RevconvertError('DICTIONARY_MISSING', `dictionary ${id} is missing; ${INDEX_NAME} lists it`, { path });
  const found = readDictionaryId(bytes);
  if (bytes.length !== length) throw bad(`${bytes.length} bytes; ${INDEX_NAME} says ${length}`);
  if (found === undefined) throw bad('it is no trained zstd dictionary');
  if (found !== id) throw bad(`its header says that its ID is ${found}`);
  if (sha256Of(bytes) !== sha256) throw bad(`its SHA-256 is not that of ${INDEX_NAME}`);
  return { id, kind, bytes };
}

/** 64 hexadecimal digits. */
export const sha256Of = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

/**
 * Writes the dictionaries of a new store.
 * @param storeFolder has no such folder yet
 * @param modes of files and folders
 * @throws RevconvertError NO_SPACE, PERMISSION, SYSTEM
 */
export function writeDictionaries(storeFolder: string, { dictionaries, write }: DictionarySet, modes: { readonly file: number | undefined; readonly folder: number | undefined }): void {
  const folder = `${storeFolder}/${DICTIONARY_FOLDER}`;
  try {
    mkdirSync(folder, { mode: modes.folder });
  } catch (error) {
    throw toRevconvertError(error, { path: folder });
  }
  for (const { id, bytes } of dictionaries) writeNew(`${storeFolder}/${dictionaryFileName(id)}`, bytes, modes.file);
  const entries = dictionaries.map(({ id, kind, bytes }) => ({ id, kind, bytes: bytes.length, sha256: sha256Of(bytes) }));
  writeNew(`${folder}/${INDEX_NAME}`, serialiseDictionaryIndex({ dictionaries: entries, write }), modes.file);
}
