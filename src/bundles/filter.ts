import type { PartHeader } from '../formats/bundle/part-header.js';
import type { RevlogKind } from '../formats/record.js';

/**
 * What a filter of the user's own is: it looks at the changegroups of a bundle as they pass, and may leave out whole files. It cannot
 * leave out changesets, manifests or single revisions, nor change any: others are built on them, and every node is the hash of what it
 * stands for. All functions are optional, and answer at once, but for `onEnd`.
 */
export interface BundleFilter {
  /** Kinds of revisions whose texts are wanted. They have to be built, which takes time and memory. @default none */
  readonly texts?: readonly RevlogKind[] | undefined;
  /** A part begins. */
  onPart?(part: FilterPart): undefined;
  /** A group begins. `'drop'` leaves it out: only that of a file. */
  onGroup?(group: FilterGroup): 'keep' | 'drop' | undefined;
  /** A revision of the group that began last, if that is kept. */
  onRevision?(revision: FilterRevision, group: FilterGroup): undefined;
  /** The bundle ends. What it returns is said to whoever runs the filter. */
  onEnd?(): string | undefined | Promise<string | undefined>;
}

export type FilterPart = Readonly<Pick<PartHeader, 'type' | 'id' | 'mandatory'>>;

export interface FilterGroup {
  readonly kind: RevlogKind;
  /** The file; of a tree manifest the directory, with `/` at the end; empty for changelog and root manifest. UTF-8 where it is that. */
  readonly name: string;
}

/** A revision as a filter sees it. Nodes are 40 digits; 40 zeros: none. */
export interface FilterRevision {
  readonly node: string;
  readonly p1: string;
  readonly p2: string;
  /** The changeset that brought it. */
  readonly linkNode: string;
  /** What the delta is against. */
  readonly base: string;
  readonly flags: number;
  readonly deltaBytes: number;
  /** A copy of the delta: hunks against the text of `base`. */
  delta(): Uint8Array;
  /** A copy of the text, where texts of this kind are wanted; undefined: it is built on a revision that is not in the bundle. */
  text(): Uint8Array | undefined;
}
