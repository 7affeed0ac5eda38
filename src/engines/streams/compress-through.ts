import { PieceCollector } from './collector.js';
import type { NodeCompressionStream } from './node-stream.js';
import { NodeStreamDriver } from './node-stream.js';
import type { Pieces } from './stream-engine.js';
import { StreamInput } from './stream-input.js';

/** Bytes that are compressed at a stretch: at least, and at most. */
const LEAST_INPUT = 64 * 1024;
const MOST_INPUT = 1 << 20;
const OUTPUT_BYTES = 256 * 1024;
/** The fewest bytes that are given out before the end. */
const LEAST_OUTPUT = 64 * 1024;

/**
 * Compresses with a stream of Node's, in its thread pool, while the source makes the next piece.
 * @param create makes the stream; it is told how large its buffers shall be, in bytes
 */
export async function* compressThrough(create: (chunkSize: number) => NodeCompressionStream, source: AsyncIterable<Uint8Array>, signal: AbortSignal | undefined): Pieces {
  const input = new StreamInput(source, MOST_INPUT, 0, signal);
  const driver = new NodeStreamDriver(create(OUTPUT_BYTES));
  const inputs = new PieceCollector(LEAST_INPUT);
  const outputs = new PieceCollector(LEAST_OUTPUT);
  try {
    for (let ended = false; !ended; ) {
      const piece = await input.next();
      ended = piece === undefined;
      const enough = piece === undefined ? inputs.rest() : inputs.add(piece);
      if (enough === undefined) continue;
      yield* collected(driver, outputs);
      driver.begin(enough);
    }
    yield* collected(driver, outputs);
    driver.beginEnd();
    yield* collected(driver, outputs);
    const rest = outputs.rest();
    if (rest !== undefined) yield rest;
  } finally {
    driver.close();
    await input.close();
  }
}

async function* collected(driver: NodeStreamDriver, outputs: PieceCollector): Pieces {
  for await (const made of driver.outputs()) {
    const enough = outputs.add(made);
    if (enough !== undefined) yield enough;
  }
}
