import { commonHead } from './common.js';
import type { Numbers } from './grown.js';
import { grown } from './grown.js';
import type { HunkList } from './hunk-list.js';
import type { Pair } from './pair.js';

const GRAM = 8;
const STEP = 4;
export const tuning = { least: Number(process.env['LEAST'] ?? 20), on: process.env['REFINE'] !== '0' };

export class Refiner {
  #slots: Numbers = new Int32Array(0);

  refine({ base, start, end, text, from, to }: Pair, hunks: HunkList): void {
    if (end - start < tuning.least || to - from < tuning.least || !tuning.on) {
      hunks.add(start, end, from, to);
      return;
    }
    let bits = 5;
    while (1 << bits < (end - start) / 2) bits++;
    const slots = (this.#slots = grown(this.#slots, 1 << bits));
    slots.fill(0, 0, 1 << bits);
    const shift = 32 - bits;
    for (let at = start; at + GRAM <= end; at += STEP) {
      const slot = gram(base, at) >>> shift;
      if (slots[slot] === 0) slots[slot] = at + 1;
    }
    let i = start;
    let j = from;
    let low = 0;
    let high = 0;
    for (let k = from; k < from + 4; k++) low = (low << 8) | (text[k] ?? 0);
    for (let k = from + 4; k < from + 8; k++) high = (high << 8) | (text[k] ?? 0);
    for (let at = from; at + GRAM <= to; ) {
      const found = (slots[mix(low, high) >>> shift] ?? 0) - 1;
      if (found >= i && text[at] === base[found]) {
        const same = commonHead(base, found, text, at, Math.min(end - found, to - at));
        let back = 0;
        while (found - back > i && at - back > j && base[found - back - 1] === text[at - back - 1]) back++;
        if (same + back >= tuning.least) {
          hunks.add(i, found - back, j, at - back);
          i = found + same;
          j = at + same;
          at = j;
          low = high = 0;
          for (let k = at; k < at + 4; k++) low = (low << 8) | (text[k] ?? 0);
          for (let k = at + 4; k < at + 8; k++) high = (high << 8) | (text[k] ?? 0);
          continue;
        }
      }
      low = (low << 8) | (text[at + 4] ?? 0);
      high = (high << 8) | (text[at + 8] ?? 0);
      at++;
    }
    hunks.add(i, end, j, to);
  }
}

const mix = (low: number, high: number): number => Math.imul(Math.imul(low, 0x9e3779b1) ^ high, 0x85ebca6b);

function gram(bytes: Buffer, at: number): number {
  const low = ((bytes[at] ?? 0) << 24) | ((bytes[at + 1] ?? 0) << 16) | ((bytes[at + 2] ?? 0) << 8) | (bytes[at + 3] ?? 0);
  const high = ((bytes[at + 4] ?? 0) << 24) | ((bytes[at + 5] ?? 0) << 16) | ((bytes[at + 6] ?? 0) << 8) | (bytes[at + 7] ?? 0);
  return mix(low, high);
}
