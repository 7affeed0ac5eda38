import { randomBytes } from 'node:crypto';
import { chmodSync, lstatSync, mkdirSync, readdirSync, realpathSync, renameSync, rmSync, statSync } from 'node:fs';
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
   * Lets in whom the place lets in, where it is an empty folder that somebody prepared, or else the source does, or without
   * one whom the umask lets in. Until then the temporary folder is its maker's alone.
   */
  open(): void;
  /** Moves it into its place. @throws RevconvertError DESTINATION_EXISTS where somebody else was faster, SYSTEM */
  commit(): void;
  /** Removes what was built. Safe to call at any time; after `commit` it does nothing. */
  discard(): void;
}

/**
 * Checks a destination; makes nothing.
 * @param source the root of the source repository; undefined: there is none
 * @returns the place, with the links on the way to it resolved
 * @throws RevconvertError DESTINATION_EXISTS, DESTINATION_OVERLAPS, DESTINATION_PARENT
 */
export function checkDestination(source: string | undefined, destination: string): string {
  const place = resolvePlace(resolve(destination));
  if (source !== undefined) checkApart(realpathSync(source), place);
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

function checkApart(from: string, place: string): void {
  const inside = (inner: string, outer: string): boolean => inner === outer || inner.startsWith(outer.endsWith('/') ? outer : `${outer}/`);
  if (!inside(place, from) && !inside(from, place)) return;
  throw new RevconvertError('DESTINATION_OVERLAPS', `it overlaps with the source ${from}`, { path: place });
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

/** What chmod takes. */
const MODE_BITS = 0o7777;

/** Of the temporary folder. */
const MAKER_ONLY = 0o700;

/** Characters of the destination's name that its temporary one keeps, so that names of any legal length have room. */
const NAME_KEPT = 40;

/**
 * Makes the temporary folder.
 * @param path from {@link checkDestination}
 * @param source the root of the source repository; undefined: there is none
 * @throws RevconvertError PERMISSION, NO_SPACE, SYSTEM
 */
export function createDestination(path: string, source?: string): Destination {
  const temporary = join(dirname(path), `.${basename(path).slice(0, NAME_KEPT)}.revconvert-${process.pid}-${randomBytes(4).toString('hex')}`);
  let usualMode: number;
  try {
    mkdirSync(temporary);
    usualMode = statSync(temporary).mode;
    chmodSync(temporary, MAKER_ONLY);
  } catch (error) {
    throw toRevconvertError(error, { path: temporary });
  }
  let done = false;
  return {
    path,
    temporary,
    open() {
      const likeness = statSync(path, { throwIfNoEntry: false }) === undefined ? source : path;
      if (likeness !== undefined) copyFolderAccess(likeness, temporary);
      else chmodSync(temporary, usualMode & MODE_BITS);
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
