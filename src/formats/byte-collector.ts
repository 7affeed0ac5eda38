/** Bytes that are put one after the other into memory of its own, which doubles as it fills. */
export class ByteCollector {
  #bytes: Uint8Array;
  #length = 0;

  /**
   * @param capacity bytes to begin with
   * @param allocate makes the memory; zeroed or not
   */
  constructor(
    capacity: number,
    private readonly allocate: (bytes: number) => Uint8Array = (bytes) => Buffer.allocUnsafeSlow(bytes),
  ) {
    this.#bytes = allocate(capacity);
  }

  get length(): number {
    return this.#length;
  }

  /** Copies bytes to the end. */
  append(bytes: Uint8Array): void {
    const needed = this.#length + bytes.length;
    if (needed > this.#bytes.length) {
      const larger = this.allocate(Math.max(needed, this.#bytes.length * 2));
      larger.set(this.view());
      this.#bytes = larger;
    }
    this.#bytes.set(bytes, this.#length);
    this.#length = needed;
  }

  /** What was put in so far; valid until the next `append` or `clear`. */
  view(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  /** Empties it; its memory is used again. */
  clear(): void {
    this.#length = 0;
  }
}
