import type { ChunkDecoders } from '../../engines/chunk-codec.js';
import type { MaybePromise } from '../../engines/engine.js';
import { andThen, DecodeFault } from '../../engines/engine.js';
import { chunkError, readChunks, textSize } from '../../streams/chunk-reader.js';
import type { BatchOrigin } from '../../streams/read-revlog.js';

/**
 * Consecutive revisions of a revlog, as they are to be sent. Beside the index there are no records of them: to make one for
 * each took a tenth of the time.
 */
export interface DeltaBatch {
  /** The first of them. */
  readonly from: number;
  /** For each what its delta applies to: an earlier revision, FULL_TEXT or NULL_BASE. */
  readonly bases: number[];
  /** For each its hunks, or its full text. */
  readonly deltas: Uint8Array[];
}

/**
 * Reads the revisions `from` up to but not including `to`, as they are stored: one read.
 * @returns a promise only where a decoder is asynchronous
 * @throws RevconvertError DATA_TRUNCATED, CHUNK_MARKER, CHUNK_DAMAGED, CHUNK_SIZE, DELTA_MALFORMED, DICTIONARY_* with the place
 */
export function readDeltas(origin: BatchOrigin, from: number, to: number, decoders: ChunkDecoders): MaybePromise<DeltaBatch> {
  const { index } = origin;
  const revs = Array.from({ length: to - from }, (_, i) => from + i);
  return andThen(readChunks(revs, origin, decoders), (decoded) => {
    const bases: number[] = [];
    const deltas: Uint8Array[] = [];
    for (let i = 0; i < decoded.length; i++) {
      const rev = from + i;
      const delta = decoded[i];
      if (delta === undefined || delta instanceof DecodeFault) throw chunkError(rev, delta, origin);
      const base = index.deltaBase(rev);
      textSize(rev, base < 0 ? 0 : index.rawSize(base), delta, origin);
      bases.push(base);
      deltas.push(delta);
    }
    return { from, bases, deltas };
  });
}
