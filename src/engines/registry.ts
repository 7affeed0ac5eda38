/**
 * The engines: each declared once, as facts. Importing this loads no native module; `loadEngine` does.
 *
 * To add one: its marker, level range and minimum size in facts.ts, a file in backends/, an entry here, its name in
 * engine.ts. Requirement strings are written out, never built from the name. Source of markers and requirements: what
 * Mercurial 6.3 and 7.2 and the lz4revlog extension write.
 */

import { RevconvertError } from '../errors.js';
import type {
  Backend,
  ChunkCompressor,
  ChunkDecompressor,
  CompressorOptions,
  DecompressorOptions,
  Engine,
  EngineName,
  LoadedBackend,
} from './engine.js';
import { LZ4_MARKER, ZLIB_LEVELS, ZLIB_MARKER, ZSTD_LEVELS, ZSTD_MARKER } from './facts.js';

/** A backend that is loaded, and probed, once a thread. */
function backend(name: string, load: () => Promise<LoadedBackend | undefined>): Backend {
  let loading: Promise<LoadedBackend | undefined> | undefined;
  return { name, load: () => (loading ??= load()) };
}

const NODE_ZLIB = backend('node:zlib', async () => (await import('./backends/node-zlib.js')).chooseNodeZlib());
const FFLATE = backend('fflate', async () => (await import('./backends/fflate.js')).fflateBackend);
const ZSTD_NAPI = backend('zstd-napi', async () => (await import('./backends/zstd-napi.js')).loadZstdNapi());
const MONGODB_ZSTD = backend('@mongodb-js/zstd', async () =>
  (await import('./backends/mongodb-zstd.js')).loadMongodbZstd(),
);
const LZ4_NAPI = backend('lz4-napi', async () => (await import('./backends/lz4-napi.js')).loadLz4());
const NONE = backend('node:', async () => (await import('./backends/none.js')).noneBackend);

/** Every engine for revlog chunks, by name. */
export const ENGINES: Readonly<Record<EngineName, Engine>> = {
  none: {
    name: 'none',
    marker: undefined,
    requirement: 'exp-compression-none',
    legacyRequirements: [],
    levels: undefined,
    backends: [NONE],
  },
  zlib: {
    name: 'zlib',
    marker: ZLIB_MARKER,
    requirement: undefined,
    legacyRequirements: ['exp-compression-zlib'],
    levels: ZLIB_LEVELS,
    backends: [NODE_ZLIB, FFLATE],
  },
  zstd: {
    name: 'zstd',
    marker: ZSTD_MARKER,
    requirement: 'revlog-compression-zstd',
    legacyRequirements: ['exp-compression-zstd', 'compenginezstd'],
    levels: ZSTD_LEVELS,
    backends: [ZSTD_NAPI, MONGODB_ZSTD],
  },
  lz4: {
    name: 'lz4',
    marker: LZ4_MARKER,
    requirement: 'lz4revlog',
    legacyRequirements: [],
    levels: undefined,
    backends: [LZ4_NAPI],
  },
};

export const ENGINE_NAMES: readonly EngineName[] = ['none', 'zlib', 'zstd', 'lz4'];

/** An engine with a backend that works here. */
export interface LoadedEngine {
  readonly engine: Engine;
  /** Name of the backend, as in the registry. */
  readonly backend: string;
  /**
   * One per thread, reused for every chunk.
   * @throws RevconvertError LEVEL: outside the engine's range; ENGINE_MISSING: a checksum or a dictionary is wanted,
   *   and the backend knows none; DICTIONARY_DAMAGED
   */
  createCompressor(options?: CompressorOptions): ChunkCompressor;
  /** One per thread, reused for every chunk. */
  createDecompressor(options?: DecompressorOptions): ChunkDecompressor;
}

const isEngineName = (name: string): name is EngineName => Object.hasOwn(ENGINES, name);

/**
 * @param name as a person wrote it
 * @throws RevconvertError ENGINE_UNKNOWN, listing the names
 */
export function findEngine(name: string): Engine {
  if (isEngineName(name)) return ENGINES[name];
  throw new RevconvertError('ENGINE_UNKNOWN', `unknown engine '${name}', expected one of ${ENGINE_NAMES.join(', ')}`);
}

/**
 * @param marker first byte of a stored chunk, 0..255
 * @returns the engine that wrote it; undefined for raw chunks and unknown bytes
 */
export function engineOfMarker(marker: number): Engine | undefined {
  return MARKED_ENGINES.find((engine) => engine.marker === marker);
}

const MARKED_ENGINES = ENGINE_NAMES.map((name) => ENGINES[name]).filter(({ marker }) => marker !== undefined);

/**
 * @param level what was asked for; undefined: the default
 * @returns the level to use; undefined where the engine has no levels
 * @throws RevconvertError LEVEL, naming the range: not an integer within it, or the engine has no levels
 */
export function checkLevel(engine: Pick<Engine, 'levels'> & { readonly name: string }, level: number | undefined): number | undefined {
  const { name, levels } = engine;
  if (level === undefined) return levels?.default;
  if (levels === undefined) throw new RevconvertError('LEVEL', `engine ${name} has no levels, found ${level}`);
  if (Number.isInteger(level) && level >= levels.min && level <= levels.max) return level;
  throw new RevconvertError(
    'LEVEL',
    `level of engine ${name} must be an integer from ${levels.min} to ${levels.max}, found ${level}`,
  );
}

/** The packages of which one is needed for an engine, as words for a message. */
export const packagesOf = (engine: Engine): string =>
  engine.backends
    .map(({ name }) => name)
    .filter((name) => !name.startsWith('node:'))
    .join(' or ');

/** Loads an engine by the first of its backends that works here; undefined where none does. */
export async function tryLoadEngine(engine: Engine): Promise<LoadedEngine | undefined> {
  for (const candidate of engine.backends) {
    const loaded = await candidate.load();
    if (loaded !== undefined) return withLevelCheck(engine, candidate.name, loaded);
  }
  return undefined;
}

const withLevelCheck = (engine: Engine, name: string, loaded: LoadedBackend): LoadedEngine => ({
  engine,
  backend: name,
  createCompressor: (options = {}) =>
    loaded.createCompressor({ ...options, level: checkLevel(engine, options.level) }),
  createDecompressor: (options) => loaded.createDecompressor(options),
});

/**
 * Loads an engine by the first of its backends that works here.
 * @param wanted a name, or an engine
 * @throws RevconvertError ENGINE_UNKNOWN; ENGINE_MISSING, saying what to install and which engines work here
 */
export async function loadEngine(wanted: string | Engine): Promise<LoadedEngine> {
  const engine = typeof wanted === 'string' ? findEngine(wanted) : wanted;
  const loaded = await tryLoadEngine(engine);
  if (loaded !== undefined) return loaded;
  const available = (await listAvailableEngines()).map(({ name }) => name).filter((name) => name !== engine.name);
  throw new RevconvertError(
    'ENGINE_MISSING',
    `engine ${engine.name} needs a package that is not installed or does not work here: install ` +
      `${packagesOf(engine)}; engines available: ${available.join(', ')}`,
  );
}

/** An engine that works on this machine, and how. */
export interface AvailableEngine {
  readonly name: EngineName;
  readonly backend: string;
}

/** The engines that work on this machine, in the order of the registry. Loads their native modules. */
export async function listAvailableEngines(): Promise<AvailableEngine[]> {
  const loaded = await Promise.all(ENGINE_NAMES.map((name) => tryLoadEngine(ENGINES[name])));
  return loaded.flatMap((one) => (one === undefined ? [] : [{ name: one.engine.name, backend: one.backend }]));
}
