import type { BundleCompression } from '../../formats/bundle/items.js';
import { BUNDLE_ENGINES } from './registry.js';
import type { Pieces, StreamDecompressOptions } from './stream-engine.js';

/**
 * Decompresses the compressed part of a bundle. Nothing is held whole. Pieces have about 256 KiB or more where there is so
 * much; what little a slow source brings is given out at once. Faults come late: what could be decompressed before, as far as
 * the engine can tell, has been given out. Leaving the loop early closes the source; one that waits for its own source is not waited for.
 * @param compression how the bundle says that it is compressed
 * @param source the compressed bytes, in pieces of any size, which must not change
 * @returns pieces that are never written to again
 * @throws RevconvertError BUNDLE_TRUNCATED: the source ends before the compressed data does; BUNDLE_COMPRESSION: that is
 *   damaged; BUNDLE_TRAILING: something follows it; WINDOW_SIZE; ENGINE_MISSING; CANCELLED; whatever the source throws
 */
export async function* decompressBundle(compression: BundleCompression, source: AsyncIterable<Uint8Array>, options: StreamDecompressOptions = {}): Pieces {
  const decompress = await BUNDLE_ENGINES[compression].loadDecompress();
  yield* decompress(source, options);
}
