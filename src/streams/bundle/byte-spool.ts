import type { TemporaryFile } from '../temporary-file.js';
import { createTemporaryFile } from '../temporary-file.js';

const BLOCK_BYTES = 1 << 20;

export const DEFAULT_SPOOL_BYTES = 1 << 26;

const EMPTY = Buffer.alloc(0);

/** Bytes that are put one behind the other and read again in any order: the first of them in memory, what is more in a temporary file. */
export class ByteSpool {
  #blocks: Buffer[] = [];
  #length = 0;
  #file: TemporaryFile | undefined;
  /** What is for the file, and not written yet; it begins at `#pendingAt` of the file. */
  #pending: Buffer | undefined;
  #pendingAt = 0;

  /** @param memoryBytes those that are kept in memory */
  constructor(private readonly memoryBytes = DEFAULT_SPOOL_BYTES) {}

  get length(): number {
    return this.#length;
  }

  /**
   * Puts a copy of the bytes behind those before.
   * @returns where they begin
   * @throws RevconvertError NO_SPACE, PERMISSION, SYSTEM
   */
  append(bytes: Uint8Array): number {
    const position = this.#length;
    let at = 0;
    while (at < bytes.length && this.#length < this.memoryBytes) {
      const room = Math.min(this.memoryBytes - this.#length, BLOCK_BYTES - (this.#length % BLOCK_BYTES), bytes.length - at);
      this.#block(this.#length).set(room === bytes.length ? bytes : bytes.subarray(at, at + room), this.#length % BLOCK_BYTES);
      this.#length += room;
      at += room;
    }
    if (at < bytes.length) this.#appendToFile(bytes.subarray(at));
    return position;
  }

  /** @returns the bytes, valid until `clear` */
  read(position: number, length: number): Buffer {
    const at = position % BLOCK_BYTES;
    if (at + length <= BLOCK_BYTES && position + length <= this.memoryBytes) return this.#blocks[(position - at) / BLOCK_BYTES]?.subarray(at, at + length) ?? EMPTY;
    const bytes = Buffer.allocUnsafeSlow(length);
    let filled = 0;
    while (filled < length && position + filled < this.memoryBytes) {
      const from = (position + filled) % BLOCK_BYTES;
      const some = Math.min(BLOCK_BYTES - from, length - filled, this.memoryBytes - position - filled);
      bytes.set(this.#block(position + filled).subarray(from, from + some), filled);
      filled += some;
    }
    if (filled < length) this.#readFromFile(position + filled - this.memoryBytes, bytes.subarray(filled));
    return bytes;
  }

  /** Forgets all bytes; the memory is used again. */
  clear(): void {
    if (this.#length > this.memoryBytes) this.#file?.truncate();
    this.#length = 0;
    this.#pendingAt = 0;
  }

  /** Removes the temporary file. */
  close(): void {
    this.#file?.close();
    this.#file = undefined;
    this.#blocks = [];
    this.#length = 0;
    this.#pendingAt = 0;
  }

  #block(position: number): Buffer {
    return (this.#blocks[Math.floor(position / BLOCK_BYTES)] ??= Buffer.allocUnsafeSlow(BLOCK_BYTES));
  }

  #appendToFile(bytes: Uint8Array): void {
    const pending = (this.#pending ??= Buffer.allocUnsafeSlow(BLOCK_BYTES));
    for (let at = 0; at < bytes.length; ) {
      const filled = this.#length - this.memoryBytes - this.#pendingAt;
      const some = Math.min(BLOCK_BYTES - filled, bytes.length - at);
      pending.set(bytes.subarray(at, at + some), filled);
      this.#length += some;
      at += some;
      if (filled + some < BLOCK_BYTES) continue;
      this.#file ??= createTemporaryFile();
      this.#file.write(pending, this.#pendingAt);
      this.#pendingAt += BLOCK_BYTES;
    }
  }

  #readFromFile(position: number, target: Buffer): void {
    const written = Math.min(target.length, Math.max(0, this.#pendingAt - position));
    if (written > 0 && this.#file !== undefined) target.set(this.#file.read(position, written));
    const at = position + written - this.#pendingAt;
    if (written < target.length) target.set((this.#pending ?? EMPTY).subarray(at, at + target.length - written), written);
  }
}
