import type { Duplex } from 'node:stream';

import { createNodeCheck, NULL_NODE } from '../delta/node-hash.js';
import type { SpoiltRevisions } from '../delta/spoilt.js';
import { RevconvertError } from '../errors.js';
import { ByteCollector } from '../formats/byte-collector.js';
import type { RevisionStep } from '../streams/stage.js';
import { stageOf, toTransform } from '../streams/stage.js';

export interface CheckNodeOptions {
  /** The node of an earlier revision of the revlog; that of the null revision for -1. */
  readonly nodeOf: (rev: number) => Uint8Array;
  readonly spoilt?: SpoiltRevisions | undefined;
  /** Called for each revision whose text is not what its node says; without it the first is an error. */
  readonly onDamage?: ((error: RevconvertError) => void) | undefined;
}

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

/**
 * A step that compares the node of each revision with the SHA-1 of its parents and `text`. Revisions without text, and
 * those whose flags say that the node is the hash of something else, pass.
 * @throws RevconvertError NODE_MISMATCH with path and revision
 */
export function createCheckNodeStep({ nodeOf, spoilt, onDamage }: CheckNodeOptions): RevisionStep {
  const check = createNodeCheck(nodeOf);
  return ({ path }, revision) => {
    const { text, node, rev, position } = revision;
    const found = text === undefined ? undefined : check(revision, text);
    if (found === undefined) return;
    const error = new RevconvertError('NODE_MISMATCH', `parents and text hash to ${hex(found)}, the node is ${hex(node)}`, { path, rev, offset: position });
    if (onDamage === undefined) throw error;
    spoilt?.add(rev);
    revision.text = undefined;
    onDamage(error);
  };
}

/**
 * Compares the node of each revision with its parents and `text`: a Transform over batches, in object mode. The stream
 * has every revision of one revlog, from the first on: parents are known by what passed before.
 * @throws (as the stream's error) RevconvertError NODE_MISMATCH with path and revision; INTERNAL where `text` is missing
 */
export function checkNode(): Duplex {
  const nodes = new ByteCollector(1 << 12);
  const nodeOf = (rev: number): Uint8Array => (rev < 0 ? NULL_NODE : nodes.view().subarray(rev * NULL_NODE.length, (rev + 1) * NULL_NODE.length));
  const remember: RevisionStep = ({ path }, revision) => {
    if (revision.rev * NULL_NODE.length !== nodes.length) throw new RevconvertError('INTERNAL', 'revisions must come in order, from 0 on', { path, rev: revision.rev });
    if (revision.text === undefined && !revision.damaged) throw new RevconvertError('INTERNAL', 'the text was not resolved by an earlier stage', { path, rev: revision.rev });
    nodes.append(revision.node);
  };
  return toTransform(stageOf(remember, createCheckNodeStep({ nodeOf })));
}
