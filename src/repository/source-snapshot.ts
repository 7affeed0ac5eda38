import { statSync } from 'node:fs';

import { RevconvertError } from '../errors.js';
import { below } from './byte-path.js';
import type { RevlogSource } from './discover.js';
import { discoverRevlogs } from './discover.js';
import type { Repository } from './open.js';
import { checkNoTransaction } from './open.js';

/** Size, time and inode of every revlog: what shows that somebody wrote to a source that is not locked. */
export type SourceSnapshot = ReadonlyMap<string, string>;

export function takeSnapshot({ storeFolder }: Repository, revlogs: readonly RevlogSource[]): SourceSnapshot {
  const snapshot = new Map<string, string>();
  for (const { indexPath, dataPath } of revlogs) {
    for (const path of [indexPath, dataPath]) {
      const found = statSync(below(storeFolder, path), { throwIfNoEntry: false });
      if (found !== undefined) snapshot.set(path, `${found.size} ${found.mtimeMs} ${found.ino}`);
    }
  }
  return snapshot;
}

/**
 * Lists the source anew: a revlog that came, went or changed, or a transaction that is open, shows that somebody wrote.
 * @throws RevconvertError SOURCE_CHANGED
 */
export function checkUnchanged(repository: Repository, before: SourceSnapshot): void {
  const after = takeSnapshot(repository, discoverRevlogs(repository).revlogs);
  for (const path of new Set([...before.keys(), ...after.keys()])) {
    if (before.get(path) !== after.get(path)) throw new RevconvertError('SOURCE_CHANGED', 'it changed while it was read', { path });
  }
  try {
    checkNoTransaction(repository);
  } catch (error) {
    throw new RevconvertError('SOURCE_CHANGED', 'a transaction is open in it', { path: repository.storeFolder }, { cause: error });
  }
}
