import { asBuffer } from '../formats/bytes.js';
import { HUNK_HEADER } from '../formats/hunks.js';

/**
 * Whether a delta makes a text, without making it: what the hunks leave and what they insert is compared with the text
 * where it would stand. Shares nothing with what makes deltas, and believes nothing of them.
 */
export function makesText(base: Uint8Array, delta: Uint8Array, text: Uint8Array): boolean {
  const from = asBuffer(base);
  const hunks = asBuffer(delta);
  const to = asBuffer(text);
  let covered = 0;
  let made = 0;
  const isNext = (source: Buffer, start: number, end: number): boolean => {
    const length = end - start;
    if (length < 0 || end > source.length || made + length > to.length) return false;
    if (to.compare(source, start, end, made, made + length) !== 0) return false;
    made += length;
    return true;
  };
  for (let at = 0; at < hunks.length; ) {
    if (at + HUNK_HEADER > hunks.length) return false;
    const start = hunks.readInt32BE(at);
    const end = hunks.readInt32BE(at + 4);
    const next = at + HUNK_HEADER + hunks.readInt32BE(at + 8);
    if (start < covered || end < start || !isNext(from, covered, start) || !isNext(hunks, at + HUNK_HEADER, next)) return false;
    covered = end;
    at = next;
  }
  return isNext(from, covered, from.length) && made === to.length;
}
