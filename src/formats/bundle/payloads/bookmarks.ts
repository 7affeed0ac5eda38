import type { EntryFormat } from './entry-format.js';
import { hexNode } from './entry-format.js';

export interface Bookmark {
  /** Latin-1: one character a byte. */
  readonly name: string;
  /** 40 digits. */
  readonly node: string;
}

const HEAD = 22;

/** The payload of a bookmarks part (source: `hg help internals.bundle2`): 20 bytes node, u16 length of the name, name. */
export const BOOKMARKS: EntryFormat<Bookmark> = {
  headBytes: HEAD,
  lengthOf: (head) => HEAD + head.readUInt16BE(20),
  decode: (entry) => ({ name: entry.toString('latin1', HEAD), node: hexNode(entry, 0) }),
};
