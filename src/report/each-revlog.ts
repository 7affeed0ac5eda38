import { RevconvertError, toRevconvertError } from '../errors.js';
import type { BytePath } from '../formats/store-path.js';
import { displayName } from '../repository/byte-path.js';
import type { Discovery, RevlogSource } from '../repository/discover.js';
import { revlogFiles } from '../repository/revlog-files.js';
import type { RevlogReader } from '../streams/read-revlog.js';
import { openRevlog } from '../streams/read-revlog.js';
import type { Turns } from '../streams/turns.js';

export const missingRevlog = (name: BytePath): RevconvertError => new RevconvertError('REVLOG_MISSING', 'listed in the store and missing', { path: displayName(name) });

/** The revlogs that the store lists and has not. A data file that is missing is found when its index is read. */
export const missingRevlogs = ({ missing }: Discovery): RevconvertError[] => missing.filter((name) => name.endsWith('.i')).map(missingRevlog);

/**
 * Opens a revlog for the time of an action. Damage is an answer.
 * @param storeFolder that its paths are below
 * @returns what the action returns, or the damage, with its place
 * @throws RevconvertError of whatever is no fault of the store: PERMISSION, SYSTEM, CANCELLED, ENGINE_MISSING
 */
export async function withRevlog<T>(revlog: RevlogSource, storeFolder: string, turns: Turns, action: (reader: RevlogReader) => Promise<T>): Promise<T | RevconvertError> {
  try {
    await turns.give();
    const reader = openRevlog(revlogFiles(revlog, storeFolder));
    try {
      return await action(reader);
    } finally {
      reader.close();
    }
  } catch (error) {
    const failure = toRevconvertError(error);
    if (failure.kind !== 'input') throw failure;
    return failure.located({ path: displayName(revlog.name) });
  }
}
