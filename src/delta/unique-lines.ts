import { grown } from './memory.js';

/** A stretch of the lines of both texts, by class: `a` from `aStart` to `aEnd` against `b` from `bStart` to `bEnd`. */
export interface Region {
  readonly a: Int32Array;
  readonly aStart: number;
  readonly aEnd: number;
  readonly b: Int32Array;
  readonly bStart: number;
  readonly bEnd: number;
}

/** Finds the lines that stand once in both texts, and the longest series of them that has the same order in both. */
export class UniqueLines {
  /** For each class: lines of `a` and of `b`, and the place of the last in `b`. */
  #countsA = new Int32Array(0);
  #countsB = new Int32Array(0);
  #placesB = new Int32Array(0);
  /** For each line of `a` that stands once in both: its place, its place in `b`, and the line before it in its series. */
  #ownA = new Int32Array(0);
  #ownB = new Int32Array(0);
  #before = new Int32Array(0);
  /** For each length of a series: the last line of the one that ends first in `b`. */
  #ends = new Int32Array(0);

  /**
   * @param region where to look
   * @param classes number of classes
   * @param matches for lines of `a`: takes the place in `b`
   * @returns lines matched
   */
  match(region: Region, classes: number, matches: Int32Array): number {
    const count = this.#collect(region, classes);
    let longest = 0;
    const [own, before, ends] = [this.#ownB, this.#before, this.#ends];
    for (let line = 0; line < count; line++) {
      const place = own[line] ?? 0;
      let low = 0;
      for (let high = longest; low < high; ) {
        const middle = (low + high) >>> 1;
        if ((own[ends[middle] ?? 0] ?? 0) < place) low = middle + 1;
        else high = middle;
      }
      before[line] = low === 0 ? -1 : (ends[low - 1] ?? -1);
      ends[low] = line;
      if (low === longest) longest++;
    }
    for (let line = longest === 0 ? -1 : (ends[longest - 1] ?? -1); line >= 0; line = before[line] ?? -1) {
      matches[this.#ownA[line] ?? 0] = own[line] ?? 0;
    }
    return longest;
  }

  /** Lists the lines that stand once in both, in the order of `a`; how many. */
  #collect({ a, aStart, aEnd, b, bStart, bEnd }: Region, classes: number): number {
    const countsA = (this.#countsA = grown(this.#countsA, classes));
    const countsB = (this.#countsB = grown(this.#countsB, classes));
    const placesB = (this.#placesB = grown(this.#placesB, classes));
    for (let i = aStart; i < aEnd; i++) countsA[a[i] ?? 0] = countsB[a[i] ?? 0] = 0;
    for (let i = aStart; i < aEnd; i++) countsA[a[i] ?? 0] = (countsA[a[i] ?? 0] ?? 0) + 1;
    for (let j = bStart; j < bEnd; j++) {
      const one = b[j] ?? 0;
      countsB[one] = (countsB[one] ?? 0) + 1;
      placesB[one] = j;
    }
    const most = aEnd - aStart;
    const ownA = (this.#ownA = grown(this.#ownA, most));
    const ownB = (this.#ownB = grown(this.#ownB, most));
    this.#before = grown(this.#before, most);
    this.#ends = grown(this.#ends, most);
    let count = 0;
    for (let i = aStart; i < aEnd; i++) {
      const one = a[i] ?? 0;
      if (countsA[one] !== 1 || countsB[one] !== 1) continue;
      ownA[count] = i;
      ownB[count] = placesB[one] ?? 0;
      count++;
    }
    return count;
  }
}
