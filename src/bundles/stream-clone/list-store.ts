import { statSync } from 'node:fs';

import type { StreamEntry, StreamVersion } from '../../formats/bundle/stream-clone.js';
import type { BytePath } from '../../formats/store-path.js';
import { below, displayName } from '../../repository/byte-path.js';
import type { Discovery, RevlogSource } from '../../repository/discover.js';
import { dataNameOf, discoverRevlogs } from '../../repository/discover.js';
import type { Repository } from '../../repository/open.js';
import { readSmallFile } from '../../repository/read-file.js';
import { walk } from '../../repository/walk.js';

/** A file of a stream clone, and where its bytes are. */
export interface StreamFile extends StreamEntry {
  readonly path: string | Buffer;
  /** Which file it was when it was listed: another one may take its name later. */
  readonly inode: number;
  /** What it held, where it is written anew with each transaction; undefined: it only grows, and is read later. */
  readonly content: Buffer | undefined;
}

export interface StoreListing {
  readonly files: readonly StreamFile[];
  readonly discovery: Discovery;
}

export interface ListOptions {
  readonly version: StreamVersion;
  /** Whether phases are brought; only stream2 can. */
  readonly phases: boolean;
  /** Whether obsolescence markers are brought; only stream2 can. */
  readonly obsolescence: boolean;
}

/** The most that phases and a cache may have; a cache that is larger is left out. */
const MAX_CONTENT = 1 << 28;

/**
 * The files of a stream clone, in the order in which Mercurial 7.2 has them: filelogs, directory manifests, phases, markers,
 * manifest, changelog, caches; of each revlog the data before the index, so that a receiver that stops has no index without
 * data. To be called while the store is locked.
 * @throws RevconvertError FNCACHE_CORRUPT, FILE_TOO_LARGE, PERMISSION, SYSTEM
 */
export function listStore(repository: Repository, { version, phases, obsolescence }: ListOptions): StoreListing {
  const { storeFolder, hgFolder } = repository;
  const discovery = discoverRevlogs(repository);
  const files: StreamFile[] = [];
  const add = (file: StreamFile | undefined): void => {
    // Mercurial leaves files without bytes out of packed1, which is read line by line.
    if (file !== undefined && (file.bytes > 0 || version === 'stream2')) files.push(file);
  };
  const addRevlog = (revlog: RevlogSource): void => {
    if (revlog.dataBytes > 0) add(growing(storeFolder, dataNameOf(revlog.name), revlog.dataPath));
    add(growing(storeFolder, revlog.name, revlog.indexPath));
  };
  for (const revlog of inOrder(discovery.revlogs)) addRevlog(revlog);
  if (version === 'stream2') {
    if (phases) add(rewritten('store', storeFolder, 'phaseroots'));
    if (obsolescence && statSync(`${storeFolder}/obsstore`, { throwIfNoEntry: false }) !== undefined) add(growing(storeFolder, 'obsstore', 'obsstore'));
  }
  for (const name of ['00manifest.i', '00changelog.i']) {
    const revlog = discovery.revlogs.find((one) => one.name === name);
    if (revlog === undefined) continue;
    if (repository.requirements.has('persistent-nodemap')) for (const file of nodemap(storeFolder, name)) add(file);
    addRevlog(revlog);
  }
  if (version === 'stream2') for (const name of cacheNames(`${hgFolder}/cache`)) add(rewritten('cache', `${hgFolder}/cache`, name));
  return { files, discovery };
}

/** Filelogs by the names of tracked files, then directory manifests. */
function inOrder(revlogs: readonly RevlogSource[]): RevlogSource[] {
  const key = ({ name }: RevlogSource): string => name.slice(0, -'.i'.length);
  return revlogs.filter(({ name }) => name.includes('/')).sort((a, b) => (key(a) < key(b) ? -1 : 1));
}

/** A file that transactions append to. */
function growing(folder: string, name: BytePath, diskName: BytePath): StreamFile {
  const path = below(folder, diskName);
  const { size, ino } = statSync(path);
  return { place: 'store', name, bytes: size, path, inode: ino, content: undefined };
}

/** @returns undefined where there is no such file */
function rewritten(place: StreamFile['place'], folder: string, name: BytePath): StreamFile | undefined {
  const path = below(folder, name);
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined || (place === 'cache' && (!found.isFile() || found.size > MAX_CONTENT))) return undefined;
  const content = readSmallFile(path, MAX_CONTENT);
  return content === undefined ? undefined : { place, name, bytes: content.length, path, inode: found.ino, content };
}

/**
 * The look-up table of a revlog, in two files: the docket names the other. Its fields: u8 version (1), u8 length of the name,
 * four u64 of which the second is the length of the data, the name (source: what Mercurial 6.3 and 7.2 write).
 */
function nodemap(storeFolder: string, indexName: BytePath): StreamFile[] {
  const radix = indexName.slice(0, -'.i'.length);
  const docket = rewritten('store', storeFolder, `${radix}.n`);
  const bytes = docket?.content;
  if (docket === undefined || bytes === undefined || bytes.length < NODEMAP_FIXED || bytes[0] !== 1) return [];
  const name = bytes.toString('latin1', NODEMAP_FIXED, NODEMAP_FIXED + (bytes[1] ?? 0));
  const dataName = `${radix}-${name}.nd`;
  const length = Number(bytes.readBigUInt64BE(NODEMAP_LENGTH_AT));
  if (!/^[0-9a-f]+$/.test(name) || (statSync(below(storeFolder, dataName), { throwIfNoEntry: false })?.size ?? -1) < length) return [];
  return [docket, { ...growing(storeFolder, dataName, dataName), bytes: length }];
}

const NODEMAP_FIXED = 34;
const NODEMAP_LENGTH_AT = 10;

/** The caches that are worth their bytes to whoever clones, in order. */
const CACHES: readonly RegExp[] = [/^branch[23](?:-(?:base|immutable|served|visible))?$/, /^rbc-(?:names|revs)-v[12]$/, /^tags2(?:-(?:served|visible))?$/, /^hgtagsfnodes1$/];

function cacheNames(folder: string): BytePath[] {
  const names = [...walk(folder, '', () => false)].map(({ name }) => name).sort();
  return CACHES.flatMap((family) => names.filter((name) => family.test(name)));
}

/** How a file is called in messages. */
export const streamFileName = ({ place, name }: StreamEntry): string => displayName(place === 'cache' ? `cache/${name}` : name);
