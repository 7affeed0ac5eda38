/** What is known of a type of part. */
export interface PartType {
  /** Letters, digits and signs, in lower case; one that ends with `:` stands for all that begin with it. */
  readonly type: string;
  /** What it is about, where it is lost with the part: 'history', a 'cache' that is made anew, or an 'exchange' between two programs, which no file has. */
  readonly holds: 'history' | 'cache' | 'exchange';
}

/** The types of parts that Mercurial 6.3 and 7.2 know (source: `hg help internals.bundle2`; stream parts and caches: tried). */
export const PART_TYPES: readonly PartType[] = [
  { type: 'changegroup', holds: 'history' },
  { type: 'stream2', holds: 'history' },
  { type: 'obsmarkers', holds: 'history' },
  { type: 'phase-heads', holds: 'history' },
  { type: 'bookmarks', holds: 'history' },
  { type: 'hgtagsfnodes', holds: 'cache' },
  { type: 'cache:rev-branch-cache', holds: 'cache' },
  { type: 'listkeys', holds: 'history' },
  { type: 'pushkey', holds: 'history' },
  { type: 'pushvars', holds: 'exchange' },
  { type: 'output', holds: 'exchange' },
  { type: 'remote-changegroup', holds: 'history' },
  { type: 'replycaps', holds: 'exchange' },
  { type: 'reply:', holds: 'exchange' },
  { type: 'check:', holds: 'exchange' },
  { type: 'error:', holds: 'exchange' },
];

/** @returns undefined where the type is not known */
export const findPartType = (type: string): PartType | undefined => PART_TYPES.find((known) => (known.type.endsWith(':') ? type.startsWith(known.type) : known.type === type));
