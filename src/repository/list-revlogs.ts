import type { RevlogKind } from '../formats/record.js';
import { discoverRevlogs } from './discover.js';
import { openRepository } from './open.js';
import { bytesOf } from './plan.js';
import { revlogFiles } from './revlog-files.js';

/** A revlog of a repository, as `readRevlog` and `openRevlog` take it. */
export interface ListedRevlog {
  /** What the store calls it: `00changelog.i`, `data/dir/file.c.i`. */
  readonly path: string;
  readonly kind: RevlogKind;
  readonly indexFile: string | Buffer;
  readonly dataFile: string | Buffer;
  /** Bytes of index and data file. */
  readonly bytes: number;
}

/**
 * The revlogs of a repository, by name. Takes no lock: for reading where nobody writes.
 * @param repository the folder that holds `.hg`
 * @throws RevconvertError NOT_A_REPOSITORY, SHARED_REPOSITORY, UNKNOWN_REQUIREMENT, FNCACHE_CORRUPT, PERMISSION, SYSTEM
 * @example
 * for (const revlog of listRevlogs('src')) for (const batch of openRevlog(revlog).batches()) count(batch);
 */
export function listRevlogs(repository: string): ListedRevlog[] {
  const opened = openRepository(repository);
  return discoverRevlogs(opened)
    .revlogs.map((revlog) => ({ ...revlogFiles(revlog, opened.storeFolder), bytes: bytesOf(revlog) }))
    .sort((a, b) => (a.path < b.path ? -1 : 1));
}
