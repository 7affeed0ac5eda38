/** zstd as Node has it built in, from 22.15 on, in its thread pool: for where zstd-napi is not installed. */

import zlib from 'node:zlib';

import { ZSTD_LEVELS } from '../facts.js';
import { MAX_WINDOW_BYTES } from '../zstd-frame.js';
import { compressThrough } from './compress-through.js';
import { streamDamaged, streamTrailing, streamTruncated } from './faults.js';
import { MOST_WINDOW_BYTES, readFrameStart } from './frame-start.js';
import { FrameWalker } from './frame-walker.js';
import type { NodeCompressionStream } from './node-stream.js';
import { NodeStreamDriver } from './node-stream.js';
import { readAhead } from './read-ahead.js';
import type { Compress, Decompress, Pieces } from './stream-engine.js';
import { StreamInput } from './stream-input.js';

interface ZstdStreamOptions {
  readonly chunkSize: number;
  readonly params: Readonly<Record<number, number>>;
}

/** The part of node:zlib that is used; older versions have none of it. */
export interface NodeZstd {
  readonly createZstdCompress: (options: ZstdStreamOptions) => NodeCompressionStream;
  readonly createZstdDecompress: (options: ZstdStreamOptions) => NodeCompressionStream;
  readonly constants: Readonly<Record<'ZSTD_c_compressionLevel' | 'ZSTD_d_windowLogMax', number>>;
}

/** Bytes that are decompressed at a stretch. What the last of them made is lost where it is damaged. */
const INPUT_BYTES = 128 * 1024;
const OUTPUT_BYTES = 512 * 1024;
/** Bytes that are decompressed while nobody asks for them yet. */
const AHEAD_BYTES = 2 << 20;
const MIN_WINDOW_LOG = 10;

/** @returns undefined where this Node has none */
export function findNodeZstd(found: object = zlib): NodeZstd | undefined {
  return 'createZstdCompress' in found && 'createZstdDecompress' in found ? (found as NodeZstd) : undefined;
}

/** Decompresses one zstd frame, somewhat ahead of whoever reads. Where it ends is found out here: what Node says of it differs by its version. */
export const nodeZstdDecompress =
  (zstd: NodeZstd): Decompress =>
  (source, { start = 0, maxWindow = MAX_WINDOW_BYTES, signal: outer }) =>
    readAhead((signal) => decompressFrame(zstd, new StreamInput(source, INPUT_BYTES, start, signal), maxWindow), AHEAD_BYTES, outer);

async function* decompressFrame(zstd: NodeZstd, input: StreamInput, maxWindow: number): Pieces {
  let driver: NodeStreamDriver | undefined;
  try {
    const { header, headerBytes, rest } = await readFrameStart(input, maxWindow);
    const windowLog = Math.max(MIN_WINDOW_LOG, Math.ceil(Math.log2(Math.min(maxWindow, MOST_WINDOW_BYTES))));
    driver = new NodeStreamDriver(zstd.createZstdDecompress({ chunkSize: OUTPUT_BYTES, params: { [zstd.constants.ZSTD_d_windowLogMax]: windowLog } }));
    const walker = new FrameWalker(header);
    yield* decode(driver, headerBytes, input.offset - rest.length);
    for (let piece: Uint8Array | undefined = rest; piece !== undefined; piece = await input.next()) {
      const taken = walker.take(piece);
      const offset = input.offset - piece.length;
      if (taken > 0) yield* decode(driver, piece.subarray(0, taken), offset);
      if (taken < piece.length) throw streamTrailing('zstd', offset + taken);
    }
    if (!walker.ended) throw streamTruncated('zstd', input.offset);
    driver.beginEnd();
    yield* outputs(driver, input.offset);
  } finally {
    driver?.close();
    await input.close();
  }
}

async function* decode(driver: NodeStreamDriver, piece: Uint8Array, offset: number): Pieces {
  driver.begin(piece);
  yield* outputs(driver, offset);
}

async function* outputs(driver: NodeStreamDriver, offset: number): Pieces {
  try {
    yield* driver.outputs();
  } catch (error) {
    throw streamDamaged('zstd', offset, error);
  }
}

/** One frame without its size and without a checksum. How many threads are wanted makes no difference: it is always one of the pool. */
export const nodeZstdCompress =
  (zstd: NodeZstd): Compress =>
  (source, { level = ZSTD_LEVELS.default, signal }) =>
    compressThrough((chunkSize) => zstd.createZstdCompress({ chunkSize, params: { [zstd.constants.ZSTD_c_compressionLevel]: level } }), source, signal);
