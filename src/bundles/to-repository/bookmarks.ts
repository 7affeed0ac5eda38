import { RevconvertError } from '../../errors.js';
import { NODE } from '../../formats/bundle/changegroup.js';
import type { Changesets } from './changesets.js';

/** In the part: no changeset; the bookmark is to go. */
const NOWHERE = Buffer.alloc(NODE, 0xff);

const HEADER_BYTES = NODE + 2;

/** Bookmarks by name, one character a byte; undefined node: it is to go. */
export type Bookmarks = ReadonlyMap<string, Buffer | undefined>;

/**
 * Reads the part `bookmarks`: for each its node, the length of its name (u16), its name.
 * @throws RevconvertError PART_MALFORMED
 */
export function parseBookmarks(bytes: Buffer): Bookmarks {
  const found = new Map<string, Buffer | undefined>();
  for (let at = 0; at < bytes.length; ) {
    const nameAt = at + HEADER_BYTES;
    const end = nameAt > bytes.length ? Infinity : nameAt + bytes.readUInt16BE(at + NODE);
    if (end > bytes.length) throw new RevconvertError('PART_MALFORMED', `a bookmark that begins at ${at} ends behind the part, which has ${bytes.length} bytes`);
    const node = bytes.subarray(at, at + NODE);
    const name = bytes.toString('latin1', nameAt, end);
    if (name.includes('\n')) throw new RevconvertError('PART_MALFORMED', `a bookmark cannot be called ${JSON.stringify(name)}`);
    found.set(name, node.equals(NOWHERE) ? undefined : node);
    at = end;
  }
  return found;
}

/** The file `.hg/bookmarks`: a line for each, by name. Those of changesets that are not here mean nothing, and are left out. */
export function serialiseBookmarks(bookmarks: Bookmarks, changesets: Changesets): Buffer {
  const lines = [...bookmarks]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, node]) => (node === undefined || changesets.find(node) < 0 ? '' : `${node.toString('hex')} ${name}\n`));
  return Buffer.from(lines.join(''), 'latin1');
}
