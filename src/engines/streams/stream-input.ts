import { Readable } from 'node:stream';

import { RevconvertError } from '../../errors.js';

/** The pieces of a source, none empty, none larger than is good to work on; counted. */
export class StreamInput {
  readonly #source: AsyncIterable<Uint8Array>;
  readonly #pieces: AsyncIterator<Uint8Array>;
  #left: Uint8Array | undefined;
  #waiting = false;
  #ended = false;
  #offset: number;

  /**
   * @param most the most bytes of a piece
   * @param start what the count begins with
   * @param signal ends a wait for the source, and all reading
   */
  constructor(
    source: AsyncIterable<Uint8Array>,
    private readonly most: number,
    start = 0,
    private readonly signal?: AbortSignal,
  ) {
    this.#source = source;
    this.#pieces = source[Symbol.asyncIterator]();
    this.#offset = start;
  }

  /** The end of the last piece given out, less what was put back. */
  get offset(): number {
    return this.#offset;
  }

  /**
   * @returns undefined at the end
   * @throws RevconvertError CANCELLED once the signal is aborted; whatever the source throws
   */
  async next(): Promise<Uint8Array | undefined> {
    while (this.#left === undefined || this.#left.length === 0) {
      if (this.#ended) return undefined;
      this.#left = await this.#read();
    }
    const piece = this.#left.subarray(0, this.most);
    this.#left = this.#left.subarray(piece.length);
    this.#offset += piece.length;
    return piece;
  }

  async #read(): Promise<Uint8Array | undefined> {
    const { signal } = this;
    if (signal?.aborted === true) throw interrupted();
    this.#waiting = true;
    const next = this.#pieces.next().finally(() => {
      this.#waiting = false;
    });
    let result: IteratorResult<Uint8Array>;
    try {
      result = await (signal === undefined ? next : orAborted(next, signal));
    } catch (error) {
      this.#ended = true;
      throw error;
    }
    if (result.done !== true) return result.value;
    this.#ended = true;
    return undefined;
  }

  /** Tells the source that no more is wanted. A source that is waiting itself is not waited for. */
  async close(): Promise<void> {
    const waiting = this.#waiting;
    if (this.#ended && !waiting) return;
    this.#ended = true;
    this.#left = undefined;
    // One that waits would not hear of it; one that was never asked would not care.
    if (this.#source instanceof Readable) this.#source.destroy();
    const closed = this.#pieces.return?.();
    if (!waiting) await closed;
    else closed?.catch(() => undefined);
  }
}

export const interrupted = (): RevconvertError => new RevconvertError('CANCELLED', 'interrupted');

/** What a promise gives, unless the signal is aborted before. */
function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => {
      reject(interrupted());
    };
    signal.addEventListener('abort', abort, { once: true });
    promise.then(resolve, reject).finally(() => {
      signal.removeEventListener('abort', abort);
    });
  });
}
