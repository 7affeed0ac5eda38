import { RevconvertError } from '../../errors.js';
import { DecodeFault } from '../engine.js';
import type { FrameHeader } from '../zstd-frame.js';
import { frameHeaderBytes, MAX_FRAME_HEADER, readFrameHeader } from '../zstd-frame.js';
import { streamDamaged, streamTruncated } from './faults.js';
import type { StreamInput } from './stream-input.js';

/** The largest window of zstd's format that its decoders take, in bytes. */
export const MOST_WINDOW_BYTES = 2 ** 31;

/** The fewest bytes by which the length of a header is known. */
const LEAST_BYTES = 5;

/** A frame whose header has been read. */
export interface BegunFrame {
  readonly header: FrameHeader;
  readonly headerBytes: Uint8Array;
  /** What came with the end of the header. */
  readonly rest: Uint8Array;
}

/**
 * Reads the header of the frame that an input begins with.
 * @param maxWindow in bytes
 * @throws RevconvertError WINDOW_SIZE, BUNDLE_COMPRESSION; BUNDLE_TRUNCATED: the input ends within it
 */
export async function readFrameStart(input: StreamInput, maxWindow: number): Promise<BegunFrame> {
  const start = new FrameStart(Math.min(maxWindow, MOST_WINDOW_BYTES), input.offset);
  for (;;) {
    const piece = await input.next();
    if (piece === undefined) throw streamTruncated('zstd', input.offset);
    const taken = start.take(piece);
    if (start.complete) return { header: start.checked(), headerBytes: start.bytes, rest: piece.subarray(taken) };
  }
}

/**
 * The start of a zstd frame that comes in pieces of any size: held back until it can be judged, before zstd sees it and
 * allocates what it asks for.
 */
class FrameStart {
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

  /** @returns the header as it came, once it is complete */
  get bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  /**
   * @returns what a complete header says
   * @throws RevconvertError WINDOW_SIZE: it needs a larger window than is allowed; BUNDLE_COMPRESSION: no valid header, or it
   *   names a dictionary
   */
  checked(): FrameHeader {
    const header = readFrameHeader(this.bytes, Infinity);
    if (header instanceof DecodeFault) throw streamDamaged('zstd', this.offset, header.message);
    const { windowBytes, dictionaryId } = header;
    if (windowBytes > this.maxWindow) {
      throw new RevconvertError('WINDOW_SIZE', `the zstd data needs a window of ${windowBytes} bytes, at most ${this.maxWindow} are allowed`);
    }
    if (dictionaryId !== 0) throw streamDamaged('zstd', this.offset, `it needs the dictionary with ID ${dictionaryId}, and bundles have none`);
    return header;
  }
}
