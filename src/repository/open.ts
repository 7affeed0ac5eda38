import { existsSync, statSync } from 'node:fs';
import { resolve } from 'node:path';

import { RevconvertError, toRevconvertError } from '../errors.js';
import { checkRequirements, parseRequires } from '../formats/requires.js';
import type { StoreEncoding } from '../formats/store-path.js';
import { readSmallFile } from './read-file.js';

/** A repository as its requirements describe it. */
export interface Repository {
  /** The folder that holds `.hg`, as an absolute path. */
  readonly root: string;
  readonly hgFolder: string;
  /** `.hg/store`, or `.hg` where there is no store. */
  readonly storeFolder: string;
  /** All requirements, from both files. */
  readonly requirements: ReadonlySet<string>;
  readonly encoding: StoreEncoding;
  /** False before Mercurial 0.9.2: the store is `.hg` itself. */
  readonly hasStore: boolean;
  /** How the store says which files it has; 'none': by what lies there. */
  readonly fileList: 'fncache' | 'fileindex' | 'none';
}

/**
 * Opens a repository for reading: finds its layout, and refuses what this program cannot convert whole.
 * @param path the folder that holds `.hg`
 * @throws RevconvertError NOT_A_REPOSITORY, SHARED_REPOSITORY (with the path of the source), UNKNOWN_REQUIREMENT,
 *   REQUIRES_CORRUPT, INTERRUPTED_UPGRADE, PERMISSION
 */
export function openRepository(path: string): Repository {
  const root = resolve(path);
  const hgFolder = `${root}/.hg`;
  checkFolder(root, hgFolder);
  const own = readRequirements(`${hgFolder}/requires`) ?? new Set<string>();
  checkNotShared(hgFolder, own);
  const hasStore = own.has('store') || own.has('share-safe');
  const storeFolder = hasStore ? `${hgFolder}/store` : hgFolder;
  const requirements = own.has('share-safe') ? new Set([...own, ...readStoreRequirements(storeFolder)]) : own;
  checkRequirements(requirements);
  return { root, hgFolder, storeFolder, requirements, hasStore, encoding: encodingOf(requirements), fileList: fileListOf(requirements) };
}

/**
 * Refuses a store in the middle of a transaction; to be asked once the store is locked.
 * @throws RevconvertError ABANDONED_TRANSACTION with the file that shows it
 */
export function checkNoTransaction(repository: Repository): void {
  for (const name of ['journal', '00changelog.i.a']) {
    const path = `${repository.storeFolder}/${name}`;
    if (existsSync(path)) throw new RevconvertError('ABANDONED_TRANSACTION', 'a transaction was begun and not finished', { path });
  }
}

function checkFolder(root: string, hgFolder: string): void {
  for (const folder of [root, hgFolder]) {
    let isFolder: boolean | undefined;
    try {
      isFolder = statSync(folder, { throwIfNoEntry: false })?.isDirectory();
    } catch (error) {
      throw toRevconvertError(error, { path: folder });
    }
    if (isFolder === true) continue;
    const found = isFolder === undefined ? 'no such folder' : 'not a folder';
    throw new RevconvertError('NOT_A_REPOSITORY', `${found}; a Mercurial repository is expected`, { path: folder });
  }
}

function readRequirements(path: string): Set<string> | undefined {
  const bytes = readSmallFile(path);
  if (bytes === undefined) return undefined;
  try {
    return parseRequires(bytes);
  } catch (error) {
    throw toRevconvertError(error, { path });
  }
}

function readStoreRequirements(storeFolder: string): Set<string> {
  const path = `${storeFolder}/requires`;
  const found = readRequirements(path);
  if (found === undefined) throw new RevconvertError('REQUIRES_CORRUPT', 'missing, though .hg/requires says share-safe', { path });
  return found;
}

function checkNotShared(hgFolder: string, own: ReadonlySet<string>): void {
  const relative = own.has('relshared');
  if (!relative && !own.has('shared')) return;
  const path = `${hgFolder}/sharedpath`;
  const source = readSmallFile(path)?.toString('utf8').replace(/\n$/, '') ?? '(sharedpath is missing)';
  const target = relative ? resolve(hgFolder, source) : source;
  throw new RevconvertError('SHARED_REPOSITORY', `this is a share; its history is in ${target}`, { path: hgFolder });
}

function encodingOf(requirements: ReadonlySet<string>): StoreEncoding {
  if (!requirements.has('store')) return 'plain-dir';
  if (requirements.has('fileindex-v1')) return 'dotencode';
  if (!requirements.has('fncache')) return 'store';
  return requirements.has('dotencode') ? 'dotencode' : 'fncache';
}

function fileListOf(requirements: ReadonlySet<string>): Repository['fileList'] {
  if (!requirements.has('store')) return 'none';
  if (requirements.has('fileindex-v1')) return 'fileindex';
  return requirements.has('fncache') ? 'fncache' : 'none';
}
