import { setImmediate as nextTurn } from 'node:timers/promises';

import { Bzip2Blocks } from './bzip2-blocks.js';
import type { Bzip2Decoder } from './bzip2-library.js';
import type { Decompress, Pieces, StreamDecompressOptions } from './stream-engine.js';
import { StreamInput } from './stream-input.js';

/** The most bytes of input between two looks for a block. */
const INPUT_BYTES = 64 * 1024;

/** Decompresses one bzip2 stream block by block, in the thread that calls, which gets a turn for other things after each. */
export const bunzip2 =
  (decoder: Bzip2Decoder): Decompress =>
  (source, options) =>
    decompressBlocks(decoder, source, options);

async function* decompressBlocks(decoder: Bzip2Decoder, source: AsyncIterable<Uint8Array>, { start = 0, signal }: StreamDecompressOptions): Pieces {
  const input = new StreamInput(source, INPUT_BYTES, start, signal);
  const blocks = new Bzip2Blocks(decoder, start);
  try {
    for (let piece = await input.next(); piece !== undefined; piece = await input.next()) {
      blocks.add(piece);
      for (let made = blocks.next(); made !== undefined; made = blocks.next()) {
        yield made;
        await nextTurn();
      }
    }
    const rest = blocks.rest();
    if (rest !== undefined) yield rest;
    blocks.checkEnd();
  } finally {
    await input.close();
  }
}
