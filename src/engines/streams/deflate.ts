import { createDeflate } from 'node:zlib';

import { compressThrough } from './compress-through.js';
import type { Pieces, StreamCompressOptions } from './stream-engine.js';

/** A zlib stream (RFC 1950). Node's zlib is not the one that Python has: at the same level it is a little smaller, not the same bytes. */
export const deflate = (source: AsyncIterable<Uint8Array>, { level, signal }: StreamCompressOptions): Pieces =>
  compressThrough((chunkSize) => createDeflate({ chunkSize, level }), source, signal);
