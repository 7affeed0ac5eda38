import { HEX_NODE } from './hex-node.js';

/**
 * The text of a changeset (source: Mercurial 6.3 and 7.2, tried):
 *
 *     40 digits, the node of its manifest (zeros: it has none)     LF
 *     user                                                         LF
 *     seconds, offset of the time zone, then anything more         LF
 *     the path of a file that it changes                           LF, for each
 *                                                                  LF
 *     the description
 *
 * An empty text is legal: a changeset without manifest and files.
 */
export interface ChangesetFields {
  /** Where the digits of its manifest stand; -1: it names none. */
  readonly manifestAt: number;
  /** The lines of files: from the first of their bytes to behind the last LF. */
  readonly filesStart: number;
  readonly filesEnd: number;
}

const LF = 0x0a;
const SPACE = 0x20;
const DIGIT_0 = 0x30;
const DIGIT_9 = 0x39;
const NUMBER = /^\s*[-+]?(?:[0-9][0-9_]*\.?[0-9_]*|\.[0-9][0-9_]*)(?:e[-+]?[0-9]+)?$/i;
const EMPTY: ChangesetFields = { manifestAt: -1, filesStart: 0, filesEnd: 0 };

/** Finds the fields of a changeset. @returns what is wrong where it has not the form */
export function findChangesetFields(text: Buffer): ChangesetFields | string {
  if (text.length === 0) return EMPTY;
  if (endOfLine(text, 0) !== HEX_NODE) return `the first line is no node of ${HEX_NODE} digits`;
  const userEnd = endOfLine(text, HEX_NODE + 1);
  const dateEnd = endOfLine(text, userEnd + 1);
  if (dateEnd >= text.length) return 'the line of the date is missing';
  if (!isDate(text, userEnd + 1, dateEnd)) return 'the date is no number of seconds';
  const filesStart = dateEnd + 1;
  for (let start = filesStart; start < text.length; ) {
    const end = endOfLine(text, start);
    if (end === start) return { manifestAt: 0, filesStart, filesEnd: start };
    start = end + 1;
  }
  return 'no empty line ends the list of its files';
}

/** Where the LF stands that ends a line; the end of the text where there is none. Lines are short: a loop is faster than a native call. */
export function endOfLine(text: Buffer, from: number): number {
  let at = from;
  while (at < text.length && text[at] !== LF) at++;
  return at;
}

/** Whether a line begins with a number, and a space or nothing behind it. */
function isDate(text: Buffer, start: number, end: number): boolean {
  let at = start;
  for (let byte = text[at] ?? 0; at < end && byte >= DIGIT_0 && byte <= DIGIT_9; byte = text[++at] ?? 0);
  if (at > start && text[at] === SPACE) return true;
  const [seconds = ''] = text.toString('latin1', start, end).split(' ', 1);
  return NUMBER.test(seconds);
}
