/**
 * zlib through fflate, in JavaScript alone. fflate leaves four things to its caller, which are done here: it does
 * not check the Adler-32, does not say where the stream ends, ignores what does not fit the output it is given, and
 * without one grows its output without limit.
 *
 * Difference from zlib that remains: damage that does not change the output (the complement of a stored block's
 * length, code lengths that form no complete set) is not noticed, since the Adler-32 is right.
 */

import { Inflate, inflateSync, unzlibSync, zlibSync } from 'fflate';

import { Arena, ownBuffer, trim } from '../arena.js';
import type { ChunkCompressor, ChunkDecompressor, DecodeFault, LoadedBackend } from '../engine.js';
import { MAX_TEXT_BYTES, ZLIB_LEVELS, ZLIB_MIN_INPUT } from '../facts.js';
import { damaged, messageOf, tooLarge } from '../faults.js';

/** Bytes of zlib header (CMF, FLG) and of Adler-32 after the stream (RFC 1950). */
const HEADER_BYTES = 2;
const ADLER_BYTES = 4;
/** Larger chunks are fed in slices: a slice becomes at most 1032 times as long, so the limit holds nearly exactly. */
const SLICE_BYTES = 4096;
const ADLER_MODULUS = 65_521;
/** The most additions that keep the sums of `adler32` below 2^31. */
const ADLER_RUN = 2048;

/** The Adler-32 checksum (RFC 1950, 8.2), 0..2^32-1. */
export function adler32(bytes: Uint8Array): number {
  let a = 1;
  let b = 0;
  for (let start = 0; start < bytes.length; start += ADLER_RUN) {
    const end = Math.min(start + ADLER_RUN, bytes.length);
    for (let i = start; i < end; i++) {
      a += bytes[i] ?? 0;
      b += a;
    }
    a %= ADLER_MODULUS;
    b %= ADLER_MODULUS;
  }
  return b * 65_536 + a;
}

const readUint32BE = (bytes: Uint8Array, offset: number): number =>
  new DataView(bytes.buffer, bytes.byteOffset, bytes.length).getUint32(offset);

class FflateDecompressor implements ChunkDecompressor {
  readonly #arena: Arena;

  constructor(memory = new Arena()) {
    this.#arena = memory;
  }

  decompress(chunks: readonly Uint8Array[], limits: readonly number[]): (Uint8Array | DecodeFault)[] {
    return chunks.map((chunk, i) => {
      const limit = Math.min(limits[i] ?? 0, MAX_TEXT_BYTES);
      try {
        return this.#inflate(chunk, limit);
      } catch (error) {
        return damaged('zlib', messageOf(error));
      }
    });
  }

  #inflate(chunk: Uint8Array, limit: number): Uint8Array | DecodeFault {
    if (chunk.length < HEADER_BYTES + ADLER_BYTES + 1) {
      return damaged('zlib', `${chunk.length} bytes are too few for a stream`);
    }
    const output = this.#inflateSmall(chunk, limit) ?? inflateSlices(chunk, limit);
    if (output.length > limit) return tooLarge(limit);
    const adler = adler32(output);
    // Usually nothing follows the stream. Where something does, find the end.
    if (readUint32BE(chunk, chunk.length - ADLER_BYTES) === adler) return output;
    const end = streamEnd(chunk, output.length);
    if (end + ADLER_BYTES > chunk.length) return damaged('zlib', 'truncated: the Adler-32 is missing');
    return readUint32BE(chunk, end) === adler ? output : damaged('zlib', 'incorrect Adler-32');
  }

  /** In one call into the arena; undefined where that is not known to have room. */
  #inflateSmall(chunk: Uint8Array, limit: number): Uint8Array | undefined {
    if (chunk.length > SLICE_BYTES) return undefined;
    this.#arena.reserve(64 * 1024);
    const room = Math.min(limit + 1, 64 * 1024);
    let produced: number;
    try {
      produced = unzlibSync(chunk, { out: this.#arena.peek(room) }).length;
    } catch (error) {
      // Stored data that does not fit, as against a fault of the stream (an Error with a code).
      if (error instanceof RangeError) return undefined;
      throw error;
    }
    return produced < room ? this.#arena.take(produced) : undefined;
  }
}

/** Inflates piece by piece; the result is longer than the limit where the stream is. */
function inflateSlices(chunk: Uint8Array, limit: number): Uint8Array {
  unzlibHeader(chunk);
  let output = ownBuffer(Math.min(limit + 1, chunk.length * 4));
  let produced = 0;
  const inflater = new Inflate((data) => {
    if (produced + data.length > output.length) {
      const larger = ownBuffer(Math.max(output.length * 2, produced + data.length));
      larger.set(output.subarray(0, produced));
      output = larger;
    }
    output.set(data, produced);
    produced += data.length;
  });
  for (let at = HEADER_BYTES; at < chunk.length && produced <= limit; at += SLICE_BYTES) {
    const end = Math.min(at + SLICE_BYTES, chunk.length);
    inflater.push(chunk.subarray(at, end), end === chunk.length);
  }
  return trim(output, produced);
}

/** Throws where the two bytes are not a zlib header that Mercurial reads. */
function unzlibHeader(chunk: Uint8Array): void {
  const [cmf = 0, flg = 0] = chunk;
  if ((cmf & 15) !== 8 || cmf >> 4 > 7 || (cmf * 256 + flg) % 31 !== 0) throw new Error('incorrect header check');
  if ((flg & 32) !== 0) throw new Error('needs a preset dictionary');
}

/**
 * Where the deflate stream of a good chunk ends: the shortest prefix that inflates. Found by bisection, so only for
 * the rare chunk with something behind its stream.
 */
function streamEnd(chunk: Uint8Array, outputLength: number): number {
  const out = ownBuffer(outputLength);
  let tooShort = HEADER_BYTES;
  let enough = chunk.length;
  while (enough - tooShort > 1) {
    const middle = Math.floor((tooShort + enough) / 2);
    try {
      inflateSync(chunk.subarray(HEADER_BYTES, middle), { out });
      enough = middle;
    } catch {
      tooShort = middle;
    }
  }
  return enough;
}

class FflateCompressor implements ChunkCompressor {
  constructor(private readonly level: NonNullable<Parameters<typeof zlibSync>[1]>['level']) {}

  compress(inputs: readonly Uint8Array[]): (Uint8Array | undefined)[] {
    return inputs.map((input) => {
      if (input.length < ZLIB_MIN_INPUT) return undefined;
      const result = zlibSync(input, this.level === undefined ? {} : { level: this.level });
      return result.length < input.length ? result : undefined;
    });
  }
}

const LEVELS = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9] as const;

export const fflateBackend: LoadedBackend = {
  createCompressor: ({ level = ZLIB_LEVELS.default }) => new FflateCompressor(LEVELS[level]),
  createDecompressor: ({ memory } = {}) => new FflateDecompressor(memory),
};
