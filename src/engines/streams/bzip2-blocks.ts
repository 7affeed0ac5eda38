import { asBuffer } from '../../formats/bytes.js';
import { blockAsStream, CRC_BITS, endsWithPartOfEnd, findMagic, HEADER_BYTES, LEVEL_BYTES, MAGIC_BITS, magicAt, readBits, readHeader } from './bzip2-bits.js';
import type { Bzip2Decoder, Bzip2Fault } from './bzip2-library.js';
import { streamDamaged, streamTrailing, streamTruncated } from './faults.js';

/** Data may look like a magic: by chance once in 2^48 bits, by intent more often. So many are taken for data of a block that is not sound without. */
const MAX_FALSE_ENDS = 2;
/** Bits of the longest code, and more than the tables before the codes of a block can take. */
const CODE_BITS = 20;
const TABLE_BITS = 1 << 19;
/** Five bytes of a block become at most 259: room for what one decompresses to, in bytes of its size. */
const MOST_EXPANSION = 52;
/** Usual room. */
const EXPANSION = 2;

const FIRST_CAPACITY = 1 << 20;

/** Gives out the blocks of a bzip2 stream that comes in pieces of any size. Of the input it holds about one block. */
export class Bzip2Blocks {
  #memory = Buffer.allocUnsafeSlow(FIRST_CAPACITY);
  #length = 0;
  /** Of the memory's first byte. */
  #offset: number;
  /** 0: the header has not come yet. */
  #level = 0;
  /** The bit where the next block, or the end, begins. */
  #at = 0;
  /** The bit from which to look for what ends that block. */
  #look = 0;
  #falseEnds = 0;
  #crc = 0;
  #ended = false;

  /** @param offset of the stream, for messages */
  constructor(
    private readonly decoder: Bzip2Decoder,
    offset: number,
  ) {
    this.#offset = offset;
  }

  /** Adds a copy of a piece. */
  add(piece: Uint8Array): void {
    if (this.#length + piece.length > this.#memory.length) this.#makeRoom(piece.length);
    this.#memory.set(piece, this.#length);
    this.#length += piece.length;
  }

  /**
   * @returns what the next block decompresses to; undefined: more input is needed
   * @throws RevconvertError BUNDLE_COMPRESSION, BUNDLE_TRAILING
   */
  next(): Buffer | undefined {
    if (this.#ended) {
      this.#checkTrailing();
      return undefined;
    }
    if (this.#level === 0 && !this.#readHeader()) return undefined;
    const bits = this.#length * 8 - this.#at;
    if (bits < MAGIC_BITS) return undefined;
    const magic = magicAt(this.#held, this.#at);
    if (magic === undefined) throw this.#damaged('no block begins where one should');
    if (magic === 'block') return this.#nextBlock();
    if (bits >= MAGIC_BITS + CRC_BITS) this.#readEnd();
    return undefined;
  }

  /**
   * After the last piece.
   * @returns a block that is whole where the end of the stream is not; undefined: nothing
   */
  rest(): Buffer | undefined {
    if (this.#ended || this.#falseEnds > 0 || !this.#inBlock) return undefined;
    for (let missing = MAGIC_BITS - 1; missing >= 0; missing--) {
      const to = this.#length * 8 - missing;
      if (to <= this.#at + MAGIC_BITS + CRC_BITS || !endsWithPartOfEnd(this.#held, missing)) continue;
      const made = this.#decode(to, true);
      if (made instanceof Uint8Array) return asBuffer(made);
    }
    return undefined;
  }

  /** @throws RevconvertError where the stream has not come to its end: BUNDLE_TRUNCATED, BUNDLE_COMPRESSION */
  checkEnd(): void {
    if (this.#ended) return;
    if (this.#falseEnds > 0 || (this.#inBlock && this.#decode(this.#length * 8, false) === 'damaged')) throw this.#damaged('a block is not sound');
    throw streamTruncated('bzip2', this.#offset + this.#length);
  }

  get #held(): Uint8Array {
    return this.#memory.subarray(0, this.#length);
  }

  get #inBlock(): boolean {
    return this.#level > 0 && this.#length * 8 >= this.#at + MAGIC_BITS + CRC_BITS && magicAt(this.#held, this.#at) === 'block';
  }

  #readHeader(): boolean {
    const level = readHeader(this.#held);
    if (level === undefined) throw this.#damaged('it does not begin as bzip2 data does');
    if (this.#length < HEADER_BYTES) return false;
    this.#level = level;
    this.#begin(HEADER_BYTES * 8);
    return true;
  }

  #begin(at: number): void {
    this.#at = at;
    this.#look = at + MAGIC_BITS + CRC_BITS;
    this.#falseEnds = 0;
  }

  #nextBlock(): Buffer | undefined {
    for (;;) {
      const to = findMagic(this.#held, this.#look);
      if (to < 0) {
        this.#look = -1 - to;
        if (this.#look - this.#at > CODE_BITS * this.#level * LEVEL_BYTES + TABLE_BITS) throw this.#damaged('a block does not end');
        return undefined;
      }
      const made = this.#decode(to, true);
      if (made instanceof Uint8Array) {
        this.#crc = ((this.#crc << 1) | (this.#crc >>> 31)) ^ readBits(this.#held, this.#at + MAGIC_BITS, CRC_BITS);
        this.#begin(to);
        return asBuffer(made);
      }
      this.#look = to + 1;
      if (++this.#falseEnds > MAX_FALSE_ENDS) throw this.#damaged('a block is not sound');
    }
  }

  /** The block that begins at `#at`, if it ends at `to`. */
  #decode(to: number, ended: boolean): Uint8Array | Bzip2Fault {
    const stream = blockAsStream(this.#held, this.#at, to, this.#level, ended);
    const size = this.#level * LEVEL_BYTES;
    const made = this.decoder.decode(stream, size * EXPANSION);
    return made === 'too-large' ? this.decoder.decode(stream, size * MOST_EXPANSION) : made;
  }

  #readEnd(): void {
    if (readBits(this.#held, this.#at + MAGIC_BITS, CRC_BITS) !== this.#crc >>> 0) throw this.#damaged('its checksum is another');
    this.#at = Math.ceil((this.#at + MAGIC_BITS + CRC_BITS) / 8) * 8;
    this.#ended = true;
    this.#checkTrailing();
  }

  #checkTrailing(): void {
    const end = this.#at / 8;
    if (this.#length > end) throw streamTrailing('bzip2', this.#offset + end);
  }

  /** Lets go of what is done with; grows where that is not enough. */
  #makeRoom(bytes: number): void {
    const done = this.#at >>> 3;
    const kept = this.#length - done;
    if (kept + bytes > this.#memory.length / 2) {
      const larger = Buffer.allocUnsafeSlow(Math.max(this.#memory.length * 2, kept + bytes));
      larger.set(this.#memory.subarray(done, this.#length));
      this.#memory = larger;
    } else {
      this.#memory.copyWithin(0, done, this.#length);
    }
    this.#length = kept;
    this.#offset += done;
    this.#at -= done * 8;
    this.#look -= done * 8;
  }

  #damaged(found: string): Error {
    return streamDamaged('bzip2', this.#offset + (this.#at >>> 3), found);
  }
}
