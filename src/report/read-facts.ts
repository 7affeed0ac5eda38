import type { ChunkDecoders } from '../engines/chunk-codec.js';
import type { RevlogReader } from '../streams/read-revlog.js';
import type { Turns } from '../streams/turns.js';
import { createDecompressStage } from '../transforms/decompress.js';

/** Chunks that begin within so many bytes are asked for in one read. */
const WINDOW_BYTES = 1 << 16;

/**
 * The first byte of every chunk, 0 where there is none. Reads from the first to the last in windows: large chunks are
 * skipped, and nothing is held but one window.
 * @throws RevconvertError DATA_TRUNCATED
 */
export async function readFirstBytes(reader: RevlogReader, turns: Turns): Promise<Uint8Array> {
  const { index } = reader;
  const firstBytes = new Uint8Array(index.length);
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
    const bytes = reader.origin.data.read(start, index.position(last) - start + 1);
    for (; rev <= last; rev++) if (index.chunkLength(rev) > 0) firstBytes[rev] = bytes[index.position(rev) - start] ?? 0;
    rev = end;
    await turns.give();
  }
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
