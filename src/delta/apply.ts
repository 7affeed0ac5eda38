import { RevconvertError } from '../errors.js';
import { asBuffer } from '../formats/bytes.js';
import { HUNK_HEADER, patchedSize } from '../formats/hunks.js';

/** Stretches up to this many bytes are copied in a loop: cheaper than a native call. */
const LOOP_COPY = 48;

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
    written = put(from, done, start, to, written);
    done = readInt32(hunks, at + 4);
    at += HUNK_HEADER;
    if (length < 0) break;
    written = put(hunks, at, at + length, to, written);
    at += length;
  }
  return put(from, done, from.length, to, written);
}

/**
 * Checks a delta and makes a text from it.
 * @param base the text that the delta starts from
 * @param delta the hunks
 * @returns the text, in memory of its own
 * @throws RevconvertError DELTA_MALFORMED
 */
export function applyChecked(base: Uint8Array, delta: Uint8Array): Uint8Array {
  const size = patchedSize(delta, base.length);
  if (typeof size !== 'number') {
    throw new RevconvertError('DELTA_MALFORMED', `${size.message} (byte ${size.at} of the delta)`);
  }
  const target = Buffer.allocUnsafe(size);
  applyDelta(base, delta, target);
  return target;
}

/** Buffers only, so that the compiler sees one kind of array. */
const asOneKind = (bytes: Uint8Array): Buffer => (Buffer.isBuffer(bytes) ? bytes : asBuffer(bytes));

const readInt32 = (bytes: Buffer, at: number): number =>
  ((bytes[at] ?? 0) << 24) | ((bytes[at + 1] ?? 0) << 16) | ((bytes[at + 2] ?? 0) << 8) | (bytes[at + 3] ?? 0);

/** Copies what is there of a stretch, as far as there is room; where the next goes. */
function put(source: Buffer, start: number, end: number, target: Buffer, at: number): number {
  const length = end - start;
  if (length > LOOP_COPY) return at + source.copy(target, at, start, end);
  for (let i = 0; i < length; i++) target[at + i] = source[start + i] ?? 0;
  return length > 0 ? at + length : at;
}
