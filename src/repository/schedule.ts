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

/** Cuts a revlog into ranges, in order. Depends on nothing but the revlog, so that the output does not either. */
export function cutRanges(index: RevlogIndex, entrySize: number): Range[] {
  const ranges: Range[] = [];
  let from = 0;
  let bytes = 0;
  for (let rev = 0; rev < index.length; rev++) {
    bytes += index.chunkLength(rev) + entrySize;
    const to = rev + 1;
    if (bytes < RANGE_BYTES && to - from < RANGE_REVISIONS && to < index.length) continue;
    ranges.push({ from, to, bytes });
    from = to;
    bytes = 0;
  }
  return ranges;
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
 * Runs work with at most `width` pieces under way; begins them in order.
 * @param work each piece is begun only when there is room for it
 * @returns when all are done; rejects with the first failure, or when the signal aborts, and begins no more
 */
export async function runBounded(work: Iterable<() => Promise<void>>, width: number, signal?: AbortSignal): Promise<void> {
  const iterator = work[Symbol.iterator]();
  let failed = false;
  const lane = async (): Promise<void> => {
    for (let next = iterator.next(); next.done !== true && !failed; next = iterator.next()) {
      signal?.throwIfAborted();
      try {
        await next.value();
      } catch (error) {
        failed = true;
        throw error;
      }
    }
  };
  const lanes = Promise.all(Array.from({ length: width }, lane));
  await (signal === undefined ? lanes : Promise.race([lanes, aborted(signal)]));
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const stop = (): void => reject(signal.reason as Error);
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
}
