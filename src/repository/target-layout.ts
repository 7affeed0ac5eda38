import { chmodSync, mkdirSync, statSync } from 'node:fs';

import { toRevconvertError } from '../errors.js';
import { serialiseFncache } from '../formats/fncache.js';
import { serialiseRequires } from '../formats/requires.js';
import type { BytePath } from '../formats/store-path.js';
import { encodeDirectories } from '../formats/store-path.js';
import { copyFolderAccess, folderMode } from './access.js';
import { below, folderOf } from './byte-path.js';
import type { RevlogResult } from './convert-revlog.js';
import { targetPathOf } from './convert-store.js';
import type { Discovery, RevlogSource } from './discover.js';
import { dataNameOf } from './discover.js';
import type { ConversionPlan, RepositoryFacts } from './plan.js';
import type { RequirementPlan } from './requirement-plan.js';
import { writeNew } from './write-new.js';

/** Stops clients from before Mercurial 0.9.2, which would take `.hg/00changelog.i` for the changelog. */
const DUMMY_CHANGELOG = Buffer.from('\0\0\xff\xff dummy changelog to prevent using the old repo layout', 'latin1');

/** Modes of new files and folders, as the store of the source has them; undefined: what the umask gives. */
export interface TargetModes {
  readonly file: number | undefined;
  readonly folder: number | undefined;
}

const NOT_EXECUTABLE = 0o666;

/**
 * Mercurial gives new files of a store the mode of its folder, so that a group can share it.
 * @param storeFolder of the source
 * @param fresh a folder made just now: what the umask gives
 */
export function modesFor(storeFolder: string, fresh: string): TargetModes {
  const wanted = folderMode(statSync(storeFolder));
  if (wanted === folderMode(statSync(fresh))) return { file: undefined, folder: undefined };
  return { file: wanted & NOT_EXECUTABLE, folder: wanted };
}

/** Makes the folders that revlogs and carried files go to. `hg` is the `.hg` to be; it exists. */
export function makeFolders(hg: string, facts: RepositoryFacts, plan: ConversionPlan, modes: TargetModes): void {
  const { hgFolder, storeFolder, hasStore } = facts.repository;
  const store = hasStore || plan.newLayout ? `${hg}/store` : hg;
  try {
    copyFolderAccess(hgFolder, hg);
    mkdirSync(store, { recursive: true });
    if (store !== hg) copyFolderAccess(storeFolder, store);
    makeRevlogFolders(store, facts, plan, modes);
    for (const name of carriedInto(facts)) {
      mkdirSync(below(hg, name), { recursive: true });
      if (name !== 'store') copyFolderAccess(below(hgFolder, name), below(hg, name));
    }
  } catch (error) {
    throw toRevconvertError(error, { path: hg });
  }
}

/** Makes the folders below a store that revlogs, and strays, go to. The store exists. @throws as mkdir */
export function makeRevlogFolders(store: string, { discovery }: RepositoryFacts, plan: ConversionPlan, modes: TargetModes): void {
  const names = new Set<BytePath>();
  for (const revlog of discovery.revlogs) {
    const { index, data } = targetPathOf(revlog, plan);
    for (const path of [index, data]) addWithParents(names, folderOf(path));
  }
  for (const path of discovery.strays) addWithParents(names, folderOf(path));
  for (const name of [...names].sort()) makeFolder(below(store, name), modes);
}

/** The folders of `.hg` of which single files are carried: the caches. */
function carriedInto({ files }: RepositoryFacts): Set<BytePath> {
  const carried = files.filter(({ action }) => action === 'carry' || action === 'unknown');
  return new Set(carried.map(({ name, targetName }) => (name === targetName ? folderOf(targetName) : 'store')).filter((name) => name !== ''));
}

function addWithParents(names: Set<BytePath>, name: BytePath): void {
  for (let folder = name; folder !== '' && !names.has(folder); folder = folderOf(folder)) names.add(folder);
}

function makeFolder(path: string | Buffer, modes: TargetModes): void {
  mkdirSync(path, { recursive: true });
  if (modes.folder !== undefined) chmodSync(path, modes.folder);
}

/**
 * Writes what tells a reader of the new store: the fncache, the dummy changelog, and last the requirements.
 * @param files lines of the fncache
 * @param mode of the files; undefined: what the umask gives
 */
export function writeStoreLists(hg: string, { all, store, workingCopy }: Pick<RequirementPlan, 'all' | 'store' | 'workingCopy'>, files: readonly BytePath[], mode: number | undefined): void {
  if (all.has('fncache') && files.length > 0) writeNew(`${hg}/store/fncache`, serialiseFncache(files), mode);
  if (all.has('store')) writeNew(`${hg}/00changelog.i`, DUMMY_CHANGELOG, mode);
  if (store !== undefined) writeNew(`${hg}/store/requires`, serialiseRequires(store), mode);
  writeNew(`${hg}/requires`, serialiseRequires(workingCopy), mode);
}

/**
 * The lines of the new fncache: `.i` of every listed revlog, `.d` of those that are split now, and the lines of the
 * old one that name something else, as they are.
 */
export function fncacheLines(discovery: Discovery, results: readonly RevlogResult[]): BytePath[] {
  const split = new Set(results.filter((result) => result.split).map((result) => result.id));
  const lines = new Set<BytePath>(discovery.listedNames);
  for (const [id, revlog] of discovery.revlogs.entries()) {
    if (!isListable(revlog)) continue;
    const dataLine = encodeDirectories(dataNameOf(revlog.name));
    lines.add(encodeDirectories(revlog.name));
    if (split.has(id)) lines.add(dataLine);
    else lines.delete(dataLine);
  }
  return [...lines];
}

/** Changelog and root manifest are in no list. */
const isListable = ({ name, listed }: RevlogSource): boolean => listed && (name.startsWith('data/') || name.startsWith('meta/'));
