import { randomBytes } from 'node:crypto';
import { lstatSync, mkdirSync, readdirSync, realpathSync, renameSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';

import { RevconvertError, toRevconvertError } from '../errors.js';
import { copyFolderAccess } from './access.js';

/** Where the new repository is built, under a temporary name beside its place. */
export interface Destination {
  /** The place asked for, as an absolute path without symbolic links. */
  readonly path: string;
  /** The folder it is built in. */
  readonly temporary: string;
  /**
   * Lets in whom the place lets in, where it is an empty folder that somebody prepared, or else the source does. Until
   * then the temporary folder is its maker's alone.
   */
  open(): void;
  /** Moves it into its place. @throws RevconvertError DESTINATION_EXISTS where somebody else was faster, SYSTEM */
  commit(): void;
  /** Removes what was built. Safe to call at any time; after `commit` it does nothing. */
  discard(): void;
}

/**
 * Checks a destination; makes nothing.
 * @param source the root of the source repository
 * @returns the place, with the links on the way to it resolved
 * @throws RevconvertError DESTINATION_EXISTS, DESTINATION_OVERLAPS, DESTINATION_PARENT
 */
export function checkDestination(source: string, destination: string): string {
  const place = resolvePlace(resolve(destination));
  const from = realpathSync(source);
  const inside = (inner: string, outer: string): boolean => inner === outer || inner.startsWith(outer.endsWith('/') ? outer : `${outer}/`);
  if (inside(place, from) || inside(from, place)) {
    throw new RevconvertError('DESTINATION_OVERLAPS', `it overlaps with the source ${from}`, { path: place });
  }
  const found = lstatSync(place, { throwIfNoEntry: false });
  if (found === undefined) return place;
  if (found.isSymbolicLink()) throw new RevconvertError('DESTINATION_EXISTS', 'it is a link that leads nowhere', { path: place });
  if (found.isDirectory() && found.dev !== statSync(dirname(place)).dev) {
    throw new RevconvertError('DESTINATION_EXISTS', 'a file system is mounted there; give a folder in it', { path: place });
  }
  if (!found.isDirectory()) throw new RevconvertError('DESTINATION_EXISTS', 'it exists and is no folder', { path: place });
  if (readdirSync(place).length > 0) throw new RevconvertError('DESTINATION_EXISTS', 'it exists and is not empty', { path: place });
  return place;
}

function resolvePlace(path: string): string {
  const parent = dirname(path);
  try {
    if (statSync(path, { throwIfNoEntry: false }) !== undefined) return realpathSync(path);
    return join(realpathSync(parent), basename(path));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ENOENT' && code !== 'ENOTDIR') throw toRevconvertError(error);
    throw new RevconvertError('DESTINATION_PARENT', 'the folder in which the destination is to lie does not exist', { path: parent }, { cause: error });
  }
}

/** Characters of the destination's name that its temporary one keeps, so that names of any legal length have room. */
const NAME_KEPT = 40;

/**
 * Makes the temporary folder.
 * @param path from {@link checkDestination}
 * @param source the root of the source repository
 * @throws RevconvertError PERMISSION, NO_SPACE, SYSTEM
 */
export function createDestination(path: string, source: string): Destination {
  const temporary = join(dirname(path), `.${basename(path).slice(0, NAME_KEPT)}.revconvert-${process.pid}-${randomBytes(4).toString('hex')}`);
  try {
    mkdirSync(temporary, { mode: 0o700 });
  } catch (error) {
    throw toRevconvertError(error, { path: temporary });
  }
  let done = false;
  return {
    path,
    temporary,
    open() {
      copyFolderAccess(statSync(path, { throwIfNoEntry: false }) === undefined ? source : path, temporary);
    },
    commit() {
      try {
        renameSync(temporary, path);
        done = true;
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException;
        if (code === 'ENOTEMPTY' || code === 'EEXIST' || code === 'ENOTDIR') {
          throw new RevconvertError('DESTINATION_EXISTS', 'it came into being in the meantime', { path }, { cause: error });
        }
        throw toRevconvertError(error, { path });
      }
    },
    discard() {
      if (!done) rmSync(temporary, { recursive: true, force: true });
      done = true;
    },
  };
}
