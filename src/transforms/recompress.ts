import type { Duplex } from 'node:stream';

import type { Arena } from '../engines/arena.js';
import { encodeChunks } from '../engines/chunk-codec.js';
import type { ChunkCompressor, CompressorOptions, EngineName } from '../engines/engine.js';
import { andThen } from '../engines/engine.js';
import { findEngine, loadEngine } from '../engines/registry.js';
import { deltaOf, soundRevisions } from '../formats/record.js';
import type { Stage } from '../streams/stage.js';
import { lazyStage, toTransform } from '../streams/stage.js';

/**
 * A stage that makes `chunk` anew from `delta`. Revisions marked `damaged` keep theirs.
 * @param memory where raw chunks are put, for an owner who recycles it
 */
export function createRecompressStage(compressor: ChunkCompressor, memory?: Arena): Stage {
  return (batch) => {
    const sound = soundRevisions(batch);
    const chunks = encodeChunks(
      sound.map((revision) => deltaOf(batch, revision)),
      compressor,
      memory,
    );
    return andThen(chunks, (encoded) => {
      for (let i = 0; i < sound.length; i++) {
        const revision = sound[i];
        const chunk = encoded[i];
        if (revision !== undefined && chunk !== undefined) revision.chunk = chunk;
      }
      return batch;
    });
  };
}

/** What becomes of the chunks of a store: all are made anew; only where that makes them shorter; none. */
export type ChunkFate = 'all' | 'shorter' | 'none';

export interface DictionaryStageOptions {
  /** With a dictionary. */
  readonly compressor: ChunkCompressor;
  /** The same without. */
  readonly plain: ChunkCompressor;
  readonly memory?: Arena | undefined;
}

/** Chunks of a batch by which the two are compared. */
const TRIED = 2;

/**
 * A stage that makes `chunk` anew with a dictionary, where that makes the chunks of a batch shorter: some, spread over the
 * batch, are made without it too, and where these are no longer, all are. So a revlog that gains nothing does without.
 */
export function createDictionaryStage({ compressor, plain, memory }: DictionaryStageOptions): Stage {
  const withDictionary = createRecompressStage(compressor, memory);
  const without = createRecompressStage(plain, memory);
  return (batch) => {
    const tried = spread(soundRevisions(batch), TRIED);
    return andThen(withDictionary(batch), (done) =>
      andThen(encodeChunks(tried.map((revision) => deltaOf(batch, revision)), plain, memory), (plainChunks) => {
        const gain = plainChunks.reduce((sum, chunk, i) => sum + chunk.length - (tried[i]?.chunk.length ?? 0), 0);
        return gain > 0 ? done : without(done);
      }),
    );
  };
}

/** Some of many, at equal distances. */
const spread = <T>(items: readonly T[], count: number): T[] =>
  items.length <= count ? [...items] : Array.from({ length: count }, (_, i) => items[Math.floor(((i + 0.5) * items.length) / count)]).filter((item) => item !== undefined);

/** A stage as `inner`, but that a chunk which does not get shorter stays as it is. */
export function keepShorter(inner: Stage): Stage {
  return (batch) => {
    const before = batch.revisions.map(({ chunk }) => chunk);
    return andThen(inner(batch), (done) => {
      for (const [i, revision] of done.revisions.entries()) {
        const old = before[i];
        if (old !== undefined && old.length <= revision.chunk.length) revision.chunk = old;
      }
      return done;
    });
  };
}

export interface RecompressOptions extends CompressorOptions {
  readonly engine: EngineName;
}

/**
 * Makes `chunk` anew from `delta` with the engine named: a Transform over batches, in object mode.
 * @param options `dictionary`: for zstd; who reads the chunks needs it too
 * @throws RevconvertError (as the stream's error) ENGINE_MISSING, LEVEL; INTERNAL where `delta` is missing
 */
export function recompress(options: RecompressOptions): Duplex {
  const engine = findEngine(options.engine);
  return toTransform(
    lazyStage(async () => createRecompressStage((await loadEngine(engine)).createCompressor(options))),
  );
}
