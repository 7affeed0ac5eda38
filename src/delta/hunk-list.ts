import { HUNK_HEADER } from '../formats/hunks.js';
import { commonHead, commonTail } from './common.js';
import { copyBytes, grown, writeInt32 } from './memory.js';

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

  /**
   * Takes from each hunk what both sides begin or end with; hunks that became one may begin or end so. Idle ones vanish.
   */
  trim(base: Buffer, text: Buffer): void {
    const places = this.#places;
    const end = this.#count * FIELDS;
    this.clear();
    for (let i = 0; i < end; i += FIELDS) {
      const start = places[i] ?? 0;
      const from = places[i + 2] ?? 0;
      const [replaced, inserted] = [(places[i + 1] ?? 0) - start, (places[i + 3] ?? 0) - from];
      const most = Math.min(replaced, inserted);
      const head = commonHead(base, start, text, from, most);
      const tail = commonTail(base, start + replaced, text, from + inserted, most - head);
      this.add(start + head, start + replaced - tail, from + head, from + inserted - tail);
    }
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
      writeInt32(delta, at, places[i] ?? 0);
      writeInt32(delta, at + 4, places[i + 1] ?? 0);
      writeInt32(delta, at + 8, length);
      at = copyBytes(text, from, from + length, delta, at + HUNK_HEADER);
    }
  }

  #put(start: number, end: number, from: number, to: number): void {
    const at = this.#count * FIELDS;
    const places = (this.#places = grown(this.#places, at + FIELDS));
    places[at] = start;
    places[at + 1] = end;
    places[at + 2] = from;
    places[at + 3] = to;
    this.#count++;
    this.#inserted += to - from;
  }
}
