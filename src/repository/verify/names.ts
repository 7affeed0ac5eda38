import { grown } from '../../delta/memory.js';
import { asBuffer } from '../../formats/bytes.js';
import type { BytePath } from '../../formats/store-path.js';

const LF = 0x0a;

/** Numbers for names, without a string for each time that one is met: the same few are met by the hundred thousand. */
export class NameTable {
  #bytes: Buffer = Buffer.allocUnsafeSlow(1 << 12);
  #length = 0;
  /** Where each name begins; behind the last one where the next will. */
  #starts = new Int32Array(64);
  #count = 0;
  /** Names by their hash, 1 more than their number; 0: free. */
  #slots = new Int32Array(256);

  get count(): number {
    return this.#count;
  }

  /**
   * The number of a name, counted from 0 in the order in which they were first met.
   * @param tag the first byte of the name
   * @param bytes the others stand in it, from `from` to `to`; there is no LF among them
   */
  numberOf(tag: number, bytes: Buffer, from: number, to: number): number {
    let hash = tag;
    for (let i = from; i < to; i++) hash = (Math.imul(hash, 31) + (bytes[i] ?? 0)) | 0;
    hash = Math.imul(hash, 0x9e3779b1);
    const mask = this.#slots.length - 1;
    for (let slot = hash >>> 8 & mask; ; slot = (slot + 1) & mask) {
      const found = (this.#slots[slot] ?? 0) - 1;
      if (found >= 0 && !this.#isName(found, tag, bytes, from, to)) continue;
      if (found >= 0) return found;
      const added = this.#add(tag, bytes, from, to);
      this.#slots[slot] = added + 1;
      if (this.#count * 2 > this.#slots.length) this.#rehash();
      return added;
    }
  }

  /** All names, LF behind each; a copy. */
  toBytes(): Uint8Array {
    return Uint8Array.from(this.#bytes.subarray(0, this.#length));
  }

  #isName(number: number, tag: number, bytes: Buffer, from: number, to: number): boolean {
    const own = this.#bytes;
    const start = this.#starts[number] ?? 0;
    if ((this.#starts[number + 1] ?? 0) - start !== to - from + 2 || own[start] !== tag) return false;
    for (let i = from, at = start + 1; i < to; i++, at++) if (own[at] !== bytes[i]) return false;
    return true;
  }

  #add(tag: number, bytes: Buffer, from: number, to: number): number {
    const end = this.#length + to - from + 2;
    if (end > this.#bytes.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(end, this.#bytes.length * 2));
      this.#bytes.copy(larger, 0, 0, this.#length);
      this.#bytes = larger;
    }
    this.#bytes[this.#length] = tag;
    bytes.copy(this.#bytes, this.#length + 1, from, to);
    this.#bytes[end - 1] = LF;
    this.#length = end;
    const number = this.#count++;
    this.#starts = grown(this.#starts, number + 2);
    this.#starts[number + 1] = end;
    return number;
  }

  #rehash(): void {
    const slots = new Int32Array(this.#slots.length * 2);
    const mask = slots.length - 1;
    for (let number = 0; number < this.#count; number++) {
      let slot = this.#hashOf(number) & mask;
      while ((slots[slot] ?? 0) !== 0) slot = (slot + 1) & mask;
      slots[slot] = number + 1;
    }
    this.#slots = slots;
  }

  #hashOf(number: number): number {
    const end = (this.#starts[number + 1] ?? 0) - 1;
    let hash = 0;
    for (let at = this.#starts[number] ?? 0; at < end; at++) hash = (Math.imul(hash, 31) + (this.#bytes[at] ?? 0)) | 0;
    return Math.imul(hash, 0x9e3779b1) >>> 8;
  }
}

/** The names of a table, as it gave them. */
export function splitNames(bytes: Uint8Array): BytePath[] {
  if (bytes.length === 0) return [];
  return asBuffer(bytes).toString('latin1', 0, bytes.length - 1).split('\n');
}

/** Numbers one after the other, in memory that doubles as it fills. */
export class IntCollector {
  #ints = new Int32Array(256);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  push(value: number): void {
    this.#ints = grown(this.#ints, this.#length + 1);
    this.#ints[this.#length++] = value;
  }

  /** Room for some more numbers: memory that they can be written to, and where. Valid until the next call. */
  extend(count: number): { readonly ints: Int32Array; readonly at: number } {
    const at = this.#length;
    this.#ints = grown(this.#ints, at + count);
    this.#length = at + count;
    return { ints: this.#ints, at };
  }

  /** Takes the last numbers away. */
  shrink(count: number): void {
    this.#length -= count;
  }

  /** What was put in; a copy. */
  toInts(): Int32Array {
    return this.#ints.slice(0, this.#length);
  }
}
