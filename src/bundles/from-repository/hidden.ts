import type { ObsoleteMarkers } from '../../formats/obsstore.js';
import { PHASE_ARCHIVED, PHASE_PUBLIC } from '../../formats/phase-roots.js';
import type { NodeNumbers } from './node-numbers.js';

export interface HidingFacts {
  readonly phases: Uint8Array;
  readonly obsolescence: ObsoleteMarkers | undefined;
  /** Nodes that stay visible. */
  readonly pinned: readonly string[];
}

/**
 * Changesets that Mercurial shows to nobody, and does not bundle: those that are obsolete and not public, and those in the
 * archived and in the internal phase; but for what has visible descendants, or is pinned.
 * @returns for each changeset whether it is hidden; undefined: none is
 */
export function findHidden(changesets: NodeNumbers, { phases, obsolescence, pinned }: HidingFacts): Uint8Array | undefined {
  const hidden = new Uint8Array(changesets.length);
  for (const { precursor } of obsolescence?.markers ?? []) {
    const rev = changesets.revOf(precursor);
    if (rev !== undefined && phases[rev] !== PHASE_PUBLIC) hidden[rev] = 1;
  }
  for (let rev = 0; rev < hidden.length; rev++) if ((phases[rev] ?? 0) >= PHASE_ARCHIVED) hidden[rev] = 1;
  for (const node of pinned) {
    const rev = changesets.revOf(node);
    if (rev !== undefined) hidden[rev] = 0;
  }
  let any = false;
  // Descendants come first: what is left visible makes its parents so.
  for (let rev = hidden.length - 1; rev >= 0; rev--) {
    if (hidden[rev] !== 0) any = true;
    else for (const parent of changesets.parentsOf(rev)) if (parent >= 0) hidden[parent] = 0;
  }
  return any ? hidden : undefined;
}
