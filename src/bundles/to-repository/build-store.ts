import { mkdirSync } from 'node:fs';

import { findEngine } from '../../engines/registry.js';
import { toRevconvertError } from '../../errors.js';
import { FLAG_EXTERNAL } from '../../formats/revision-flags.js';
import type { BytePath } from '../../formats/store-path.js';
import { encodeDirectories } from '../../formats/store-path.js';
import { dataNameOf } from '../../repository/discover.js';
import type { RequirementPlan } from '../../repository/requirement-plan.js';
import { planRequirements } from '../../repository/requirement-plan.js';
import { writeStoreLists } from '../../repository/target-layout.js';
import { writeNew } from '../../repository/write-new.js';
import type { BundleItems } from '../../streams/bundle/stage.js';
import { serialiseBookmarks } from './bookmarks.js';
import type { BuiltRevlog } from './build-tasks.js';
import type { BuildSettings } from './build-tools.js';
import { Dispatcher } from './dispatcher.js';
import { countMarkers } from './obsmarkers.js';
import type { CreateProgress } from './options.js';
import { trackBuild } from './progress.js';
import { Receiver } from './receiver.js';

export interface BuildStoreOptions extends Omit<BuildSettings, 'storeFolder'> {
  readonly jobs: number;
  readonly signal: AbortSignal | undefined;
  readonly onNotice: (notice: string) => void;
  readonly onProgress: ((progress: CreateProgress) => void) | undefined;
}

/** A repository that was made of a bundle. */
export interface BuiltStore {
  readonly revlogs: readonly BuiltRevlog[];
  readonly requirements: RequirementPlan;
  readonly changesets: number;
  readonly bookmarks: number;
  readonly markers: number;
  /** Threads that worked. */
  readonly threads: number;
}

/**
 * Makes a repository of the items of a bundle. When it has returned or thrown, no thread writes there any more.
 * @param root an empty folder
 * @throws RevconvertError for whatever a new repository cannot be made of
 */
export async function buildStore(items: BundleItems, root: string, options: BuildStoreOptions): Promise<BuiltStore> {
  const { jobs, signal, onNotice, engine, levels, checksum, checkChunks } = options;
  const hg = `${root}/.hg`;
  const storeFolder = `${hg}/store`;
  makeFolders([hg, storeFolder, `${hg}/cache`, `${hg}/wcache`]);
  const dispatcher = new Dispatcher(jobs, { storeFolder, engine, levels, checksum, checkChunks });
  const report = trackBuild(options.onProgress);
  try {
    const receiver = new Receiver(dispatcher, onNotice);
    for await (const portion of items) {
      signal?.throwIfAborted();
      for (const item of portion) await receiver.take(item);
      report({ revlogsDone: dispatcher.built.length, bytesDone: dispatcher.bytesDone });
    }
    await dispatcher.finish();
    signal?.throwIfAborted();
    const { built: revlogs, threads } = dispatcher;
    report({ revlogsDone: revlogs.length, bytesDone: dispatcher.bytesDone }, true);
    const extras = [receiver.hasTrees ? 'treemanifest' : [], revlogs.some(({ flags }) => (flags & FLAG_EXTERNAL) !== 0) ? 'lfs' : []].flat();
    const requirements = planRequirements(new Set(extras), { engine: findEngine(engine), generaldelta: true });
    const bookmarks = serialiseBookmarks(receiver.bookmarks, receiver.changesets);
    writeUnlessEmpty(`${storeFolder}/phaseroots`, Buffer.from(receiver.phases.serialise()));
    writeUnlessEmpty(`${storeFolder}/obsstore`, joinMarkers(receiver.markers));
    writeUnlessEmpty(`${hg}/bookmarks`, bookmarks);
    writeStoreLists(hg, requirements, revlogs.flatMap(linesOf), undefined);
    return {
      revlogs,
      requirements,
      threads,
      changesets: receiver.changesets.length,
      bookmarks: bookmarks.filter((byte) => byte === LF).length,
      markers: receiver.markers.reduce((sum, bytes) => sum + countMarkers(bytes), 0),
    };
  } finally {
    await dispatcher.close();
  }
}

const LF = 0x0a;

function makeFolders(paths: readonly string[]): void {
  try {
    for (const path of paths) mkdirSync(path);
  } catch (error) {
    throw toRevconvertError(error);
  }
}

function writeUnlessEmpty(path: string, bytes: Buffer): void {
  if (bytes.length > 0) writeNew(path, bytes, undefined);
}

/** Payloads as one: the version stands in front once. */
const joinMarkers = (markers: readonly Buffer[]): Buffer => Buffer.concat(markers.map((bytes, i) => (i === 0 ? bytes : bytes.subarray(1))));

/** The lines of a revlog in the list of the store. */
function linesOf({ name, split }: BuiltRevlog): BytePath[] {
  if (!name.includes('/')) return [];
  return [name, ...(split ? [dataNameOf(name)] : [])].map(encodeDirectories);
}
