/** zlib with what Node has built in: its native handle where that works, else its public synchronous functions. */

import { deflateSync, inflateSync } from 'node:zlib';

import type { DecodeFault, LoadedBackend } from '../engine.js';
import { MAX_TEXT_BYTES, ZLIB_LEVELS, ZLIB_MIN_INPUT } from '../facts.js';
import { damaged, messageOf, tooLarge } from '../faults.js';
import { handleBackend } from './node-zlib-handle.js';
import { sameOutput, zlibBehaves } from './probe.js';

function inflate(chunk: Uint8Array, limit: number): Uint8Array | DecodeFault {
  try {
    // maxOutputLength must be at least 1.
    const result = inflateSync(chunk, { maxOutputLength: Math.max(limit, 1) });
    return result.length > limit ? tooLarge(limit) : asPlainBytes(result);
  } catch (error) {
    if (error instanceof RangeError) return tooLarge(limit);
    return damaged('zlib', messageOf(error));
  }
}

function deflate(input: Uint8Array, level: number): Uint8Array | undefined {
  if (input.length < ZLIB_MIN_INPUT) return undefined;
  const result = deflateSync(input, { level });
  return result.length < input.length ? asPlainBytes(result) : undefined;
}

const asPlainBytes = (buffer: Buffer): Uint8Array =>
  new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.length);

/** The backend over `inflateSync` and `deflateSync`: public interface only, about twice as slow on small chunks. */
export const syncBackend: LoadedBackend = {
  createCompressor: ({ level = ZLIB_LEVELS.default }) => ({
    compress: (inputs) => inputs.map((input) => deflate(input, level)),
  }),
  createDecompressor: () => ({
    decompress: (chunks, limits) =>
      chunks.map((chunk, i) => inflate(chunk, Math.min(limits[i] ?? 0, MAX_TEXT_BYTES))),
  }),
};

/**
 * Chooses between the two.
 * @param fast what is used where it passes the probe
 * @returns `fast`, or {@link syncBackend}
 */
export const chooseNodeZlib = (fast: LoadedBackend = handleBackend()): LoadedBackend =>
  zlibBehaves(fast) && sameOutput(fast, syncBackend) ? fast : syncBackend;
