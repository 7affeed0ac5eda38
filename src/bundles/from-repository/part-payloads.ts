import type { ObsoleteMarker, ObsoleteMarkers } from '../../formats/obsstore.js';
import { PHASE_DRAFT, PHASE_PUBLIC, PHASE_SECRET } from '../../formats/phase-roots.js';
import { ENTRY_SIZE, NODE_AT, NODE_BYTES } from '../../formats/revlog-index.js';
import type { Repository } from '../../repository/open.js';
import { readSmallFile } from '../../repository/read-file.js';
import type { NodeNumbers } from './node-numbers.js';
import type { Selection } from './selection.js';
import { isSent } from './selection.js';
import { sortByNode } from './sort-by-node.js';
import type { BranchColumn } from './tasks.js';

/** What stands in the parts beside the changegroup (formats: `hg help internals.bundle2`, and what Mercurial 6.3 and 7.2 write). */

const latin1 = (text: string): Buffer => Buffer.from(text, 'latin1');

const uint32 = (...values: readonly number[]): Buffer => {
  const bytes = Buffer.allocUnsafe(4 * values.length);
  for (const [i, value] of values.entries()) bytes.writeUInt32BE(value, 4 * i);
  return bytes;
};

/** Changesets of a set that are no parents of others in it, in order. */
function headsOf(changesets: NodeNumbers, isMember: (rev: number) => boolean): number[] {
  const hasChild = new Uint8Array(changesets.length);
  const heads: number[] = [];
  for (let rev = changesets.length - 1; rev >= 0; rev--) {
    if (!isMember(rev)) continue;
    if (hasChild[rev] === 0) heads.push(rev);
    for (const parent of changesets.parentsOf(rev)) if (parent >= 0) hasChild[parent] = 1;
  }
  return heads.reverse();
}

/** `phase-heads`: a phase and a node, for the heads of each phase. Mercurial 6.3 leaves secret ones out, which its reader takes all the same. */
export function phaseHeads(changesets: NodeNumbers, selection: Selection): Buffer {
  const { phases } = selection;
  return Buffer.concat(
    [PHASE_PUBLIC, PHASE_DRAFT, PHASE_SECRET].flatMap((phase) =>
      headsOf(changesets, (rev) => isSent(selection, rev) && (phases?.[rev] ?? PHASE_PUBLIC) === phase).flatMap((rev) => [uint32(phase), latin1(changesets.nodeOf(rev))]),
    ),
  );
}

/**
 * `obsmarkers`: the version, then the markers that say how the changesets that are sent came about, and the pruned ones
 * beside them: those with one of them as successor, and those that prune one of them or a child of one; then the same of
 * what these make obsolete.
 * @returns undefined where there are none
 */
export function obsoleteMarkers(changesets: NodeNumbers, selection: Selection, { version, markers }: ObsoleteMarkers): Buffer | undefined {
  const byNode = new Map<string, ObsoleteMarker[]>();
  const enter = (node: string, marker: ObsoleteMarker): void => {
    const list = byNode.get(node);
    if (list === undefined) byNode.set(node, [marker]);
    else list.push(marker);
  };
  for (const marker of markers) {
    const isPrune = marker.successors.length === 0;
    for (const node of isPrune ? [marker.precursor, ...marker.parents] : marker.successors) enter(node, marker);
  }
  const relevant = new Set<ObsoleteMarker>();
  const seen = new Set<string>();
  const pending = [...byNode.keys()].filter((node) => {
    const rev = changesets.revOf(node);
    return rev !== undefined && isSent(selection, rev);
  });
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    if (seen.has(node)) continue;
    seen.add(node);
    for (const marker of byNode.get(node) ?? []) {
      relevant.add(marker);
      pending.push(marker.precursor);
    }
  }
  if (relevant.size === 0) return undefined;
  return Buffer.concat([Buffer.from([version]), ...markers.filter((marker) => relevant.has(marker)).map(({ bytes }) => bytes)]);
}

const FNODE_RECORD = 24;
const FNODE_PREFIX = 4;
const MAX_CACHE_BYTES = 1 << 28;

/**
 * `hgtagsfnodes`: for heads, the node of their `.hgtags`, as far as Mercurial's cache knows it.
 * @returns undefined where it knows none
 */
export function tagsFnodes({ hgFolder }: Repository, changesets: NodeNumbers, table: Uint8Array, selection: Selection): Buffer | undefined {
  const cache = readSmallFile(`${hgFolder}/cache/hgtagsfnodes1`, MAX_CACHE_BYTES);
  if (cache === undefined) return undefined;
  const heads = sortByNode(table, Int32Array.from(headsOf(changesets, (rev) => isSent(selection, rev))));
  const pieces: Buffer[] = [];
  for (const rev of heads) {
    const node = latin1(changesets.nodeOf(rev));
    const record = cache.subarray(rev * FNODE_RECORD, (rev + 1) * FNODE_RECORD);
    if (record.length < FNODE_RECORD || !record.subarray(0, FNODE_PREFIX).equals(node.subarray(0, FNODE_PREFIX))) continue;
    const fnode = record.subarray(FNODE_PREFIX);
    if (fnode.some((byte) => byte !== 0xff)) pieces.push(node, fnode);
  }
  return pieces.length === 0 ? undefined : Buffer.concat(pieces);
}

/** `cache:rev-branch-cache`: for each branch its name, and the nodes of its changesets: those that leave it open, then those that close it. */
export function* revBranchCache(columns: readonly BranchColumn[], table: Uint8Array): Generator<Buffer, void, void> {
  const branches = new Map<string, readonly [number[], number[]]>();
  for (const { names, entries } of columns) {
    const own = names.map((name) => {
      const known = branches.get(name) ?? [[], []];
      branches.set(name, known);
      return known;
    });
    for (let at = 0; at < entries.length; at += 2) {
      const place = entries[at + 1] ?? 0;
      own[place >> 1]?.[place & 1]?.push(entries[at] ?? 0);
    }
  }
  for (const name of [...branches.keys()].sort()) {
    const [open, closed] = branches.get(name) ?? [[], []];
    yield Buffer.concat([uint32(name.length, open.length, closed.length), latin1(name)]);
    for (const revs of [open, closed]) yield nodesOf(table, sortByNode(table, Int32Array.from(revs)));
  }
}

function nodesOf(table: Uint8Array, revs: Int32Array): Buffer {
  const nodes = Buffer.allocUnsafe(revs.length * NODE_BYTES);
  for (const [i, rev] of revs.entries()) {
    const at = rev * ENTRY_SIZE + NODE_AT;
    nodes.set(table.subarray(at, at + NODE_BYTES), i * NODE_BYTES);
  }
  return nodes;
}
