import { HUNK_HEADER } from '../formats/hunks.js';

const LF = 10;

/**
 * Whether a delta exchanges whole lines only. Mercurial reads what the deltas of manifests insert as whole lines.
 * @param base the text that the delta starts from
 * @param delta the hunks, checked before by `patchedSize`
 * @returns true where each hunk begins and ends where a line of the base begins, or at its end, and inserts nothing or
 *   whole lines; the last line of the text made may lack its LF
 */
export function isLineAligned(base: Uint8Array, delta: Uint8Array): boolean {
  const view = new DataView(delta.buffer, delta.byteOffset, delta.byteLength);
  let done = -1;
  for (let at = 0; at + HUNK_HEADER <= delta.length; ) {
    const start = view.getInt32(at);
    const end = view.getInt32(at + 4);
    const next = at + HUNK_HEADER + view.getInt32(at + 8);
    if (!isLineStart(base, start) || !isLineStart(base, end)) return false;
    const inserts = next > at + HUNK_HEADER;
    const endsText = end === base.length && next === delta.length;
    if (inserts && !endsText && delta[next - 1] !== LF) return false;
    // behind a last line without LF, if it is still there, nothing can be put
    if (inserts && start === base.length && start > 0 && done < start && base[start - 1] !== LF) return false;
    done = end;
    at = next;
  }
  return true;
}

const isLineStart = (base: Uint8Array, at: number): boolean => at === 0 || at === base.length || base[at - 1] === LF;
