import { asBuffer } from '../formats/bytes.js';
import { commonHead, commonTail } from './common.js';
import { HunkList } from './hunk-list.js';
import type { Pair } from './pair.js';
import { matchSortedLines } from './sorted-lines.js';
import { LineWalker } from './walk.js';

export interface DiffOptions {
  /**
   * true: whole lines are exchanged, as manifests need it: hunks begin and end at line starts of the base or its end.
   * false: hunks are as small as they can be, to the byte.
   */
  readonly lines: boolean;
}

/** Makes deltas, one after the other. */
export interface Differ {
  /**
   * The delta from one text to another, in Mercurial's format (formats/hunks.ts). Equal texts give an empty one.
   * @param base the text that the delta starts from
   * @param text the text that it makes
   * @returns the hunks, in memory of their own: in order, with copies of at least 12 bytes between them
   */
  diff(base: Uint8Array, text: Uint8Array, options: DiffOptions): Uint8Array;
}

/** What replaces or is replaced by no more than this many bytes is one hunk: to copy some of them would cost more. */
const FEW_BYTES = 12;

const LF = 10;

/** A differ with working memory of its own, used again for each pair of texts: make one for a thread. */
export function createDiffer(): Differ {
  const hunks = new HunkList();
  const walker = new LineWalker();

  const findHunks = (base: Buffer, text: Buffer, lines: boolean): void => {
    const limit = Math.min(base.length, text.length);
    const head = commonHead(base, 0, text, 0, limit);
    if (head === limit && base.length === text.length) return;
    const tail = commonTail(base, base.length, text, text.length, limit - head);
    const exact = { base, start: head, end: base.length - tail, text, from: head, to: text.length - tail };
    const pair = wholeLines(exact);
    if (isOneHunk(lines ? pair : exact) || isOneLine(pair)) {
      const { start, end, from, to } = lines ? pair : exact;
      if (lines) hunks.add(start, end, from, to);
      else hunks.addTrimmed(base, start, end, text, from, to);
    } else if (!lines) {
      walker.walk(pair, true, hunks);
    } else if (!matchSortedLines(pair, hunks)) {
      hunks.clear();
      walker.walk(pair, false, hunks);
    }
  };

  return {
    diff(base, text, { lines }) {
      hunks.clear();
      const made = asOneKind(text);
      findHunks(asOneKind(base), made, lines);
      const delta = Buffer.allocUnsafe(hunks.deltaLength);
      hunks.write(made, delta);
      return delta;
    },
  };
}

/** The delta from one text to another: {@link Differ.diff} with working memory for this once. */
export const diffTexts = (base: Uint8Array, text: Uint8Array, options: DiffOptions): Uint8Array => createDiffer().diff(base, text, options);

/** Buffers only, so that the compiler sees one kind of array. */
const asOneKind = (bytes: Uint8Array): Buffer => (Buffer.isBuffer(bytes) ? bytes : asBuffer(bytes));

/** The same stretches, widened to whole lines in both texts. */
function wholeLines({ base, start, end, text, from, to }: Pair): Pair {
  const passed = start === 0 ? 0 : start - (base.lastIndexOf(LF, start - 1) + 1);
  let more = 0;
  if (!isLineStart(base, end) || !isLineStart(text, to)) {
    const at = base.indexOf(LF, end);
    more = (at < 0 ? base.length : at + 1) - end;
  }
  return { base, start: start - passed, end: end + more, text, from: from - passed, to: to + more };
}

const isLineStart = (bytes: Buffer, at: number): boolean => at === 0 || at === bytes.length || bytes[at - 1] === LF;

const isOneHunk = ({ start, end, from, to }: Pair): boolean => end - start <= FEW_BYTES || to - from <= FEW_BYTES;

/** Whether there is one line only in both. */
function isOneLine({ base, start, end, text, from, to }: Pair): boolean {
  const first = base.indexOf(LF, start);
  if (first >= 0 && first < end - 1) return false;
  const other = text.indexOf(LF, from);
  return other < 0 || other >= to - 1;
}
