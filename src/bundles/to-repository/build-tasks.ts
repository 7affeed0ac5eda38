import { mkdirSync } from 'node:fs';

import { RevconvertError, toRevconvertError } from '../../errors.js';
import type { WrittenVersion } from '../../formats/bundle/changegroup-version.js';
import type { Group } from '../../formats/bundle/items.js';
import type { NodeTableData } from '../../formats/bundle/node-table.js';
import { NodeTable } from '../../formats/bundle/node-table.js';
import { INLINE_LIMIT } from '../../formats/revlog-index.js';
import type { BytePath } from '../../formats/store-path.js';
import { encodeStorePath } from '../../formats/store-path.js';
import { below, displayName, folderOf } from '../../repository/byte-path.js';
import { dataNameOf } from '../../repository/discover.js';
import type { Run } from '../../repository/work.js';
import { RevlogWriter } from '../../sinks/revlog-writer.js';
import type { BuildSettings, BuildTools } from './build-tools.js';
import { loadBuildTools } from './build-tools.js';
import { storeNameOf } from './group-name.js';
import type { DeltaCounts } from './revlog-builder.js';
import { RevlogBuilder } from './revlog-builder.js';

/** A stretch of one group: whole chunks. Those of a group are done in one thread, in order. */
export interface Segment {
  readonly group: Group;
  readonly version: WrittenVersion;
  /** Where it stands in the bytes of its task. */
  readonly from: number;
  to: number;
  /** The group ends with it. */
  isLast: boolean;
}

/** A piece of work for one thread. Plain data. */
export type BuildTask =
  /** The changesets that all groups but the changelog are linked to. */
  | { readonly type: 'changesets'; readonly nodes: NodeTableData }
  | { readonly type: 'segments'; readonly bytes: Uint8Array; readonly segments: readonly Segment[] }
  /** The group that has begun is not wanted any more. */
  | { readonly type: 'abandon' };

/** A revlog that is finished. */
export interface BuiltRevlog extends DeltaCounts {
  readonly name: BytePath;
  readonly group: Group;
  readonly revisions: number;
  /** There is a data file. */
  readonly split: boolean;
  readonly bytes: number;
  /** All flags of its revisions. */
  readonly flags: number;
}

/**
 * Makes the function that builds revlogs in one thread.
 * @param isStopped asked between two segments: where it says so a task ends with CANCELLED
 * @throws RevconvertError ENGINE_MISSING, LEVEL
 */
export async function createBuildRunner(settings: BuildSettings, isStopped: () => boolean): Promise<Run<BuildTask, readonly BuiltRevlog[]>> {
  const builders = new Builders(await loadBuildTools(settings));
  return async (task) => {
    if (task.type === 'abandon') builders.abandon();
    if (task.type === 'changesets') builders.changesets = NodeTable.of(task.nodes);
    if (task.type !== 'segments') return [];
    const bytes = Buffer.from(task.bytes.buffer, task.bytes.byteOffset, task.bytes.length);
    const built: BuiltRevlog[] = [];
    for (const segment of task.segments) {
      if (isStopped()) throw new RevconvertError('CANCELLED', 'interrupted');
      const done = await builders.take(segment, bytes.subarray(segment.from, segment.to));
      if (done !== undefined) built.push(done);
    }
    return built;
  };
}

/** The builder of the group that has begun, one at a time. */
class Builders {
  changesets: NodeTable | undefined;
  readonly #folders = new Set<BytePath>();
  #current: { readonly name: BytePath; readonly builder: RevlogBuilder } | undefined;

  constructor(private readonly tools: BuildTools) {}

  /** @returns the revlog, once its last segment is done */
  async take({ group, version, isLast }: Segment, bytes: Buffer): Promise<BuiltRevlog | undefined> {
    const { name, builder } = (this.#current ??= this.#begin(group, bytes.length));
    try {
      await builder.add(bytes, version);
      if (!isLast) return undefined;
      const { revisions, inline, indexBytes, dataBytes } = builder.finish();
      this.#current = undefined;
      return { name, group, revisions, split: !inline, bytes: indexBytes + dataBytes, flags: builder.flags, ...builder.counts };
    } catch (error) {
      this.abandon();
      throw error;
    }
  }

  abandon(): void {
    this.#current?.builder.abort();
    this.#current = undefined;
  }

  #begin(group: Group, firstBytes: number): { readonly name: BytePath; readonly builder: RevlogBuilder } {
    const { storeFolder } = this.tools.settings;
    const name = storeNameOf(group);
    const paths = { indexFile: encodeStorePath(name, 'dotencode'), dataFile: encodeStorePath(dataNameOf(name), 'dotencode') };
    for (const path of Object.values(paths)) this.#makeFolder(folderOf(path));
    const isChangelog = group.kind === 'changelog';
    const writer = new RevlogWriter({
      indexFile: below(storeFolder, paths.indexFile),
      dataFile: below(storeFolder, paths.dataFile),
      path: displayName(name),
      // As Mercurial: a changelog is of full texts.
      generaldelta: !isChangelog,
      expectedBytes: Math.min(firstBytes, INLINE_LIMIT),
    });
    return { name, builder: new RevlogBuilder(group, writer, this.tools, isChangelog ? undefined : (this.changesets ?? new NodeTable())) };
  }

  #makeFolder(folder: BytePath): void {
    if (this.#folders.has(folder)) return;
    try {
      mkdirSync(below(this.tools.settings.storeFolder, folder), { recursive: true });
    } catch (error) {
      throw toRevconvertError(error);
    }
    this.#folders.add(folder);
  }
}
