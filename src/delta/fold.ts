import { HUNK_HEADER } from '../formats/hunks.js';
import { asOneKind, copyBytes, readInt32, writeInt32 } from './memory.js';

/**
 * One delta for two in a row, without the texts. Hunks of whole lines make hunks of whole lines.
 * @param first the hunks from A to B
 * @param second the hunks from B to C. Both were checked before by `patchedSize`, this one against the length of B
 * @returns the hunks from A to C: in order, none touching the next; at most as long as both together, of which it may be a view
 */
export function foldDeltas(first: Uint8Array, second: Uint8Array): Uint8Array {
  if (first.length === 0) return second;
  if (second.length === 0) return first;
  const folding = new Folding(asOneKind(first), first.length + second.length);
  const hunks = asOneKind(second);
  for (let at = 0; at + HUNK_HEADER <= hunks.length; ) {
    const insert = at + HUNK_HEADER;
    const next = insert + readInt32(hunks, at + 8);
    folding.keep(readInt32(hunks, at));
    folding.drop(readInt32(hunks, at + 4));
    folding.insert(hunks, insert, next);
    at = next;
  }
  return folding.end();
}

/** Walks B as the first delta makes it, from copies of A and inserts, and writes hunks against A. */
class Folding {
  /** Place in B; the place in A, and the insert, that go on from there. */
  #b = 0;
  #a = 0;
  #insert = 0;
  #insertEnd = 0;
  /** The next hunk of the first delta, and where its copy ends. */
  #next = 0;
  #copyEnd = 0;
  readonly #out: Buffer;
  /** The hunk that is being written: where it is, where it begins in A, and where its insert ends. */
  #hunk = 0;
  #start = 0;
  #written = HUNK_HEADER;

  constructor(
    private readonly first: Buffer,
    room: number,
  ) {
    // a hunk is begun behind the last one, whether or not it will be needed
    this.#out = Buffer.allocUnsafe(room + HUNK_HEADER);
    this.#copyEnd = first.length === 0 ? Infinity : readInt32(first, 0);
  }

  /** What B has up to a place is in C. */
  keep(to: number): void {
    this.#advance(to, true);
  }

  /** What B has up to a place is not in C. */
  drop(to: number): void {
    this.#advance(to, false);
  }

  /** Bytes that only C has. */
  insert(bytes: Buffer, from: number, to: number): void {
    this.#written = copyBytes(bytes, from, to, this.#out, this.#written);
  }

  /** All that is left of B is in C. @returns the hunks */
  end(): Uint8Array {
    this.#advance(Infinity, true);
    return this.#out.subarray(0, this.#hunk);
  }

  #advance(to: number, keeps: boolean): void {
    while (this.#b < to) {
      if (this.#insert < this.#insertEnd) {
        const length = Math.min(this.#insertEnd - this.#insert, to - this.#b);
        if (keeps) this.insert(this.first, this.#insert, this.#insert + length);
        this.#insert += length;
        this.#b += length;
      } else if (this.#a < this.#copyEnd) {
        const length = Math.min(this.#copyEnd - this.#a, to - this.#b);
        if (keeps) this.#copy(this.#a, this.#a + length);
        this.#a += length;
        this.#b += length;
      } else {
        this.#enterHunk();
      }
    }
  }

  /** Passes what the next hunk of the first delta replaces. */
  #enterHunk(): void {
    const at = this.#next;
    this.#a = readInt32(this.first, at + 4);
    this.#insert = at + HUNK_HEADER;
    this.#insertEnd = this.#next = this.#insert + readInt32(this.first, at + 8);
    this.#copyEnd = this.#next < this.first.length ? readInt32(this.first, this.#next) : Infinity;
  }

  /** A stretch of A is in C: the hunk before it ends, unless there is nothing in it. */
  #copy(from: number, to: number): void {
    const insert = this.#hunk + HUNK_HEADER;
    if (from > this.#start || this.#written > insert) {
      writeInt32(this.#out, this.#hunk, this.#start);
      writeInt32(this.#out, this.#hunk + 4, from);
      writeInt32(this.#out, this.#hunk + 8, this.#written - insert);
      this.#hunk = this.#written;
      this.#written += HUNK_HEADER;
    }
    this.#start = to;
  }
}
