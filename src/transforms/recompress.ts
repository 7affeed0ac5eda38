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

export interface RecompressOptions extends CompressorOptions {
  readonly engine: EngineName;
}

/**
 * Makes `chunk` anew from `delta` with the engine named: a Transform over batches, in object mode.
 * @throws RevconvertError (as the stream's error) ENGINE_MISSING, LEVEL; INTERNAL where `delta` is missing
 */
export function recompress(options: RecompressOptions): Duplex {
  const engine = findEngine(options.engine);
  return toTransform(
    lazyStage(async () => createRecompressStage((await loadEngine(engine)).createCompressor(options))),
  );
}
