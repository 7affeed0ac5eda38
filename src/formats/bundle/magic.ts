import type { BundleCompression, Container } from './items.js';

/** What the first bytes of a bundle say. */
export interface BundleMagic {
  readonly container: Container;
  /** Of all that follows; undefined: stream parameters follow, and say it (HG20). */
  readonly compression: BundleCompression | undefined;
  /** Bytes that are no part of what follows. */
  readonly length: number;
}

/** Bytes that are enough to know a bundle by. */
export const MAGIC_BYTES = 6;

/** The names that bundles have for compressions (source: `hg help internals.bundles`). */
const CODES: Readonly<Record<string, BundleCompression>> = { UN: 'none', GZ: 'zlib', BZ: 'bzip2', ZS: 'zstd' };

export const CODE_OF: Readonly<Record<BundleCompression, string>> = { none: 'UN', zlib: 'GZ', bzip2: 'BZ', zstd: 'ZS' };

export const compressionOfCode = (code: string): BundleCompression | undefined => (Object.hasOwn(CODES, code) ? CODES[code] : undefined);

/** Of what is no bundle, so much is shown. */
const SHOWN_BYTES = 40;

/** Why bytes are no bundle that can be read. */
export interface MagicFault {
  readonly code: 'NOT_A_BUNDLE' | 'BUNDLE_VERSION';
  readonly message: string;
}

/**
 * Tells what kind of bundle begins with these bytes.
 *
 *     HG10UN, HG10GZ   a changegroup of version 01, uncompressed or in a zlib stream
 *     HG10BZ           in a bzip2 stream, whose first two bytes the letters BZ are
 *     HG20             stream parameters follow
 *     HGS1UN           the files of a store
 *     00               a changegroup of version 01 without a header
 *
 * @param bytes the first, {@link MAGIC_BYTES} or more, or all where there are fewer
 */
export function readMagic(bytes: Buffer): BundleMagic | MagicFault {
  if (bytes.length === 0) return { code: 'NOT_A_BUNDLE', message: 'there is nothing: the input is empty' };
  if (bytes[0] === 0) return { container: 'HG10', compression: 'none', length: 0 };
  const text = bytes.toString('latin1', 0, MAGIC_BYTES);
  const container = text.slice(0, 4);
  const code = text.slice(4);
  if (container === 'HG20') return { container, compression: undefined, length: 4 };
  const known = compressionOfCode(code);
  if (container === 'HG10' && known !== undefined && known !== 'zstd') return { container, compression: known, length: known === 'bzip2' ? 4 : MAGIC_BYTES };
  if (container === 'HGS1' && code === 'UN') return { container, compression: 'none', length: MAGIC_BYTES };
  if (/^HG[0-9A-Z]{2}/.test(container)) return { code: 'BUNDLE_VERSION', message: `unknown kind of bundle ${JSON.stringify(text)}; HG10UN, HG10GZ, HG10BZ, HG20 and HGS1UN are known` };
  return { code: 'NOT_A_BUNDLE', message: `it begins with ${JSON.stringify(bytes.toString('latin1', 0, SHOWN_BYTES))}` };
}
