/** The words for chunks that cannot be decoded, said the same way by every backend. */

import { DecodeFault } from './engine.js';

/**
 * @param engine name of the engine, for the message
 * @param found what is wrong with the stream
 * @returns a CHUNK_DAMAGED fault
 */
export const damaged = (engine: string, found: string): DecodeFault =>
  new DecodeFault('CHUNK_DAMAGED', `not a valid ${engine} chunk: ${found}`);

/**
 * @param limit the limit in bytes that the chunk exceeds
 * @param promised the size that the chunk itself names, where it does
 * @returns a CHUNK_SIZE fault
 */
export const tooLarge = (limit: number, promised?: number): DecodeFault =>
  new DecodeFault(
    'CHUNK_SIZE',
    promised === undefined
      ? `chunk decompresses to more than the limit of ${limit} bytes`
      : `chunk says that it decompresses to ${promised} bytes, over the limit of ${limit}`,
  );

/**
 * @param id of the dictionary that a frame names
 * @returns a DICTIONARY_MISSING fault
 */
export const missingDictionary = (id: number): DecodeFault =>
  new DecodeFault('DICTIONARY_MISSING', `frame needs the dictionary with ID ${id} (revlog-dictionaries/${id}.zdict), which is not there`);

/** What is wrong with a dictionary whose header is sound. */
export const refusedDictionary = (id: number): string => `dictionary with ID ${id} (revlog-dictionaries/${id}.zdict): its tables are damaged, zstd does not take it`;

/** The message of whatever was thrown. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/**
 * @param marker the first byte of a chunk, 0..255
 * @returns a CHUNK_MARKER fault, in Mercurial's words
 */
export const unknownMarker = (marker: number): DecodeFault =>
  new DecodeFault('CHUNK_MARKER', `unknown compression type ${marker.toString(16).padStart(2, '0')}`);
