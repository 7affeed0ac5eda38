/** Flags of revisions: 16 bits of an index entry. Source: `hg help internals.revlogs`, and Mercurial 6.3 and 7.2, tried. */

/** The chunk holds a tombstone; the node is that of the text that stood there. */
export const FLAG_CENSORED = 0x8000;
/** History was cut: the node is the hash of other parents. */
export const FLAG_ELLIPSIS = 0x4000;
/** The chunk holds a pointer to the text, which lies elsewhere. */
export const FLAG_EXTERNAL = 0x2000;

/** The text begins with metadata: said in revlogs whose header allows it (Mercurial 7.1+), where both parents may be there. */
export const FLAG_HAS_META = 0x0800;

/** A full text, or a snapshot: in revlogs whose header says that the flags of deltas count (Mercurial 7.1+). */
export const FLAG_SNAPSHOT = 0x0400;
/** How good a delta is, in the same revlogs: the opinion of who wrote it, and whether it tells it. */
export const FLAGS_QUALITY = 0x03c0;

const NOT_HASHED = FLAG_CENSORED | FLAG_ELLIPSIS | FLAG_EXTERNAL;

/**
 * Whether the node of a revision can be compared with its text. It cannot where the text was censored (a tombstone
 * stands in its place), where its history was cut (ellipsis: other parents were hashed), and where the text is
 * elsewhere (a pointer stands in its place).
 */
export const isHashed = (flags: number): boolean => (flags & NOT_HASHED) === 0;

const NAMES: readonly (readonly [number, string])[] = [
  [FLAG_CENSORED, 'censored'],
  [FLAG_ELLIPSIS, 'ellipsis'],
  [FLAG_EXTERNAL, 'stored elsewhere'],
  [0x1000, 'has copies info'],
  [FLAG_HAS_META, 'has metadata'],
  [FLAG_SNAPSHOT, 'snapshot'],
  [FLAGS_QUALITY, 'quality of the delta'],
];

/** Flags as a person knows them; those that have no name in hexadecimal. */
export function flagNames(flags: number): string[] {
  const known = NAMES.filter(([bits]) => (flags & bits) !== 0);
  const rest = known.reduce((left, [bits]) => left & ~bits, flags);
  return [...known.map(([, name]) => name), ...(rest === 0 ? [] : [`0x${rest.toString(16).padStart(4, '0')}`])];
}
