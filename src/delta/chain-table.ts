import { FULL_TEXT, NULL_BASE } from '../formats/record.js';

/** Level of a revision that is no snapshot. */
export const NO_SNAPSHOT = -1;

/** What is known of the revisions of a revlog that is being written: the base of each, and what its chain costs. */
export class ChainTable {
  /** Delta base, FULL_TEXT or NULL_BASE. */
  base: Int32Array;
  /** Bytes of the chunk as stored. */
  chunkLength: Int32Array;
  /** Length of the raw text. */
  rawSize: Int32Array;
  /** Deltas between the revision and the full text of its chain; 0: it is a full text. */
  chainLength: Int32Array;
  /** Stored bytes of its chain, the full text and its own chunk among them. */
  chainBytes: Float64Array;
  /** The full text that its chain begins with. */
  chainStart: Int32Array;
  /** 0: a full text; n: a snapshot on one of level n - 1; NO_SNAPSHOT. */
  level: Int16Array;
  /** The latest snapshot built on this one; -1: none. */
  lastBuiltOn: Int32Array;
  /** The snapshot before this one that has the same base; for full texts the full text before. -1: none. */
  siblingBefore: Int32Array;
  /** Where the chunk begins among the chunks. */
  private offset: Float64Array;
  /** The latest full text; -1: none. */
  lastFullText = -1;
  /** Bytes of all chunks so far. */
  end = 0;
  /** Revisions so far. */
  length = 0;

  /** @param capacity revisions to make room for at once; it grows where there are more */
  constructor(capacity: number) {
    this.base = new Int32Array(capacity);
    this.chunkLength = new Int32Array(capacity);
    this.rawSize = new Int32Array(capacity);
    this.chainLength = new Int32Array(capacity);
    this.chainBytes = new Float64Array(capacity);
    this.chainStart = new Int32Array(capacity);
    this.level = new Int16Array(capacity);
    this.lastBuiltOn = new Int32Array(capacity).fill(-1);
    this.siblingBefore = new Int32Array(capacity).fill(-1);
    this.offset = new Float64Array(capacity);
  }

  /**
   * Adds the next revision.
   * @param base an earlier revision, FULL_TEXT or NULL_BASE
   * @param isSnapshot of a delta: whether it is a snapshot, see {@link isSnapshotOn}
   */
  add(base: number, chunkLength: number, rawSize: number, isSnapshot: boolean): void {
    if (this.length === this.base.length) this.grow();
    const rev = this.length++;
    this.base[rev] = base;
    this.chunkLength[rev] = chunkLength;
    this.rawSize[rev] = rawSize;
    this.offset[rev] = this.end;
    this.end += chunkLength;
    if (base < 0) this.addRoot(rev, chunkLength);
    else this.addDelta(rev, base, chunkLength, isSnapshot);
  }

  /** Forgets all revisions: those of another revlog come next. Memory is used again. */
  clear(): void {
    // What an add does not write.
    this.lastBuiltOn.fill(-1, 0, this.length);
    this.siblingBefore.fill(-1, 0, this.length);
    this.chainLength.fill(0, 0, this.length);
    this.level.fill(0, 0, this.length);
    this.lastFullText = -1;
    this.end = 0;
    this.length = 0;
  }

  private grow(): void {
    const capacity = Math.max(64, this.length * 2);
    const larger = <T extends Int32Array | Int16Array | Float64Array>(array: T, made: T): T => {
      made.set(array);
      return made;
    };
    this.base = larger(this.base, new Int32Array(capacity));
    this.chunkLength = larger(this.chunkLength, new Int32Array(capacity));
    this.rawSize = larger(this.rawSize, new Int32Array(capacity));
    this.chainLength = larger(this.chainLength, new Int32Array(capacity));
    this.chainBytes = larger(this.chainBytes, new Float64Array(capacity));
    this.chainStart = larger(this.chainStart, new Int32Array(capacity));
    this.level = larger(this.level, new Int16Array(capacity));
    this.lastBuiltOn = larger(this.lastBuiltOn, new Int32Array(capacity).fill(-1));
    this.siblingBefore = larger(this.siblingBefore, new Int32Array(capacity).fill(-1));
    this.offset = larger(this.offset, new Float64Array(capacity));
  }

  private addRoot(rev: number, chunkLength: number): void {
    this.chainBytes[rev] = chunkLength;
    this.chainStart[rev] = rev;
    this.siblingBefore[rev] = this.lastFullText;
    this.lastFullText = rev;
  }

  private addDelta(rev: number, base: number, chunkLength: number, isSnapshot: boolean): void {
    this.chainLength[rev] = at(this.chainLength, base) + 1;
    this.chainBytes[rev] = at(this.chainBytes, base) + chunkLength;
    this.chainStart[rev] = at(this.chainStart, base);
    const level = at(this.level, base);
    this.level[rev] = isSnapshot && level >= 0 ? Math.min(level + 1, MAX_LEVEL) : NO_SNAPSHOT;
    if (at(this.level, rev) < 0) return;
    this.siblingBefore[rev] = at(this.lastBuiltOn, base);
    this.lastBuiltOn[base] = rev;
  }

  /** Where the chunk of a revision begins, in bytes among the chunks. */
  chunkOffset(rev: number): number {
    return at(this.offset, rev);
  }

  /** Where the chain of a revision begins, in bytes among the chunks. */
  chainOffset(rev: number): number {
    return at(this.offset, at(this.chainStart, rev));
  }

  /** The revision whose text is that of `rev`, with a delta that says something: empty deltas are passed over. */
  skipEmpty(rev: number): number {
    let current = rev;
    while (at(this.chunkLength, current) === 0) {
      const base = at(this.base, current);
      if (base < 0) break;
      current = base;
    }
    return current;
  }

  /**
   * Whether a delta of a new revision against `base` is a snapshot: the base is one, and no parent (a parent whose
   * delta is empty stands for its base).
   */
  isSnapshotOn(base: number, p1: number, p2: number): boolean {
    if (base < 0) return true;
    if (at(this.level, base) < 0) return false;
    return base !== this.parent(p1) && base !== this.parent(p2) && base !== p1 && base !== p2;
  }

  private parent(rev: number): number {
    return rev < 0 ? rev : this.skipEmpty(rev);
  }

  /** The snapshots that the chain of a revision begins with, full text first. */
  snapshotsOf(rev: number): number[] {
    let current = rev;
    while (current >= 0 && at(this.level, current) < 0) current = at(this.base, current);
    const found: number[] = [];
    for (; current >= 0; current = at(this.base, current)) found.push(current);
    return found.reverse();
  }
}

const MAX_LEVEL = 0x7fff;

const at = (array: Int32Array | Int16Array | Float64Array, index: number): number => array[index] ?? 0;

/** Whether a delta base names no revision. */
export const isRoot = (base: number): boolean => base === FULL_TEXT || base === NULL_BASE;
