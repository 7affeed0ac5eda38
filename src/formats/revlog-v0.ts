import { RevconvertError } from '../errors.js';
import { encodeEntry, ENTRY_SIZE, viewOf } from './revlog-index.js';

/**
 * Revlog version 0, the format before 2006 that Mercurial still reads and writes. Entry, 76 bytes, big-endian
 * (source: Mercurial 6.3 and 7.2, tried):
 *
 *     0  u32  offset of the chunk
 *     4  u32  length of the chunk as stored
 *     8  i32  first revision of the delta chain: the revision itself for a full text
 *    12  i32  linkrev
 *    16  20 bytes p1, as a node (zeros: none)
 *    36  20 bytes p2
 *    56  20 bytes node
 *
 * There are no flags and no text lengths; it is never inline and never generaldelta. Its first word, the offset of
 * revision 0, is zero and doubles as the header.
 */
export const V0_ENTRY_SIZE = 76;

const nodeKey = (entries: Buffer, at: number): string => entries.toString('latin1', at, at + 20);

const NULL_NODE = '\0'.repeat(20);

/**
 * Turns a version 0 index into a table of version 1 entries: parents become revision numbers, text lengths are -1.
 * @param entries the whole index file, a multiple of 76 bytes
 * @throws RevconvertError INDEX_ENTRY where a parent is no earlier revision
 */
export function v0ToTable(entries: Buffer): Buffer {
  const count = entries.length / V0_ENTRY_SIZE;
  const table = Buffer.alloc(count * ENTRY_SIZE);
  const view = viewOf(table);
  const revs = new Map<string, number>([[NULL_NODE, -1]]);
  for (let rev = 0; rev < count; rev++) {
    const at = rev * V0_ENTRY_SIZE;
    const parent = (from: number): number => {
      const found = revs.get(nodeKey(entries, from));
      if (found !== undefined) return found;
      throw new RevconvertError('INDEX_ENTRY', `parent ${entries.toString('hex', from, from + 20)} is not an earlier revision`, { rev, offset: at });
    };
    encodeEntry(view, rev * ENTRY_SIZE, {
      offset: entries.readUInt32BE(at),
      flags: 0,
      chunkLength: entries.readInt32BE(at + 4),
      rawSize: -1,
      baseField: entries.readInt32BE(at + 8),
      linkRev: entries.readInt32BE(at + 12),
      p1: parent(at + 16),
      p2: parent(at + 36),
      node: entries.subarray(at + 56, at + 76),
    });
    revs.set(nodeKey(entries, at + 56), rev);
  }
  return table;
}
