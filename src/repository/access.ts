import type { Stats } from 'node:fs';
import { chmodSync, chownSync, lchownSync, statSync } from 'node:fs';

import { toRevconvertError } from '../errors.js';
import { below } from './byte-path.js';
import { walk } from './walk.js';

/** Who may do what: the new repository gives no more access than the source, and no less to those who work in it. */

const MODE_BITS = 0o7777;
const OWNER_WRITES = 0o700;

/** The mode that a copy of a folder gets: its own, and whoever makes it may fill it, also where it is read-only. */
export const folderMode = ({ mode }: Pick<Stats, 'mode'>): number => (mode & MODE_BITS) | OWNER_WRITES;

const isRoot = (): boolean => process.geteuid?.() === 0;

/** Gives a new folder the mode, and where possible the group (root: the owner too), of another. */
export function copyFolderAccess(from: string | Buffer, to: string | Buffer): void {
  const wanted = statSync(from);
  const found = statSync(to);
  const uid = isRoot() ? wanted.uid : found.uid;
  const belongsElsewhere = uid !== found.uid || wanted.gid !== found.gid;
  if (belongsElsewhere) attempt(() => chownSync(to, uid, wanted.gid));
  // After the owner: changing that clears the bit by which what is made in the folder inherits the group.
  const mode = folderMode(wanted);
  if (belongsElsewhere || mode !== (found.mode & MODE_BITS)) chmodSync(to, mode);
}

/** Not allowed to everybody; the caller looks at what came of it. */
function attempt(action: () => void): void {
  try {
    action();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') throw toRevconvertError(error);
  }
}

/**
 * Gives all that was made to the owner and group of the source, which only root may do.
 * @param store folder of the source's store, which says whose it is
 * @param made folder of the new repository
 * @returns a notice for people where the owner or group is another now
 * @throws RevconvertError SYSTEM
 */
export function adoptOwner(store: string, made: string): string | undefined {
  const wanted = statSync(store);
  if (isRoot()) {
    if (wanted.uid !== 0 || wanted.gid !== 0) chownTree(made, wanted.uid, wanted.gid);
    return undefined;
  }
  const found = statSync(made);
  if (found.uid === wanted.uid && found.gid === wanted.gid) return undefined;
  return `the new repository belongs to ${found.uid}:${found.gid}, the source to ${wanted.uid}:${wanted.gid}`;
}

function chownTree(folder: string, uid: number, gid: number): void {
  const give = (path: string | Buffer): void => {
    const mode = statSync(path, { throwIfNoEntry: false })?.mode;
    lchownSync(path, uid, gid);
    // A change of owner clears the set-group bit.
    if (mode !== undefined && (mode & 0o6000) !== 0) chmodSync(path, mode & MODE_BITS);
  };
  try {
    give(folder);
    for (const { name, kind } of walk(folder, '')) {
      if (kind === 'link') lchownSync(below(folder, name), uid, gid);
      else give(below(folder, name));
    }
  } catch (error) {
    throw toRevconvertError(error, { path: folder });
  }
}
