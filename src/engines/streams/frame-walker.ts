import type { FrameHeader } from '../zstd-frame.js';

const BLOCK_HEADER_BYTES = 3;
const CHECKSUM_BYTES = 4;
const RLE = 1;

/** Finds the end of a zstd frame that comes in pieces of any size, by the headers of its blocks (see zstd-frame.ts). Nothing is judged. */
export class FrameWalker {
  readonly #checksumBytes: number;
  /** Of a block header that has come in part. */
  #word = 0;
  #wordBytes = 0;
  /** Bytes up to the next block header, or the end. */
  #skip = 0;
  #last = false;

  constructor({ checksum }: Pick<FrameHeader, 'checksum'>) {
    this.#checksumBytes = checksum ? CHECKSUM_BYTES : 0;
  }

  get ended(): boolean {
    return this.#last && this.#skip === 0;
  }

  /**
   * @param piece what comes behind the frame's header, and the pieces before
   * @returns bytes of it that belong to the frame
   */
  take(piece: Uint8Array): number {
    let at = 0;
    while (at < piece.length && !this.ended) {
      if (this.#skip > 0) {
        const skipped = Math.min(this.#skip, piece.length - at);
        this.#skip -= skipped;
        at += skipped;
      } else {
        this.#word += (piece[at++] ?? 0) * 256 ** this.#wordBytes++;
        if (this.#wordBytes === BLOCK_HEADER_BYTES) this.#beginBlock(this.#word);
      }
    }
    return at;
  }

  #beginBlock(word: number): void {
    this.#word = 0;
    this.#wordBytes = 0;
    this.#last = (word & 1) !== 0;
    this.#skip = (((word >> 1) & 3) === RLE ? 1 : word >> 3) + (this.#last ? this.#checksumBytes : 0);
  }
}
