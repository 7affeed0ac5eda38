import { join } from 'node:path';

import { decodeChunks, encodeChunks, loadDecoders } from '../../src/engines/chunk-codec.js';
import { loadEngine } from '../../src/engines/registry.js';
import { openRevlog } from '../../src/streams/read-revlog.js';
import { createDecompressStage } from '../../src/transforms/decompress.js';

export interface LevelTimes {
  readonly level: number;
  readonly bytes: number;
  /** Seconds, run by run. */
  readonly compress: number[];
  readonly decompress: number[];
}

const LEVELS = [1, 3] as const;

/** Compresses the chunks of a changelog with zstd at levels 1 and 3, in turns and in batches, and decompresses them. */
export async function compareLevels(repository: string, rounds: number): Promise<LevelTimes[]> {
  const batches = await readTexts(repository);
  const zstd = await loadEngine('zstd');
  const decoders = await loadDecoders();
  const contenders = LEVELS.map((level) => ({ compressor: zstd.createCompressor({ level }), times: { level, bytes: 0, compress: [] as number[], decompress: [] as number[] } }));
  // The first round is for warming up.
  for (let round = -1; round < rounds; round++) {
    for (const { compressor, times } of contenders) {
      const chunks: Uint8Array[][] = [];
      const compress = await secondsOf(async () => {
        for (const batch of batches) chunks.push(await encodeChunks(batch, compressor));
      });
      const decompress = await secondsOf(async () => {
        for (const [i, batch] of batches.entries()) await decodeChunks(chunks[i] ?? [], batch.map(({ length }) => length), decoders);
      });
      times.bytes = chunks.flat().reduce((sum, { length }) => sum + length, 0);
      if (round < 0) continue;
      times.compress.push(compress);
      times.decompress.push(decompress);
    }
  }
  return contenders.map(({ times }) => times);
}

async function secondsOf(work: () => Promise<void>): Promise<number> {
  const started = performance.now();
  await work();
  return (performance.now() - started) / 1000;
}

async function readTexts(repository: string): Promise<Uint8Array[][]> {
  const store = join(repository, '.hg/store/00changelog');
  const reader = openRevlog({ indexFile: `${store}.i`, dataFile: `${store}.d`, path: '00changelog.i', kind: 'changelog' });
  try {
    const decompress = createDecompressStage(await loadDecoders());
    const batches: Uint8Array[][] = [];
    for (const batch of reader.batches()) batches.push((await decompress(batch)).revisions.map(({ delta }) => Uint8Array.from(delta ?? [])));
    return batches;
  } finally {
    reader.close();
  }
}
