import { asBuffer } from '../../formats/bytes.js';

/** A stream of bytes of which the first are looked at before it is known how the rest is read. */
export class Beginning {
  readonly #iterator: AsyncIterator<Uint8Array>;
  #bytes: Buffer = Buffer.alloc(0);
  #ended = false;

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#iterator = source[Symbol.asyncIterator]();
  }

  /** So many bytes or more, which stay; fewer where there are no more. */
  async peek(length: number): Promise<Buffer> {
    while (this.#bytes.length < length && !this.#ended) {
      const next = await this.#iterator.next();
      if (next.done === true) this.#ended = true;
      else this.#bytes = Buffer.concat([this.#bytes, next.value]);
    }
    return this.#bytes;
  }

  /** Leaves out bytes that were peeked. */
  skip(length: number): void {
    this.#bytes = this.#bytes.subarray(length);
  }

  /** Everything that was not left out. Closes the source when it ends, or is left early. */
  async *rest(): AsyncGenerator<Buffer, void, void> {
    try {
      if (this.#bytes.length > 0) yield this.#bytes;
      this.#bytes = Buffer.alloc(0);
      while (!this.#ended) {
        const next = await this.#iterator.next();
        if (next.done === true) this.#ended = true;
        else if (next.value.length > 0) yield asBuffer(next.value);
      }
    } finally {
      await this.close();
    }
  }

  async close(): Promise<void> {
    this.#ended = true;
    await this.#iterator.return?.();
  }
}
