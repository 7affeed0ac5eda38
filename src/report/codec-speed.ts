import { Arena } from '../engines/arena.js';
import { loadDecoders } from '../engines/chunk-codec.js';
import { decodeChunks, encodeChunks } from '../engines/chunk-codec.js';
import type { Dictionary } from '../engines/engine.js';
import { DecodeFault } from '../engines/engine.js';
import type { LoadedEngine } from '../engines/registry.js';
import { RevconvertError } from '../errors.js';
import type { Turns } from '../streams/turns.js';
import type { SampleLimits, Samples } from './perf-samples.js';
import { median, sampleInTurns } from './perf-samples.js';

export interface CodecInput {
  readonly engine: LoadedEngine;
  readonly level: number;
  /** One contestant each; undefined: without. */
  readonly dictionaries: readonly (Dictionary | undefined)[];
  /** What is compressed, and made again of its chunks. */
  readonly deltas: readonly Uint8Array[];
  readonly turns: Turns;
}

/** How small, and how fast. */
export interface CodecFigures {
  /** Of each chunk. */
  readonly lengths: readonly number[];
  /** Bytes of `deltas` in a second: the median of several runs. */
  readonly compressRate: number;
  readonly decompressRate: number;
}

/** Enough for a median; at high levels fewer, so that a store is measured in less than a minute. */
const LIMITS: SampleLimits = { runs: 7, seconds: 2 };

/**
 * Compresses the same data with each of several dictionaries, in turns, and decompresses it again.
 * @returns the figures of each
 * @throws RevconvertError CHECK_FAILED: what came out is not what went in; ENGINE_MISSING, LEVEL, CANCELLED
 */
export async function measureCodecs({ engine, level, dictionaries, deltas, turns }: CodecInput): Promise<CodecFigures[]> {
  const rawBytes = deltas.reduce((sum, { length }) => sum + length, 0);
  const limits = deltas.map(({ length }) => length);
  const chunks = await Promise.all(dictionaries.map(async (dictionary) => [...(await encodeChunks(deltas, engine.createCompressor({ level, dictionary })))]));
  const compressors = dictionaries.map((dictionary) => {
    const memory = new Arena();
    const compressor = engine.createCompressor({ level, dictionary, memory });
    return async () => {
      memory.recycle();
      await encodeChunks(deltas, compressor, memory);
    };
  });
  const decompressors = await Promise.all(
    dictionaries.map(async (dictionary, i) => {
      const memory = new Arena();
      const decoders = await loadDecoders({ memory, dictionaries: dictionary === undefined ? undefined : new Map([[dictionary.id, dictionary]]) });
      const own = chunks[i] ?? [];
      check(await decodeChunks(own, limits, decoders), deltas);
      return async () => {
        memory.recycle();
        await decodeChunks(own, limits, decoders);
      };
    }),
  );
  const compressed = await sampleInTurns(compressors, LIMITS, turns);
  const decompressed = await sampleInTurns(decompressors, LIMITS, turns);
  const rate = (samples: Samples<void> | undefined): number => (rawBytes * 1000) / Math.max(MIN_MILLISECONDS, median(samples?.milliseconds ?? []));
  return chunks.map((own, i) => ({
    lengths: own.map(({ length }) => length),
    compressRate: Math.round(rate(compressed[i])),
    decompressRate: Math.round(rate(decompressed[i])),
  }));
}

/** No clock tells less. */
const MIN_MILLISECONDS = 1e-3;

function check(made: readonly (Uint8Array | DecodeFault)[], expected: readonly Uint8Array[]): void {
  const wrong = expected.findIndex((delta, i) => {
    const one = made[i];
    return !(one instanceof Uint8Array) || Buffer.compare(one, delta) !== 0;
  });
  if (wrong < 0) return;
  const fault = made[wrong];
  throw new RevconvertError('CHECK_FAILED', fault instanceof DecodeFault ? fault.message : 'a chunk does not decompress to what it was made of');
}
