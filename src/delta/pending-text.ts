import { asBuffer } from '../formats/bytes.js';
import { applyDelta } from './apply.js';
import { foldChain } from './fold-chain.js';
import type { TextCache } from './text-cache.js';

/** Deltas that wait to be applied together, at most, in bytes: whoever pushes more applies them first. */
export const PENDING_BYTES = 1 << 23;

/** So many deltas are folded into one, whatever the text: to move hunks costs less than to write a text for each. */
const MANY_DELTAS = 10;

/** Fewer are folded where so many bytes of texts would be written, and so many times those of the deltas. Measured. */
const MUCH_TEXT = 1 << 19;
const MUCH_MORE = 64;

const EMPTY = Buffer.alloc(0);

/** A text, and deltas that were not applied to it yet: many are folded into one where that is less work than a text for each. */
export class PendingText {
  /** Length of the text that there will be when all is applied. */
  size: number;
  pendingBytes = 0;
  #text: Buffer;
  /** The text is ours, not one of the cache. */
  #isOwn = false;
  #deltas: Uint8Array[] = [];
  /** Length of the text behind each. */
  #sizes: number[] = [];

  /** @param known a text of the cache to begin with, which stays as it is @default an empty one */
  constructor(
    private readonly cache: TextCache,
    known: Buffer = EMPTY,
  ) {
    this.#text = known;
    this.size = known.length;
  }

  /** A full text, which stays as it is. Only to be given first. */
  begin(text: Uint8Array): void {
    this.#text = asBuffer(text);
    this.size = text.length;
  }

  /** @param size length of the text that the delta makes */
  push(delta: Uint8Array, size: number): void {
    this.#deltas.push(delta);
    this.#sizes.push(size);
    this.pendingBytes += delta.length;
    this.size = size;
  }

  /** Applies what is pending. */
  apply(): void {
    const deltas = this.#deltas;
    if (this.#isWorthFolding(deltas.length)) {
      this.#patch(foldChain(deltas), this.size);
    } else {
      for (let i = 0; i < deltas.length; i++) this.#patch(deltas[i] ?? EMPTY, this.#sizes[i] ?? 0);
    }
    this.#deltas = [];
    this.#sizes = [];
    this.pendingBytes = 0;
  }

  /** The text, all deltas applied, in memory of the caller's. */
  take(): Buffer {
    this.apply();
    return this.#isOwn ? this.#text : this.cache.copy(this.#text);
  }

  #isWorthFolding(deltas: number): boolean {
    const written = deltas * this.size;
    return deltas >= MANY_DELTAS || (deltas > 1 && written >= Math.max(MUCH_TEXT, MUCH_MORE * this.pendingBytes));
  }

  #patch(delta: Uint8Array, size: number): void {
    const text = this.cache.allocate(size);
    applyDelta(this.#text, delta, text);
    this.#replace(text);
  }

  #replace(text: Buffer): void {
    if (this.#isOwn) this.cache.giveBack(this.#text);
    this.#text = text;
    this.#isOwn = true;
  }
}
