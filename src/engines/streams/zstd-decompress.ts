import { MAX_WINDOW_BYTES } from '../zstd-frame.js';
import { streamDamaged, streamTrailing, streamTruncated } from './faults.js';
import type { Decompress, Pieces, StreamDecompressOptions } from './stream-engine.js';
import { StreamInput } from './stream-input.js';
import type { NativeStreamDecompressor, ZstdStreamBinding } from './zstd-binding.js';
import { FrameStart, MOST_WINDOW_BYTES } from './zstd-frames.js';

/** The most bytes of input between two looks at the signal. */
const INPUT_BYTES = 256 * 1024;
/** Bytes of a buffer that outputs lie in. */
const OUTPUT_BYTES = 512 * 1024;
/** A buffer with less room than this is left as it is: a block decompresses to up to 128 KiB. */
const LEAST_ROOM = 128 * 1024;

/** The least window that can be asked for, as a power of 2. */
const MIN_WINDOW_LOG = 10;
const NOTHING = new Uint8Array(0);

/** Decompresses zstd frames (RFC 8878) with zstd-napi, in the thread that calls. */
export const zstdDecompress =
  (binding: ZstdStreamBinding): Decompress =>
  (source, options) =>
    decompressFrames(binding, source, options);

async function* decompressFrames(binding: ZstdStreamBinding, source: AsyncIterable<Uint8Array>, options: StreamDecompressOptions): Pieces {
  const { start = 0, signal } = options;
  const maxWindow = Math.min(options.maxWindow ?? MAX_WINDOW_BYTES, MOST_WINDOW_BYTES);
  const input = new StreamInput(source, INPUT_BYTES, start, signal);
  const decoder = new FrameDecoder(binding, maxWindow, start);
  try {
    for (let piece = await input.next(); piece !== undefined; piece = await input.next()) yield* decoder.decode(piece);
    decoder.end();
  } finally {
    await input.close();
  }
}

/** Frames one after the other, in pieces of any size. */
class FrameDecoder {
  readonly #context: NativeStreamDecompressor;
  readonly #frameStart: FrameStart;
  /** Of what comes next. */
  #offset: number;
  #output = Buffer.allocUnsafeSlow(OUTPUT_BYTES);
  /** Bytes of it that are made, and those of them that are given out. */
  #made = 0;
  #given = 0;
  /** Within a frame: the bytes that zstd would like next; 0: a frame begins. */
  #wanted = 0;
  #frames = 0;

  constructor(binding: ZstdStreamBinding, maxWindow: number, offset: number) {
    this.#context = new binding.DCtx();
    const windowLog = Math.max(MIN_WINDOW_LOG, Math.ceil(Math.log2(maxWindow)));
    this.#context.setParameter(binding.DParameter.windowLogMax, windowLog);
    this.#frameStart = new FrameStart(maxWindow);
    this.#offset = offset;
  }

  /** What a piece decompresses to. An error comes when all before it has been given out. */
  *decode(piece: Uint8Array): Generator<Buffer, void, void> {
    let rest = piece;
    try {
      while (rest.length > 0) {
        if (this.#wanted > 0) {
          // No more than is wanted, so that what comes before damage is not lost with it.
          const some = rest.subarray(0, this.#wanted);
          rest = rest.subarray(some.length);
          yield* this.#decompress(some);
        } else {
          rest = rest.subarray(this.#frameStart.take(rest));
          yield* this.#begin();
        }
      }
    } catch (error) {
      yield* this.#give();
      throw error;
    }
    yield* this.#give();
  }

  end(): void {
    if (this.#wanted > 0 || this.#frames === 0 || this.#frameStart.length > 0) throw streamTruncated('zstd', this.#offset + this.#frameStart.length);
  }

  /** Begins a frame, once its header is there. */
  *#begin(): Generator<Buffer, void, void> {
    if (this.#frames > 0 && !this.#frameStart.plausible) throw streamTrailing('zstd', this.#offset);
    if (!this.#frameStart.complete) return;
    this.#frameStart.check(this.#offset);
    const header = this.#frameStart.bytes;
    this.#frameStart.clear();
    this.#frames++;
    yield* this.#decompress(header);
  }

  *#decompress(input: Uint8Array): Generator<Buffer, void, void> {
    let rest = input;
    for (let full = true; full || rest.length > 0; ) {
      if (this.#output.length - this.#made < LEAST_ROOM) yield* this.#renew();
      const room = this.#output.subarray(this.#made);
      const [left, made, taken] = this.#call(room, rest);
      this.#offset += taken;
      this.#made += made;
      this.#wanted = left;
      rest = rest.subarray(taken);
      full = made === room.length && left > 0;
    }
  }

  #call(room: Uint8Array, input: Uint8Array): readonly [number, number, number] {
    try {
      return this.#context.decompressStream(room, input.length === 0 ? NOTHING : input);
    } catch (error) {
      throw streamDamaged('zstd', this.#offset, error);
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
