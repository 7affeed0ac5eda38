/** Memory as this room uses it: Buffers only, so that the compiler sees one kind of array, and numbers that are kept. */
import { asBuffer } from '../formats/bytes.js';

/** The same bytes as a Buffer; nothing is copied. */
export const asOneKind = (bytes: Uint8Array): Buffer => (Buffer.isBuffer(bytes) ? bytes : asBuffer(bytes));

/** A big-endian signed number of four bytes; bytes that are not there count as 0. */
export const readInt32 = (bytes: Buffer, at: number): number =>
  ((bytes[at] ?? 0) << 24) | ((bytes[at + 1] ?? 0) << 16) | ((bytes[at + 2] ?? 0) << 8) | (bytes[at + 3] ?? 0);

/** Writes such a number. */
export function writeInt32(bytes: Buffer, at: number, value: number): void {
  bytes[at] = value >>> 24;
  bytes[at + 1] = value >>> 16;
  bytes[at + 2] = value >>> 8;
  bytes[at + 3] = value;
}

/** Stretches up to this many bytes are copied in a loop: cheaper than a native call. */
const LOOP_COPY = 48;

/**
 * Copies a stretch, as far as it is there and there is room.
 * @returns where the next goes
 */
export function copyBytes(source: Buffer, start: number, end: number, target: Buffer, at: number): number {
  const length = end - start;
  if (length > LOOP_COPY) return at + source.copy(target, at, start, end);
  for (let i = 0; i < length; i++) target[at + i] = source[start + i] ?? 0;
  return length > 0 ? at + length : at;
}

/** Numbers that are used again from one call to the next. */
export type Numbers = Int32Array<ArrayBuffer>;

/** The array, or a larger one that begins with the same numbers, where it does not hold as many as are needed. */
export function grown(array: Numbers, needed: number): Numbers {
  if (array.length >= needed) return array;
  const larger = new Int32Array(Math.max(needed, 2 * array.length, 256));
  larger.set(array);
  return larger;
}
