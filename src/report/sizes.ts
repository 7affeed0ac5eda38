/** How many of something there are, and the bytes that they take. All figures of nothing are 0. */
export interface Sizes {
  readonly count: number;
  readonly bytes: number;
  /** Bytes of the smallest. */
  readonly min: number;
  /** Bytes of the largest. */
  readonly max: number;
  /** Bytes of one, not rounded. */
  readonly average: number;
}

/** Sizes as they are added up. */
export class SizeSums {
  count = 0;
  bytes = 0;
  #min = Infinity;
  #max = 0;

  /** Counts one. */
  add(size: number): void {
    this.count++;
    this.bytes += size;
    if (size < this.#min) this.#min = size;
    if (size > this.#max) this.#max = size;
  }

  /** Counts all that others counted. */
  addAll(others: SizeSums): void {
    this.count += others.count;
    this.bytes += others.bytes;
    this.#min = Math.min(this.#min, others.#min);
    this.#max = Math.max(this.#max, others.#max);
  }

  get figures(): Sizes {
    const { count, bytes } = this;
    if (count === 0) return { count, bytes, min: 0, max: 0, average: 0 };
    return { count, bytes, min: this.#min, max: this.#max, average: bytes / count };
  }
}
