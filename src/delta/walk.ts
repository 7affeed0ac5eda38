import { commonHead } from './common.js';
import type { HunkList } from './hunk-list.js';
import { LineMatcher } from './line-match.js';
import { LineTable } from './line-table.js';
import type { Pair } from './pair.js';

/** Lines of each text that are matched at a time: so many, more where they have nothing certain in common. */
export const tune = { first: Number(process.env['W'] ?? 32), growth: Number(process.env['G'] ?? 4), solid: Number(process.env['SOLID'] ?? 64), slope: Number(process.env['SLOPE'] ?? 1) };
const MOST_LINES = 1 << 20;

/** Lines from which on memory is given back after use. */
const MANY_LINES = 1 << 16;

const LF = 10;

export class LineWalker {
  #table = new LineTable();
  #matcher = new LineMatcher();
  #i = 0;
  #j = 0;

  walk(pair: Pair, trims: boolean, hunks: HunkList): void {
    const { base, end, text, to } = pair;
    let i = pair.start;
    let j = pair.from;
    let window = tune.first;
    let most = window;
    while (i < end && j < to) {
      const same = commonHead(base, i, text, j, Math.min(end - i, to - j));
      if (same > 0) {
        const passed = Math.max(i, base.lastIndexOf(LF, i + same - 1) + 1) - i;
        i += passed;
        j += passed;
        if (i === end || j === to) break;
      }
      for (;;) {
        this.#table.fill({ base, start: i, end, text, from: j, to }, window);
        this.#matcher.match(this.#table.base, this.#table.text, this.#table.textCounts);
        const whole = this.#all(end, to) || window >= MOST_LINES;
        const count = whole ? this.#matcher.count : this.#certain(pair, i, j, window >> 3);
        if (count >= 0) {
          this.#add(pair, i, j, count, whole, trims, hunks);
          i = this.#i;
          j = this.#j;
          window = tune.first;
          break;
        }
        window *= tune.growth;
        if (window > most) most = window;
      }
    }
    const put = { base, start: i, end, text, from: j, to };
    if (trims) hunks.addTrimmed(base, i, end, text, j, to);
    else hunks.add(put.start, put.end, put.from, put.to);
    if (most < MANY_LINES) return;
    this.#table = new LineTable();
    this.#matcher = new LineMatcher();
  }

  #all(end: number, to: number): boolean {
    const { base, text } = this.#table;
    return base.starts[base.count] === end && text.starts[text.count] === to;
  }

  /** Candidates up to the end of the last run of lines that match for certain; -1: there is none far enough. */
  #certain({ base, end: last, text, to }: Pair, start: number, from: number, least: number): number {
    const { baseLines, textLines, matches, count } = this.#matcher;
    const starts = this.#table.base.starts;
    const others = this.#table.text.starts;
    let run = 0;
    let end = -1;
    let needed = 0;
    for (let k = count - 1; k >= 0; k--) {
      const match = matches[k] ?? -1;
      if (match < 0) continue;
      const line = baseLines[k] ?? 0;
      const other = textLines[match] ?? 0;
      if (end >= 0 && baseLines[k + 1] === line + 1 && matches[k + 1] === match + 1 && textLines[match + 1] === other + 1) {
        run += (starts[line + 1] ?? 0) - (starts[line] ?? 0);
      } else {
        run = (starts[line + 1] ?? 0) - (starts[line] ?? 0);
        end = k + 1;
        if (line < least && other < least) return -1;
        const iEnd = starts[line + 1] ?? 0;
        const jEnd = others[other + 1] ?? 0;
        needed = tune.solid + tune.slope * Math.abs(iEnd - start - (jEnd - from));
        if (line === this.#table.base.count - 1 || other === this.#table.text.count - 1) run += commonHead(base, iEnd, text, jEnd, Math.min(last - iEnd, to - jEnd, needed));
      }
      if (run >= needed) return end;
    }
    return -1;
  }

  /** Adds what lies between lines that match. */
  #add({ base, text }: Pair, start: number, from: number, count: number, whole: boolean, trims: boolean, hunks: HunkList): void {
    const { baseLines, textLines, matches } = this.#matcher;
    const { base: lines, text: others } = this.#table;
    let [i, j] = [start, from];
    const add = (iEnd: number, jEnd: number): void => {
      if (i === iEnd && j === jEnd) return;
      if (trims) hunks.addTrimmed(base, i, iEnd, text, j, jEnd);
      else hunks.add(i, iEnd, j, jEnd);
    };
    for (let k = 0; k < count; k++) {
      const match = matches[k] ?? -1;
      if (match < 0) continue;
      const [line, other] = [baseLines[k] ?? 0, textLines[match] ?? 0];
      add(lines.starts[line] ?? 0, others.starts[other] ?? 0);
      [i, j] = [lines.starts[line + 1] ?? 0, others.starts[other + 1] ?? 0];
    }
    if (whole) {
      const [iEnd, jEnd] = [lines.starts[lines.count] ?? 0, others.starts[others.count] ?? 0];
      add(iEnd, jEnd);
      [i, j] = [iEnd, jEnd];
    }
    this.#i = i;
    this.#j = j;
  }
}
