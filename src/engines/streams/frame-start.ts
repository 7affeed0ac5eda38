import { RevconvertError } from '../../errors.js';
import { DecodeFault } from '../engine.js';
import { frameHeaderBytes, MAX_FRAME_HEADER, readFrameHeader } from '../zstd-frame.js';
import { streamDamaged } from './faults.js';

/** The largest window of zstd's format that its decoders take, in bytes. */
export const MOST_WINDOW_BYTES = 2 ** 31;

/** The fewest bytes by which the length of a header is known. */
const LEAST_BYTES = 5;

/**
 * The start of a zstd frame that comes in pieces of any size: held back until it can be judged, before zstd sees it and
 * allocates what it asks for.
 */
export class FrameStart {
  readonly #bytes = new Uint8Array(MAX_FRAME_HEADER);
  #length = 0;

  /**
   * @param maxWindow in bytes
   * @param offset where the frame begins, for messages
   */
  constructor(
    private readonly maxWindow: number,
    private readonly offset: number,
  ) {}

  /** @returns bytes of the piece that were taken: those that are missing for the header */
  take(piece: Uint8Array): number {
    let taken = 0;
    while (taken < piece.length && !this.complete) {
      const more = piece.subarray(taken, taken + this.#needed - this.#length);
      this.#bytes.set(more, this.#length);
      this.#length += more.length;
      taken += more.length;
    }
    return taken;
  }

  get complete(): boolean {
    return this.#length >= this.#needed;
  }

  get #needed(): number {
    return this.#length < LEAST_BYTES ? LEAST_BYTES : frameHeaderBytes(this.#bytes);
  }

  /**
   * @returns the header, once it is complete
   * @throws RevconvertError WINDOW_SIZE: it needs a larger window than is allowed; BUNDLE_COMPRESSION: no valid header, or it
   *   names a dictionary
   */
  checked(): Uint8Array {
    const bytes = this.#bytes.subarray(0, this.#length);
    const header = readFrameHeader(bytes, Infinity);
    if (header instanceof DecodeFault) throw streamDamaged('zstd', this.offset, header.message);
    const { windowBytes, dictionaryId } = header;
    if (windowBytes > this.maxWindow) {
      throw new RevconvertError('WINDOW_SIZE', `the zstd data needs a window of ${windowBytes} bytes, at most ${this.maxWindow} are allowed`);
    }
    if (dictionaryId !== 0) throw streamDamaged('zstd', this.offset, `it needs the dictionary with ID ${dictionaryId}, and bundles have none`);
    return bytes;
  }
}
