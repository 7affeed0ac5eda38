import { RevconvertError } from '../../errors.js';

/**
 * The file `obsstore`, and the part `obsmarkers`, which has the same bytes (source: Mercurial 6.3 and 7.2, tried): a byte
 * for the version, then markers.
 *
 *     version 1: u32 length of the marker, itself included; f64 date, i16 time zone, u16 flags, u8 successors, u8 parents
 *     (3: not said), u8 pairs of metadata; nodes of 20 bytes; u8 length of key and value of each pair; keys and values
 */
const VERSION = 1;
const FIXED_BYTES = 19;
const NODE_BYTES = 20;
const NO_PARENTS = 3;

/** Flag of a marker: its nodes are hashes of 32 bytes. Never written by a release. */
const FLAG_SHA256 = 2;

/**
 * Checks that markers can be read.
 * @returns how many there are
 * @throws RevconvertError PART_MALFORMED; BUNDLE_VERSION for versions other than 1
 */
export function countMarkers(bytes: Buffer): number {
  if (bytes.length === 0) throw new RevconvertError('PART_MALFORMED', 'markers begin with their version; there is nothing');
  if (bytes[0] !== VERSION) throw new RevconvertError('BUNDLE_VERSION', `obsolescence markers of version ${bytes[0] ?? 0}; ${VERSION} is known`);
  let count = 0;
  for (let at = 1; at < bytes.length; count++) {
    const length = at + FIXED_BYTES > bytes.length ? Infinity : bytes.readUInt32BE(at);
    if (length > bytes.length - at || length < leastLength(bytes, at, length)) {
      throw new RevconvertError('PART_MALFORMED', `marker ${count} of ${length} bytes at ${at} does not hold what it says, or ends behind the part, which has ${bytes.length}`);
    }
    at += length;
  }
  return count;
}

/** Bytes that a marker needs for what it says it has. */
function leastLength(bytes: Buffer, at: number, length: number): number {
  const [flags, successors, parents, pairs] = [bytes.readUInt16BE(at + 14), bytes[at + 16] ?? 0, bytes[at + 17] ?? 0, bytes[at + 18] ?? 0];
  const nodeBytes = (flags & FLAG_SHA256) === 0 ? NODE_BYTES : 32;
  const sizesAt = FIXED_BYTES + nodeBytes * (1 + successors + (parents === NO_PARENTS ? 0 : parents));
  let least = sizesAt + 2 * pairs;
  if (least > length) return least;
  for (let i = 0; i < 2 * pairs; i++) least += bytes[at + sizesAt + i] ?? 0;
  return least;
}
