import { sameBytes } from './common.js';
import type { Numbers } from './memory.js';
import { grown } from './memory.js';
import type { Pair } from './pair.js';

const LF = 10;

/**
 * Slots that are looked at for a line, and lines of equal hash that are compared with it. More are only in the way where
 * someone made lines so; such lines match nothing.
 */
const MOST_PROBES = 100;
const MOST_COMPARED = 4;

/** The class of a line that the base does not have. */
export const UNKNOWN = -1;

/** The lines of a stretch of text. */
export interface Lines {
  readonly count: number;
  /** Where each begins, and behind the last one where it ends. */
  readonly starts: Numbers;
  /** The class of each: the first line of the base that equals it, or UNKNOWN. */
  readonly classes: Numbers;
}

const NO_LINES: Lines = { count: 0, starts: new Int32Array(0), classes: new Int32Array(0) };

/** The lines of two texts, and which are equal. Its memory is used again for the next pair. */
export class LineTable {
  base = NO_LINES;
  text = NO_LINES;
  /** For each class, lines of the text that belong to it. */
  textCounts = new Int32Array(0);
  #hashes = new Int32Array(0);
  /** Class + 1; 0: free. Their number is a power of 2. */
  #slots = new Int32Array(0);
  #shift = 0;

  /**
   * Fills `base`, `text` and `textCounts`.
   * @param pair where to look
   * @param most lines of each to take at most
   */
  fill(pair: Pair, most: number): void {
    this.#splitBase(pair.base, pair.start, pair.end, most);
    this.#classifyBase(pair.base);
    this.#splitText(pair, most);
  }

  #splitBase(base: Buffer, start: number, end: number, most: number): void {
    let { starts } = this.base;
    let hashes = this.#hashes;
    let count = 0;
    let at = start;
    while (at < end && count < most) {
      if (count + 1 >= starts.length) starts = grown(starts, count + 2);
      if (count >= hashes.length) hashes = grown(hashes, count + 1);
      starts[count] = at;
      let hash = 0;
      let byte = -1;
      while (at < end && byte !== LF) {
        byte = base[at] ?? 0;
        hash = (Math.imul(hash, 31) + byte) | 0;
        at++;
      }
      hashes[count] = hash;
      count++;
    }
    starts = grown(starts, count + 1);
    starts[count] = at;
    this.#hashes = hashes;
    this.base = { count, starts, classes: grown(this.base.classes, count) };
  }

  #classifyBase(base: Buffer): void {
    const { count, starts, classes } = this.base;
    this.textCounts = grown(this.textCounts, count);
    this.textCounts.fill(0, 0, count);
    let bits = 4;
    while (1 << bits < 2 * count) bits++;
    this.#slots = grown(this.#slots, 1 << bits);
    this.#slots.fill(0, 0, 1 << bits);
    this.#shift = 32 - bits;
    for (let line = 0; line < count; line++) {
      const start = starts[line] ?? 0;
      classes[line] = this.#find(base, start, (starts[line + 1] ?? 0) - start, base, this.#hashes[line] ?? 0, line);
    }
  }

  #splitText({ base, text, from, to }: Pair, most: number): void {
    const [baseStarts, baseClasses] = [this.base.starts, this.base.classes];
    const expectable = this.base.count - (base[(baseStarts[this.base.count] ?? 0) - 1] === LF ? 0 : 1);
    const counts = this.textCounts;
    let { starts, classes } = this.text;
    let expected = 0;
    let count = 0;
    let at = from;
    while (at < to && count < most) {
      if (count + 1 >= starts.length) {
        starts = grown(starts, count + 2);
        classes = grown(classes, count + 2);
      }
      starts[count] = at;
      let known = UNKNOWN;
      if (expected < expectable) {
        const start = baseStarts[expected] ?? 0;
        const length = (baseStarts[expected + 1] ?? 0) - start;
        if (length <= to - at && sameBytes(base, start, text, at, length)) {
          known = baseClasses[expected] ?? UNKNOWN;
          at += length;
          expected++;
        }
      }
      if (known === UNKNOWN) {
        const start = at;
        let hash = 0;
        let byte = -1;
        while (at < to && byte !== LF) {
          byte = text[at] ?? 0;
          hash = (Math.imul(hash, 31) + byte) | 0;
          at++;
        }
        known = this.#find(text, start, at - start, base, hash, UNKNOWN);
        if (known !== UNKNOWN) expected = known + 1;
      }
      classes[count] = known;
      if (known !== UNKNOWN) counts[known] = (counts[known] ?? 0) + 1;
      count++;
    }
    starts = grown(starts, count + 1);
    starts[count] = at;
    this.text = { count, starts, classes };
  }

  /** The class of a line; `added` where it has none. */
  #find(bytes: Buffer, start: number, length: number, base: Buffer, hash: number, added: number): number {
    const slots = this.#slots;
    const hashes = this.#hashes;
    const starts = this.base.starts;
    const mask = (1 << (32 - this.#shift)) - 1;
    let slot = Math.imul(hash, 0x9e3779b1) >>> this.#shift;
    let compared = 0;
    for (let probe = 0; probe < MOST_PROBES && compared < MOST_COMPARED; probe++) {
      const found = (slots[slot] ?? 0) - 1;
      if (found < 0) {
        slots[slot] = added + 1;
        return added;
      }
      if (hashes[found] === hash) {
        compared++;
        const at = starts[found] ?? 0;
        if ((starts[found + 1] ?? 0) - at === length && sameBytes(bytes, start, base, at, length)) return found;
      }
      slot = (slot + 1) & mask;
    }
    return UNKNOWN;
  }
}
