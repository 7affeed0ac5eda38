import { HUNK_HEADER } from '../formats/hunks.js';
import { grown, readInt32, writeInt32 } from './memory.js';

/** A row: start and end in the base, length of the insert, which delta holds it, and where in it. */
const FIELDS = 5;

/**
 * Lists of hunks, one behind the other in one array, and how two of them become one. Inserts are not copied: a row says
 * where they are.
 */
export class HunkRows {
  #rows = new Int32Array(64 * FIELDS);
  /** Numbers in use. */
  #used = 0;
  /** Where each list ends. */
  #ends: number[] = [];

  /** Lists, as they are now. */
  get lists(): number {
    return this.#ends.length;
  }

  clear(): void {
    this.#used = 0;
    this.#ends = [];
  }

  /** Adds the hunks of a delta as a list. */
  read(delta: Buffer, source: number): void {
    for (let at = 0; at + HUNK_HEADER <= delta.length; ) {
      this.#reserve(1);
      const length = readInt32(delta, at + 8);
      this.#add(readInt32(delta, at), readInt32(delta, at + 4), length, source, at + HUNK_HEADER);
      at += HUNK_HEADER + length;
    }
    this.#ends.push(this.#used);
  }

  /**
   * Adds, as one list, what two lists that follow each other in `from` do one after the other; the first as it is where
   * there is no second.
   */
  fold(from: HunkRows, list: number): void {
    const start = list === 0 ? 0 : (from.#ends[list - 1] ?? 0);
    const middle = from.#ends[list] ?? 0;
    const end = from.#ends[list + 1] ?? middle;
    // Every hunk of the second list can cut one of the first in two.
    this.#reserve((middle - start + 2 * (end - middle)) / FIELDS);
    this.#merge(from.#rows, start, middle, end);
    this.#ends.push(this.#used);
  }

  /** The first list as a delta. Hunks that touch become one. */
  write(sources: readonly Buffer[]): Buffer {
    const rows = this.#rows;
    const end = this.#ends[0] ?? 0;
    let size = 0;
    for (let at = 0; at < end; at += FIELDS) size += (rows[at + 2] ?? 0) + (touches(rows, at) ? 0 : HUNK_HEADER);
    const delta = Buffer.allocUnsafeSlow(size);
    let written = 0;
    let header = 0;
    for (let at = 0; at < end; at += FIELDS) {
      if (!touches(rows, at)) {
        header = written;
        written += HUNK_HEADER;
        writeInt32(delta, header, rows[at] ?? 0);
      }
      const from = rows[at + 4] ?? 0;
      const source = sources[rows[at + 3] ?? 0];
      written += source?.copy(delta, written, from, from + (rows[at + 2] ?? 0)) ?? 0;
      writeInt32(delta, header + 4, rows[at + 1] ?? 0);
      writeInt32(delta, header + 8, written - header - HUNK_HEADER);
    }
    return delta;
  }

  /**
   * Rows from `start` to `middle` lead from the base to a text in between, those from there to `end` from that on. The
   * rows of the first are taken as they come; each of the second takes the place of what it replaces of them.
   */
  #merge(rows: Int32Array, start: number, middle: number, end: number): void {
    /** The row of the first list that is next, and how much of its insert is taken already. */
    let at = start;
    let taken = 0;
    /** What to add to a place in the base to get the place in the text between, before that row. */
    let shift = 0;
    const passRow = (): void => {
      shift += (rows[at + 2] ?? 0) - ((rows[at + 1] ?? 0) - (rows[at] ?? 0));
      at += FIELDS;
      taken = 0;
    };
    /** The place in the base of one in the text between; where that is within an insert, the end of what the insert replaced. */
    const baseOf = (place: number): number => (taken > 0 ? (rows[at + 1] ?? 0) : place - shift);
    for (let next = middle; next < end; next += FIELDS) {
      const from = rows[next] ?? 0;
      const to = rows[next + 1] ?? 0;
      while (at < middle && insertEnd(rows, at, shift) <= from) {
        this.#addRest(rows, at, taken);
        passRow();
      }
      if (at < middle && (rows[at] ?? 0) + shift + taken < from) {
        const length = from - (rows[at] ?? 0) - shift;
        this.#addPart(rows, at, taken, length);
        taken = length;
      }
      const baseStart = baseOf(from);
      while (at < middle && insertEnd(rows, at, shift) < to) passRow();
      if (at < middle && (rows[at] ?? 0) + shift < to) taken = to - (rows[at] ?? 0) - shift;
      this.#add(baseStart, baseOf(to), rows[next + 2] ?? 0, rows[next + 3] ?? 0, rows[next + 4] ?? 0);
    }
    while (at < middle) {
      this.#addRest(rows, at, taken);
      passRow();
    }
  }

  /** Adds what is left of a row whose insert is taken up to some byte; nothing where nothing is left. */
  #addRest(rows: Int32Array, at: number, taken: number): void {
    this.#addPart(rows, at, taken, rows[at + 2] ?? 0);
  }

  #addPart(rows: Int32Array, at: number, from: number, to: number): void {
    const end = rows[at + 1] ?? 0;
    this.#add(from === 0 ? (rows[at] ?? 0) : end, end, to - from, rows[at + 3] ?? 0, (rows[at + 4] ?? 0) + from);
  }

  #add(start: number, end: number, length: number, source: number, offset: number): void {
    if (start === end && length === 0) return;
    const rows = this.#rows;
    const at = this.#used;
    rows[at] = start;
    rows[at + 1] = end;
    rows[at + 2] = length;
    rows[at + 3] = source;
    rows[at + 4] = offset;
    this.#used = at + FIELDS;
  }

  #reserve(rows: number): void {
    this.#rows = grown(this.#rows, this.#used + rows * FIELDS);
  }
}

/** Where the insert of a row ends in the text that its list makes. */
const insertEnd = (rows: Int32Array, at: number, shift: number): number => (rows[at] ?? 0) + shift + (rows[at + 2] ?? 0);

/** Whether a row begins where the one before it ends. */
const touches = (rows: Int32Array, at: number): boolean => at > 0 && rows[at - FIELDS + 1] === rows[at];
