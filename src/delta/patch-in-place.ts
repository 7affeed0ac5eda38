import { HUNK_HEADER } from '../formats/hunks.js';
import { readInt32 } from './memory.js';

/**
 * Makes a text from its base in the base's own memory, so that only what changes is moved: most deltas put a line in
 * the place of one of the same length. The delta was checked before (`patchedSize` of formats/hunks.ts) and is believed.
 * @param base the text that the delta starts from, in memory of its own that may be longer
 * @param delta the hunks; no part of that memory
 * @returns the text, and `base` is no more; undefined where it does not fit, or where parts would have to move both
 *   ways, and nothing was changed
 */
export function patchInPlace(base: Buffer, delta: Buffer): Buffer | undefined {
  const end = delta.length;
  let shift = 0;
  let lowest = 0;
  let highest = 0;
  for (let at = 0; at + HUNK_HEADER <= end; ) {
    const length = readInt32(delta, at + 8);
    shift += length - (readInt32(delta, at + 4) - readInt32(delta, at));
    if (shift < lowest) lowest = shift;
    else if (shift > highest) highest = shift;
    at += HUNK_HEADER + length;
  }
  if (lowest < 0 && highest > 0) return undefined;
  if (base.length + shift > base.buffer.byteLength - base.byteOffset) return undefined;
  const target = Buffer.from(base.buffer, base.byteOffset, base.length + shift);
  if (highest > 0) patchFromEnd(target, base, delta);
  else patchFromStart(target, base, delta);
  return target;
}

/** Nothing moves to the right: from the first hunk to the last. */
function patchFromStart(target: Buffer, base: Buffer, delta: Buffer): void {
  // Through a view that is as long as the longer one of the two.
  const text = base.length > target.length ? base : target;
  let shift = 0;
  let done = 0;
  for (let at = 0; at + HUNK_HEADER <= delta.length; ) {
    const start = readInt32(delta, at);
    const length = readInt32(delta, at + 8);
    if (shift !== 0) text.copyWithin(done + shift, done, start);
    delta.copy(text, start + shift, at + HUNK_HEADER, at + HUNK_HEADER + length);
    done = readInt32(delta, at + 4);
    shift += length - (done - start);
    at += HUNK_HEADER + length;
  }
  if (shift !== 0) text.copyWithin(done + shift, done, base.length);
}

/** Nothing moves to the left: from the last hunk to the first. */
function patchFromEnd(target: Buffer, base: Buffer, delta: Buffer): void {
  const hunks: number[] = [];
  let shift = 0;
  for (let at = 0; at + HUNK_HEADER <= delta.length; ) {
    hunks.push(at);
    const length = readInt32(delta, at + 8);
    shift += length - (readInt32(delta, at + 4) - readInt32(delta, at));
    at += HUNK_HEADER + length;
  }
  let end = base.length;
  for (let at = hunks.pop(); at !== undefined; at = hunks.pop()) {
    const start = readInt32(delta, at);
    const replaced = readInt32(delta, at + 4);
    const length = readInt32(delta, at + 8);
    if (shift !== 0) target.copyWithin(replaced + shift, replaced, end);
    shift -= length - (replaced - start);
    delta.copy(target, start + shift, at + HUNK_HEADER, at + HUNK_HEADER + length);
    end = start;
  }
}
