import { PENDING_BYTES, PendingText } from '../delta/pending-text.js';
import type { TextCache } from '../delta/text-cache.js';
import type { ChunkDecoders } from '../engines/chunk-codec.js';
import { DecodeFault } from '../engines/engine.js';
import type { Steps } from '../engines/steps.js';
import { settled } from '../engines/steps.js';
import { FULL_TEXT } from '../formats/record.js';
import type { ChunkIndex, ChunkOrigin } from './chunk-reader.js';
import { chunkError, readChunks, textSize } from './chunk-reader.js';

/** Where the chunks of a revlog are. */
export type ChainOrigin = ChunkOrigin;

/** Chunks read and decoded at once: stored bytes between the first and the last of them. */
const SPAN_BYTES = 1 << 18;

/**
 * Rebuilds the text of one revision from its delta chain, whatever the length of the chain: the bases are listed first,
 * then read in spans, and their deltas applied, many at once where the text is large.
 * @param rev any revision of the revlog
 * @param cache texts that are known already; nothing is put in, its memory is used
 * @returns the text, in memory of the cache that is the caller's to give back
 * @throws RevconvertError CHUNK_MARKER, CHUNK_DAMAGED, CHUNK_SIZE, DELTA_MALFORMED with the place of what is damaged
 */
export function* readChain(rev: number, origin: ChainOrigin, decoders: ChunkDecoders, cache: TextCache): Steps<Buffer> {
  const { chain, known } = listChain(rev, origin.index, cache);
  const text = new PendingText(cache, known);
  for (const span of spansOf(chain, origin.index)) {
    const decoded = yield* settled(readChunks(span, origin, decoders));
    for (let i = 0; i < span.length; i++) {
      const member = span[i] ?? 0;
      const chunk = decoded[i];
      if (chunk === undefined || chunk instanceof DecodeFault) throw chunkError(member, chunk, origin);
      const size = textSize(member, text.size, chunk, origin);
      if (origin.index.deltaBase(member) === FULL_TEXT) text.begin(chunk);
      else text.push(chunk, size);
    }
    if (text.pendingBytes > PENDING_BYTES) text.apply();
  }
  return text.take();
}

/** What has to be read for the text of a revision, the first first; and the text in the cache that it is built on, if any. */
function listChain(rev: number, index: ChunkIndex, cache: TextCache): { readonly chain: readonly number[]; readonly known: Buffer | undefined } {
  const chain: number[] = [];
  for (let current = rev; current >= 0; current = index.deltaBase(current)) {
    const known = cache.get(current);
    if (known !== undefined) return { chain: chain.reverse(), known };
    chain.push(current);
  }
  return { chain: chain.reverse(), known: undefined };
}

/** Members of a chain in order, cut where they lie too far apart to be read at once. */
function* spansOf(chain: readonly number[], index: ChunkIndex): Generator<readonly number[], void, void> {
  let span: number[] = [];
  let start = 0;
  for (const rev of chain) {
    const end = index.position(rev) + index.chunkLength(rev);
    if (span.length > 0 && end - start > SPAN_BYTES) {
      yield span;
      span = [];
    }
    if (span.length === 0) start = index.position(rev);
    span.push(rev);
  }
  if (span.length > 0) yield span;
}
