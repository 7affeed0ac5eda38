/**
 * The trained zstd dictionary, as far as it is looked at here (RFC 8878, 5):
 *
 *     bytes  field
 *     4      Magic_Number   37 a4 30 ec
 *     4      Dictionary_ID  little-endian; what frames name it by
 *     n      entropy tables, and content
 */
import { asBuffer } from './bytes.js';

const MAGIC = 0xec30a437;
const ID_OFFSET = 4;
const HEADER_BYTES = 8;

/** The IDs that a store may use: a frame names one of these in a single byte. */
export const MIN_DICTIONARY_ID = 1;
export const MAX_DICTIONARY_ID = 255;

/** The largest dictionary that is read, in bytes: larger ones only cost. */
export const MAX_DICTIONARY_BYTES = 16 << 20;

/** @returns the ID; undefined where the bytes are no trained dictionary */
export function readDictionaryId(bytes: Uint8Array): number | undefined {
  const buffer = asBuffer(bytes);
  if (buffer.length <= HEADER_BYTES || buffer.readUInt32LE(0) !== MAGIC) return undefined;
  return buffer.readUInt32LE(ID_OFFSET);
}

/** The same dictionary under another ID, which nothing in it depends on. */
export function withDictionaryId(bytes: Uint8Array, id: number): Uint8Array {
  const copy = Uint8Array.from(bytes);
  asBuffer(copy).writeUInt32LE(id, ID_OFFSET);
  return copy;
}
