interface Piece {
  readonly bytes: Buffer;
  /** Where its first byte stands in the stream. */
  readonly offset: number;
}

/**
 * Bytes that come in pieces of any size and are taken in the sizes that a format has. What is taken is a view of the piece
 * where it lies within one, a copy where it does not. Holds what came and was not taken yet: nothing is allocated because
 * a length field says so.
 */
export class ByteFeed {
  #pieces: Piece[] = [];
  /** The piece that is being taken from, and how far. */
  #index = 0;
  #at = 0;
  #available = 0;
  #ended = false;
  #end = 0;

  /** @param offset where the bytes stand in the stream, for messages. @default behind those before */
  push(bytes: Buffer, offset = this.#end): void {
    if (bytes.length === 0) return;
    this.#pieces.push({ bytes, offset });
    this.#available += bytes.length;
    this.#end = offset + bytes.length;
  }

  /** There is no more to come. */
  end(): void {
    this.#ended = true;
  }

  get ended(): boolean {
    return this.#ended;
  }

  /** Bytes that can be taken now. */
  get available(): number {
    return this.#available;
  }

  /** Where the next byte stands in the stream. */
  get position(): number {
    const piece = this.#pieces[this.#index];
    return piece === undefined ? this.#end : piece.offset + this.#at;
  }

  /** Exactly so many bytes; undefined where they are not there yet. */
  take(length: number): Buffer | undefined {
    if (length > this.#available) return undefined;
    const piece = this.#pieces[this.#index];
    if (piece === undefined) return EMPTY;
    const end = this.#at + length;
    if (end > piece.bytes.length) return this.#gather(length);
    const taken = piece.bytes.subarray(this.#at, end);
    this.#advance(length);
    return taken;
  }

  /** Up to so many bytes, as they lie; undefined where there are none now. */
  takeSome(most: number): Buffer | undefined {
    const piece = this.#pieces[this.#index];
    if (piece === undefined) return undefined;
    const taken = piece.bytes.subarray(this.#at, Math.min(piece.bytes.length, this.#at + most));
    this.#advance(taken.length);
    return taken;
  }

  /** The number that the next four bytes are, signed and big-endian, which stay; undefined where they are not there yet. */
  peekInt32(): number | undefined {
    if (this.#available < INT32_BYTES) return undefined;
    const piece = this.#pieces[this.#index];
    if (piece !== undefined && this.#at + INT32_BYTES <= piece.bytes.length) return piece.bytes.readInt32BE(this.#at);
    let value = 0;
    let { [this.#index]: current } = this.#pieces;
    for (let i = 0, index = this.#index, at = this.#at; i < INT32_BYTES; i++, at++) {
      while (current !== undefined && at >= current.bytes.length) {
        current = this.#pieces[++index];
        at = 0;
      }
      value = (value << 8) | (current?.bytes[at] ?? 0);
    }
    return value;
  }

  #gather(length: number): Buffer {
    const gathered = Buffer.allocUnsafeSlow(length);
    let filled = 0;
    while (filled < length) {
      const some = this.takeSome(length - filled) ?? EMPTY;
      gathered.set(some, filled);
      filled += some.length;
    }
    return gathered;
  }

  #advance(length: number): void {
    this.#at += length;
    this.#available -= length;
    if (this.#at < (this.#pieces[this.#index]?.bytes.length ?? 0)) return;
    this.#pieces[this.#index++] = USED;
    this.#at = 0;
    if (this.#index * 2 < this.#pieces.length) return;
    this.#pieces = this.#pieces.slice(this.#index);
    this.#index = 0;
  }
}

const EMPTY = Buffer.alloc(0);

/** In the place of a piece that is used up, until there are as many of them as of others. */
const USED: Piece = { bytes: EMPTY, offset: 0 };

const INT32_BYTES = 4;
