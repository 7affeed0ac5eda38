import { MAX_WINDOW_BYTES } from '../zstd-frame.js';
import { streamDamaged, streamTrailing, streamTruncated } from './faults.js';
import { MOST_WINDOW_BYTES, readFrameStart } from './frame-start.js';
import type { Decompress, Pieces, StreamDecompressOptions } from './stream-engine.js';
import { StreamInput } from './stream-input.js';
import type { NativeStreamDecompressor, ZstdStreamBinding } from './zstd-binding.js';

/** The most bytes of input between two looks at the signal. */
const INPUT_BYTES = 256 * 1024;
/** Bytes of a buffer that outputs lie in. */
const OUTPUT_BYTES = 512 * 1024;
/** A buffer with less room than a block may need is left as it is. */
const LEAST_ROOM = 128 * 1024;
/** The least that can be asked for, as a power of 2. */
const MIN_WINDOW_LOG = 10;
const NOTHING = new Uint8Array(0);

/** Decompresses one zstd frame (RFC 8878) with zstd-napi, in the thread that calls. Mercurial reads no more than one. */
export const zstdDecompress =
  (binding: ZstdStreamBinding): Decompress =>
  (source, options) =>
    decompressFrame(binding, source, options);

async function* decompressFrame(binding: ZstdStreamBinding, source: AsyncIterable<Uint8Array>, options: StreamDecompressOptions): Pieces {
  const { start = 0, signal, maxWindow = MAX_WINDOW_BYTES } = options;
  const input = new StreamInput(source, INPUT_BYTES, start, signal);
  try {
    const { headerBytes, rest } = await readFrameStart(input, maxWindow);
    const decoder = new FrameDecoder(binding, Math.min(maxWindow, MOST_WINDOW_BYTES));
    decoder.begin(headerBytes);
    for (let piece: Uint8Array | undefined = rest; piece !== undefined; piece = await input.next()) {
      yield* decoder.decode(piece, input.offset - piece.length);
    }
    if (!decoder.ended) throw streamTruncated('zstd', input.offset);
  } finally {
    await input.close();
  }
}

/** The blocks of a frame, in pieces of any size. */
class FrameDecoder {
  readonly #context: NativeStreamDecompressor;
  #output = Buffer.allocUnsafeSlow(OUTPUT_BYTES);
  /** Bytes of it that are made, and those of them that are given out. */
  #made = 0;
  #given = 0;
  /** The bytes that zstd would like next; 0: the frame has ended. */
  #wanted = 1;

  constructor(binding: ZstdStreamBinding, maxWindow: number) {
    this.#context = new binding.DCtx();
    this.#context.setParameter(binding.DParameter.windowLogMax, Math.max(MIN_WINDOW_LOG, Math.ceil(Math.log2(maxWindow))));
  }

  get ended(): boolean {
    return this.#wanted === 0;
  }

  /** @param header a whole header, which makes nothing */
  begin(header: Uint8Array): void {
    this.#wanted = this.#context.decompressStream(NOTHING, header)[0];
  }

  /**
   * What a piece decompresses to. An error comes when all that was made before has been given out.
   * @param offset of the piece
   */
  *decode(piece: Uint8Array, offset: number): Generator<Buffer, void, void> {
    let at = 0;
    try {
      while (at < piece.length) {
        if (this.ended) throw streamTrailing('zstd', offset + at);
        // No more than is wanted, so that what comes before damage is not lost with it.
        const some = piece.subarray(at, at + this.#wanted);
        yield* this.#decompress(some, offset + at);
        at += some.length;
      }
    } catch (error) {
      yield* this.#give();
      throw error;
    }
    yield* this.#give();
  }

  *#decompress(input: Uint8Array, offset: number): Generator<Buffer, void, void> {
    let rest = input;
    for (let full = true; full || rest.length > 0; ) {
      if (this.#output.length - this.#made < LEAST_ROOM) yield* this.#renew();
      const room = this.#output.subarray(this.#made);
      const [left, made, taken] = this.#call(room, rest, offset);
      this.#made += made;
      this.#wanted = left;
      rest = rest.subarray(taken);
      full = made === room.length && left > 0;
    }
  }

  #call(room: Uint8Array, input: Uint8Array, offset: number): readonly [number, number, number] {
    try {
      return this.#context.decompressStream(room, input);
    } catch (error) {
      throw streamDamaged('zstd', offset, error);
    }
  }

  *#renew(): Generator<Buffer, void, void> {
    yield* this.#give();
    this.#output = Buffer.allocUnsafeSlow(OUTPUT_BYTES);
    this.#made = 0;
    this.#given = 0;
  }

  /** What is made and not given out yet. */
  *#give(): Generator<Buffer, void, void> {
    if (this.#made === this.#given) return;
    const piece = this.#output.subarray(this.#given, this.#made);
    this.#given = this.#made;
    yield piece;
  }
}
