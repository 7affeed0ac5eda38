import { commonHead } from './common.js';
import { LineMatcher } from './line-match.js';
import { LineTable } from './line-table.js';
import type { Pair } from './pair.js';

/** Lines of each text that are matched at a time, at first. */
const FIRST_WINDOW = 16;

/** How many times more, where they have nothing in common for certain. */
const GROWTH = 8;

/** The most. What so many lines have in common is taken, certain or not. */
const LAST_WINDOW = FIRST_WINDOW * GROWTH ** 5;

/** This part of a window has to be passed, or the next will be larger: it bounds the work. */
const LEAST_PART = 8;

/** Lines in a window from which on memory is given back after use. */
const MANY_LINES = 1 << 16;

/**
 * Equal lines in a row are certain from so many bytes on, and as many more as both texts are moved against each other: texts
 * that repeat themselves are else matched where they should not be.
 */
const CERTAIN = 64;

const LF = 10;

/** Takes a hunk: `base` from `start` to `end` becomes `text` from `from` to `to`. */
export type TakeHunk = (start: number, end: number, from: number, to: number) => void;

/**
 * Finds the lines that differ in texts that may be anything. Where the texts differ, the next lines are matched, as many as
 * it takes to find lines that are certain to belong together; from there on, what is equal is passed over at the speed of
 * a memory comparison. So the cost is that of the lines that differ and some around them.
 */
export class LineWalker {
  #table = new LineTable();
  #matcher = new LineMatcher();
  #i = 0;
  #j = 0;

  /**
   * @param pair what becomes what, in whole lines
   * @param take takes the hunks in order, whole lines each
   */
  walk(pair: Pair, take: TakeHunk): void {
    const { end, to } = pair;
    this.#i = pair.start;
    this.#j = pair.from;
    let largest = 0;
    for (;;) {
      this.#passEqual(pair);
      if (this.#i === end || this.#j === to) break;
      largest = Math.max(largest, this.#matchWindow({ ...pair, start: this.#i, from: this.#j }, take));
    }
    if (this.#i < end || this.#j < to) take(this.#i, end, this.#j, to);
    if (largest < MANY_LINES) return;
    this.#table = new LineTable();
    this.#matcher = new LineMatcher();
  }

  #passEqual({ base, end, text, to }: Pair): void {
    const same = commonHead(base, this.#i, text, this.#j, Math.min(end - this.#i, to - this.#j));
    if (same === 0) return;
    const atEnd = this.#i + same === end && this.#j + same === to;
    const passed = atEnd ? same : Math.max(0, base.lastIndexOf(LF, this.#i + same - 1) + 1 - this.#i);
    this.#i += passed;
    this.#j += passed;
  }

  /** Finds the hunks of the next lines and passes them. @returns lines that it took */
  #matchWindow(pair: Pair, take: TakeHunk): number {
    for (let window = FIRST_WINDOW; ; window *= GROWTH) {
      const table = this.#table;
      table.fill(pair, window);
      this.#matcher.match(table.base, table.text, table.textCounts);
      const [iEnd, jEnd] = [table.base.starts[table.base.count] ?? 0, table.text.starts[table.text.count] ?? 0];
      const all = window >= LAST_WINDOW || (iEnd === pair.end && jEnd === pair.to);
      const count = all ? this.#matcher.count : this.#countCertain(pair, window / LEAST_PART);
      if (count === 0 && !all) continue;
      this.#takeGaps(count, take);
      if (all) this.#takeUpTo(iEnd, jEnd, take);
      return window;
    }
  }

  /** Lines of the matcher up to the last ones that belong together for certain; 0: there are none, or not enough. */
  #countCertain(pair: Pair, least: number): number {
    const { baseLines, textLines, matches, count } = this.#matcher;
    const starts = this.#table.base.starts;
    let needed = 0;
    let found = 0;
    let after = 0;
    let otherAfter = 0;
    for (let k = count - 1; k >= 0; k--) {
      const match = matches[k] ?? -1;
      if (match < 0) continue;
      const line = baseLines[k] ?? 0;
      const other = textLines[match] ?? 0;
      if (line + 1 !== after || other + 1 !== otherAfter) {
        if (line < least && other < least) return 0;
        found = k + 1;
        needed = this.#bytesNeeded(pair, line, other);
      }
      needed -= (starts[line + 1] ?? 0) - (starts[line] ?? 0);
      if (needed <= 0) return found;
      after = line;
      otherAfter = other;
    }
    return 0;
  }

  /** Bytes that must be equal before the end of two lines, to be certain; less what is equal behind the window. */
  #bytesNeeded({ base, start, end, text, from, to }: Pair, line: number, other: number): number {
    const { base: lines, text: others } = this.#table;
    const [i, j] = [lines.starts[line + 1] ?? 0, others.starts[other + 1] ?? 0];
    const needed = CERTAIN + Math.abs(i - start - (j - from));
    if (line + 1 < lines.count && other + 1 < others.count) return needed;
    return needed - commonHead(base, i, text, j, Math.min(end - i, to - j, needed));
  }

  /** Takes what lies between lines that match, and passes them. */
  #takeGaps(count: number, take: TakeHunk): void {
    const { baseLines, textLines, matches } = this.#matcher;
    const [starts, others] = [this.#table.base.starts, this.#table.text.starts];
    for (let k = 0; k < count; k++) {
      const match = matches[k] ?? -1;
      if (match < 0) continue;
      const [line, other] = [baseLines[k] ?? 0, textLines[match] ?? 0];
      this.#takeUpTo(starts[line] ?? 0, others[other] ?? 0, take);
      this.#i = starts[line + 1] ?? 0;
      this.#j = others[other + 1] ?? 0;
    }
  }

  #takeUpTo(i: number, j: number, take: TakeHunk): void {
    if (this.#i < i || this.#j < j) take(this.#i, i, this.#j, j);
    this.#i = i;
    this.#j = j;
  }
}
