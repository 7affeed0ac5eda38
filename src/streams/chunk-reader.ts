import type { ChunkDecoders } from '../engines/chunk-codec.js';
import { decodeChunks } from '../engines/chunk-codec.js';
import type { DecodeFault, MaybePromise } from '../engines/engine.js';
import type { ErrorPlace } from '../errors.js';
import { RevconvertError } from '../errors.js';
import { deltaLimit, malformedDelta, MAX_TEXT, patchedSize, wrongSize } from '../formats/hunks.js';
import { FULL_TEXT } from '../formats/record.js';
import type { RevlogIndex } from '../formats/revlog-index.js';
import type { ByteSource } from './byte-source.js';

/** What an index says of chunks; also of a revlog that is being written. */
export type ChunkIndex = Pick<RevlogIndex, 'position' | 'chunkLength' | 'deltaBase' | 'rawSize'>;

/** Where the chunks of a revlog are. */
export interface ChunkOrigin {
  readonly index: ChunkIndex;
  /** Where `index.position` points: the data file, or an inline index file. */
  readonly data: ByteSource;
  /** For messages. */
  readonly path: string;
}

/**
 * Reads and decodes the chunks of some revisions: one read, from the first chunk to the end of the last, one call.
 * @param revs in order, none far from the next: what lies between them is read too
 * @returns for each what its chunk holds, or the fault; a promise only where a decoder is asynchronous
 * @throws RevconvertError DATA_TRUNCATED
 */
export function readChunks(revs: readonly number[], { index, data }: ChunkOrigin, decoders: ChunkDecoders): MaybePromise<(Uint8Array | DecodeFault)[]> {
  const first = revs[0] ?? 0;
  const last = revs[revs.length - 1] ?? 0;
  const start = index.position(first);
  const bytes = data.read(start, index.position(last) + index.chunkLength(last) - start);
  // Plain arrays: a Buffer takes three times as long to make.
  const chunks = revs.map((rev) => new Uint8Array(bytes.buffer, bytes.byteOffset + index.position(rev) - start, index.chunkLength(rev)));
  return decodeChunks(chunks, revs.map((rev) => chunkLimit(rev, index)), decoders);
}

/** The most bytes that the chunk of a revision may decode to. */
export function chunkLimit(rev: number, index: ChunkIndex): number {
  const base = index.deltaBase(rev);
  const rawSize = index.rawSize(rev);
  if (base === FULL_TEXT) return rawSize < 0 ? MAX_TEXT : rawSize;
  return deltaLimit(base < 0 ? 0 : index.rawSize(base), rawSize);
}

/**
 * The length of the text that a chunk makes of a base: from its hunks, and as the index says.
 * @param baseSize length of the base in bytes; -1: unknown
 * @returns in bytes; -1: unknown
 * @throws RevconvertError DELTA_MALFORMED, CHUNK_SIZE with the place
 */
export function textSize(rev: number, baseSize: number, chunk: Uint8Array, origin: ChunkOrigin): number {
  const size = origin.index.deltaBase(rev) === FULL_TEXT ? chunk.length : patchedSize(chunk, baseSize);
  if (typeof size !== 'number') throw malformedDelta(size).located(placeOf(rev, origin));
  const rawSize = origin.index.rawSize(rev);
  if (size >= 0 && rawSize >= 0 && size !== rawSize) throw wrongSize(size, rawSize).located(placeOf(rev, origin));
  return size;
}

/** Where the chunk of a revision stands. */
export const placeOf = (rev: number, { path, index }: Pick<ChunkOrigin, 'path' | 'index'>): ErrorPlace => ({ path, rev, offset: index.position(rev) });

/** A fault of a chunk as an error that says where. */
export const chunkError = (rev: number, fault: DecodeFault | undefined, origin: ChunkOrigin): RevconvertError =>
  new RevconvertError(fault?.code ?? 'CHUNK_DAMAGED', fault?.message ?? 'the chunk is missing', placeOf(rev, origin));
