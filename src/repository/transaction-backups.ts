import type { BytePath } from '../formats/store-path.js';
import { encodeStorePath } from '../formats/store-path.js';
import type { Repository } from './open.js';
import { readSmallFile } from './read-file.js';

const MAX_LIST_BYTES = 1 << 26;

const BACKUP_NAME = /(?:^|\/)(?:undo|journal)\.backup\.[^/]*$/;

/**
 * The backups that a finished transaction left among the revlogs (`data/undo.backup.f.i`, Mercurial up to 6.4; with
 * `.bck` since): they are no filelogs, though they end in `.i`. A tracked file may have such a name itself. Where the
 * store lists its files, a name that looks like a backup and is not listed is one; where it does not, only the list that
 * the transaction kept (`undo.backupfiles`) tells.
 * @param unlisted the files below `data`, `dh` and `meta` that the store's list does not name; all, where it keeps none
 */
export function findTransactionBackups(repository: Repository, unlisted: ReadonlySet<BytePath>): BytePath[] {
  const byLooks = repository.fileList !== 'none';
  const candidates = [...unlisted].filter((path) => BACKUP_NAME.test(path) || path.startsWith('dh/'));
  if (candidates.length === 0) return [];
  const named = backupsNamed(repository);
  return candidates.filter((path) => named.has(path) || (byLooks && BACKUP_NAME.test(path)));
}

/** Format: a line with the version, then `location NUL path NUL backup NUL cache LF`; location '' is the store. */
function backupsNamed({ storeFolder, encoding }: Repository): Set<BytePath> {
  const found = new Set<BytePath>();
  const text = readSmallFile(`${storeFolder}/undo.backupfiles`, MAX_LIST_BYTES)?.toString('latin1') ?? '';
  for (const line of text.split('\n').slice(1)) {
    const [location, , backup] = line.split('\0');
    if (location !== '' || backup === undefined || backup === '') continue;
    found.add(backup);
    found.add(encodeStorePath(backup, encoding));
  }
  return found;
}
