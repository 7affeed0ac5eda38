import { asBuffer } from '../formats/bytes.js';
import { HunkRows } from './hunk-rows.js';

/**
 * One delta that does what many do, one after the other, without the texts. What a later one replaces is gone, so it is
 * no longer than all of them together. Pairs are folded, then pairs of what came of that: a hunk is moved as often as
 * the number of deltas can be halved, and no insert is copied before the end.
 * @param deltas checked ones (`patchedSize` of formats/hunks.ts), each against the text that the one before makes
 * @returns the hunks from the base of the first to the text of the last, none touching the next; empty for no deltas
 */
export function foldChain(deltas: readonly Uint8Array[]): Buffer {
  const sources = deltas.map((delta) => (Buffer.isBuffer(delta) ? delta : asBuffer(delta)));
  let current = new HunkRows();
  sources.forEach((delta, source) => current.read(delta, source));
  for (let next = new HunkRows(); current.lists > 1; ) {
    next.clear();
    for (let list = 0; list < current.lists; list += 2) next.fold(current, list);
    [current, next] = [next, current];
  }
  return current.write(sources);
}
