/**
 * Facts of the engines that both the registry and the backends need: markers, level ranges, and the sizes from
 * Mercurial's writing rule. Source: the behaviour of Mercurial 6.3 and 7.2, at both sides of each boundary.
 */

/** First byte of a zlib stream with a 32 KiB window (RFC 1950, CMF): the only window Mercurial reads. */
export const ZLIB_MARKER = 0x78; // 'x'
/** First byte of the zstd magic number, 28 b5 2f fd. */
export const ZSTD_MARKER = 0x28; // '('
/** Put before the block by the lz4revlog extension. */
export const LZ4_MARKER = 0x34; // '4'

export const ZLIB_LEVELS = { min: 0, max: 9, default: 6 } as const;
/** 0 means the default, 3. */
export const ZSTD_LEVELS = { min: 0, max: 22, default: 3 } as const;

/** Shorter inputs, in bytes, are not tried. */
export const ZLIB_MIN_INPUT = 44;
export const ZSTD_MIN_INPUT = 50;
/** The same with a dictionary. A choice of this program: such frames are for its own readers. A frame takes 11 bytes around its data. */
export const ZSTD_DICTIONARY_MIN_INPUT = 20;

/** The longest text of a revlog, in bytes: no limit given to a decompressor counts for more. */
export const MAX_TEXT_BYTES = 0x7fffffff;
