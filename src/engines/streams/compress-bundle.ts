import { RevconvertError } from '../../errors.js';
import type { BundleCompression } from '../../formats/bundle/items.js';
import { checkLevel } from '../registry.js';
import { BUNDLE_ENGINES } from './registry.js';
import type { Pieces, StreamCompressOptions } from './stream-engine.js';

/** zstd's own limit. */
const MAX_THREADS = 256;

/**
 * Compresses what follows the header of a bundle. Nothing is held whole; the output depends on what the source holds and on
 * the options, not on how the source is cut, nor on the machine.
 * @param compression one that this room can write: all but bzip2
 * @param source bytes in pieces of any size, which must not change
 * @returns pieces of 64 KiB or more, but for the last; they are never written to again
 * @throws RevconvertError LEVEL; USAGE: threads; ENGINE_MISSING; CANCELLED; whatever the source throws
 */
export async function* compressBundle(compression: BundleCompression, source: AsyncIterable<Uint8Array>, options: StreamCompressOptions = {}): Pieces {
  const engine = BUNDLE_ENGINES[compression];
  const level = checkLevel(engine, options.level);
  checkThreads(options.threads);
  if (engine.loadCompress === undefined) throw new RevconvertError('BUNDLE_HOLDS', `${compression} is written by a program of that name, which convertBundle runs: name another compression here`);
  const compress = await engine.loadCompress();
  yield* compress(source, { ...options, level });
}

/** @throws RevconvertError USAGE */
function checkThreads(threads: number | undefined): void {
  if (threads === undefined || (Number.isInteger(threads) && threads >= 0 && threads <= MAX_THREADS)) return;
  throw new RevconvertError('USAGE', `threads of a compression are an integer from 0 to ${MAX_THREADS}, found ${threads}`);
}
