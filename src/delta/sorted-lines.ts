import { commonHead } from './common.js';
import type { HunkList } from './hunk-list.js';
import type { Pair } from './pair.js';

const NUL = 0;
const LF = 10;

/**
 * Finds the hunks between two manifests by walking both in order: their lines (path, NUL, node) are sorted by path and no
 * path stands twice. What is equal is passed over at the speed of a memory comparison; what is left is the cost of the lines
 * that differ.
 * @param pair the lines that differ, from a line start to a line start or the end in both texts
 * @param hunks takes the hunks, whole lines each
 * @returns false where lines turned out not to be sorted: what `hunks` holds is then of no use
 */
export function matchSortedLines(pair: Pair, hunks: HunkList): boolean {
  const { base, text, end, to } = pair;
  let i = pair.start;
  let j = pair.from;
  while (i < end && j < to) {
    const same = commonHead(base, i, text, j, Math.min(end - i, to - j));
    const differs = i + same;
    if (same > 0) {
      const passed = Math.max(i, base.lastIndexOf(LF, differs - 1) + 1) - i;
      i += passed;
      j += passed;
      if (i === end || j === to) break;
    }
    const order = orderOfPaths(base, i, text, j, differs - i);
    const nextBase = order <= 0 ? lineEnd(base, i, end) : i;
    const nextText = order >= 0 ? lineEnd(text, j, to) : j;
    if (order < 0 && !ascends(base, i, nextBase, end)) return false;
    if (order > 0 && !ascends(text, j, nextText, to)) return false;
    hunks.add(i, nextBase, j, nextText);
    i = nextBase;
    j = nextText;
  }
  if (!ascends(base, i, lineEnd(base, i, end), end) || !ascends(text, j, lineEnd(text, j, to), to)) return false;
  hunks.add(i, end, j, to);
  return true;
}

/**
 * Which of two lines comes first.
 * @param same bytes that both begin with; they differ behind them
 * @returns below 0: that of the base, above 0: that of the text, 0: both have the same path
 */
function orderOfPaths(base: Buffer, i: number, text: Buffer, j: number, same: number): number {
  for (let k = 0; k < same; k++) {
    if (base[i + k] === NUL) return 0;
  }
  return (base[i + same] ?? 0) - (text[j + same] ?? 0);
}

/** Whether the path of a line comes before that of the next, if there is one. */
function ascends(bytes: Buffer, line: number, next: number, end: number): boolean {
  if (next >= end) return true;
  let k = 0;
  while (line + k < next && bytes[line + k] === bytes[next + k] && bytes[line + k] !== NUL) k++;
  return (bytes[line + k] ?? 0) < (bytes[next + k] ?? 0);
}

/** Where the next line begins. */
function lineEnd(bytes: Buffer, line: number, end: number): number {
  const at = bytes.indexOf(LF, line);
  return at < 0 || at >= end ? end : at + 1;
}
