import { commonHead, commonTail } from './common.js';
import type { HunkList } from './hunk-list.js';
import type { Numbers } from './memory.js';
import { grown, readInt32 } from './memory.js';
import type { Pair } from './pair.js';

/** Bytes that are looked up. */
const GRAM = 8;

/** Distance of those of the base that can be found. Larger in long stretches, so that the table does not grow with them. */
const STEP = 4;

/**
 * A copy inside of a hunk must have so many bytes. A hunk costs 12, which compress badly; what it saves would have compressed
 * well. On real histories 24 to 32 make the smallest stores.
 */
const LEAST_COPY = 28;

/** The table has up to 2 to the power of this slots. */
const MOST_BITS = 20;
const LEAST_BITS = 5;

/** Makes hunks as small as they can be: without what both sides begin or end with, and without longer copies inside. */
export class ByteMatcher {
  /** Place in the base + 1; 0: free. */
  #slots: Numbers = new Int32Array(0);
  #shift = 0;

  /**
   * @param pair what becomes what
   * @param hunks takes the hunks
   */
  match({ base, start, end, text, from, to }: Pair, hunks: HunkList): void {
    const most = Math.min(end - start, to - from);
    const head = commonHead(base, start, text, from, most);
    const tail = commonTail(base, end, text, to, most - head);
    const pair = { base, start: start + head, end: end - tail, text, from: from + head, to: to - tail };
    if (most - head - tail < LEAST_COPY) {
      hunks.add(pair.start, pair.end, pair.from, pair.to);
      return;
    }
    this.#index(pair);
    this.#scan(pair, hunks);
  }

  /** Fills the table from the base. */
  #index({ base, start, end }: Pair): void {
    let bits = LEAST_BITS;
    while (bits < MOST_BITS && 1 << bits < (end - start) / 2) bits++;
    const slots = (this.#slots = grown(this.#slots, 1 << bits));
    slots.fill(0, 0, 1 << bits);
    const shift = (this.#shift = 32 - bits);
    const step = Math.max(STEP, Math.ceil((end - start) / (1 << (MOST_BITS - 1))));
    for (let at = start; at + GRAM <= end; at += step) {
      const slot = mix(readInt32(base, at), readInt32(base, at + 4)) >>> shift;
      if (slots[slot] === 0) slots[slot] = at + 1;
    }
  }

  /** Looks up each place of the text, takes what is long enough, and goes on behind it. */
  #scan({ base, start, end, text, from, to }: Pair, hunks: HunkList): void {
    const [slots, shift] = [this.#slots, this.#shift];
    let [i, j] = [start, from];
    let [low, high] = [readInt32(text, from), readInt32(text, from + 4)];
    for (let at = from; at + GRAM <= to; ) {
      const found = (slots[mix(low, high) >>> shift] ?? 0) - 1;
      if (found >= i && text[at] === base[found]) {
        const back = countBack(base, found, i, text, at, j);
        const copy = commonHead(base, found, text, at, Math.min(end - found, to - at));
        if (back + copy >= LEAST_COPY) {
          hunks.add(i, found - back, j, at - back);
          i = found + copy;
          j = at + copy;
          at = j;
          [low, high] = [readInt32(text, at), readInt32(text, at + 4)];
          continue;
        }
      }
      low = (low << 8) | (text[at + 4] ?? 0);
      high = (high << 8) | (text[at + GRAM] ?? 0);
      at++;
    }
    hunks.add(i, end, j, to);
  }
}

/** Bytes before two places that are equal, back to two others. */
function countBack(base: Buffer, found: number, start: number, text: Buffer, at: number, from: number): number {
  const most = Math.min(found - start, at - from);
  let back = 0;
  while (back < most && base[found - 1 - back] === text[at - 1 - back]) back++;
  return back;
}

const mix = (low: number, high: number): number => Math.imul(Math.imul(low, 0x9e3779b1) ^ high, 0x85ebca6b);
