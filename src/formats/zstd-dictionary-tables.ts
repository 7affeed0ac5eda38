/**
 * The entropy tables of a trained zstd dictionary, as far as it takes to find their end (RFC 8878, 4.1.1, 4.2.1 and 5):
 *
 *     bytes  field
 *     8      see zstd-dictionary.ts
 *     1 + n  Huffman weights of literals  first byte 0-127: n bytes that are compressed; 128-255: that less 127 weights, two a byte
 *     n      FSE table of offsets         at most 2^8 states, symbols 0-31
 *     n      FSE table of match lengths   at most 2^9 states, symbols 0-52
 *     n      FSE table of literal lengths at most 2^9 states, symbols 0-35
 *     12     three recent offsets         little-endian
 *     n      content
 *
 * An FSE table is a stream of bits, the lowest of each byte first: four bits for the log of the number of its states, less 5; then for
 * each symbol its share of them plus one, in as few bits as what is left of them allows; after a share of none, two bits
 * at a time say how many more have none.
 */
import { readDictionaryId } from './zstd-dictionary.js';

const HEADER_BYTES = 8;
const RECENT_OFFSETS_BYTES = 12;
const MIN_STATES_LOG = 5;
/** From this on the first byte is a number of weights, plus 127. */
const DIRECT_WEIGHTS = 128;

const FSE_TABLES = [
  { maxStatesLog: 8, maxSymbol: 31 },
  { maxStatesLog: 9, maxSymbol: 52 },
  { maxStatesLog: 9, maxSymbol: 35 },
] as const;

/**
 * Where the content of a dictionary begins: what frames copy from.
 * @returns the offset; undefined where the bytes are no trained dictionary, or its tables are not as they should be
 */
export function contentOffsetOf(dictionary: Uint8Array): number | undefined {
  if (readDictionaryId(dictionary) === undefined) return undefined;
  const weights = dictionary[HEADER_BYTES] ?? 0;
  let offset: number | undefined = HEADER_BYTES + 1 + (weights < DIRECT_WEIGHTS ? weights : (weights - DIRECT_WEIGHTS + 2) >> 1);
  for (const table of FSE_TABLES) {
    offset = endOfTable(dictionary, offset, table);
    if (offset === undefined) return undefined;
  }
  offset += RECENT_OFFSETS_BYTES;
  return offset < dictionary.length ? offset : undefined;
}

/** @returns the offset of the first byte behind the table; undefined where it is none */
function endOfTable(bytes: Uint8Array, start: number, { maxStatesLog, maxSymbol }: (typeof FSE_TABLES)[number]): number | undefined {
  let position = start * 8;
  const peek = (count: number): number => {
    let value = 0;
    for (let i = 0; i < count; i++) value |= (((bytes[(position + i) >> 3] ?? 0) >> ((position + i) & 7)) & 1) << i;
    return value;
  };
  const statesLog = peek(4) + MIN_STATES_LOG;
  position += 4;
  if (statesLog > maxStatesLog) return undefined;
  let left = (1 << statesLog) + 1;
  let symbol = 0;
  while (left > 1) {
    if (symbol > maxSymbol) return undefined;
    // Shares that are small enough are written with one bit less.
    const width = 32 - Math.clz32(left);
    const threshold = 1 << (width - 1);
    const short = 2 * threshold - 1 - left;
    const low = peek(width - 1);
    let share = low < short ? low : peek(width);
    position += low < short ? width - 1 : width;
    if (low >= short && share >= threshold) share -= short;
    // 0 stands for a share that is less than one state, and takes one.
    left -= share === 0 ? 1 : share - 1;
    symbol++;
    if (share !== 1) continue;
    for (let more = 3; more === 3; position += 2) {
      more = peek(2);
      symbol += more;
    }
  }
  const end = (position + 7) >> 3;
  return left === 1 && end <= bytes.length ? end : undefined;
}
