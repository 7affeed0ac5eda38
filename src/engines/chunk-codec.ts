/**
 * Revlog chunks as stored, both ways. By the first byte:
 *
 *     (no bytes)   empty
 *     00           raw; the byte is part of the data
 *     75 'u'       raw; the data follows
 *     78 'x'       zlib
 *     28 '('       zstd
 *     34 '4'       lz4 (lz4revlog extension)
 *
 * One revlog may mix them: the byte decides, never the requirement. Raw data that begins with neither 00 nor a
 * known marker is stored behind a 'u' all the same.
 */

import { RevconvertError } from '../errors.js';
import { Arena } from './arena.js';
import type { ChunkCompressor, ChunkDecompressor, DecodeFault, DecompressorOptions, Engine, EngineName, MaybePromise } from './engine.js';
import { andThen, isPromise } from './engine.js';
import { tooLarge, unknownMarker } from './faults.js';
import { ENGINE_NAMES, engineOfMarker, ENGINES, loadEngine, packagesOf, tryLoadEngine } from './registry.js';

const RAW_NUL = 0x00;
const RAW_MARKER = 0x75; // 'u'

/** ChunkDecoders by the marker byte of their chunks. */
export type ChunkDecoders = ReadonlyMap<number, ChunkDecompressor>;

/** Loads the engine when its first chunk comes: for engines that are rare, or missing. */
function lazyDecompressor(engine: Engine, options: DecompressorOptions): ChunkDecompressor {
  let loaded: ChunkDecompressor | undefined;
  return {
    decompress: (chunks, limits) =>
      loaded?.decompress(chunks, limits) ??
      loadEngine(engine).then((one) => (loaded ??= one.createDecompressor(options)).decompress(chunks, limits)),
  };
}

export interface DecoderOptions extends DecompressorOptions {
  /**
   * Engines to load now, so that their chunks are decoded synchronously; the others are loaded when their first chunk
   * comes, as are those that do not work here, which then is the error. @default zlib and zstd
   */
  readonly eager?: readonly EngineName[] | undefined;
}

/** What is needed to read chunks of every engine, for one thread. */
export async function loadDecoders(options: DecoderOptions = {}): Promise<ChunkDecoders> {
  const { eager = ['zlib', 'zstd'] } = options;
  const decoders = new Map<number, ChunkDecompressor>();
  for (const name of ENGINE_NAMES) {
    const engine = ENGINES[name];
    if (engine.marker === undefined) continue;
    const loaded = eager.includes(name) ? await tryLoadEngine(engine) : undefined;
    decoders.set(engine.marker, loaded?.createDecompressor(options) ?? lazyDecompressor(engine, options));
  }
  return decoders;
}

const ownArena = new Arena();

/** Data as a chunk that is not compressed: the data itself where it is empty or begins with 00, else 'u' and the data. */
export function rawChunk(data: Uint8Array, memory: Arena = ownArena): Uint8Array {
  if (data.length === 0 || data[0] === RAW_NUL) return data;
  const chunk = memory.allocate(data.length + 1);
  chunk[0] = RAW_MARKER;
  chunk.set(data, 1);
  return chunk;
}

/**
 * Encodes by Mercurial's writing rule: empty stays empty; the compressed form where the compressor gives one (which
 * it does only where that is strictly shorter); else the data itself where it begins with 00; else 'u' and the data.
 * @param deltas what to store: hunks, or full texts
 * @param compressor one of this thread's; undefined: leave all raw
 * @param memory where raw chunks are put, for an owner who recycles it
 * @returns the chunks, in order. Those of empty data and of data that begins with 00 may be the very input. A
 *   promise only where the compressor is asynchronous.
 */
export function encodeChunks(
  deltas: readonly Uint8Array[],
  compressor: ChunkCompressor | undefined,
  memory: Arena = ownArena,
): MaybePromise<Uint8Array[]> {
  if (compressor === undefined) return deltas.map((delta) => rawChunk(delta, memory));
  if (!deltas.some((delta) => delta.length === 0)) {
    return andThen(compressor.compress(deltas), (compressed) =>
      deltas.map((delta, i) => compressed[i] ?? rawChunk(delta, memory)),
    );
  }
  const filled = deltas.filter((delta) => delta.length > 0);
  return andThen(compressor.compress(filled), (compressed) => {
    let next = 0;
    return deltas.map((delta) => (delta.length === 0 ? delta : (compressed[next++] ?? rawChunk(delta, memory))));
  });
}

/** The chunks of a batch that one engine decompresses. */
interface Group {
  readonly decompressor: ChunkDecompressor;
  readonly chunks: Uint8Array[];
  readonly limits: number[];
  /** Where each stands in the batch. */
  readonly indexes: number[];
}

function decompressorFor(marker: number, decoders: ChunkDecoders): ChunkDecompressor | undefined {
  const decompressor = decoders.get(marker);
  if (decompressor !== undefined) return decompressor;
  const engine = engineOfMarker(marker);
  if (engine === undefined) return undefined;
  throw new RevconvertError(
    'ENGINE_MISSING',
    `a chunk is compressed with ${engine.name}, which cannot be read here: install ${packagesOf(engine)}`,
  );
}

/** Decodes what needs no engine; undefined for chunks that do. */
function decodeRaw(chunk: Uint8Array, limit: number): Uint8Array | DecodeFault | undefined {
  if (chunk.length === 0) return chunk;
  const marker = chunk[0];
  if (marker !== RAW_NUL && marker !== RAW_MARKER) return undefined;
  const data = marker === RAW_NUL ? chunk : chunk.subarray(1);
  return data.length > limit ? tooLarge(limit, data.length) : data;
}

/**
 * Decodes chunks as stored.
 * @param chunks may be empty, and of different engines
 * @param limits for each chunk the most bytes it may decode to; CHUNK_SIZE where it is more
 * @param decoders from `loadChunkDecoders`
 * @returns for each chunk the data or the fault, in order. Raw data is a view of its chunk. A promise only where a
 *   decompressor is asynchronous, or not loaded yet.
 * @throws RevconvertError (or rejects with it) ENGINE_MISSING: an engine is known, but has no backend here; the
 *   message names the package
 */
export function decodeChunks(
  chunks: readonly Uint8Array[],
  limits: readonly number[],
  decoders: ChunkDecoders,
): MaybePromise<(Uint8Array | DecodeFault)[]> {
  const results = new Array<Uint8Array | DecodeFault>(chunks.length);
  const groups = new Map<number, Group>();
  let group: Group | undefined;
  let groupMarker = -1;
  for (let i = 0; i < chunks.length; i++) {
    const chunk = chunks[i];
    if (chunk === undefined) continue;
    const limit = limits[i] ?? 0;
    const raw = decodeRaw(chunk, limit);
    if (raw !== undefined) {
      results[i] = raw;
      continue;
    }
    const marker = chunk[0] ?? 0;
    if (marker !== groupMarker) {
      group = groupOf(marker, groups, decoders);
      groupMarker = marker;
    }
    if (group === undefined) {
      results[i] = unknownMarker(marker);
      continue;
    }
    group.chunks.push(chunk);
    group.limits.push(limit);
    group.indexes.push(i);
  }
  const pending: Promise<void>[] = [];
  for (const { decompressor, chunks: own, limits: ownLimits, indexes } of groups.values()) {
    const done = andThen(decompressor.decompress(own, ownLimits), (decoded) => {
      for (let k = 0; k < indexes.length; k++) {
        const index = indexes[k];
        const result = decoded[k];
        if (index !== undefined && result !== undefined) results[index] = result;
      }
    });
    if (isPromise(done)) pending.push(done);
  }
  return pending.length === 0 ? results : Promise.all(pending).then(() => results);
}

function groupOf(marker: number, groups: Map<number, Group>, decoders: ChunkDecoders): Group | undefined {
  const known = groups.get(marker);
  if (known !== undefined) return known;
  const decompressor = decompressorFor(marker, decoders);
  if (decompressor === undefined) return undefined;
  const group: Group = { decompressor, chunks: [], limits: [], indexes: [] };
  groups.set(marker, group);
  return group;
}
