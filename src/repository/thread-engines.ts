import { Arena } from '../engines/arena.js';
import { loadDecoders } from '../engines/chunk-codec.js';
import type { ChunkCompressor } from '../engines/engine.js';
import type { LoadedEngine } from '../engines/registry.js';
import { loadEngine } from '../engines/registry.js';
import { RevconvertError } from '../errors.js';
import { ruleFor } from '../formats/dictionary-index.js';
import type { RevlogKind } from '../formats/record.js';
import type { BatchOrigin } from '../streams/read-revlog.js';
import type { Stage } from '../streams/stage.js';
import { fuseStages } from '../streams/stage.js';
import { createCheckStage } from '../transforms/check-chunks.js';
import { createDecompressStage } from '../transforms/decompress.js';
import { createDictionaryStage, createRecompressStage, keepShorter } from '../transforms/recompress.js';
import { dictionaryMap } from './dictionaries/folder.js';
import { filePathOf } from './dictionaries/groups.js';
import type { ConversionSettings } from './settings.js';
import { leavesDictionaries } from './settings.js';
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
  const decoders = await loadDecoders({ memory, dictionaries: settings.dictionaries.source });
  const { source, target, fate } = settings.dictionaries;
  // Where neither store has any, one set of decoders serves both. Otherwise what is written must not need the source's.
  const hasNone = source.size === 0 && target.dictionaries.length === 0;
  const written = hasNone ? decoders : await loadDecoders({ memory, dictionaries: dictionaryMap(target) });
  const redelta = createThreadRedelta(settings, decoders, memory, isStopped);
  const compressorFor = createCompressors(engine, settings, memory);
  const untie = leavesDictionaries(settings.dictionaries);
  return {
    createPipeline(origin, onDamage) {
      const decompress = createDecompressStage(decoders, { onDamage, untie });
      if (fate === 'none') return decompress;
      const { kind, path } = origin;
      const plain = compressorFor(kind, 0);
      if (settings.redelta !== 'never') return fuseStages([decompress, redelta.createStage(origin, plain, onDamage)]);
      const id = ruleFor(target.write, kind, filePathOf(path));
      const recompress = id === 0 ? createRecompressStage(plain, memory) : createDictionaryStage({ compressor: compressorFor(kind, id), plain, memory });
      const stages = [decompress, fate === 'shorter' ? keepShorter(recompress) : recompress];
      return fuseStages(settings.checkChunks ? [...stages, createCheckStage(written)] : stages);
    },
    batchDone() {
      memory.recycle();
      if (isStopped()) throw new RevconvertError('CANCELLED', 'interrupted');
    },
  };
}

/** Compressors by kind and dictionary (0: none), each made once. */
function createCompressors(engine: LoadedEngine, { levels, checksum, dictionaries }: ConversionSettings, memory: Arena): (kind: RevlogKind, id: number) => ChunkCompressor {
  const known = new Map<string, ChunkCompressor>();
  return (kind, id) => {
    const level = levels[kind];
    const key = `${level ?? ''} ${id}`;
    const dictionary = dictionaries.target.dictionaries.find((one) => one.id === id);
    const compressor = known.get(key) ?? engine.createCompressor({ level, checksum, memory, dictionary });
    known.set(key, compressor);
    return compressor;
  };
}
