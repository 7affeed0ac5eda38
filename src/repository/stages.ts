import type { ChunkDecoders } from '../engines/chunk-codec.js';
import { loadDecoders } from '../engines/chunk-codec.js';
import type { ChunkCompressor } from '../engines/engine.js';
import type { LoadedEngine } from '../engines/registry.js';
import { loadEngine } from '../engines/registry.js';
import type { RevconvertError } from '../errors.js';
import type { RevlogKind } from '../formats/record.js';
import type { Stage } from '../streams/stage.js';
import { fuseStages } from '../streams/stage.js';
import { createCheckStage } from '../transforms/check-chunks.js';
import { createDecompressStage } from '../transforms/decompress.js';
import { createRecompressStage } from '../transforms/recompress.js';
import type { ConversionSettings } from './settings.js';

/** Makes the pipeline of one revlog, or of a range of one. The native contexts behind it are shared by all of them. */
export type StageFactory = (kind: RevlogKind, onDamage?: (error: RevconvertError) => void) => Stage;

/**
 * Loads the engines of one thread.
 * @throws RevconvertError ENGINE_MISSING, LEVEL
 */
export async function loadStages(settings: ConversionSettings): Promise<StageFactory> {
  const engine = await loadEngine(settings.engine);
  const decoders = await loadDecoders();
  const compressors = new Map<number | undefined, ChunkCompressor>();
  return (kind, onDamage) => {
    const compressor = compressorFor(engine, settings, kind, compressors);
    return createPipeline(compressor, decoders, settings.checkChunks, onDamage);
  };
}

function compressorFor(
  engine: LoadedEngine,
  { levels, checksum }: ConversionSettings,
  kind: RevlogKind,
  known: Map<number | undefined, ChunkCompressor>,
): ChunkCompressor {
  const level = levels[kind];
  const compressor = known.get(level) ?? engine.createCompressor({ level, checksum });
  known.set(level, compressor);
  return compressor;
}

function createPipeline(
  compressor: ChunkCompressor,
  decoders: ChunkDecoders,
  check: boolean,
  onDamage: ((error: RevconvertError) => void) | undefined,
): Stage {
  const stages = [createDecompressStage(decoders, { onDamage }), createRecompressStage(compressor)];
  return fuseStages(check ? [...stages, createCheckStage(decoders)] : stages);
}
