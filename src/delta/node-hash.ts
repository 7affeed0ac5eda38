import { createHash, hash } from 'node:crypto';

/**
 * Nodes: SHA-1 of the smaller parent's node, the larger parent's, and the raw text (source: `hg help internals.revlogs`).
 */
export const NODE_BYTES = 20;

/** The node of the null revision, which stands for a parent that is not there. */
export const NULL_NODE: Uint8Array = new Uint8Array(NODE_BYTES);

/** Flags of revisions whose node is not the hash of what is stored. Source: Mercurial 6.3 and 7.2, tried. */
export const FLAG_CENSORED = 0x8000;
export const FLAG_ELLIPSIS = 0x4000;
export const FLAG_EXTERNAL = 0x2000;

const NOT_HASHED = FLAG_CENSORED | FLAG_ELLIPSIS | FLAG_EXTERNAL;

/**
 * Whether the node of a revision can be compared with its text. It cannot where the text was censored (a tombstone
 * stands in its place), where its history was cut (ellipsis: other parents were hashed), and where the text is
 * elsewhere (a pointer stands in its place).
 */
export const isHashed = (flags: number): boolean => (flags & NOT_HASHED) === 0;

const PARENTS_BYTES = 2 * NODE_BYTES;

/** One call of the hash over parents and text costs less than three: texts up to this size are copied behind their parents for it. */
const MAX_COPIED_BYTES = 1 << 20;

/** Gives the node that parents and text make. Has memory of its own: one for each thread. */
export type NodeHasher = (p1: Uint8Array, p2: Uint8Array, text: Uint8Array) => Buffer;

export function createNodeHasher(): NodeHasher {
  let scratch = Buffer.allocUnsafeSlow(PARENTS_BYTES + (1 << 12));
  return (p1, p2, text) => {
    const swap = Buffer.compare(p1, p2) > 0;
    const first = swap ? p2 : p1;
    const second = swap ? p1 : p2;
    if (text.length > MAX_COPIED_BYTES) return createHash('sha1').update(first).update(second).update(text).digest();
    const size = PARENTS_BYTES + text.length;
    if (size > scratch.length) scratch = Buffer.allocUnsafeSlow(Math.min(size * 2, PARENTS_BYTES + MAX_COPIED_BYTES));
    scratch.set(first, 0);
    scratch.set(second, NODE_BYTES);
    scratch.set(text, PARENTS_BYTES);
    return hash('sha1', scratch.subarray(0, size), 'buffer');
  };
}
