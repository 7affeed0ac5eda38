import { HUNK_HEADER } from '../formats/hunks.js';
import { commonHead, commonTail } from './common.js';
import { Refiner } from './refine.js';

/** Where hunks lie, four numbers each: start and end in the base, start and end in the text. */
const FIELDS = 4;

/**
 * The hunks of a delta while they are found: in order, as positions in both texts. What lies between two hunks is equal in
 * both texts, so hunks with a gap shorter than a hunk's header become one, which makes the delta smaller.
 */
export class HunkList {
  #places = new Int32Array(64 * FIELDS);
  #count = 0;
  #inserted = 0;
  readonly #refiner = new Refiner();

  /** Hunks, as they are now. */
  get count(): number {
    return this.#count;
  }

  /** Forgets all hunks. */
  clear(): void {
    this.#count = 0;
    this.#inserted = 0;
  }

  /**
   * Takes a hunk as it is: `base` from `start` to `end` becomes `text` from `from` to `to`. Idle hunks vanish.
   */
  add(start: number, end: number, from: number, to: number): void {
    if (start === end && from === to) return;
    const places = this.#places;
    const last = this.#count * FIELDS - FIELDS;
    if (last >= 0) {
      const before = places[last + 1] ?? 0;
      if (start - before < HUNK_HEADER) {
        this.#inserted += to - (places[last + 3] ?? 0);
        places[last + 1] = end;
        places[last + 3] = to;
        return;
      }
    }
    this.#put(start, end, from, to);
  }

  /** Takes a hunk without the bytes that what it replaces and what it puts there begin and end with. */
  addTrimmed(base: Buffer, start: number, end: number, text: Buffer, from: number, to: number): void {
    const head = commonHead(base, start, text, from, Math.min(end - start, to - from));
    const tail = commonTail(base, end, text, to, Math.min(end - start, to - from) - head);
    this.#refiner.refine({ base, start: start + head, end: end - tail, text, from: from + head, to: to - tail }, this);
  }

  /** Length of the delta in bytes. */
  get deltaLength(): number {
    return this.#count * HUNK_HEADER + this.#inserted;
  }

  /**
   * The delta.
   * @param text the text that it makes
   * @param delta memory of `deltaLength` bytes
   */
  write(text: Buffer, delta: Buffer): void {
    const places = this.#places;
    let at = 0;
    for (let i = 0; i < this.#count * FIELDS; i += FIELDS) {
      const from = places[i + 2] ?? 0;
      const length = (places[i + 3] ?? 0) - from;
      at = writeInt32(delta, at, places[i] ?? 0);
      at = writeInt32(delta, at, places[i + 1] ?? 0);
      at = writeInt32(delta, at, length);
      text.copy(delta, at, from, from + length);
      at += length;
    }
  }

  #put(start: number, end: number, from: number, to: number): void {
    const at = this.#count * FIELDS;
    if (at === this.#places.length) {
      const larger = new Int32Array(2 * at);
      larger.set(this.#places);
      this.#places = larger;
    }
    const places = this.#places;
    places[at] = start;
    places[at + 1] = end;
    places[at + 2] = from;
    places[at + 3] = to;
    this.#count++;
    this.#inserted += to - from;
  }
}

function writeInt32(bytes: Buffer, at: number, value: number): number {
  bytes[at] = value >>> 24;
  bytes[at + 1] = value >>> 16;
  bytes[at + 2] = value >>> 8;
  bytes[at + 3] = value;
  return at + 4;
}
