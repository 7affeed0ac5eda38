import { HUNK_HEADER } from '../formats/hunks.js';
import { ByteMatcher } from './byte-match.js';
import { commonHead, commonTail } from './common.js';
import { HunkList } from './hunk-list.js';
import { LineWalker } from './line-walk.js';
import { asOneKind, readInt32 } from './memory.js';
import type { Pair } from './pair.js';
import { matchSortedLines } from './sorted-lines.js';

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
  /**
   * A delta of somebody else's, made as small as one of `diff` with `lines: false` where it can be: only what it
   * replaces is looked at, which takes far less time than a new diff.
   * @param base the text that the delta starts from
   * @param delta hunks that make `text`: they were applied, and made it
   * @param text the text that it makes
   * @returns the hunks, in memory of their own; as long as `delta`, or shorter
   */
  tighten(base: Uint8Array, delta: Uint8Array, text: Uint8Array): Uint8Array;
}

/** What replaces or is replaced by no more than this many bytes is one hunk: to copy some of them would cost more. */
const FEW_BYTES = 12;

const LF = 10;

/** A differ with working memory of its own, used again for each pair of texts: make one for a thread. */
export function createDiffer(): Differ {
  const hunks = new HunkList();
  const walker = new LineWalker();
  const bytes = new ByteMatcher();

  const findLines = (pair: Pair): void => {
    if (isOneHunk(pair)) {
      hunks.add(pair.start, pair.end, pair.from, pair.to);
    } else if (!matchSortedLines(pair, hunks)) {
      hunks.clear();
      walker.walk(pair, (start, end, from, to) => hunks.add(start, end, from, to));
    }
  };

  /** Finds hunks that are still to be trimmed. */
  const findBytes = (pair: Pair): void => {
    const { base, text } = pair;
    if (isOneHunk(pair)) {
      hunks.add(pair.start, pair.end, pair.from, pair.to);
      return;
    }
    const whole = wholeLines(pair);
    if (isOneLine(whole)) bytes.match(pair, hunks);
    else walker.walk(whole, (start, end, from, to) => bytes.match({ base, start, end, text, from, to }, hunks));
  };

  const find = (base: Buffer, text: Buffer, lines: boolean): void => {
    const limit = Math.min(base.length, text.length);
    const head = commonHead(base, 0, text, 0, limit);
    if (head === limit && base.length === text.length) return;
    const tail = commonTail(base, base.length, text, text.length, limit - head);
    const pair = { base, start: head, end: base.length - tail, text, from: head, to: text.length - tail };
    if (lines) {
      findLines(wholeLines(pair));
    } else {
      findBytes(pair);
      hunks.trim(base, text);
    }
  };

  const written = (text: Buffer): Buffer => {
    const delta = Buffer.allocUnsafe(hunks.deltaLength);
    hunks.write(text, delta);
    return delta;
  };

  return {
    diff(base, text, { lines }) {
      hunks.clear();
      const made = asOneKind(text);
      find(asOneKind(base), made, lines);
      return written(made);
    },
    tighten(base, delta, text) {
      hunks.clear();
      const [from, given, made] = [asOneKind(base), asOneKind(delta), asOneKind(text)];
      let covered = 0;
      let at = 0;
      for (let next = 0; next + HUNK_HEADER <= given.length; ) {
        const [start, end, length] = [readInt32(given, next), readInt32(given, next + 4), readInt32(given, next + 8)];
        at += start - covered;
        bytes.match({ base: from, start, end, text: made, from: at, to: at + length }, hunks);
        at += length;
        covered = end;
        next += HUNK_HEADER + length;
      }
      hunks.trim(from, made);
      return hunks.deltaLength < given.length ? written(made) : delta;
    },
  };
}

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
