import type { Lines } from './line-table.js';
import { grown } from './memory.js';
import { UniqueLines } from './unique-lines.js';

/** Lines that differ, up to which the most lines in common are looked for. */
const MOST_EDITS = 48;

/** Stands where no path is; one step on there is none either. */
const NO_PATH = -2;

/** How often a stretch is divided by lines that stand once in it. */
const MOST_LEVELS = 6;

/**
 * Finds lines that two texts have in common, in order: as many as can be where few differ (the greedy search of Myers);
 * else lines that stand once in both divide the texts and the search goes on between them; where there are none it is cut
 * short. The work is bounded by some fifty steps for each line.
 */
export class LineMatcher {
  /** Lines that the other text has too: which, and their classes. */
  baseLines = new Int32Array(0);
  textLines = new Int32Array(0);
  /** How many of `baseLines`. */
  count = 0;
  /** For each of `baseLines`: which of `textLines` it goes with, rising; -1: none. */
  matches = new Int32Array(0);
  #a = new Int32Array(0);
  #b = new Int32Array(0);
  #classes = 0;
  /** How far in `a` each path got; those of d edits begin at d (d + 1) / 2, and the e-th of them is on diagonal 2 e - d. */
  readonly #reach = new Int32Array(((MOST_EDITS + 1) * (MOST_EDITS + 2)) / 2);
  /** The first and the last path of the last row. */
  #first = 0;
  #last = 0;
  readonly #unique = new UniqueLines();

  /**
   * Fills `baseLines`, `textLines`, `count` and `matches`.
   * @param base lines with their classes
   * @param text likewise
   * @param textCounts for each class, lines of the text that belong to it
   */
  match(base: Lines, text: Lines, textCounts: Int32Array): void {
    this.baseLines = grown(this.baseLines, base.count);
    this.textLines = grown(this.textLines, text.count);
    this.#a = grown(this.#a, base.count);
    this.#b = grown(this.#b, text.count);
    this.count = pick(base, textCounts, this.baseLines, this.#a);
    const textCount = pick(text, textCounts, this.textLines, this.#b);
    this.matches = grown(this.matches, this.count);
    this.matches.fill(-1, 0, this.count);
    this.#classes = base.count;
    this.#matchRange(0, this.count, 0, textCount, 0);
  }

  #matchRange(aStart: number, aEnd: number, bStart: number, bEnd: number, level: number): void {
    const [a, b, matches] = [this.#a, this.#b, this.matches];
    let [i, j, iEnd, jEnd] = [aStart, bStart, aEnd, bEnd];
    let divisible = level < MOST_LEVELS;
    for (;;) {
      while (i < iEnd && j < jEnd && a[i] === b[j]) matches[i++] = j++;
      while (i < iEnd && j < jEnd && a[iEnd - 1] === b[jEnd - 1]) matches[--iEnd] = --jEnd;
      if (i === iEnd || j === jEnd) return;
      const edits = this.#search(i, iEnd, j, jEnd);
      if (edits > 0) {
        this.#accept(i, j, edits, (iEnd - i - (jEnd - j) + edits) >> 1);
        return;
      }
      if (divisible && this.#unique.match({ a, aStart: i, aEnd: iEnd, b, bStart: j, bEnd: jEnd }, this.#classes, matches) > 0) {
        this.#matchBetween(i, iEnd, j, jEnd, level + 1);
        return;
      }
      divisible = false;
      const best = this.#furthest();
      const x = this.#accept(i, j, MOST_EDITS, best);
      i += x;
      j += x + MOST_EDITS - 2 * best;
    }
  }

  /** Goes on between the lines that were matched. */
  #matchBetween(aStart: number, aEnd: number, bStart: number, bEnd: number, level: number): void {
    let [i, j] = [aStart, bStart];
    for (let next = aStart; next < aEnd; next++) {
      const match = this.matches[next] ?? -1;
      if (match < 0) continue;
      this.#matchRange(i, next, j, match, level);
      [i, j] = [next + 1, match + 1];
    }
    this.#matchRange(i, aEnd, j, bEnd, level);
  }

  /**
   * Looks for the path with the fewest edits, which `#reach` then holds. Diagonals on which a path could only leave the
   * texts are left out.
   * @returns the number of edits; -1: more than are looked for
   */
  #search(aStart: number, aEnd: number, bStart: number, bEnd: number): number {
    const [a, b, reach] = [this.#a, this.#b, this.#reach];
    let lowest = -1;
    let highest = 1;
    let row = 0;
    reach[0] = 0;
    for (let d = 1; d <= MOST_EDITS; d++) {
      const before = row;
      row += d;
      const first = (lowest + d + 1) >> 1;
      const last = (highest + d) >> 1;
      lowest--;
      highest++;
      if (first > 0) reach[row + first - 1] = NO_PATH;
      if (last < d) reach[row + last + 1] = NO_PATH;
      let beyond = highest;
      for (let e = first; e <= last; e++) {
        const diagonal = 2 * e - d;
        const x = step(reach, before, d, e);
        let i = aStart + x;
        let j = bStart + x - diagonal;
        while (i < aEnd && j < bEnd && a[i] === b[j]) {
          i++;
          j++;
        }
        reach[row + e] = i - aStart;
        if (i === aEnd) {
          if (j === bEnd) return d;
          if (diagonal <= beyond) beyond = diagonal - 1;
        }
        if (j === bEnd) lowest = diagonal + 1;
      }
      highest = beyond;
      this.#first = first;
      this.#last = last;
    }
    return -1;
  }

  /** Of the paths with the most edits, the one that got furthest. */
  #furthest(): number {
    const d = MOST_EDITS;
    const row = (d * (d + 1)) / 2;
    let best = this.#first;
    let most = -1;
    for (let e = this.#first; e <= this.#last; e++) {
      const sum = 2 * ((this.#reach[row + e] ?? 0) - e);
      if (sum <= most) continue;
      best = e;
      most = sum;
    }
    return best;
  }

  /** Marks the lines that a path has in common, from its end back. @returns how far in `a` it got */
  #accept(aStart: number, bStart: number, edits: number, path: number): number {
    const [reach, matches] = [this.#reach, this.matches];
    const end = reach[(edits * (edits + 1)) / 2 + path] ?? 0;
    let e = path;
    let x = end;
    for (let d = edits; d > 0; d--) {
      const before = ((d - 1) * d) / 2;
      const from = step(reach, before, d, e);
      while (x > from) {
        x--;
        matches[aStart + x] = bStart + x + d - 2 * e;
      }
      if (e === d || from !== reach[before + e]) {
        e--;
        x--;
      }
    }
    return end;
  }
}

/** Where path `e` of `d` edits begins: it goes on from one of two paths with an edit less, the one that gets further. */
function step(reach: Int32Array, before: number, d: number, e: number): number {
  const down = e < d ? (reach[before + e] ?? 0) : NO_PATH;
  const right = e > 0 ? (reach[before + e - 1] ?? 0) + 1 : NO_PATH;
  return right > down ? right : down;
}

/** Lists the lines of classes that the text has; how many. */
function pick({ count, classes }: Lines, textCounts: Int32Array, lines: Int32Array, picked: Int32Array): number {
  let found = 0;
  for (let line = 0; line < count; line++) {
    const one = classes[line] ?? -1;
    if (one < 0 || textCounts[one] === 0) continue;
    lines[found] = line;
    picked[found] = one;
    found++;
  }
  return found;
}
