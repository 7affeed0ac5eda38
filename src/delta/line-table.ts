import { sameBytes } from './common.js';
import type { Numbers } from './grown.js';
import { grown } from './grown.js';
import type { Pair } from './pair.js';

const LF = 10;

/** Slots that are looked at for a line. More are only in the way where someone made lines so; such lines match nothing. */
const MOST_PROBES = 100;

const NOT_FOUND = -1;

/** The lines of a stretch of text. */
export interface Lines {
  readonly count: number;
  /** Where each begins, and behind the last one where it ends. */
  readonly starts: Numbers;
  /** A number for each line, the same for equal lines of both texts; -1: there is no such line in the base. */
  readonly classes: Numbers;
}

/**
 * The lines of two texts, and which are equal. Its memory is used again for the next pair: some 50 bytes for each line of
 * the longest so far.
 */
export class LineTable {
  base: Lines = { count: 0, starts: new Int32Array(0), classes: new Int32Array(0) };
  text: Lines = { count: 0, starts: new Int32Array(0), classes: new Int32Array(0) };
  /** For each class, lines of the text that belong to it. */
  textCounts = new Int32Array(0);

  #source: Buffer = Buffer.alloc(0);
  #hashes = new Int32Array(0);
  /** Class + 1; 0: free. Their number is a power of 2. */
  #slots = new Int32Array(0);
  #shift = 0;
  #classes = 0;
  /** For each class: hash, first byte and length of its first line. */
  #classHash = new Int32Array(0);
  #classStart = new Int32Array(0);
  #classLength = new Int32Array(0);

  /** Fills `base`, `text` and `textCounts` from the lines of a pair. */
  fill(pair: Pair): void {
    this.#source = pair.base;
    this.base = this.#split(pair.base, pair.start, pair.end, this.base);
    this.#clear(this.base.count);
    this.#classifyBase();
    this.text = this.#split(pair.text, pair.from, pair.to, this.text);
    this.#classifyText(pair.text);
  }

  #split(bytes: Buffer, start: number, end: number, { starts, classes }: Lines): Lines {
    let hashes = this.#hashes;
    let count = 0;
    let at = start;
    while (at < end) {
      if (count + 1 >= starts.length) starts = grown(starts, count + 2);
      if (count >= hashes.length) hashes = grown(hashes, count + 1);
      starts[count] = at;
      let hash = 0;
      let byte = -1;
      while (at < end && byte !== LF) {
        byte = bytes[at] ?? 0;
        hash = (Math.imul(hash, 31) + byte) | 0;
        at++;
      }
      hashes[count] = hash;
      count++;
    }
    starts = grown(starts, count + 1);
    starts[count] = end;
    this.#hashes = hashes;
    return { count, starts, classes: grown(classes, count) };
  }

  /** Makes room for the classes of so many lines. */
  #clear(lines: number): void {
    let bits = 4;
    while (1 << bits < 2 * lines) bits++;
    this.#slots = grown(this.#slots, 1 << bits);
    this.#slots.fill(0, 0, 1 << bits);
    this.#shift = 32 - bits;
    this.#classes = 0;
    this.#classHash = grown(this.#classHash, lines);
    this.#classStart = grown(this.#classStart, lines);
    this.#classLength = grown(this.#classLength, lines);
    this.textCounts = grown(this.textCounts, lines);
  }

  #classifyBase(): void {
    const { count, starts, classes } = this.base;
    const hashes = this.#hashes;
    for (let line = 0; line < count; line++) {
      const start = starts[line] ?? 0;
      classes[line] = this.#find(this.#source, start, (starts[line + 1] ?? 0) - start, hashes[line] ?? 0, true);
    }
  }

  #classifyText(text: Buffer): void {
    const { count, starts, classes } = this.text;
    const hashes = this.#hashes;
    const counts = this.textCounts;
    counts.fill(0, 0, this.#classes);
    for (let line = 0; line < count; line++) {
      const start = starts[line] ?? 0;
      const found = this.#find(text, start, (starts[line + 1] ?? 0) - start, hashes[line] ?? 0, false);
      classes[line] = found;
      if (found >= 0) counts[found] = (counts[found] ?? 0) + 1;
    }
  }

  /** The class of a line; a new one where it has none and `adds`. */
  #find(bytes: Buffer, start: number, length: number, hash: number, adds: boolean): number {
    const slots = this.#slots;
    const classHash = this.#classHash;
    const mask = (1 << (32 - this.#shift)) - 1;
    let slot = Math.imul(hash, 0x9e3779b1) >>> this.#shift;
    for (let probe = 0; probe < MOST_PROBES; probe++) {
      const found = (slots[slot] ?? 0) - 1;
      if (found < 0) return adds ? this.#add(slot, start, length, hash) : NOT_FOUND;
      if (classHash[found] === hash && this.#classLength[found] === length && sameBytes(bytes, start, this.#source, this.#classStart[found] ?? 0, length)) return found;
      slot = (slot + 1) & mask;
    }
    return NOT_FOUND;
  }

  #add(slot: number, start: number, length: number, hash: number): number {
    const added = this.#classes++;
    this.#slots[slot] = added + 1;
    this.#classHash[added] = hash;
    this.#classStart[added] = start;
    this.#classLength[added] = length;
    return added;
  }
}
