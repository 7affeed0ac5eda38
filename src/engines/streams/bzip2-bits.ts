/**
 * A bzip2 stream, as far as it can be cut into its blocks without decompressing them. Fields are of bits, most significant
 * first; only the header begins at a byte.
 *
 *     bits   field           meaning
 *     32     header          'BZh', and '1' to '9': blocks of so many times 100,000 bytes
 *     for each block
 *       48   magic           31 41 59 26 53 59
 *       32   CRC             of what the block decompresses to
 *       n    data            its length stands nowhere
 *     48     end magic       17 72 45 38 50 90
 *     32     stream CRC      of the CRCs of all blocks: rotated left by one, exclusive or the next
 *     0..7   padding         up to a byte
 *
 * Source: the format as its decoders read it, checked with the bzip2 program.
 */

export const HEADER_BYTES = 4;
export const MAGIC_BITS = 48;
export const CRC_BITS = 32;
/** Bytes that the level counts. */
export const LEVEL_BYTES = 100_000;

const BLOCK_MAGIC = 0x314159265359;
const END_MAGIC = 0x177245385090;

/** @returns the level, 1 to 9; undefined: no header, as far as bytes are there */
export function readHeader(bytes: Uint8Array): number | undefined {
  const level = (bytes[3] ?? 0x39) - 0x30;
  const known = (bytes[0] ?? 0x42) === 0x42 && (bytes[1] ?? 0x5a) === 0x5a && (bytes[2] ?? 0x68) === 0x68;
  return known && level >= 1 && level <= 9 ? level : undefined;
}

/** Unsigned, of up to 48 bits; what is beyond the end counts as 0. */
export function readBits(bytes: Uint8Array, at: number, count: number): number {
  let byte = at >>> 3;
  let left = count;
  const first = Math.min(left, 8 - (at & 7));
  let value = ((bytes[byte++] ?? 0) >> (8 - (at & 7) - first)) & ((1 << first) - 1);
  left -= first;
  for (; left >= 8; left -= 8) value = value * 256 + (bytes[byte++] ?? 0);
  return left === 0 ? value : value * 2 ** left + ((bytes[byte] ?? 0) >> (8 - left));
}

export type Magic = 'block' | 'end';

/** @returns what begins at a bit, where all of its magic is there */
export function magicAt(bytes: Uint8Array, at: number): Magic | undefined {
  const value = readBits(bytes, at, MAGIC_BITS);
  return value === BLOCK_MAGIC ? 'block' : value === END_MAGIC ? 'end' : undefined;
}

/**
 * By two bytes of input: whether they can be the second and third byte that a magic touches. Of 65,536 there are 16, so that
 * nearly all bits of the input need no closer look.
 */
const CANDIDATES = new Uint8Array(1 << 16);
for (const magic of [BLOCK_MAGIC, END_MAGIC]) {
  for (let shift = 0; shift < 8; shift++) CANDIDATES[Math.floor(magic / 2 ** (24 + shift)) & 0xffff] = 1;
}

/**
 * Finds the next magic that has at least a byte behind it.
 * @param from the first bit to look at
 * @returns its first bit; or, negative, -1 - the bit from which to look on when there is more
 */
export function findMagic(bytes: Uint8Array, from: number): number {
  const first = from >>> 3;
  let pair = bytes[first + 1] ?? 0;
  for (let byte = first; byte + 7 <= bytes.length; byte++) {
    pair = ((pair & 0xff) << 8) | (bytes[byte + 2] ?? 0);
    if (CANDIDATES[pair] === 0) continue;
    for (let at = Math.max(from, byte * 8); at < byte * 8 + 8; at++) {
      if (magicAt(bytes, at) !== undefined) return at;
    }
  }
  return -1 - Math.max(from, (bytes.length - 6) * 8);
}

/** @returns whether the last `count` bits are how an end magic begins; `count` below its length */
export const endsWithPartOfEnd = (bytes: Uint8Array, count: number): boolean =>
  readBits(bytes, bytes.length * 8 - count, count) === Math.floor(END_MAGIC / 2 ** (MAGIC_BITS - count));

/**
 * One block as a stream of its own.
 * @param from where its magic begins
 * @param to where it ends
 * @param level of the stream that it is from
 * @param ended with an end, as it has it; or without, since it may not be whole
 */
export function blockAsStream(bytes: Uint8Array, from: number, to: number, level: number, ended: boolean): Uint8Array {
  const bits = to - from;
  const stream = new Uint8Array(HEADER_BYTES + Math.ceil((bits + (ended ? MAGIC_BITS + CRC_BITS : 0)) / 8));
  stream.set([0x42, 0x5a, 0x68, 0x30 + level]);
  const shift = from & 7;
  const first = from >>> 3;
  const dataBytes = Math.ceil(bits / 8);
  for (let i = 0; i < dataBytes; i++) stream[HEADER_BYTES + i] = ((bytes[first + i] ?? 0) << shift) | ((bytes[first + i + 1] ?? 0) >> (8 - shift));
  if (!ended) return stream;
  const used = bits & 7;
  const last = HEADER_BYTES + dataBytes - 1;
  if (used > 0) stream[last] = (stream[last] ?? 0) & (0xff << (8 - used));
  // The CRC of a stream of one block is that of the block.
  const end = new Uint8Array(10);
  const view = new DataView(end.buffer);
  view.setUint16(0, Math.floor(END_MAGIC / 2 ** 32));
  view.setUint32(2, END_MAGIC % 2 ** 32);
  view.setUint32(6, readBits(bytes, from + MAGIC_BITS, CRC_BITS));
  let at = HEADER_BYTES * 8 + bits;
  for (const byte of end) {
    const index = at >>> 3;
    stream[index] = (stream[index] ?? 0) | (byte >> (at & 7));
    if ((at & 7) > 0) stream[index + 1] = byte << (8 - (at & 7));
    at += 8;
  }
  return stream;
}
