import { CHUNK_HEADER, NODE, REVISION_HEADER } from './changegroup.js';
import type { ChangegroupVersion } from './changegroup-version.js';
import type { ChangegroupRevision } from './items.js';

/** Versions whose revisions are a header and hunks, and nothing else. */
export type PlainVersion = Extract<ChangegroupVersion, '01' | '02' | '03' | '05'>;

const LAYOUT: Readonly<Record<PlainVersion, { readonly node: number; readonly base: number; readonly link: number; readonly flags: number }>> = {
  '01': { node: 4, base: -1, link: 64, flags: -1 },
  '02': { node: 4, base: 64, link: 84, flags: -1 },
  '03': { node: 4, base: 64, link: 84, flags: 104 },
  '05': { node: 5, base: 65, link: 85, flags: 105 },
};

/** Bit of the protocol flags of version 05: a chunk of sidedata follows. */
const HAS_SIDEDATA = 1;

export const hasSidedata = (chunk: Uint8Array): boolean => ((chunk[CHUNK_HEADER] ?? 0) & HAS_SIDEDATA) !== 0;

/**
 * Reads a revision; nothing is copied.
 * @param chunk the whole chunk, its length included; long enough for the header
 * @param previous the node of the revision before it in its group: in version 01 what the delta is against. @default its p1
 * @param offset where the chunk begins, for messages
 */
export function parseRevision(chunk: Buffer, version: PlainVersion, previous: Uint8Array | undefined, offset: number, sidedata?: Uint8Array): ChangegroupRevision {
  const { node, base, link, flags } = LAYOUT[version];
  const p1 = chunk.subarray(node + NODE, node + 2 * NODE);
  return {
    node: chunk.subarray(node, node + NODE),
    p1,
    p2: chunk.subarray(node + 2 * NODE, node + 3 * NODE),
    base: base < 0 ? (previous ?? p1) : chunk.subarray(base, base + NODE),
    linkNode: chunk.subarray(link, link + NODE),
    flags: flags < 0 ? 0 : chunk.readUInt16BE(flags),
    delta: chunk.subarray(CHUNK_HEADER + REVISION_HEADER[version]),
    sidedata,
    offset,
  };
}
