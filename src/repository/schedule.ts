import { FULL_TEXT } from '../formats/record.js';
import type { RevlogIndex } from '../formats/revlog-index.js';

/** A revlog with more stored bytes than this is cut into ranges, so that several threads can work on it. */
export const LARGE_REVLOG_BYTES = 1 << 20;

/** Limits of a range: whichever comes first. Each range's result is held in memory until it is its turn. */
const RANGE_BYTES = 1 << 20;
const RANGE_REVISIONS = 8192;

/** Limits of a group of small revlogs that make one task. */
const GROUP_BYTES = 1 << 19;
const GROUP_REVLOGS = 64;

/** Revisions `from` up to but not including `to`. */
export interface Range {
  readonly from: number;
  readonly to: number;
  /** Stored bytes, chunks and index. */
  readonly bytes: number;
}

/**
 * Cuts a revlog into ranges, in order. Depends on nothing but the revlog, so that the output does not either.
 * @param maxRawBytes what the chunks of a range decompress to, about
 */
export function cutRanges(index: RevlogIndex, entrySize: number, maxRawBytes = Infinity): Range[] {
  const ranges: Range[] = [];
  let from = 0;
  let bytes = 0;
  let rawBytes = 0;
  for (let rev = 0; rev < index.length; rev++) {
    bytes += index.chunkLength(rev) + entrySize;
    rawBytes += rawBytesOf(index, rev);
    const to = rev + 1;
    if (bytes < RANGE_BYTES && rawBytes < maxRawBytes && to - from < RANGE_REVISIONS && to < index.length) continue;
    ranges.push({ from, to, bytes });
    from = to;
    bytes = 0;
    rawBytes = 0;
  }
  return ranges;
}

/** Deltas, which are small, hardly become more than this many times as long. */
const DELTA_EXPANSION = 16;

/** About what a chunk decompresses to. */
function rawBytesOf(index: RevlogIndex, rev: number): number {
  const expanded = index.chunkLength(rev) * DELTA_EXPANSION;
  const rawSize = index.rawSize(rev);
  if (rawSize < 0) return expanded;
  return index.deltaBase(rev) === FULL_TEXT ? rawSize : Math.min(rawSize, expanded);
}

/** Gathers small items into groups, in order. */
export function group<T>(items: readonly T[], bytesOf: (item: T) => number): T[][] {
  const groups: T[][] = [];
  let bytes = Infinity;
  for (const item of items) {
    let last = groups.at(-1);
    if (last === undefined || bytes >= GROUP_BYTES || last.length >= GROUP_REVLOGS) {
      last = [];
      groups.push(last);
      bytes = 0;
    }
    last.push(item);
    bytes += bytesOf(item);
  }
  return groups;
}

/**
 * Does work in lanes: each lane takes the next piece when it is done with the one before. Pieces are begun in order.
 * @param work each piece is made only when a lane is free for it
 * @param lanes each does one piece after the other
 * @returns when all is done; rejects with the first failure, or when the signal aborts, and begins no more
 */
export async function runInLanes<L, P>(
  work: Iterable<P>,
  lanes: readonly L[],
  perform: (piece: P, lane: L) => Promise<void>,
  signal?: AbortSignal,
): Promise<void> {
  const iterator = work[Symbol.iterator]();
  let failed = false;
  const drain = async (lane: L): Promise<void> => {
    for (let next = iterator.next(); next.done !== true && !failed; next = iterator.next()) {
      signal?.throwIfAborted();
      try {
        await perform(next.value, lane);
      } catch (error) {
        failed = true;
        throw error;
      }
    }
  };
  const all = Promise.all(lanes.map(drain));
  await (signal === undefined ? all : Promise.race([all, aborted(signal)]));
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const stop = (): void => reject(signal.reason as Error);
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
}
