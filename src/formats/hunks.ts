import { RevconvertError } from '../errors.js';

/**
 * Deltas: hunks that turn one text into another. A hunk is 12 bytes and its insert, big-endian
 * (source: `hg help internals.revlogs`, limits tried with Mercurial 6.3 and 7.2):
 *
 *     0  i32  start of what is replaced, in bytes of the base
 *     4  i32  end of it (start <= end)
 *     8  i32  length of what is put there, then that many bytes
 *
 * Hunks are in order and do not overlap. No hunks: the text equals its base.
 */
export const HUNK_HEADER = 12;

/** What is wrong with a delta: where in it, in bytes, and what. */
export interface HunkFault {
  readonly at: number;
  readonly message: string;
}

/** One of the three numbers of a hunk. */
export const readHunkField = (bytes: Uint8Array, at: number): number =>
  ((bytes[at] ?? 0) << 24) | ((bytes[at + 1] ?? 0) << 16) | ((bytes[at + 2] ?? 0) << 8) | (bytes[at + 3] ?? 0);

/**
 * The length of the text that a delta makes, from its hunks alone.
 * @param delta the hunks
 * @param baseSize length of the base in bytes; -1: unknown (the end of a hunk is then not checked against it)
 * @returns the length in bytes (relative to an unknown base: meaningless, -1), or the first fault
 */
export function patchedSize(delta: Uint8Array, baseSize: number): number | HunkFault {
  const end = delta.length;
  let at = 0;
  let covered = 0;
  let grown = 0;
  while (at < end) {
    if (at + HUNK_HEADER > end) return { at, message: `hunk header cut short: ${end - at} bytes of ${HUNK_HEADER}` };
    const from = readHunkField(delta, at);
    const to = readHunkField(delta, at + 4);
    const length = readHunkField(delta, at + 8);
    if (from < covered || to < from || length < 0) {
      return { at, message: `hunk replaces ${from} to ${to} with ${length} bytes after one that ended at ${covered}` };
    }
    if (baseSize >= 0 && to > baseSize) return { at, message: `hunk ends at ${to}, its base at ${baseSize}` };
    if (length > end - at - HUNK_HEADER) {
      return { at, message: `hunk inserts ${length} bytes, ${end - at - HUNK_HEADER} are there` };
    }
    covered = to;
    grown += length - (to - from);
    at += HUNK_HEADER + length;
  }
  return baseSize < 0 ? -1 : baseSize + grown;
}

/** A fault of a delta as an error; where, is for the caller to say. */
export const malformedDelta = ({ at, message }: HunkFault): RevconvertError => new RevconvertError('DELTA_MALFORMED', `${message} (byte ${at} of the delta)`);

/** A chunk that makes a text of another length than the index names, as an error. */
export const wrongSize = (size: number, rawSize: number): RevconvertError =>
  new RevconvertError('CHUNK_SIZE', `the chunk makes a text of ${size} bytes, the index says ${rawSize}`);

/** More hunks than any real delta has: a text of which every other line of sixteen million changed. */
const MAX_HUNKS = 1 << 24;

/**
 * The most bytes that a delta without idle hunks can take: every hunk replaces or inserts at least one byte.
 * @param baseSize length of the base; -1: unknown
 * @param rawSize length of the text made; -1: unknown
 */
export function deltaLimit(baseSize: number, rawSize: number): number {
  if (rawSize < 0 || baseSize < 0) return MAX_TEXT;
  return Math.min(MAX_TEXT, rawSize + HUNK_HEADER * Math.min(rawSize + baseSize + 1, MAX_HUNKS));
}

/** Largest text or chunk that Mercurial's signed 32-bit fields can say. */
export const MAX_TEXT = 0x7fffffff;

/**
 * One hunk that puts a text in the place of another.
 * @param baseSize length of the other. @default 0: of the empty text
 */
export function fullReplacement(text: Uint8Array, baseSize = 0): Buffer {
  const delta = Buffer.allocUnsafe(HUNK_HEADER + text.length);
  delta.writeUInt32BE(0, 0);
  delta.writeUInt32BE(baseSize, 4);
  delta.writeUInt32BE(text.length, 8);
  delta.set(text, HUNK_HEADER);
  return delta;
}

/**
 * Whether a delta takes nothing over from its base.
 * @param baseSize length of the base; below 0: unknown, and what the delta says of it is believed
 */
export function replacesAll(delta: Uint8Array, baseSize: number): boolean {
  if (delta.length < HUNK_HEADER) return false;
  const isFirst = readHunkField(delta, 0) === 0 && HUNK_HEADER + readHunkField(delta, 8) === delta.length;
  return isFirst && (baseSize < 0 || readHunkField(delta, 4) === baseSize);
}
