import type { RevlogIndex } from '../../formats/revlog-index.js';
import type { Range } from '../schedule.js';

/** Raw bytes of a range, about: what takes the time is hashing them. */
const RANGE_RAW_BYTES = 1 << 27;

/**
 * Cuts a revlog into ranges of about as many bytes of raw text. A range begins, where it can, at a revision whose delta chain
 * is short: the first text of a range has to be rebuilt from the whole of it.
 */
export function cutByRawBytes(index: RevlogIndex, entrySize: number, rangeBytes = RANGE_RAW_BYTES): Range[] {
  const ranges: Range[] = [];
  const depths = new Int32Array(index.length);
  let from = 0;
  let raw = 0;
  let best = -1;
  const cut = (to: number): void => {
    ranges.push({ from, to, bytes: storedBytes(index, from, to, entrySize) });
    from = to;
    raw = 0;
    best = -1;
  };
  for (let rev = 0; rev < index.length; rev++) {
    const base = index.deltaBase(rev);
    depths[rev] = base < 0 ? 0 : (depths[base] ?? 0) + 1;
    if (raw >= rangeBytes / 2 && (best < 0 || (depths[rev] ?? 0) < (depths[best] ?? 0))) best = rev;
    raw += Math.max(0, index.rawSize(rev));
    if (raw < rangeBytes * 1.5 || best <= from) continue;
    cut(best);
    for (let behind = from; behind <= rev; behind++) raw += Math.max(0, index.rawSize(behind));
  }
  if (from < index.length || index.length === 0) cut(index.length);
  return ranges;
}

function storedBytes(index: RevlogIndex, from: number, to: number, entrySize: number): number {
  let bytes = (to - from) * entrySize;
  for (let rev = from; rev < to; rev++) bytes += index.chunkLength(rev);
  return bytes;
}
