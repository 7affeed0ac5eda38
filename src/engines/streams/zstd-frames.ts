import { RevconvertError } from '../../errors.js';
import { DecodeFault } from '../engine.js';
import { frameHeaderBytes, MAX_FRAME_HEADER, readFrameHeader, ZSTD_MAGIC } from '../zstd-frame.js';
import { streamDamaged } from './faults.js';

const MAGIC_BYTES = Uint8Array.of(ZSTD_MAGIC & 0xff, (ZSTD_MAGIC >>> 8) & 0xff, (ZSTD_MAGIC >>> 16) & 0xff, ZSTD_MAGIC >>> 24);

/** The largest window of zstd's format that its decoders take, in bytes. */
export const MOST_WINDOW_BYTES = 2 ** 31;

/**
 * The start of a frame that comes in pieces of any size: held back until it can be judged, before zstd sees it and allocates
 * what it asks for.
 */
export class FrameStart {
  readonly #bytes = new Uint8Array(MAX_FRAME_HEADER);
  #length = 0;

  /** @param maxWindow in bytes */
  constructor(private readonly maxWindow: number) {}

  get length(): number {
    return this.#length;
  }

  /** What was taken: a copy of its own. */
  get bytes(): Uint8Array {
    return this.#bytes.slice(0, this.#length);
  }

  clear(): void {
    this.#length = 0;
  }

  /** @returns bytes of the piece that were taken: those that are missing for the header */
  take(piece: Uint8Array): number {
    let taken = 0;
    for (;;) {
      const missing = this.#needed() - this.#length;
      const more = piece.subarray(taken, taken + missing);
      if (missing <= 0 || more.length === 0) return taken;
      this.#bytes.set(more, this.#length);
      this.#length += more.length;
      taken += more.length;
    }
  }

  #needed(): number {
    return this.#length < 5 ? 5 : frameHeaderBytes(this.#bytes);
  }

  get complete(): boolean {
    return this.#length >= this.#needed();
  }

  /** Whether what was taken so far can be the start of a frame. */
  get plausible(): boolean {
    return MAGIC_BYTES.every((byte, i) => i >= this.#length || this.#bytes[i] === byte);
  }

  /**
   * @param offset where the frame begins
   * @throws RevconvertError WINDOW_SIZE: it needs a larger window than is allowed; BUNDLE_COMPRESSION: no valid header, or it
   *   names a dictionary
   */
  check(offset: number): void {
    const header = readFrameHeader(this.bytes, Infinity);
    if (header instanceof DecodeFault) throw streamDamaged('zstd', offset, header.message);
    const { windowBytes, dictionaryId } = header;
    if (windowBytes > this.maxWindow) {
      throw new RevconvertError('WINDOW_SIZE', `the zstd frame at byte ${offset} of the bundle needs a window of ${windowBytes} bytes, at most ${this.maxWindow} are allowed`);
    }
    if (dictionaryId !== 0) throw streamDamaged('zstd', offset, `the frame names the dictionary ${dictionaryId}; bundles have none`);
  }
}
