import { HUNK_HEADER } from '../formats/hunks.js';
import { asOneKind, copyBytes, readInt32 } from './memory.js';

/**
 * Makes a text from its base and a delta that was checked before (`patchedSize` of formats/hunks.ts): the hunks are believed.
 * A wrong delta makes a wrong text, but nothing outside the three arrays is read or written.
 * @param base the text that the delta starts from
 * @param delta the hunks
 * @param target memory of exactly the length that `patchedSize` gives; must not overlap the other two
 * @returns bytes written: the length of `target`, if the delta is sound
 */
export function applyDelta(base: Uint8Array, delta: Uint8Array, target: Uint8Array): number {
  const from = asOneKind(base);
  const hunks = asOneKind(delta);
  const to = asOneKind(target);
  const end = hunks.length;
  let at = 0;
  let done = 0;
  let written = 0;
  while (at + HUNK_HEADER <= end) {
    const start = readInt32(hunks, at);
    const length = readInt32(hunks, at + 8);
    written = copyBytes(from, done, start, to, written);
    done = readInt32(hunks, at + 4);
    at += HUNK_HEADER;
    if (length < 0) break;
    written = copyBytes(hunks, at, at + length, to, written);
    at += length;
  }
  return copyBytes(from, done, from.length, to, written);
}
