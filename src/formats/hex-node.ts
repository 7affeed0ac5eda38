/** Nodes as 40 hexadecimal digits, as manifests, changesets and copy metadata have them. */
export const HEX_NODE = 40;

/** A node as numbers: cheaper to compare, and to gather by the million, than as bytes of their own. */
export const NODE_WORDS = 5;

const NO_DIGIT = 0xff;

const DIGITS = new Uint8Array(256).fill(NO_DIGIT);
for (let value = 0; value < 16; value++) {
  const digit = value.toString(16);
  DIGITS[digit.charCodeAt(0)] = value;
  DIGITS[digit.toUpperCase().charCodeAt(0)] = value;
}

/**
 * Reads 40 digits.
 * @param words five signed numbers of 32 bits are put there, from `to` on, the first four bytes of the node first
 * @returns whether there are 40 digits
 */
export function readHexNode(text: Uint8Array, at: number, words: Int32Array, to: number): boolean {
  let all = 0;
  for (let word = 0; word < NODE_WORDS; word++) {
    let value = 0;
    for (let end = at + 8; at < end; at++) {
      const digit = DIGITS[text[at] ?? 0] ?? NO_DIGIT;
      all |= digit;
      value = (value << 4) | digit;
    }
    words[to + word] = value;
  }
  return (all & 0xf0) === 0;
}

/** The digits of a node given as numbers. */
export const wordsToHex = (words: Int32Array, from = 0): string =>
  Array.from(words.subarray(from, from + NODE_WORDS), (word) => (word >>> 0).toString(16).padStart(8, '0')).join('');
