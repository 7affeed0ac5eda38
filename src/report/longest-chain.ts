import type { RevlogIndex } from '../formats/revlog-index.js';

/** Where a chain ends. */
export interface ChainEnd {
  readonly rev: number;
  /** Deltas to apply to the full text that the chain begins with; 0: the revision is that text. */
  readonly deltas: number;
}

/** The end of the longest chain of a revlog, the last where there are several; undefined: no revisions. */
export function findLongestChain(index: RevlogIndex): ChainEnd | undefined {
  const deltas = new Int32Array(index.length);
  let longest = 0;
  for (let rev = 0; rev < index.length; rev++) {
    const base = index.deltaBase(rev);
    if (base >= 0) deltas[rev] = (deltas[base] ?? 0) + 1;
    if ((deltas[rev] ?? 0) >= (deltas[longest] ?? 0)) longest = rev;
  }
  return index.length === 0 ? undefined : { rev: longest, deltas: deltas[longest] ?? 0 };
}
