import type { ErrorData } from '../../errors.js';
import type { RevlogKind } from '../../formats/record.js';

/** What the groups of one kind hold, and how much of it was checked. */
export interface KindVerification {
  readonly groups: number;
  readonly revisions: number;
  /** Revisions whose node was compared with the hash of parents and text. */
  readonly checked: number;
  /** Revisions that cannot be checked, since they are built on revisions from outside of the bundle. */
  readonly unresolved: number;
  /** Revisions whose flags say that their node is the hash of something else. */
  readonly unhashed: number;
  /** Revisions that are not sound, or are built on one that is not. */
  readonly failed: number;
  /** Bytes of deltas. */
  readonly deltaBytes: number;
  /** Bytes of the texts that were resolved. */
  readonly textBytes: number;
}

/** Revisions that were not hashed, by why. */
export interface UnhashedRevisions {
  readonly censored: number;
  readonly ellipsis: number;
  readonly external: number;
}

export interface BundleVerification {
  /** Nothing is wrong. */
  readonly sound: boolean;
  /** Changegroups in the bundle. */
  readonly changegroups: number;
  readonly kinds: Readonly<Record<RevlogKind, KindVerification>>;
  readonly unhashed: UnhashedRevisions;
  /** Parents and delta bases that are in no changegroup of the bundle: those of an incremental bundle. */
  readonly outsideParents: number;
  readonly outsideBases: number;
  /** How much is wrong. */
  readonly damages: number;
  /** What is wrong, in the order of the bundle: at most {@link MAX_LISTED} of it. */
  readonly damage: readonly ErrorData[];
  /** What is odd, and does no harm. */
  readonly warnings: readonly string[];
}

/** Damage that is listed, at most. */
export const MAX_LISTED = 1000;
