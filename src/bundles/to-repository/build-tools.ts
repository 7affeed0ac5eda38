import { ChainTable } from '../../delta/chain-table.js';
import type { Differ } from '../../delta/diff.js';
import { createDiffer } from '../../delta/diff.js';
import type { NodeHasher } from '../../delta/node-hash.js';
import { createNodeHasher } from '../../delta/node-hash.js';
import type { TextCache } from '../../delta/text-cache.js';
import { createTextCache } from '../../delta/text-cache.js';
import { Arena } from '../../engines/arena.js';
import type { ChunkDecoders } from '../../engines/chunk-codec.js';
import { loadDecoders } from '../../engines/chunk-codec.js';
import type { ChunkCompressor, EngineName } from '../../engines/engine.js';
import { loadEngine } from '../../engines/registry.js';
import { NodeTable } from '../../formats/bundle/node-table.js';
import type { RevlogKind } from '../../formats/record.js';
import { REVLOG_KINDS } from '../../formats/record.js';
import type { GroupMemory } from './incoming.js';

/** Revisions that there is room for at first. */
const FIRST_CAPACITY = 1 << 10;

/** What a thread has to know to build revlogs. Plain data. */
export interface BuildSettings {
  /** The store to be, which exists. */
  readonly storeFolder: string;
  readonly engine: EngineName;
  readonly levels: Readonly<Record<RevlogKind, number | undefined>>;
  /** zstd frame checksums. */
  readonly checksum: boolean;
  /** Decode every chunk that was written and compare. */
  readonly checkChunks: boolean;
}

/** The engines and the memory of one thread, which all its revlogs share, one after the other. */
export interface BuildTools {
  readonly settings: BuildSettings;
  readonly compressors: Readonly<Record<RevlogKind, ChunkCompressor>>;
  readonly decoders: ChunkDecoders;
  readonly memory: Arena;
  readonly texts: TextCache;
  readonly differ: Differ;
  readonly hashNode: NodeHasher;
  readonly chains: ChainTable;
  readonly group: GroupMemory;
}

/** @throws RevconvertError ENGINE_MISSING, LEVEL */
export async function loadBuildTools(settings: BuildSettings): Promise<BuildTools> {
  const memory = new Arena();
  const { levels, checksum } = settings;
  const engine = await loadEngine(settings.engine);
  const decoders = await loadDecoders({ memory, eager: [settings.engine] });
  const entries = REVLOG_KINDS.map((kind) => [kind, engine.createCompressor({ level: levels[kind], checksum, memory })] as const);
  const compressors = Object.fromEntries(entries) as Record<RevlogKind, ChunkCompressor>;
  return {
    settings,
    compressors,
    decoders,
    memory,
    texts: createTextCache(),
    differ: createDiffer(),
    hashNode: createNodeHasher(),
    chains: new ChainTable(FIRST_CAPACITY),
    group: { nodes: new NodeTable(), sizes: new Int32Array(FIRST_CAPACITY) },
  };
}
