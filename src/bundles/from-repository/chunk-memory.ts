import { sharedMemory } from '../../repository/shared-memory.js';

const BLOCK_BYTES = 1 << 20;

/** What is larger has memory of its own. */
const MAX_SHARE = BLOCK_BYTES >> 2;

/** Shared memory for what crosses threads: small pieces lie in one block. It is zeroed, and never used again. */
export class ChunkMemory {
  #block: Uint8Array = new Uint8Array(0);
  #used = 0;

  allocate(bytes: number): Uint8Array {
    if (bytes > MAX_SHARE) return sharedMemory(bytes);
    if (bytes > this.#block.length - this.#used) {
      this.#block = sharedMemory(BLOCK_BYTES);
      this.#used = 0;
    }
    const start = this.#used;
    this.#used += bytes;
    return this.#block.subarray(start, this.#used);
  }
}
