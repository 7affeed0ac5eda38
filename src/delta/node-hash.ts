/** Nodes: SHA-1 of the smaller parent's node, the larger parent's, and the raw text (source: `hg help internals.revlogs`). */
import { createHash, hash } from 'node:crypto';

import { isHashed } from '../formats/revision-flags.js';
import type { RevlogIndex } from '../formats/revlog-index.js';
import { NODE_BYTES } from '../formats/revlog-index.js';

/** The node of the null revision, which stands for a parent that is not there. */
export const NULL_NODE: Uint8Array = new Uint8Array(NODE_BYTES);

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

/** What a node is the hash of, but for the text; the fields of a record, or of an index entry. */
export interface HashedFields {
  readonly p1: number;
  readonly p2: number;
  readonly flags: number;
  readonly node: Uint8Array;
}

/**
 * Makes the comparison of nodes with texts.
 * @param nodeOf the node of an earlier revision; that of the null revision for -1
 * @returns asked with a revision and its text: what parents and text hash to, where that is not the node; undefined
 *   where it is, and where the flags say that the node is the hash of something else
 */
export function createNodeCheck(nodeOf: (rev: number) => Uint8Array): (revision: HashedFields, text: Uint8Array) => Buffer | undefined {
  const hashNode = createNodeHasher();
  return ({ p1, p2, flags, node }, text) => {
    if (!isHashed(flags)) return undefined;
    const found = hashNode(nodeOf(p1), nodeOf(p2), text);
    return found.compare(node) === 0 ? undefined : found;
  };
}

/** The same for the revisions of an index, by their number. */
export function createIndexCheck(index: RevlogIndex): (rev: number, text: Uint8Array) => Buffer | undefined {
  const check = createNodeCheck(nodesOf(index));
  return (rev, text) => check({ p1: index.p1(rev), p2: index.p2(rev), flags: index.flags(rev), node: index.node(rev) }, text);
}

/** The nodes of an index, the null revision among them. */
export const nodesOf = (index: Pick<RevlogIndex, 'node'>): ((rev: number) => Uint8Array) => (rev) => (rev < 0 ? NULL_NODE : index.node(rev));

/** Bytes in front of a text where {@link hashInPlace} puts its parents. */
export const NODE_HEADROOM = PARENTS_BYTES;

/**
 * The node that parents and a text make, without copying the text: the parents are written in front of it.
 * @param nodes 20 bytes for each revision, from `at` on, `stride` bytes apart
 * @param text with {@link NODE_HEADROOM} bytes in front of it that are the caller's
 * @returns 20 bytes, one character each
 */
export function hashInPlace(nodes: NodeColumn, p1: number, p2: number, text: Buffer): string {
  const whole = Buffer.from(text.buffer, text.byteOffset - PARENTS_BYTES, PARENTS_BYTES + text.length);
  const { table, at, stride } = nodes;
  const one = at + p1 * stride;
  const other = at + p2 * stride;
  // The null revision has the smallest node of all: it comes first.
  const isP1Larger = p2 < 0 || (p1 >= 0 && table.compare(table, other, other + NODE_BYTES, one, one + NODE_BYTES) > 0);
  putNode(nodes, isP1Larger ? p2 : p1, whole, 0);
  putNode(nodes, isP1Larger ? p1 : p2, whole, NODE_BYTES);
  return hash('sha1', whole, 'binary');
}

/** Where the nodes of a revlog stand in memory. */
export interface NodeColumn {
  readonly table: Buffer;
  readonly at: number;
  readonly stride: number;
}

function putNode({ table, at, stride }: NodeColumn, rev: number, target: Buffer, to: number): void {
  if (rev < 0) target.fill(0, to, to + NODE_BYTES);
  else table.copy(target, to, at + rev * stride, at + rev * stride + NODE_BYTES);
}

/** The node of a revision as it stands in its index, as {@link hashInPlace} gives it. */
export const nodeText = ({ table, at, stride }: NodeColumn, rev: number): string =>
  table.toString('latin1', at + rev * stride, at + rev * stride + NODE_BYTES);
