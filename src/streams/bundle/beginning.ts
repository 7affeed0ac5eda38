import { StreamInput } from '../../engines/streams/stream-input.js';
import { asBuffer } from '../../formats/bytes.js';

export interface BeginningOptions {
  /** Ends a wait for the source, and all reading. */
  readonly signal?: AbortSignal | undefined;
  /** Told of the bytes of each piece that comes. */
  readonly onBytes?: ((bytes: number) => void) | undefined;
}

/** A stream of bytes of which the first are looked at before it is known how the rest is read. */
export class Beginning {
  readonly #input: StreamInput;
  readonly #onBytes: ((bytes: number) => void) | undefined;
  #bytes: Buffer = Buffer.alloc(0);

  constructor(source: AsyncIterable<Uint8Array>, { signal, onBytes }: BeginningOptions = {}) {
    this.#input = new StreamInput(source, Infinity, 0, signal);
    this.#onBytes = onBytes;
  }

  /** So many bytes or more, which stay; fewer where there are no more. */
  async peek(length: number): Promise<Buffer> {
    while (this.#bytes.length < length) {
      const piece = await this.#next();
      if (piece === undefined) break;
      this.#bytes = Buffer.concat([this.#bytes, piece]);
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
      for (let piece = await this.#next(); piece !== undefined; piece = await this.#next()) yield piece;
    } finally {
      await this.close();
    }
  }

  /** Closes the source. One that is waiting itself is not waited for. */
  close(): Promise<void> {
    return this.#input.close();
  }

  async #next(): Promise<Buffer | undefined> {
    const piece = await this.#input.next();
    if (piece === undefined) return undefined;
    this.#onBytes?.(piece.length);
    return asBuffer(piece);
  }
}
