import { hasMeta } from '../../formats/filelog-meta.js';
import { HUNK_HEADER, readHunkField } from '../../formats/hunks.js';
import { FULL_TEXT } from '../../formats/record.js';
import { FLAG_CENSORED } from '../../formats/revision-flags.js';
import type { IncomingRevision } from './incoming.js';

const PLAIN = 0;
const META = 1;

/** The mark in front of metadata. */
const MARK_BYTES = 2;

/**
 * Puts the parents of file revisions in order as Mercurial does when it takes a bundle in (6.3 and 7.2, tried): where a text
 * begins with metadata and there is one parent, it is the second one, which tells readers to look for the metadata. Some
 * versions wrote it the other way round.
 */
export class CopyParents {
  /** For each revision whether its text begins with metadata. */
  #marks = new Uint8Array(64);

  /**
   * To be asked with each revision, in order.
   * @returns true: the parents are in order now; undefined: only the text can tell, which `settle` is to be given
   */
  look(revision: IncomingRevision): true | undefined {
    const mark = this.#markOf(revision);
    if (mark === undefined) return undefined;
    this.#set(revision, mark);
    return true;
  }

  settle(revision: IncomingRevision, text: Uint8Array): void {
    this.#set(revision, hasMeta(text) ? META : PLAIN);
  }

  #set(revision: IncomingRevision, mark: number): void {
    const { rev } = revision;
    if (rev >= this.#marks.length) {
      const larger = new Uint8Array(rev * 2);
      larger.set(this.#marks);
      this.#marks = larger;
    }
    this.#marks[rev] = mark;
    // A tombstone looks like metadata, and is none.
    if (mark !== META || revision.p1 < 0 || revision.p2 >= 0 || (revision.flags & FLAG_CENSORED) !== 0) return;
    revision.p2 = revision.p1;
    revision.p1 = -1;
  }

  #markOf({ deltaBase, delta, rawSize }: IncomingRevision): number | undefined {
    if (deltaBase === FULL_TEXT) return hasMeta(delta) ? META : PLAIN;
    if (rawSize < MARK_BYTES) return PLAIN;
    if (delta.length === 0 || readHunkField(delta, 0) >= MARK_BYTES) return this.#marks[deltaBase] ?? PLAIN;
    // The first hunk begins with the text, and inserts enough to tell.
    if (readHunkField(delta, 0) === 0 && readHunkField(delta, 8) >= MARK_BYTES) return hasMeta(delta.subarray(HUNK_HEADER)) ? META : PLAIN;
    return undefined;
  }
}
