/** Texts rebuilt and nodes computed as plainly as can be: what the code under test is compared with. */
import { createHash } from 'node:crypto';

import type { Revision } from '../../src/index.js';
import { FULL_TEXT, NULL_BASE } from '../../src/index.js';

/** Hunks onto a text. */
function apply(base: Buffer, delta: Buffer): Buffer {
  const parts: Buffer[] = [];
  let copied = 0;
  for (let at = 0; at < delta.length; ) {
    const [start, end, length] = [delta.readInt32BE(at), delta.readInt32BE(at + 4), delta.readInt32BE(at + 8)];
    parts.push(base.subarray(copied, start), delta.subarray(at + 12, at + 12 + length));
    copied = end;
    at += 12 + length;
  }
  return Buffer.concat([...parts, base.subarray(copied)]);
}

/** What is needed of a revision. */
export type Stored = Pick<Revision, 'rev' | 'node' | 'p1' | 'p2' | 'flags' | 'deltaBase' | 'delta' | 'damaged'>;

/** The text of each revision; undefined where it, or what it is built on, is damaged. */
export function referenceTexts(revisions: readonly Stored[]): (Buffer | undefined)[] {
  const texts: (Buffer | undefined)[] = [];
  for (const { deltaBase, delta, damaged } of revisions) {
    const base = deltaBase < 0 ? Buffer.alloc(0) : texts[deltaBase];
    if (damaged || delta === undefined || base === undefined) texts.push(undefined);
    else if (deltaBase === FULL_TEXT) texts.push(Buffer.from(delta));
    else texts.push(apply(deltaBase === NULL_BASE ? Buffer.alloc(0) : base, Buffer.from(delta)));
  }
  return texts;
}

/** Censored, ellipsis, externally stored: the node is not the hash of what is stored. */
const NOT_HASHED = 0xe000;

/** Whether the node of a revision is the SHA-1 of its parents' and its text. */
export function isNodeRight(revisions: readonly Stored[], rev: number, text: Buffer): boolean {
  const revision = revisions[rev];
  if (revision === undefined || (revision.flags & NOT_HASHED) !== 0) return true;
  const parents = [revision.p1, revision.p2].map((parent) => Buffer.from(revisions[parent]?.node ?? Buffer.alloc(20)));
  parents.sort((a, b) => Buffer.compare(a, b));
  return createHash('sha1').update(Buffer.concat([...parents, text])).digest().equals(revision.node);
}
