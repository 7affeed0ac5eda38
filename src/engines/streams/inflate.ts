import { createInflate } from 'node:zlib';

import { streamDamaged, streamTrailing, streamTruncated } from './faults.js';
import { NodeStreamDriver } from './node-stream.js';
import { passThrough } from './none.js';
import { readAhead } from './read-ahead.js';
import type { Pieces, StreamDecompressOptions } from './stream-engine.js';

/** Bytes that are inflated at a stretch. What the last of them made is lost where it is damaged. */
const INPUT_BYTES = 128 * 1024;
/** Bytes that are read while others are inflated: each stretch costs a way through the thread pool, however short it is. */
const INPUT_AHEAD_BYTES = 256 * 1024;
/** Bytes of a buffer that outputs lie in. Half or twice of it is no faster. */
const OUTPUT_BYTES = 512 * 1024;
/** Bytes that are inflated while nobody asks for them yet. */
const AHEAD_BYTES = 2 << 20;

/** A zlib stream (RFC 1950). It is inflated in Node's thread pool, somewhat ahead of whoever reads. */
export const inflate = (source: AsyncIterable<Uint8Array>, options: StreamDecompressOptions): Pieces =>
  readAhead((signal) => inflatePieces(source, options.start ?? 0, signal), AHEAD_BYTES, options.signal);

async function* inflatePieces(source: AsyncIterable<Uint8Array>, start: number, signal: AbortSignal): Pieces {
  const driver = new NodeStreamDriver(createInflate({ chunkSize: OUTPUT_BYTES }));
  try {
    let begin = start;
    for await (const piece of readAhead((inner) => passThrough(source, { signal: inner, most: INPUT_BYTES }), INPUT_AHEAD_BYTES, signal)) {
      driver.begin(piece);
      try {
        yield* driver.outputs();
      } catch (error) {
        throw streamDamaged('zlib', begin, begin === start && isGzip(piece) ? 'this is gzip data, where Mercurial writes zlib data' : error);
      }
      begin += piece.length;
      // It takes nothing more once its end has come.
      if (start + driver.consumed < begin) throw streamTrailing('zlib', start + driver.consumed);
    }
    driver.beginEnd();
    try {
      yield* driver.outputs();
    } catch (error) {
      throw isShort(error) ? streamTruncated('zlib', begin) : streamDamaged('zlib', begin, error);
    }
  } finally {
    driver.close();
  }
}

const isShort = (error: unknown): boolean => error instanceof Error && (error as NodeJS.ErrnoException).code === 'Z_BUF_ERROR';

/** A common mistake; RFC 1952: it begins with 1f 8b. */
const isGzip = (piece: Uint8Array): boolean => piece[0] === 0x1f && (piece[1] ?? 0x8b) === 0x8b;
