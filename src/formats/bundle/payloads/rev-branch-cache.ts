import { NODE } from '../changegroup.js';
import type { EntryFormat } from './entry-format.js';

/** The changesets of a branch. */
export interface BranchNodes {
  /** Latin-1: one character a byte. */
  readonly name: string;
  /** 20 bytes a changeset. */
  readonly open: Buffer;
  /** Those that close the branch. */
  readonly closed: Buffer;
}

const HEAD = 12;

/**
 * The payload of a cache:rev-branch-cache part (source: what Mercurial 6.3 and 7.2 write): u32 length of the name, u32 changesets, u32
 * changesets that close the branch; the name; their nodes.
 */
export const REV_BRANCH_CACHE: EntryFormat<BranchNodes> = {
  headBytes: HEAD,
  lengthOf: (head) => HEAD + head.readUInt32BE(0) + NODE * (head.readUInt32BE(4) + head.readUInt32BE(8)),
  decode(entry) {
    const nodes = HEAD + entry.readUInt32BE(0);
    const closed = nodes + NODE * entry.readUInt32BE(4);
    return { name: entry.toString('latin1', HEAD, nodes), open: entry.subarray(nodes, closed), closed: entry.subarray(closed) };
  },
};
