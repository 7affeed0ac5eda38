/** The words for compressed streams that are not what they should be. Offsets are those of compressed bytes. */

import { RevconvertError } from '../../errors.js';
import type { BundleCompression } from '../../formats/bundle/items.js';
import { messageOf } from '../faults.js';

/** @param offset where the input ended */
export const streamTruncated = (engine: BundleCompression, offset: number): RevconvertError =>
  new RevconvertError('BUNDLE_TRUNCATED', `the bundle ends at byte ${offset}, within its ${engine} data`);

/**
 * @param offset of a piece of the input that could not be decompressed: the damage is in it, or before it
 * @param found what is wrong, or the error that says so
 */
export const streamDamaged = (engine: BundleCompression, offset: number, found: unknown): RevconvertError =>
  new RevconvertError(
    'BUNDLE_COMPRESSION',
    `the ${engine} data is damaged, at byte ${offset} of the bundle or before: ${typeof found === 'string' ? found : messageOf(found)}`,
    {},
    found instanceof Error ? { cause: found } : {},
  );

/** @param offset of the first byte that does not belong to the compressed data */
export const streamTrailing = (engine: BundleCompression, offset: number): RevconvertError =>
  new RevconvertError('BUNDLE_TRAILING', `the ${engine} data ends at byte ${offset} of the bundle, and more bytes follow`);
