import type { NodeColumn } from '../../delta/node-hash.js';
import { hashInPlace, nodeText } from '../../delta/node-hash.js';
import { RevconvertError } from '../../errors.js';
import { asBuffer } from '../../formats/bytes.js';
import { isPointer, isTombstone } from '../../formats/filelog-meta.js';
import type { Revision } from '../../formats/record.js';
import { FLAG_CENSORED, FLAG_ELLIPSIS, FLAG_EXTERNAL } from '../../formats/revision-flags.js';
import type { RevlogIndex } from '../../formats/revlog-index.js';
import { ENTRY_SIZE, NODE_AT, NODE_BYTES } from '../../formats/revlog-index.js';
import type { RevisionStep } from '../../streams/stage.js';
import type { Failures } from './failures.js';
import type { Rehashed } from './tasks.js';

/** Counts of revisions that were not hashed. */
export interface UnhashedCounts {
  censored: number;
  ellipsis: number;
  external: number;
}

/** The nodes of an index, where they stand in it. */
export const nodesIn = (index: RevlogIndex): NodeColumn => ({ table: asBuffer(index.table), at: NODE_AT, stride: ENTRY_SIZE });

export interface HashStepOptions {
  readonly index: RevlogIndex;
  readonly failures: Failures;
  readonly unhashed: UnhashedCounts;
  /** Flags that are legal here. */
  readonly unhashedFlags: number;
  /** Where the hashes of revisions go whose node is another. */
  readonly rehashed: Rehashed[];
}

/**
 * A step that compares the node of each revision with its parents and `text`, which lies in memory of a cache with room in
 * front. A text stays, sound or not: what is built on a wrong one may be right again.
 */
export function createHashStep({ index, failures, unhashed, unhashedFlags, rehashed }: HashStepOptions): RevisionStep {
  const nodes = nodesIn(index);
  const trueNodes = new Map<number, string>();
  const nodeOf = (rev: number): string => (rev < 0 ? NO_NODE : (trueNodes.get(rev) ?? nodeText(nodes, rev)));

  /** Whether the revision is right but for the node of a parent. */
  const hasWrongParent = (revision: Revision, text: Buffer): boolean => {
    const { rev, p1, p2 } = revision;
    const parent = [p1, p2].find((one) => trueNodes.has(one));
    if (parent === undefined) return false;
    const table = Buffer.from(nodeOf(p1) + nodeOf(p2), 'latin1');
    if (hashInPlace({ table, at: 0, stride: NODE_BYTES }, 0, 1, text) !== nodeText(nodes, rev)) return false;
    failures.because(rev, parent);
    return true;
  };

  return ({ path }, revision) => {
    const text = revision.text as Buffer | undefined;
    if (text === undefined) return;
    const { rev, flags, p1, p2 } = revision;
    if (flags !== 0 && isElsewhere(flags & (FLAG_CENSORED | unhashedFlags), text, unhashed)) return;
    const found = hashInPlace(nodes, p1, p2, text);
    if (isNode(nodes, rev, found)) return;
    if (hasWrongParent(revision, text)) return;
    trueNodes.set(rev, found);
    rehashed.push({ rev, node: hex(found) });
    const message = `parents and text hash to ${hex(found)}, the node is ${hex(nodeText(nodes, rev))}`;
    failures.take(new RevconvertError('NODE_MISMATCH', message, { path, rev, offset: revision.position }), revision.deltaBase);
  };
}

const NO_NODE = '\0'.repeat(NODE_BYTES);

const hex = (node: string): string => Buffer.from(node, 'latin1').toString('hex');

/** Whether the node of a revision is this, without a string for each. */
function isNode({ table, at, stride }: NodeColumn, rev: number, node: string): boolean {
  const start = at + rev * stride;
  for (let i = 0; i < NODE_BYTES; i++) if (table[start + i] !== node.charCodeAt(i)) return false;
  return true;
}

/** Whether the node is the hash of something else than the text. */
function isElsewhere(flags: number, text: Buffer, unhashed: UnhashedCounts): boolean {
  if ((flags & FLAG_CENSORED) !== 0 && isTombstone(text)) unhashed.censored++;
  else if ((flags & FLAG_EXTERNAL) !== 0 && isPointer(text)) unhashed.external++;
  else if ((flags & FLAG_ELLIPSIS) !== 0) unhashed.ellipsis++;
  else return false;
  return true;
}
