import type { ChunkDecoders } from '../engines/chunk-codec.js';
import type { RevlogReader } from '../streams/read-revlog.js';
import type { Turns } from '../streams/turns.js';
import { createDecompressStage } from '../transforms/decompress.js';

/** Chunks that begin within so many bytes are asked for in one read. */
const WINDOW_BYTES = 1 << 16;

/**
 * Called with a revision that has a chunk, and where that begins in what was read. At least as many bytes of it are there
 * as were asked for, or all where it is shorter; whatever else is there means nothing, and nothing is to be kept.
 */
export type ChunkVisitor = (rev: number, bytes: Uint8Array, at: number) => void;

/**
 * Shows the beginning of every chunk that has one. Reads from the first to the last in windows: large chunks are
 * skipped, and nothing is held but one window.
 * @param length bytes of each chunk that are wanted
 * @throws RevconvertError DATA_TRUNCATED
 */
export async function visitChunks(reader: RevlogReader, length: number, visit: ChunkVisitor, turns: Turns): Promise<void> {
  const { index } = reader;
  let rev = 0;
  while (rev < index.length) {
    if (index.chunkLength(rev) === 0) {
      rev++;
      continue;
    }
    const start = index.position(rev);
    let last = rev;
    let end = rev + 1;
    for (; end < index.length && index.position(end) - start < WINDOW_BYTES; end++) if (index.chunkLength(end) > 0) last = end;
    const bytes = reader.origin.data.read(start, index.position(last) - start + Math.min(length, index.chunkLength(last)));
    for (; rev <= last; rev++) if (index.chunkLength(rev) > 0) visit(rev, bytes, index.position(rev) - start);
    rev = end;
    await turns.give();
  }
}

/**
 * The first byte of every chunk, 0 where there is none.
 * @throws RevconvertError DATA_TRUNCATED
 */
export async function readFirstBytes(reader: RevlogReader, turns: Turns): Promise<Uint8Array> {
  const firstBytes = new Uint8Array(reader.index.length);
  await visitChunks(reader, 1, (rev, bytes, at) => (firstBytes[rev] = bytes[at] ?? 0), turns);
  return firstBytes;
}

/**
 * The lengths of the texts, where the index leaves any of them open (version 0 says none): every chunk is decompressed,
 * and the deltas say the rest. Mercurial has no such figures for version 0.
 * @param loadDecoders called only where they are needed
 * @returns undefined where the index says them all
 * @throws RevconvertError CHUNK_MARKER, CHUNK_DAMAGED, CHUNK_SIZE, DELTA_MALFORMED, ENGINE_MISSING
 */
export async function measureTexts(
  reader: RevlogReader,
  loadDecoders: () => Promise<ChunkDecoders>,
  turns: Turns,
): Promise<Float64Array | undefined> {
  const { index } = reader;
  let isKnown = true;
  for (let rev = 0; rev < index.length && isKnown; rev++) isKnown = index.rawSize(rev) >= 0;
  if (isKnown) return undefined;
  const decompress = createDecompressStage(await loadDecoders());
  const rawSizes = new Float64Array(index.length);
  for (const batch of reader.batches()) {
    for (const { rev, rawSize } of (await decompress(batch)).revisions) rawSizes[rev] = rawSize;
    await turns.give();
  }
  return rawSizes;
}
