/**
 * zstd through @mongodb-js/zstd, for installations where zstd-napi cannot be built. Asynchronous only, so several
 * times slower on small chunks. It has no dictionaries and no option for checksums, leaves the content size out of its frames (it is put
 * in here), decodes all concatenated frames (it is given the first alone), and decompresses without a limit (what
 * the frame's blocks can hold is measured first).
 */

import { createRequire } from 'node:module';

import { RevconvertError } from '../../errors.js';
import { asBuffer } from '../../formats/bytes.js';
import type { ChunkCompressor, ChunkDecompressor, CompressorOptions, Dictionaries, LoadedBackend } from '../engine.js';
import { DecodeFault } from '../engine.js';
import { MAX_TEXT_BYTES, ZSTD_LEVELS, ZSTD_MIN_INPUT } from '../facts.js';
import { damaged, messageOf, missingDictionary, tooLarge } from '../faults.js';
import { measureFrame, readFrameHeader, withContentSize } from '../zstd-frame.js';
import { roundTrips } from './probe.js';

/** The part of @mongodb-js/zstd/bindings that is used. (Its index leaves out the level.) */
export interface MongodbZstd {
  compress(data: Buffer, level: number): Promise<Uint8Array>;
  decompress(data: Buffer): Promise<Uint8Array>;
}

/** Chunks in flight at a time. */
const CONCURRENCY = 32;
/**
 * A compressed block may hold anything up to 128 KiB, and this package cannot be stopped at a limit, so a frame
 * whose blocks could hold more than both of these is refused. Frames of small blocks stay well below.
 */
const ALWAYS_ALLOWED_BYTES = 16 << 20;
const ALLOWED_TIMES_LIMIT = 8;


const asPlainBytes = (bytes: Uint8Array): Uint8Array => new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length);

/** Maps in order, with a bounded number of calls in flight. The first error stops the rest. */
async function mapBounded<In, Out>(items: readonly In[], call: (item: In, index: number) => Promise<Out>): Promise<Out[]> {
  const results: Out[] = [];
  const entries = items.entries();
  const work = async (): Promise<void> => {
    for (const [index, item] of entries) results[index] = await call(item, index);
  };
  await Promise.all(Array.from({ length: Math.min(CONCURRENCY, items.length) }, work));
  return results;
}

class MongodbCompressor implements ChunkCompressor {
  constructor(
    private readonly zstd: MongodbZstd,
    private readonly level: number,
  ) {}

  compress(inputs: readonly Uint8Array[]): Promise<(Uint8Array | undefined)[]> {
    return mapBounded(inputs, async (input) => {
      if (input.length < ZSTD_MIN_INPUT) return undefined;
      const frame = asPlainBytes(await this.zstd.compress(asBuffer(input), this.level));
      const header = readFrameHeader(frame);
      if (header instanceof DecodeFault) throw new Error(`zstd wrote what it should not: ${header.message}`);
      const sized = withContentSize(frame, header, input.length);
      return sized.length < input.length ? sized : undefined;
    });
  }
}

class MongodbDecompressor implements ChunkDecompressor {
  constructor(
    private readonly zstd: MongodbZstd,
    private readonly dictionaries: Dictionaries | undefined,
  ) {}

  decompress(chunks: readonly Uint8Array[], limits: readonly number[]): Promise<(Uint8Array | DecodeFault)[]> {
    return mapBounded(chunks, (chunk, i) => this.#decompress(chunk, Math.min(limits[i] ?? 0, MAX_TEXT_BYTES)));
  }

  async #decompress(chunk: Uint8Array, limit: number): Promise<Uint8Array | DecodeFault> {
    const header = readFrameHeader(chunk);
    if (header instanceof DecodeFault) return header;
    const { contentSize, dictionaryId } = header;
    if (dictionaryId !== 0) return this.#withoutDictionaries(dictionaryId);
    if (contentSize !== undefined && contentSize > limit) return tooLarge(limit, contentSize);
    const extent = measureFrame(chunk, header);
    if (extent instanceof DecodeFault) return extent;
    const allowed = Math.max(ALWAYS_ALLOWED_BYTES, limit * ALLOWED_TIMES_LIMIT);
    if (extent.minContent > limit || extent.maxContent > allowed) return tooLarge(limit);
    try {
      const result = await this.zstd.decompress(asBuffer(chunk.subarray(0, extent.end)));
      return result.length > limit ? tooLarge(limit) : asPlainBytes(result);
    } catch (error) {
      return damaged('zstd', messageOf(error));
    }
  }

  #withoutDictionaries(id: number): DecodeFault {
    if (this.dictionaries?.has(id) === true) throw dictionariesMissing();
    return missingDictionary(id);
  }
}

const dictionariesMissing = (): RevconvertError =>
  new RevconvertError('ENGINE_MISSING', 'zstd dictionaries need the package zstd-napi; @mongodb-js/zstd, which is installed, cannot use them');

function createCompressor(zstd: MongodbZstd, { level = 0, checksum = false, dictionary }: CompressorOptions): ChunkCompressor {
  if (dictionary !== undefined) throw dictionariesMissing();
  if (checksum) {
    throw new RevconvertError(
      'ENGINE_MISSING',
      'zstd frame checksums need the package zstd-napi; @mongodb-js/zstd, which is installed, cannot write them',
    );
  }
  return new MongodbCompressor(zstd, level === 0 ? ZSTD_LEVELS.default : level);
}

/** The backend over the package's functions. `createCompressor` throws ENGINE_MISSING where checksums or a dictionary are wanted. */
export const mongodbZstdBackend = (zstd: MongodbZstd): LoadedBackend => ({
  createCompressor: (options) => createCompressor(zstd, options),
  createDecompressor: ({ dictionaries } = {}) => new MongodbDecompressor(zstd, dictionaries),
});

const isMongodbZstd = (module: unknown): module is MongodbZstd =>
  typeof module === 'object' &&
  module !== null &&
  'compress' in module &&
  'decompress' in module &&
  typeof module.compress === 'function' &&
  typeof module.decompress === 'function';

/** `require`, since the module has no types for `import` to find. */
const requireBindings = (): Promise<unknown> =>
  Promise.resolve(createRequire(import.meta.url)('@mongodb-js/zstd/bindings.js'));

/**
 * @param importModule gives the native module; tests give another
 * @returns undefined where the package is not installed, or has no binary for this machine
 */
export async function loadMongodbZstd(
  importModule: () => Promise<unknown> = requireBindings,
): Promise<LoadedBackend | undefined> {
  try {
    const module = await importModule();
    if (!isMongodbZstd(module)) return undefined;
    const backend = mongodbZstdBackend(module);
    return (await roundTrips(backend)) ? backend : undefined;
  } catch {
    return undefined;
  }
}
