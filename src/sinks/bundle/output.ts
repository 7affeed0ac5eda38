/** Bytes that come in small pieces, gathered into large ones. What is given out is never written to again. */
export class GatheredOutput {
  #full: Buffer[] = [];
  #bytes = Buffer.allocUnsafeSlow(OUTPUT_BYTES);
  #used = 0;

  /** Copies bytes to the end. */
  write(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; ) {
      const room = this.#bytes.length - this.#used;
      const some = Math.min(room, bytes.length - at);
      this.#bytes.set(some === bytes.length ? bytes : bytes.subarray(at, at + some), this.#used);
      this.#used += some;
      at += some;
      if (some === room) this.#next();
    }
  }

  /** A signed number of 32 bits. */
  writeInt32(value: number): void {
    if (this.#bytes.length - this.#used < INT32_BYTES) {
      const bytes = Buffer.allocUnsafe(INT32_BYTES);
      bytes.writeInt32BE(value);
      this.write(bytes);
      return;
    }
    this.#used = this.#bytes.writeInt32BE(value, this.#used);
    if (this.#used === this.#bytes.length) this.#next();
  }

  /** The pieces that are full. */
  take(): Buffer[] {
    const full = this.#full;
    this.#full = [];
    return full;
  }

  /** What is left. */
  finish(): Buffer[] {
    if (this.#used > 0) this.#full.push(this.#bytes.subarray(0, this.#used));
    this.#bytes = Buffer.alloc(0);
    this.#used = 0;
    return this.take();
  }

  #next(): void {
    this.#full.push(this.#bytes);
    this.#bytes = Buffer.allocUnsafeSlow(OUTPUT_BYTES);
    this.#used = 0;
  }
}

const INT32_BYTES = 4;

/** Of a piece. */
const OUTPUT_BYTES = 1 << 18;
