import type { WrittenVersion } from '../../formats/bundle/changegroup-version.js';
import type { BundleItem, GroupStart } from '../../formats/bundle/items.js';
import { ENTRY_SIZE } from '../../formats/revlog-index.js';
import { bytesOf } from '../../repository/plan.js';
import { revlogFiles } from '../../repository/revlog-files.js';
import { cutRanges, group, LARGE_REVLOG_BYTES } from '../../repository/schedule.js';
import { shareBytes } from '../../repository/shared-memory.js';
import { openRevlog } from '../../streams/read-revlog.js';
import type { OrderedRevlog } from './group-order.js';
import type { BundleTask, BundleTaskResult } from './tasks.js';

/** A revlog that is sent. */
export interface GroupSource extends OrderedRevlog {
  /** Revisions that another changeset brings than the index says: see `RevlogSubject`. */
  readonly links: Int32Array | undefined;
}

/** A task, and what is done with its result. */
export interface Piece {
  readonly task: BundleTask;
  /** Stored bytes. */
  readonly bytes: number;
  /** Revlogs that it ends. */
  readonly revlogs: number;
  /** To be called in the order of the pieces. @returns what it adds to the changegroup */
  readonly itemsOf: (result: BundleTaskResult) => BundleItem[];
}

/** The most that the chunks of a range may decompress to, about: results are held in memory. */
const MAX_RANGE_RAW_BYTES = 1 << 24;

/**
 * Cuts the work: large revlogs into ranges, small ones into groups, in the order of the changegroup.
 * @param sources in that order
 * @throws RevconvertError as openRevlog
 */
export function* cutPieces(sources: readonly GroupSource[], storeFolder: string, version: WrittenVersion): Generator<Piece, void, void> {
  let small: GroupSource[] = [];
  for (const source of sources) {
    if (bytesOf(source.revlog) <= LARGE_REVLOG_BYTES) {
      small.push(source);
      continue;
    }
    yield* smallPieces(small, storeFolder, version);
    small = [];
    yield* rangePieces(source, storeFolder, version);
  }
  yield* smallPieces(small, storeFolder, version);
}

function* smallPieces(sources: readonly GroupSource[], storeFolder: string, version: WrittenVersion): Generator<Piece, void, void> {
  for (const members of group(sources, ({ revlog }) => bytesOf(revlog))) {
    const jobs = members.map(({ revlog, links }) => {
      const { path, ...files } = revlogFiles(revlog, storeFolder);
      return { ...files, name: path, links };
    });
    yield {
      task: { type: 'revlogs', jobs },
      bytes: members.reduce((sum, { revlog }) => sum + bytesOf(revlog), 0),
      revlogs: members.length,
      itemsOf: (result) => members.flatMap((member, i) => createGroupWriter(member, version)(result, i)),
    };
  }
}

function* rangePieces(source: GroupSource, storeFolder: string, version: WrittenVersion): Generator<Piece, void, void> {
  const { path, kind, ...files } = revlogFiles(source.revlog, storeFolder);
  const reader = openRevlog({ ...files, path, kind });
  reader.close();
  const { index } = reader;
  const table = shareBytes(index.table);
  const chunkFile = index.header.inline ? files.indexFile : files.dataFile;
  const ranges = cutRanges(index, ENTRY_SIZE, MAX_RANGE_RAW_BYTES);
  const write = createGroupWriter(source, version);
  for (const [i, { from, to, bytes }] of ranges.entries()) {
    yield {
      task: { type: 'range', job: { name: path, kind, links: source.links, table, header: index.header, chunkFile, from, to } },
      bytes,
      revlogs: i === ranges.length - 1 ? 1 : 0,
      itemsOf: (result) => write(result, 0),
    };
  }
}

/** Makes items of what was encoded. A group begins with the first of its revisions; those of changelog and root manifest in any case. */
function createGroupWriter({ group }: GroupSource, version: WrittenVersion): (result: BundleTaskResult, job: number) => BundleItem[] {
  let begun = false;
  return ({ groups }, job) => {
    const { bytes, revisions } = groups[job] ?? { bytes: [], revisions: 0 };
    const start: GroupStart[] = begun || (revisions === 0 && group.name !== '') ? [] : [{ type: 'group', group }];
    begun ||= start.length > 0;
    return revisions === 0 ? start : [...start, { type: 'chunks', group, version, bytes, revisions }];
  };
}
