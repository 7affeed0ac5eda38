import { Arena } from '../engines/arena.js';
import { loadDecoders } from '../engines/chunk-codec.js';
import type { ChunkCompressor } from '../engines/engine.js';
import type { LoadedEngine } from '../engines/registry.js';
import { loadEngine } from '../engines/registry.js';
import { RevconvertError } from '../errors.js';
import type { RevlogKind } from '../formats/record.js';
import type { BatchOrigin } from '../streams/read-revlog.js';
import type { Stage } from '../streams/stage.js';
import { fuseStages } from '../streams/stage.js';
import { createCheckStage } from '../transforms/check-chunks.js';
import { createDecompressStage } from '../transforms/decompress.js';
import { createRecompressStage } from '../transforms/recompress.js';
import type { ConversionSettings } from './settings.js';
import { createThreadRedelta } from './thread-redelta.js';

/** The engines of one thread: native contexts, and memory, that all its revlogs share. */
export interface ThreadEngines {
  /** The pipeline of one revlog, or of a range of one. */
  createPipeline(origin: BatchOrigin, onDamage?: (error: RevconvertError) => void): Stage;
  /**
   * To be called when a batch has been written: the memory of what the stages made is used again.
   * @throws RevconvertError CANCELLED where the thread is to stop
   */
  batchDone(): void;
}

/**
 * Loads the engines of one thread.
 * @param isStopped whether the thread is to stop
 * @throws RevconvertError ENGINE_MISSING, LEVEL
 */
export async function loadThreadEngines(settings: ConversionSettings, isStopped: () => boolean): Promise<ThreadEngines> {
  const memory = new Arena();
  const engine = await loadEngine(settings.engine);
  const decoders = await loadDecoders(undefined, memory);
  const redelta = createThreadRedelta(settings, decoders, memory, isStopped);
  const compressors = new Map<number | undefined, ChunkCompressor>();
  return {
    createPipeline(origin, onDamage) {
      const compressor = compressorFor(engine, settings, origin.kind, compressors, memory);
      const decompress = createDecompressStage(decoders, { onDamage });
      if (settings.redelta !== 'never') return fuseStages([decompress, redelta.createStage(origin, compressor, onDamage)]);
      const stages = [decompress, createRecompressStage(compressor, memory)];
      return fuseStages(settings.checkChunks ? [...stages, createCheckStage(decoders)] : stages);
    },
    batchDone() {
      memory.recycle();
      if (isStopped()) throw new RevconvertError('CANCELLED', 'interrupted');
    },
  };
}

function compressorFor(
  engine: LoadedEngine,
  { levels, checksum }: ConversionSettings,
  kind: RevlogKind,
  known: Map<number | undefined, ChunkCompressor>,
  memory: Arena,
): ChunkCompressor {
  const level = levels[kind];
  const compressor = known.get(level) ?? engine.createCompressor({ level, checksum, memory });
  known.set(level, compressor);
  return compressor;
}
