import { createTextCache } from '../delta/text-cache.js';
import type { Arena } from '../engines/arena.js';
import type { ChunkDecoders } from '../engines/chunk-codec.js';
import { decodeChunks } from '../engines/chunk-codec.js';
import { DecodeFault, isPromise } from '../engines/engine.js';
import { runSteps } from '../engines/steps.js';
import type { ByteSource } from '../streams/byte-source.js';
import { readChain } from '../streams/chain-reader.js';
import { chunkError, chunkLimit, readChunks } from '../streams/chunk-reader.js';
import type { BatchOrigin } from '../streams/read-revlog.js';
import { readBatches } from '../streams/read-revlog.js';
import type { Turns } from '../streams/turns.js';
import { windowSource } from '../streams/window-source.js';

/** What a run of a benchmark read and made. */
export interface Tally {
  /** Chunks decoded, or texts resolved. */
  revisions: number;
  /** Bytes that were asked of the files. */
  readBytes: number;
  /** Bytes that came out: decoded chunks, or texts. */
  bytes: number;
  /** The sum of one byte of each, modulo 2^32: equal for benchmarks that made the same things. */
  sum: number;
}

export const emptyTally = (): Tally => ({ revisions: 0, readBytes: 0, bytes: 0, sum: 0 });

/** What a run reads with. */
export interface ReadTools {
  readonly decoders: ChunkDecoders;
  /** Where the decoders put their outputs. */
  readonly memory: Arena;
  readonly turns: Turns;
}

/** Called with each thing that a benchmark made; the bytes are valid during the call. */
export type Visit = (rev: number, bytes: Uint8Array) => void;

/**
 * Decodes every chunk in order, one by one: for each a read, and a call to decode it. Reads go through a window of the
 * file, as in `readTexts`: what is measured is what a reader of single chunks does, not how long a system call takes.
 */
export async function readChunksSingly(origin: BatchOrigin, { decoders, memory, turns }: ReadTools, visit?: Visit): Promise<Tally> {
  const tally = emptyTally();
  const source = { ...origin, data: windowSource(countReads(origin.data, tally)) };
  for (let rev = 0; rev < origin.index.length; rev++) {
    const decoded = readChunks([rev], source, decoders);
    const [chunk] = isPromise(decoded) ? await decoded : decoded;
    if (chunk === undefined || chunk instanceof DecodeFault) throw chunkError(rev, chunk, origin);
    add(tally, rev, chunk, visit);
    memory.recycle();
    if (turns.due) await turns.give();
  }
  return tally;
}

/** Decodes every chunk in order as a conversion does: one read and one call for up to 512 chunks, or 1 MiB of them. */
export async function readChunksInBatches(origin: BatchOrigin, { decoders, memory, turns }: ReadTools, visit?: Visit): Promise<Tally> {
  const tally = emptyTally();
  const { index } = origin;
  for (const { revisions } of readBatches({ ...origin, data: countReads(origin.data, tally) }, 0, index.length)) {
    const decoded = decodeChunks(
      revisions.map(({ chunk }) => chunk),
      revisions.map(({ rev }) => chunkLimit(rev, index)),
      decoders,
    );
    const results = isPromise(decoded) ? await decoded : decoded;
    for (const [i, { rev }] of revisions.entries()) {
      const chunk = results[i];
      if (chunk === undefined || chunk instanceof DecodeFault) throw chunkError(rev, chunk, origin);
      add(tally, rev, chunk, visit);
    }
    memory.recycle();
    if (turns.due) await turns.give();
  }
  return tally;
}

/**
 * Resolves texts one after the other, as Mercurial reads them: the text that was resolved last is kept, and the last
 * window of the file, nothing else. Where a chain does not lead over that text, it is applied from its full text on.
 * @param revs in the order in which they are wanted
 */
export async function readTexts(revs: Iterable<number>, origin: BatchOrigin, { decoders, memory, turns }: ReadTools, visit?: Visit): Promise<Tally> {
  const tally = emptyTally();
  const source = { ...origin, data: windowSource(countReads(origin.data, tally)) };
  const cache = createTextCache();
  for (const rev of revs) {
    const resolved = runSteps(readChain(rev, source, decoders, cache));
    const text = isPromise(resolved) ? await resolved : resolved;
    add(tally, rev, text, visit);
    cache.clear();
    cache.put(rev, text);
    memory.recycle();
    if (turns.due) await turns.give();
  }
  return tally;
}

/** Every `every`-th revision, from the first to the last. */
export function* upwards(length: number, every: number): Generator<number, void, void> {
  for (let rev = 0; rev < length; rev += every) yield rev;
}

/** The same revisions, from the last to the first. */
export function* downwards(length: number, every: number): Generator<number, void, void> {
  for (let i = Math.ceil(length / every) - 1; i >= 0; i--) yield i * every;
}

function add(tally: Tally, rev: number, bytes: Uint8Array, visit: Visit | undefined): void {
  tally.revisions++;
  tally.bytes += bytes.length;
  tally.sum = (tally.sum + (bytes[bytes.length >> 1] ?? 0)) >>> 0;
  visit?.(rev, bytes);
}

const countReads = (source: ByteSource, tally: Tally): ByteSource => ({
  path: source.path,
  size: source.size,
  read(position, length) {
    tally.readBytes += length;
    return source.read(position, length);
  },
  close: () => undefined,
});
