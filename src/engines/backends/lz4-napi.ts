/**
 * lz4 through lz4-napi, in the form that the lz4revlog extension stores:
 *
 *     bytes  field
 *     1      marker '4'
 *     4      raw length, unsigned, little-endian
 *     n      one LZ4 block (LZ4 Block Format Description), no frame
 *
 * The package's "size-prepended" form is the last two. The raw length is not trusted: no byte of a block becomes
 * more than 255, and what comes out must have that length.
 */

import { Arena } from '../arena.js';
import type { ChunkCompressor, ChunkDecompressor, DecodeFault, LoadedBackend } from '../engine.js';
import { LZ4_MARKER, MAX_TEXT_BYTES } from '../facts.js';
import { damaged, messageOf, tooLarge } from '../faults.js';
import { roundTrips } from './probe.js';

/** The part of lz4-napi that is used. */
export interface Lz4Package {
  compressSync(data: Buffer): Uint8Array;
  uncompressSync(data: Uint8Array): Uint8Array;
}

const PREFIX_BYTES = 5;
/** The longest input of a block, in bytes (LZ4_MAX_INPUT_SIZE). */
const MAX_INPUT_BYTES = 0x7e000000;
const MAX_EXPANSION = 255;

class Lz4Compressor implements ChunkCompressor {
  readonly #arena: Arena;

  constructor(
    private readonly lz4: Lz4Package,
    memory = new Arena(),
  ) {
    this.#arena = memory;
  }

  compress(inputs: readonly Uint8Array[]): (Uint8Array | undefined)[] {
    return inputs.map((input) => this.#compress(input));
  }

  #compress(input: Uint8Array): Uint8Array | undefined {
    if (input.length > MAX_INPUT_BYTES) return undefined;
    const block = this.lz4.compressSync(Buffer.from(input.buffer, input.byteOffset, input.length));
    const length = block.length + 1;
    if (length >= input.length) return undefined;
    const chunk = this.#arena.allocate(length);
    chunk[0] = LZ4_MARKER;
    chunk.set(block, 1);
    return chunk;
  }
}

class Lz4Decompressor implements ChunkDecompressor {
  constructor(private readonly lz4: Lz4Package) {}

  decompress(chunks: readonly Uint8Array[], limits: readonly number[]): (Uint8Array | DecodeFault)[] {
    return chunks.map((chunk, i) => this.#decompress(chunk, Math.min(limits[i] ?? 0, MAX_TEXT_BYTES)));
  }

  #decompress(chunk: Uint8Array, limit: number): Uint8Array | DecodeFault {
    if (chunk.length <= PREFIX_BYTES) return damaged('lz4', `${chunk.length} bytes are too few for a block`);
    const [, b0 = 0, b1 = 0, b2 = 0, b3 = 0] = chunk;
    const promised = b0 + b1 * 0x100 + b2 * 0x10000 + b3 * 0x1000000;
    const blockBytes = chunk.length - PREFIX_BYTES;
    if (promised > limit) return tooLarge(limit, promised);
    if (promised > blockBytes * MAX_EXPANSION) {
      return damaged('lz4', `a block of ${blockBytes} bytes cannot hold ${promised}`);
    }
    try {
      const result = this.lz4.uncompressSync(chunk.subarray(1));
      if (result.length !== promised) return damaged('lz4', `expected ${promised} bytes, found ${result.length}`);
      return new Uint8Array(result.buffer, result.byteOffset, result.length);
    } catch (error) {
      return damaged('lz4', messageOf(error));
    }
  }
}

export const lz4Backend = (lz4: Lz4Package): LoadedBackend => ({
  createCompressor: ({ memory }) => new Lz4Compressor(lz4, memory),
  createDecompressor: () => new Lz4Decompressor(lz4),
});

/**
 * @param importPackage gives the native module; tests give another
 * @returns undefined where the package is not installed, or has no binary for this machine
 */
export async function loadLz4(
  importPackage: () => Promise<Lz4Package> = async () => (await import('lz4-napi')).default,
): Promise<LoadedBackend | undefined> {
  try {
    const backend = lz4Backend(await importPackage());
    return (await roundTrips(backend)) ? backend : undefined;
  } catch {
    return undefined;
  }
}
