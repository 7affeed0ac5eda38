import { asBuffer } from '../../formats/bytes.js';
import { sharedMemory } from '../../repository/shared-memory.js';

/** Bytes of a block: it holds what is usually given at once, and more. */
export const BLOCK_BYTES = 3 << 19;

/** Pieces of memory that all threads see, used again when what was in them is done with. */
export class Blocks {
  readonly #free: Buffer[] = [];

  /** @returns a block for at least so many bytes, not zeroed */
  take(bytes: number): Buffer {
    if (bytes > BLOCK_BYTES) return asBuffer(sharedMemory(bytes));
    return this.#free.pop() ?? asBuffer(sharedMemory(BLOCK_BYTES));
  }

  giveBack(block: Buffer): void {
    if (block.length === BLOCK_BYTES) this.#free.push(block);
  }
}
