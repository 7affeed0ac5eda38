import { applyDelta } from '../delta/apply.js';
import type { TextCache } from '../delta/text-cache.js';
import type { ChunkDecoders } from '../engines/chunk-codec.js';
import { decodeChunks } from '../engines/chunk-codec.js';
import { DecodeFault } from '../engines/engine.js';
import type { Steps } from '../engines/steps.js';
import { settled } from '../engines/steps.js';
import { RevconvertError } from '../errors.js';
import { deltaLimit, MAX_TEXT, patchedSize } from '../formats/hunks.js';
import { FULL_TEXT, NULL_BASE } from '../formats/record.js';
import type { RevlogIndex } from '../formats/revlog-index.js';
import type { ByteSource } from './byte-source.js';

/** Where the chunks of a revlog are. */
export interface ChainOrigin {
  readonly index: RevlogIndex;
  /** Where `index.position` points: the data file, or an inline index file. */
  readonly data: ByteSource;
  /** For messages. */
  readonly path: string;
}

/** Chunks read and decoded at once: stored bytes between the first and the last of them. */
const SPAN_BYTES = 1 << 18;

/**
 * Rebuilds the text of one revision from its delta chain, whatever the length of the chain: the bases are listed first,
 * then read in spans and applied one after the other.
 * @param rev any revision of the revlog
 * @param cache texts that are known already; nothing is put in, its memory is used
 * @returns the text, in memory of the cache that is the caller's to give back
 * @throws RevconvertError CHUNK_MARKER, CHUNK_DAMAGED, CHUNK_SIZE, DELTA_MALFORMED with the place of what is damaged
 */
export function* readChain(rev: number, origin: ChainOrigin, decoders: ChunkDecoders, cache: TextCache): Steps<Buffer> {
  const { index } = origin;
  const chain: number[] = [];
  let current = rev;
  let text: Buffer | undefined;
  while (current >= 0) {
    text = cache.get(current);
    if (text !== undefined) break;
    chain.push(current);
    current = index.deltaBase(current);
  }
  text = text === undefined ? cache.allocate(0) : copyOf(text, cache);
  for (const span of spansOf(chain.reverse(), index)) {
    const decoded = yield* settled(decodeSpan(span, origin, decoders));
    for (let i = 0; i < span.length; i++) {
      const member = span[i] ?? 0;
      const delta = decoded[i];
      if (delta === undefined || delta instanceof DecodeFault) throw faultOf(member, delta, origin);
      const next = step(member, text, delta, origin, cache);
      cache.giveBack(text);
      text = next;
    }
  }
  return text;
}

function copyOf(text: Buffer, cache: TextCache): Buffer {
  const own = cache.allocate(text.length);
  own.set(text);
  return own;
}

/** Members of a chain in order, cut where they lie too far apart to be read at once. */
function* spansOf(chain: readonly number[], index: RevlogIndex): Generator<readonly number[], void, void> {
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

function decodeSpan(span: readonly number[], { index, data }: ChainOrigin, decoders: ChunkDecoders): ReturnType<typeof decodeChunks> {
  const first = span[0] ?? 0;
  const last = span[span.length - 1] ?? 0;
  const start = index.position(first);
  const bytes = data.read(start, index.position(last) + index.chunkLength(last) - start);
  const chunks = span.map((rev) => {
    const at = index.position(rev) - start;
    return bytes.subarray(at, at + index.chunkLength(rev));
  });
  return decodeChunks(chunks, span.map((rev) => limitOf(rev, index)), decoders);
}

function limitOf(rev: number, index: RevlogIndex): number {
  const base = index.deltaBase(rev);
  const rawSize = index.rawSize(rev);
  if (base === FULL_TEXT) return rawSize < 0 ? MAX_TEXT : rawSize;
  return deltaLimit(base < 0 ? 0 : index.rawSize(base), rawSize);
}

function step(rev: number, base: Buffer, delta: Uint8Array, origin: ChainOrigin, cache: TextCache): Buffer {
  const kind = origin.index.deltaBase(rev);
  const size = kind === FULL_TEXT ? delta.length : patchedSize(delta, kind === NULL_BASE ? 0 : base.length);
  if (typeof size !== 'number') throw located('DELTA_MALFORMED', `${size.message} (byte ${size.at} of the delta)`, rev, origin);
  const rawSize = origin.index.rawSize(rev);
  if (rawSize >= 0 && size !== rawSize) throw located('CHUNK_SIZE', `the chunk makes a text of ${size} bytes, the index says ${rawSize}`, rev, origin);
  const text = cache.allocate(size);
  if (kind === FULL_TEXT) text.set(delta);
  else applyDelta(kind === NULL_BASE ? EMPTY : base, delta, text);
  return text;
}

const EMPTY = new Uint8Array(0);

const located = (code: 'DELTA_MALFORMED' | 'CHUNK_SIZE' | DecodeFault['code'], message: string, rev: number, { path, index }: ChainOrigin): RevconvertError =>
  new RevconvertError(code, message, { path, rev, offset: index.position(rev) });

const faultOf = (rev: number, fault: DecodeFault | undefined, origin: ChainOrigin): RevconvertError =>
  located(fault?.code ?? 'CHUNK_DAMAGED', fault?.message ?? 'the chunk is missing', rev, origin);
