import { asBuffer } from '../../formats/bytes.js';

/** Gathers small pieces into larger ones; large ones pass as they are. */
export class PieceCollector {
  #pieces: Uint8Array[] = [];
  #length = 0;

  /** @param least bytes of a piece that is given out */
  constructor(private readonly least: number) {}

  /** @returns what has come together, where it is enough */
  add(piece: Uint8Array): Buffer | undefined {
    this.#pieces.push(piece);
    this.#length += piece.length;
    return this.#length >= this.least ? this.rest() : undefined;
  }

  /** @returns what there is; undefined: nothing */
  rest(): Buffer | undefined {
    const [first, second] = this.#pieces;
    if (first === undefined || this.#length === 0) return undefined;
    const whole = second === undefined ? asBuffer(first) : Buffer.concat(this.#pieces, this.#length);
    this.#pieces = [];
    this.#length = 0;
    return whole;
  }
}
