import type { Revision } from '../formats/record.js';

/**
 * The revisions of a revlog whose text cannot be had, or is not theirs, and all that is built on them.
 * Nothing may be computed from the text of a spoilt revision.
 */
export interface SpoiltRevisions {
  add(rev: number): void;
  has(rev: number): boolean;
}

export const createSpoiltRevisions = (): SpoiltRevisions => new Set<number>();

/** Whether a revision is damaged, or built on one that is spoilt; it is one of them then. */
export function isSpoilt(revision: Revision, spoilt: SpoiltRevisions): boolean {
  if (!revision.damaged && !spoilt.has(revision.rev) && !spoilt.has(revision.deltaBase)) return false;
  spoilt.add(revision.rev);
  return true;
}
