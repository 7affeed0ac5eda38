import { statSync } from 'node:fs';

import { RevconvertError, toRevconvertError } from '../errors.js';
import { parseFileIndexDocket, parseFileIndexPaths } from '../formats/fileindex.js';
import { parseFncache } from '../formats/fncache.js';
import type { RevlogKind } from '../formats/record.js';
import type { BytePath, StoreEncoding } from '../formats/store-path.js';
import { decodeDirectories, decodeStorePath, encodeDirectories, encodeStorePath } from '../formats/store-path.js';
import { below } from './byte-path.js';
import type { Repository } from './open.js';
import { readSmallFile } from './read-file.js';
import { findTransactionBackups } from './transaction-backups.js';
import { walk } from './walk.js';

/** One revlog of the source. All paths are below its store. */
export interface RevlogSource {
  /** The unencoded name of its index: `00changelog.i`, `data/dir/File.i`, `meta/dir/00manifest.i`. */
  readonly name: BytePath;
  readonly kind: RevlogKind;
  readonly indexPath: BytePath;
  readonly dataPath: BytePath;
  readonly indexBytes: number;
  /** 0 where there is no data file. */
  readonly dataBytes: number;
  /** False: it lies in the store, but the store's own list does not name it. */
  readonly listed: boolean;
}

/** What the store holds below `data`, `dh` and `meta`, and the changelog and manifest. */
export interface Discovery {
  readonly revlogs: readonly RevlogSource[];
  /** Lines of the fncache as they stand in it; empty where there is none. */
  readonly listedNames: readonly BytePath[];
  /** Names that are listed and whose file is missing. */
  readonly missing: readonly BytePath[];
  /** Files that are there, not listed, and no revlog that can be named: carried byte for byte. */
  readonly strays: readonly BytePath[];
  /** Neither files, folders nor links: left out. */
  readonly specials: readonly BytePath[];
  /** Backups that a finished transaction left among the revlogs: dropped. */
  readonly leftovers: readonly BytePath[];
}

/** A list of the store's files: more than a million names. */
const MAX_LIST_BYTES = 1 << 26;

const FOLDERS = ['data', 'dh', 'meta'] as const;
const TOP_LEVEL: readonly (readonly [name: string, kind: RevlogKind])[] = [
  ['00changelog.i', 'changelog'],
  ['00manifest.i', 'manifest'],
];

/** Where the data file of an index lies: beside it, but for hashed names, where both have a hash of their own. */
const dataPathOf = (name: BytePath, indexPath: BytePath, encoding: StoreEncoding): BytePath =>
  indexPath.startsWith('dh/') ? encodeStorePath(dataNameOf(name), encoding) : dataNameOf(indexPath);

/** The name of the data file that goes with an index. */
export const dataNameOf = (indexName: BytePath): BytePath => `${indexName.slice(0, -1)}d`;

const kindOf = (name: BytePath): RevlogKind => (name.startsWith('data/') ? 'filelog' : name === '00changelog.i' ? 'changelog' : 'manifest');

const isRevlogFile = (name: BytePath): boolean => /^(?:data|meta)\/.*\.[id]$/s.test(name);

/**
 * Finds every revlog: by the list that the store keeps, checked against the disk; by the disk alone only where
 * the store keeps no list.
 * @throws RevconvertError FNCACHE_CORRUPT, PERMISSION, SYSTEM
 */
export function discoverRevlogs(repository: Repository): Discovery {
  const { storeFolder, encoding } = repository;
  const onDisk = new Set<BytePath>();
  const specials: BytePath[] = [];
  for (const folder of FOLDERS) {
    for (const entry of walk(storeFolder, folder)) {
      if (entry.kind === 'special') specials.push(entry.name);
      else if (entry.kind !== 'folder') onDisk.add(entry.name);
      if (entry.kind === 'link') checkNoFolder(storeFolder, entry.name);
    }
  }
  const isListed = repository.fileList !== 'none';
  const leftovers = isListed ? [] : takeBackups(repository, onDisk);
  const listedNames = repository.fileList === 'fncache' ? readFncache(storeFolder) : [];
  const listed = isListed ? listedRevlogs(repository, listedNames) : namesOnDisk(onDisk, repository);
  const revlogs: RevlogSource[] = [];
  const missing: BytePath[] = [];
  const add = (name: BytePath, byList: boolean): boolean => {
    const indexPath = encodeStorePath(name, encoding);
    const dataPath = dataPathOf(name, indexPath, encoding);
    const indexBytes = onDisk.has(indexPath) ? sizeOf(storeFolder, indexPath) : undefined;
    if (indexBytes === undefined) return false;
    onDisk.delete(indexPath);
    const dataBytes = onDisk.delete(dataPath) ? (sizeOf(storeFolder, dataPath) ?? 0) : 0;
    revlogs.push({ name, kind: kindOf(name), indexPath, dataPath, indexBytes, dataBytes, listed: byList });
    return true;
  };
  for (const name of listed) if (!add(name, true)) missing.push(encodeDirectories(name));
  const missingData = missingDataFiles(listedNames, revlogs, repository);
  const backups = isListed ? takeBackups(repository, onDisk) : [];
  for (const path of [...onDisk]) {
    const name = onDisk.has(path) ? decodeStorePath(path, encoding) : undefined;
    if (name !== undefined && isRevlogFile(name) && name.endsWith('.i')) add(name, repository.fileList === 'fileindex' && name.startsWith('meta/'));
  }
  revlogs.push(...topLevelRevlogs(storeFolder));
  const strays = [...onDisk, ...topLevelStrays(storeFolder)].sort();
  return { revlogs, listedNames, missing: missing.concat(missingData), strays, specials, leftovers: leftovers.concat(backups).sort() };
}

/** A link to a folder would be carried as a link, and old and new store would share what is in it. */
function checkNoFolder(storeFolder: string, name: BytePath): void {
  const path = below(storeFolder, name);
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) return;
  throw new RevconvertError('STORE_DISORDER', 'a link to a folder among the revlogs; put the folder in its place', { path: String(path) });
}

/** Takes the backups of a transaction out of the files that are not listed. */
function takeBackups(repository: Repository, unlisted: Set<BytePath>): BytePath[] {
  const backups = findTransactionBackups(repository, unlisted);
  for (const path of backups) unlisted.delete(path);
  return backups;
}

function topLevelRevlogs(storeFolder: string): RevlogSource[] {
  const found: RevlogSource[] = [];
  for (const [name, kind] of TOP_LEVEL) {
    const dataPath = dataNameOf(name);
    const indexBytes = sizeOf(storeFolder, name);
    if (indexBytes === undefined) continue;
    found.push({ name, kind, indexPath: name, dataPath, indexBytes, dataBytes: sizeOf(storeFolder, dataPath) ?? 0, listed: true });
  }
  return found;
}

/** Data files of a changelog or manifest that has no index. */
const topLevelStrays = (storeFolder: string): BytePath[] =>
  TOP_LEVEL.filter(([name]) => sizeOf(storeFolder, name) === undefined)
    .map(([name]) => dataNameOf(name))
    .filter((dataPath) => sizeOf(storeFolder, dataPath) !== undefined);

/** In bytes; links are followed. Undefined where there is nothing. */
const sizeOf = (folder: string, path: BytePath): number | undefined => statSync(below(folder, path), { throwIfNoEntry: false })?.size;

function readFncache(storeFolder: string): BytePath[] {
  const path = `${storeFolder}/fncache`;
  try {
    return parseFncache(readSmallFile(path, MAX_LIST_BYTES) ?? Buffer.alloc(0));
  } catch (error) {
    throw toRevconvertError(error, { path });
  }
}

function listedRevlogs(repository: Repository, listedNames: readonly BytePath[]): Iterable<BytePath> {
  if (repository.fileList === 'fileindex') return fileIndexNames(repository.storeFolder);
  const names = listedNames.filter((line) => line.endsWith('.i')).map(decodeDirectories);
  return new Set(names.filter(isRevlogFile));
}

/** Only tracked files are in a file index; tree manifests are found on the disk and count as listed. */
function fileIndexNames(storeFolder: string): BytePath[] {
  const path = `${storeFolder}/fileindex`;
  try {
    const docketBytes = readSmallFile(path);
    if (docketBytes === undefined) return [];
    const docket = parseFileIndexDocket(docketBytes);
    const [list, meta] = [docket.list, docket.meta].map((part) => readSmallFile(`${storeFolder}/${part.fileName}`, MAX_LIST_BYTES) ?? Buffer.alloc(0));
    return parseFileIndexPaths(docket, list ?? Buffer.alloc(0), meta ?? Buffer.alloc(0)).map((tracked) => `data/${tracked}.i`);
  } catch (error) {
    throw toRevconvertError(error, { path });
  }
}

function namesOnDisk(onDisk: ReadonlySet<BytePath>, repository: Repository): BytePath[] {
  const names: BytePath[] = [];
  for (const path of onDisk) {
    const name = decodeStorePath(path, repository.encoding);
    if (name?.endsWith('.i') === true && isRevlogFile(name)) names.push(name);
  }
  return names;
}

/** Data files that are listed and not there, whose index is there: the fncache of a split revlog names both. */
function missingDataFiles(listedNames: readonly BytePath[], revlogs: readonly RevlogSource[], { storeFolder, encoding }: Repository): BytePath[] {
  const withData = new Set(revlogs.filter((revlog) => revlog.dataBytes > 0).map((revlog) => encodeDirectories(dataNameOf(revlog.name))));
  return listedNames.filter(
    (line) =>
      line.endsWith('.d') &&
      !withData.has(line) &&
      sizeOf(storeFolder, encodeStorePath(decodeDirectories(line), encoding)) === undefined,
  );
}
