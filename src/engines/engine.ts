/** What a compression engine is to the rest of the program. */

import type { Arena } from './arena.js';

/** A chunk that could not be decoded: data, not an exception, so that one bad chunk does not spoil its batch. */
export class DecodeFault {
  /**
   * @param code CHUNK_DAMAGED: not a valid stream of this engine; CHUNK_SIZE: larger than the limit;
   *   CHUNK_MARKER: the first byte names no engine (given by the chunk codec only); DICTIONARY_MISSING: it names a
   *   dictionary that was not given; DICTIONARY_DAMAGED: one that zstd does not take
   * @param message what was expected and found
   */
  constructor(
    readonly code: 'CHUNK_DAMAGED' | 'CHUNK_SIZE' | 'CHUNK_MARKER' | 'DICTIONARY_MISSING' | 'DICTIONARY_DAMAGED',
    readonly message: string,
  ) {}
}

export type MaybePromise<T> = T | Promise<T>;

export const isPromise = <T>(value: MaybePromise<T>): value is Promise<T> => value instanceof Promise;

/** `next(value)` now, or when the value is there. Keeps synchronous work synchronous. */
export const andThen = <T, R>(value: MaybePromise<T>, next: (value: T) => MaybePromise<R>): MaybePromise<R> =>
  isPromise(value) ? value.then(next) : next(value);

/** Compresses chunks with one engine at one level. Holds native contexts: one per thread, reused for every chunk. */
export interface ChunkCompressor {
  /**
   * Compresses each input on its own.
   * @param inputs what to compress; none is empty
   * @returns for each input the engine's complete chunk (its marker byte included), or undefined where that would
   *   not be shorter than the input or the engine does not try (input below its minimum size). The bytes belong to
   *   the caller: they are never overwritten by later calls.
   */
  compress(inputs: readonly Uint8Array[]): MaybePromise<(Uint8Array | undefined)[]>;
}

/** Decompresses chunks of one engine. Holds native contexts: one per thread. */
export interface ChunkDecompressor {
  /**
   * Decompresses each chunk on its own.
   * @param chunks complete chunks, marker byte included; none is empty
   * @param limits for each chunk the most bytes it may decompress to; nothing near it is allocated before the
   *   data proves that it needs it
   * @returns for each chunk the raw bytes (the caller's), or the fault
   */
  decompress(chunks: readonly Uint8Array[], limits: readonly number[]): MaybePromise<(Uint8Array | DecodeFault)[]>;
}

export type EngineName = 'none' | 'zlib' | 'zstd' | 'lz4';

/** A trained zstd dictionary (RFC 8878, 5). Plain data; it crosses threads. */
export interface Dictionary {
  /** 1 to 255: one byte in each frame that needs it. The same as in its bytes. */
  readonly id: number;
  readonly bytes: Uint8Array;
}

/** Dictionaries that frames may name, by ID. */
export type Dictionaries = ReadonlyMap<number, Dictionary>;

export interface CompressorOptions {
  /** Within the engine's range; the engine's default where undefined. Refused (LEVEL) by engines without levels. */
  readonly level?: number | undefined;
  /** zstd: write frame checksums. Other engines ignore it. @default false */
  readonly checksum?: boolean;
  /** zstd: compress with it; each frame names it. Other engines ignore it. @default none */
  readonly dictionary?: Dictionary | undefined;
  /** Where outputs are put, for an owner who recycles it. @default memory that is never used again */
  readonly memory?: Arena | undefined;
}

export interface DecompressorOptions {
  /** zstd: what frames may name; one that names another is a DICTIONARY_MISSING fault. @default none */
  readonly dictionaries?: Dictionaries | undefined;
  /** Where outputs are put, for an owner who recycles it. @default memory that is never used again */
  readonly memory?: Arena | undefined;
}

/** One way to run an engine: a package, or what Node has built in. */
export interface Backend {
  /** For messages: the package to install, or `node:zlib`. */
  readonly name: string;
  /** Loads it. Undefined where the package is not installed or does not work here. */
  load(): Promise<LoadedBackend | undefined>;
}

export interface LoadedBackend {
  createCompressor(options: CompressorOptions): ChunkCompressor;
  createDecompressor(options?: DecompressorOptions): ChunkDecompressor;
}

/** An engine as declared in the registry: facts only, nothing is loaded. */
export interface Engine {
  readonly name: EngineName;
  /** First byte of its chunks; undefined for `none`, whose chunks are raw. */
  readonly marker: number | undefined;
  /** The requirement written to a repository that uses it; undefined: none needed. */
  readonly requirement: string | undefined;
  /** Other requirement strings that name it in older repositories. */
  readonly legacyRequirements: readonly string[];
  /** Undefined where the engine has no levels. */
  readonly levels: { readonly min: number; readonly max: number; readonly default: number } | undefined;
  /** In order of preference. */
  readonly backends: readonly Backend[];
}
