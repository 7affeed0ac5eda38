import { Arena } from '../../src/engines/arena.js';
import { decodeChunks, loadDecoders } from '../../src/engines/chunk-codec.js';
import type { ChunkCompressor, Dictionary } from '../../src/engines/engine.js';
import type { LoadedEngine } from '../../src/engines/registry.js';
import { loadEngine } from '../../src/engines/registry.js';
import type { Stage } from '../../src/streams/stage.js';
import { createDictionaryStage, createRecompressStage } from '../../src/transforms/recompress.js';
import type { Choice, LoadedBatch } from './store.js';

/** How chunks are compressed with zstd. */
export interface Encoding {
  readonly level?: number | undefined;
  readonly checksum?: boolean | undefined;
  /** @default none for all */
  readonly choice?: Choice | undefined;
}

/** The chunks of each batch. */
export type EncodedBatches = readonly (readonly Uint8Array[])[];

/** What each encoding makes of the same batches, and how long that takes, run by run. */
export interface CodecTimes {
  /** Bytes of all chunks. */
  readonly bytes: number;
  readonly chunks: EncodedBatches;
  /** Seconds. */
  readonly compress: number[];
  readonly decompress: number[];
}

/** A stage as a conversion has it for the revlog of each batch: with a dictionary only where that pays. */
function createEncoder(zstd: LoadedEngine, { level, checksum = false, choice }: Encoding, memory?: Arena): Stage {
  const compressor = (dictionary?: Dictionary): ChunkCompressor => zstd.createCompressor({ level, checksum, dictionary, memory });
  const plain = compressor();
  const stages = new Map<Dictionary | undefined, Stage>([[undefined, createRecompressStage(plain, memory)]]);
  return (batch) => {
    const dictionary = choice?.(batch);
    let stage = stages.get(dictionary);
    if (stage === undefined) {
      stage = createDictionaryStage({ compressor: compressor(dictionary), plain, memory });
      stages.set(dictionary, stage);
    }
    return stage(batch);
  };
}

/** Compresses batches, once. */
export async function encode(batches: readonly LoadedBatch[], encoding: Encoding): Promise<EncodedBatches> {
  const stage = createEncoder(await loadEngine('zstd'), encoding);
  const chunks: Uint8Array[][] = [];
  for (const batch of batches) chunks.push((await stage(batch)).revisions.map(({ chunk }) => chunk));
  return chunks;
}

export const bytesOfChunks = (chunks: EncodedBatches): number => chunks.reduce((sum, own) => own.reduce((total, { length }) => total + length, sum), 0);

/** Bytes of all chunks that an encoding makes. */
export const encodedBytes = async (batches: readonly LoadedBatch[], encoding: Encoding = {}): Promise<number> => bytesOfChunks(await encode(batches, encoding));

export interface TimingOptions {
  /** Timed runs, after one that does not count. */
  readonly rounds: number;
  /** False: only decompression is timed. @default true */
  readonly compress?: boolean | undefined;
}

/**
 * Compresses and decompresses the same batches by each encoding, in turns, on this thread, in memory that is used again, as
 * a conversion does.
 */
export async function timeCodecs(batches: readonly LoadedBatch[], encodings: readonly Encoding[], { rounds, compress = true }: TimingOptions): Promise<CodecTimes[]> {
  const zstd = await loadEngine('zstd');
  const contenders: { readonly times: CodecTimes; readonly run: (isTimed: boolean) => Promise<void> }[] = [];
  for (const encoding of encodings) {
    const chunks = await encode(batches, encoding);
    const times = { bytes: bytesOfChunks(chunks), chunks, compress: [] as number[], decompress: [] as number[] };
    const memory = new Arena();
    const stage = createEncoder(zstd, encoding, memory);
    const decompress = await createDecoder(batches, chunks, encoding, memory);
    const run = async (isTimed: boolean): Promise<void> => {
      const compressed = compress ? await secondsOf(batches, memory, (batch) => stage(batch)) : NaN;
      const decompressed = await secondsOf(batches, memory, (_, i) => decompress(i));
      if (!isTimed) return;
      times.compress.push(compressed);
      times.decompress.push(decompressed);
    };
    contenders.push({ times, run });
  }
  for (let round = 0; round <= rounds; round++) for (const { run } of contenders) await run(round > 0);
  return contenders.map(({ times }) => times);
}

async function createDecoder(batches: readonly LoadedBatch[], chunks: EncodedBatches, { choice }: Encoding, memory: Arena): Promise<(i: number) => unknown> {
  const dictionaries = new Map(batches.flatMap((batch) => choice?.(batch) ?? []).map((dictionary) => [dictionary.id, dictionary]));
  const decoders = await loadDecoders({ memory, dictionaries });
  const limits = batches.map(({ deltas }) => deltas.map(({ length }) => length));
  return (i) => decodeChunks(chunks[i] ?? [], limits[i] ?? [], decoders);
}

async function secondsOf(batches: readonly LoadedBatch[], memory: Arena, work: (batch: LoadedBatch, i: number) => unknown): Promise<number> {
  const started = performance.now();
  for (const [i, batch] of batches.entries()) {
    const done = work(batch, i);
    if (done instanceof Promise) await done;
    memory.recycle();
  }
  return (performance.now() - started) / 1000;
}
