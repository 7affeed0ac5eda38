import { RevconvertError } from '../../errors.js';

/** What Node's compression streams have in common. They work in Node's thread pool. */
export interface NodeCompressionStream extends NodeJS.EventEmitter {
  /** Bytes of the input that were used. */
  readonly bytesWritten: number;
  write(piece: Uint8Array, done: (error?: Error | null) => void): boolean;
  end(): unknown;
  pause(): unknown;
  resume(): unknown;
  destroy(): unknown;
}

/** No more is taken from the stream while so many bytes wait to be fetched: a small piece may decompress to a thousand times as much. */
const MAX_WAITING = 4 << 20;

/**
 * One of Node's compression streams, a piece of input at a time, so that what it made is not lost when the next piece is an
 * error: destroying a stream throws away what nobody has read.
 */
export class NodeStreamDriver {
  readonly #stream: NodeCompressionStream;
  readonly #made: Buffer[] = [];
  #waiting = 0;
  #paused = false;
  #working = false;
  #ended = false;
  #failure: Error | undefined;
  #wake: () => void = () => undefined;

  constructor(stream: NodeCompressionStream) {
    this.#stream = stream;
    stream.on('data', (piece: Buffer) => {
      this.#made.push(piece);
      this.#waiting += piece.length;
      if (this.#waiting >= MAX_WAITING && !this.#paused) {
        this.#paused = true;
        stream.pause();
      }
      this.#wake();
    });
    stream.on('end', () => {
      this.#ended = true;
      this.#settle();
    });
    stream.on('error', (error: Error) => {
      this.#failure ??= error;
      this.#settle();
    });
    stream.on('close', () => {
      this.#settle();
    });
  }

  /** The stream has come to its end: of what it was given, or by what that says itself. */
  get ended(): boolean {
    return this.#ended;
  }

  get consumed(): number {
    return this.#stream.bytesWritten;
  }

  /** Begins to work on a piece; the one before must be done. It must not change until then. */
  begin(piece: Uint8Array): void {
    this.#working = true;
    this.#stream.write(piece, (error) => {
      if (error instanceof Error) this.#failure ??= error;
      this.#settle();
    });
  }

  /** Begins to finish. */
  beginEnd(): void {
    this.#working = true;
    this.#stream.end();
  }

  /**
   * What is made of the piece that was begun, as it comes, until it is done.
   * @throws what the stream says is wrong, when all that came before has been fetched
   */
  async *outputs(): AsyncGenerator<Buffer, void, void> {
    for (;;) {
      const piece = this.#made.shift();
      if (piece !== undefined) {
        this.#waiting -= piece.length;
        yield piece;
      } else if (this.#paused) {
        this.#paused = false;
        this.#stream.resume();
      } else if (!this.#working) {
        break;
      } else {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    }
    if (this.#failure !== undefined) throw this.#failure;
  }

  close(): void {
    this.#failure ??= new RevconvertError('INTERNAL', 'closed');
    this.#stream.destroy();
  }

  #settle(): void {
    this.#working = false;
    this.#wake();
  }
}
