/**
 * Room for many small outputs. Each output is written where it stays, so that no chunk is copied, and no output is
 * ever overwritten, unless its owner says that all are done with (`recycle`). A block lives as long as any output in
 * it: whoever keeps a few outputs for long copies them.
 */

/** Bytes of a block. */
export const BLOCK_BYTES = 256 * 1024;
/** The most bytes that may be reserved; larger outputs get a buffer of their own. */
export const MAX_RESERVE = 64 * 1024;

const EMPTY = new Uint8Array(0);

/** The most blocks that are kept for use again. */
const MAX_KEPT_BLOCKS = 16;

export class Arena {
  /** Blocks for use again, where `recycle` is called. */
  readonly #kept: Uint8Array<ArrayBuffer>[] = [];
  #used = 0;
  /** Somebody calls `recycle`: blocks are worth keeping. */
  #recycles = false;
  /** The block in use. Bytes from `offset` on are free. */
  block: Uint8Array<ArrayBuffer> = EMPTY;
  offset = 0;
  /** The memory of the block, which to ask it for each time costs more than to make a view. */
  #buffer = EMPTY.buffer;

  /** Free bytes of the block in use. */
  get remaining(): number {
    return this.block.length - this.offset;
  }

  /**
   * Makes sure that the block has room; starts a new one where it has not.
   * @param bytes 0..MAX_RESERVE
   */
  reserve(bytes: number): void {
    if (this.block.length - this.offset >= bytes) return;
    this.block = this.#nextBlock();
    this.#buffer = this.block.buffer;
    this.offset = 0;
  }

  /**
   * Begins anew in the blocks that there are: every output handed out before is lost. Memory that is used again
   * is in the processor's cache, and gives the garbage collector nothing to do.
   */
  recycle(): void {
    this.#used = 0;
    this.#recycles = true;
    this.block = EMPTY;
    this.offset = 0;
  }

  #nextBlock(): Uint8Array<ArrayBuffer> {
    const kept = this.#kept[this.#used];
    if (kept !== undefined) {
      this.#used++;
      return kept;
    }
    const block = Buffer.allocUnsafeSlow(BLOCK_BYTES);
    if (this.#recycles && this.#kept.length < MAX_KEPT_BLOCKS) {
      this.#kept.push(block);
      this.#used++;
    }
    return block;
  }

  /** A view of the next bytes, which stay free. Reserve them first. */
  peek(bytes: number): Uint8Array<ArrayBuffer> {
    return new Uint8Array(this.#buffer, this.offset, bytes);
  }

  /** A view of the next bytes, which are the caller's from now on. Reserve them first. */
  take(bytes: number): Uint8Array<ArrayBuffer> {
    const view = this.peek(bytes);
    this.offset += bytes;
    return view;
  }

  /** Undoes the last `take`, when its bytes turned out not to be wanted. */
  giveBack(bytes: number): void {
    this.offset -= bytes;
  }

  /** Room for an output of known length: in the block, or of its own where it is large. */
  allocate(bytes: number): Uint8Array<ArrayBuffer> {
    if (bytes > MAX_RESERVE) return ownBuffer(bytes);
    this.reserve(bytes);
    return this.take(bytes);
  }
}

/** A buffer of its own, not zeroed, as a plain Uint8Array. */
export function ownBuffer(bytes: number): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Buffer.allocUnsafeSlow(bytes).buffer);
}

/**
 * The used part of a buffer that may have been made too large: a view where little is wasted, else a copy, so that
 * the rest can be freed.
 */
export function trim(buffer: Uint8Array<ArrayBuffer>, used: number): Uint8Array<ArrayBuffer> {
  return used * 4 >= buffer.length * 3 ? buffer.subarray(0, used) : buffer.slice(0, used);
}
