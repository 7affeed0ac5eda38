import type { ChangegroupVersion, WrittenVersion } from './changegroup-version.js';
import type { ChangegroupRevision } from './items.js';

/**
 * A changegroup is made of chunks (source: `hg help internals.changegroups`; versions 04 and 05: tried with Mercurial 6.3
 * and 7.2). A chunk is its length (i32, itself included), and that much; an empty one is 0, and 1 to 4 are no lengths.
 *
 *     changelog: revisions, empty chunk
 *     manifest: revisions, empty chunk
 *     from version 03 on: for each directory of a tree manifest its name with `/`, revisions, empty chunk; then an empty chunk
 *     for each file: its name, revisions, empty chunk; then an empty chunk
 *
 * A revision is a header, and hunks:
 *
 *     01   80 bytes  node p1 p2 linknode; the delta is against the revision before it in the group, that of the first against its p1
 *     02  100        node p1 p2 base linknode
 *     03  102        node p1 p2 base linknode, u16 flags
 *     04  130        as 03, then i8 snapshot level, u32 full size, u8 compression, u8 protocol flags, 20 bytes stored base, i8 stored
 *                    snapshot level (Mercurial 7.2)
 *     05  103        u8 protocol flags, then as 03; with bit 0 a chunk of sidedata follows (Mercurial 7.2; called 04 by 6.3)
 */

/** Bytes of the length of a chunk. */
export const CHUNK_HEADER = 4;

/** Bytes of a revision's header. */
export const REVISION_HEADER: Readonly<Record<ChangegroupVersion, number>> = { '01': 80, '02': 100, '03': 102, '04': 130, '05': 103 };

export const NODE = 20;

/** Whether 20 bytes, from `at` on, are the node of the null revision, which stands for a parent or base that is not there. */
export function isNullNode(bytes: Uint8Array, at = 0): boolean {
  for (let i = at; i < at + NODE; i++) if (bytes[i] !== 0) return false;
  return true;
}

/** Whether a group of directories stands between manifest and files. */
export const hasTreeGroups = (version: ChangegroupVersion): boolean => version >= '03';

/**
 * A revision's chunk, but for its delta: the length, and the header.
 * @returns CHUNK_HEADER + REVISION_HEADER[version] bytes
 */
export function encodeRevisionHeader(revision: ChangegroupRevision, version: WrittenVersion): Buffer {
  const header = Buffer.allocUnsafe(CHUNK_HEADER + REVISION_HEADER[version]);
  header.writeInt32BE(header.length + revision.delta.length, 0);
  header.set(revision.node, 4);
  header.set(revision.p1, 24);
  header.set(revision.p2, 44);
  if (version === '01') {
    header.set(revision.linkNode, 64);
    return header;
  }
  header.set(revision.base, 64);
  header.set(revision.linkNode, 84);
  if (version === '03') header.writeUInt16BE(revision.flags, 104);
  return header;
}
