import { RevconvertError } from '../../errors.js';
import { checkDestination } from '../destination.js';
import { openRepository } from '../open.js';
import { asFailure } from '../with-source.js';
import type { StoredDictionary } from './folder.js';
import { readDictionary, readDictionaryIndex } from './folder.js';
import { writeNewFolder } from './new-folder.js';

export interface ExportOptions {
  /** Which, by their IDs. @default all that the store has */
  readonly ids?: readonly number[] | undefined;
  /** Stops the work; nothing is left behind. */
  readonly signal?: AbortSignal | undefined;
}

/** A dictionary in a file of its own. */
export interface ExportedDictionary extends Pick<StoredDictionary, 'id' | 'kind'> {
  /** Absolute path. */
  readonly file: string;
  readonly bytes: number;
}

/** What was written. Plain data. */
export interface ExportReport {
  /** The folder that holds `.hg`, as an absolute path. */
  readonly repository: string;
  /** Where the files are, as an absolute path. */
  readonly folder: string;
  /** By rising ID. */
  readonly dictionaries: readonly ExportedDictionary[];
}

/**
 * Writes dictionaries of a store, byte for byte, into a folder: `1.zdict`, and so on. Each is checked against the store's
 * list. Takes no lock, and writes nothing into the repository.
 * @param repository the folder that holds `.hg`
 * @param folder does not exist, or is empty; the folder it lies in exists. It is complete when the promise resolves, and as
 *   it was when it rejects
 * @throws RevconvertError as openRepository; USAGE: the store has none, or not that one; DICTIONARY_INDEX,
 *   DICTIONARY_MISSING, DICTIONARY_DAMAGED; DESTINATION_EXISTS, DESTINATION_OVERLAPS, DESTINATION_PARENT; NO_SPACE,
 *   PERMISSION, SYSTEM, CANCELLED
 * @example
 * await exportDictionaries('src', 'dictionaries', { ids: [2] });
 */
export async function exportDictionaries(repository: string, folder: string, { ids, signal }: ExportOptions = {}): Promise<ExportReport> {
  try {
    const opened = openRepository(repository);
    const place = checkDestination(opened.root, folder);
    const { dictionaries: entries } = readDictionaryIndex(opened);
    const known = entries.map(({ id }) => id);
    if (known.length === 0) throw new RevconvertError('USAGE', 'the repository has no dictionaries', { path: opened.root });
    const unknown = ids?.find((id) => !known.includes(id));
    if (unknown !== undefined) throw new RevconvertError('USAGE', `there is no dictionary ${unknown}; the store lists ${known.join(', ')}`, { path: opened.root });
    const wanted = entries.filter(({ id }) => ids?.includes(id) ?? true).map((entry) => readDictionary(opened, entry));
    const files = wanted.map(({ id, bytes }) => ({ name: `${id}.zdict`, bytes }));
    await writeNewFolder(place, opened, files, signal);
    return { repository: opened.root, folder: place, dictionaries: wanted.map(({ id, kind, bytes }) => ({ id, kind, file: `${place}/${id}.zdict`, bytes: bytes.length })) };
  } catch (error) {
    throw asFailure(error, signal);
  }
}
