import { HEX_NODE, readHexNode } from './hex-node.js';

/**
 * Metadata in front of the text of a file (source: Mercurial 6.3 and 7.2, tried): `01 LF`, lines `key: value`, `01 LF`.
 * `copy` and `copyrev` say which revision of which file it was copied from.
 */
const MARK = '\x01\n';

/** Whether a text begins with metadata, or with what looks like it. */
export const hasMeta = (text: Uint8Array): boolean => text[0] === 0x01 && text[1] === 0x0a;

/** What a file was copied from. */
export interface CopySource {
  /** A path, one character a byte. */
  readonly path: string;
}

/**
 * Reads where a file was copied from.
 * @param text begins with metadata
 * @param words the node of the source is put there
 * @returns the source, undefined where it is no copy, or what is wrong
 */
export function findCopySource(text: Buffer, words: Int32Array): CopySource | string | undefined {
  const end = text.indexOf(MARK, MARK.length);
  if (end < 0) return 'its metadata has no end';
  const fields = new Map<string, string>();
  for (const line of text.toString('latin1', MARK.length, end).split('\n').filter((one) => one !== '')) {
    const colon = line.indexOf(': ');
    if (colon < 0) return 'a line of its metadata is no `key: value`';
    fields.set(line.slice(0, colon), line.slice(colon + 2));
  }
  const path = fields.get('copy');
  const node = fields.get('copyrev');
  if (path === undefined || node === undefined) return undefined;
  if (node.length !== HEX_NODE || !readHexNode(Buffer.from(node, 'latin1'), 0, words, 0)) return 'its metadata names no node that it was copied from';
  return { path };
}

/** Whether a text says that its content was taken out. */
export const isTombstone = (text: Buffer): boolean => hasMeta(text) && text.toString('latin1', 2, 12) === 'censored: ';

/** Whether a text is a pointer to content that lies elsewhere (lfs). */
export const isPointer = (text: Buffer): boolean => text.toString('latin1', 0, 8) === 'version ';
