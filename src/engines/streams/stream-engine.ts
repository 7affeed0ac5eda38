/** What a compression of whole bundles is to the rest of the program. */

import type { BundleCompression } from '../../formats/bundle/items.js';

export interface StreamDecompressOptions {
  /** zstd: the largest window that a frame may need, in bytes, up to 2 GiB. Larger ones are WINDOW_SIZE. @default 128 MiB */
  readonly maxWindow?: number | undefined;
  /** Where the compressed data begins, for messages: bytes of the bundle before it. @default 0 */
  readonly start?: number | undefined;
  /** Ends the wait for input, and the work. */
  readonly signal?: AbortSignal | undefined;
}

export interface StreamCompressOptions {
  /** Within the engine's range; the engine's default where undefined. */
  readonly level?: number | undefined;
  /**
   * zstd: compress in so many threads beside this one; 0: in this one. The output is the same for all but 0.
   * @default 1; from level 13 on 0
   */
  readonly threads?: number | undefined;
  /** Ends the work. */
  readonly signal?: AbortSignal | undefined;
}

/** Pieces of a stream. What is given out is never written to again. */
export type Pieces = AsyncGenerator<Buffer, void, void>;

/** The same as a function of a stream: closes its source when it is done, or is left early. */
export type Decompress = (source: AsyncIterable<Uint8Array>, options: StreamDecompressOptions) => Pieces;
export type Compress = (source: AsyncIterable<Uint8Array>, options: StreamCompressOptions) => Pieces;

/** A compression as declared in the registry: facts only, nothing is loaded. */
export interface BundleEngine {
  readonly name: BundleCompression;
  /** In the stream parameter `Compression` of HG20, and behind HG10. */
  readonly code: 'UN' | 'GZ' | 'BZ' | 'ZS';
  /** Undefined where there are none. */
  readonly levels: { readonly min: number; readonly max: number; readonly default: number } | undefined;
  loadDecompress(): Promise<Decompress>;
  /** Undefined: this room cannot write it. */
  readonly loadCompress: (() => Promise<Compress>) | undefined;
}
