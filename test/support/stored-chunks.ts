/** The chunks of a store as they lie in its files, by what `hg help internals.revlogs` says, without the code under test. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ENTRY_BYTES = 64;

/** A revision's chunk, and what the index says of it. */
export interface StoredChunk {
  readonly file: string;
  readonly chunk: Buffer;
}

/** All chunks of one or more bytes, of all revlogs of version 1. */
export function storedChunks(store: string): StoredChunk[] {
  const files = readdirSync(store, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.i'));
  return files.sort().flatMap((file) => {
    const index = readFileSync(join(store, file));
    const isInline = (index.readUInt32BE(0) & 0x10000) !== 0;
    const dataFile = join(store, `${file.slice(0, -1)}d`);
    const data = !isInline && existsSync(dataFile) ? readFileSync(dataFile) : index;
    const chunks: StoredChunk[] = [];
    for (let at = 0; at < index.length; ) {
      const length = index.readUInt32BE(at + 8);
      const from = isInline ? at + ENTRY_BYTES : at === 0 ? 0 : index.readUIntBE(at, 6);
      if (length > 0) chunks.push({ file, chunk: data.subarray(from, from + length) });
      at += ENTRY_BYTES + (isInline ? length : 0);
    }
    return chunks;
  });
}

/** The ID of the dictionary that a chunk names (RFC 8878, 3.1.1); 0: none, or it is no zstd frame. */
export function namedDictionary(chunk: Buffer): number {
  if (chunk.length < 5 || chunk.readUInt32LE(0) !== 0xfd2fb528) return 0;
  const descriptor = chunk.readUInt8(4);
  const width = [0, 1, 2, 4][descriptor & 3] ?? 0;
  return width === 0 ? 0 : chunk.readUIntLE((descriptor & 0x20) === 0 ? 6 : 5, width);
}

/** How many chunks name each dictionary, and their bytes, by its ID. */
export function countByDictionary(store: string): Map<number, { chunks: number; bytes: number }> {
  const counts = new Map<number, { chunks: number; bytes: number }>();
  for (const { chunk } of storedChunks(store)) {
    const id = namedDictionary(chunk);
    const { chunks, bytes } = counts.get(id) ?? { chunks: 0, bytes: 0 };
    counts.set(id, { chunks: chunks + 1, bytes: bytes + chunk.length });
  }
  return counts;
}
