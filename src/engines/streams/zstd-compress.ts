import { setImmediate as nextTurn } from 'node:timers/promises';

import { ZSTD_LEVELS } from '../facts.js';
import type { Compress, Pieces, StreamCompressOptions } from './stream-engine.js';
import { interrupted, StreamInput } from './stream-input.js';
import type { NativeStreamCompressor, ZstdStreamBinding } from './zstd-binding.js';

/** The most bytes of input, and of output, between two turns for the event loop: at high levels they take long. */
const STRETCH_BYTES = 128 * 1024;
const OUTPUT_BYTES = 256 * 1024;
/** Bytes that one thread compresses at a time. */
const JOB_BYTES = 8 << 20;
/** Each job may refer to a whole window before it. With less, bundles come out larger than from one thread. */
const FULL_OVERLAP = 9;
/** Above, zstd chooses jobs itself: they go by windows, which are large. A thread of its own gains nothing there: the caller does little beside. */
const MAX_FAST_LEVEL = 12;
const NOTHING = new Uint8Array(0);

/**
 * One zstd frame (RFC 8878) without its size and without a checksum, as Mercurial writes it, with zstd-napi. Threads of
 * zstd work beside the one that calls; the output is the same for one and for many.
 */
export const zstdCompress =
  (binding: ZstdStreamBinding): Compress =>
  (source, options) =>
    compressFrame(binding, source, options);

async function* compressFrame(binding: ZstdStreamBinding, source: AsyncIterable<Uint8Array>, { level, threads, signal }: StreamCompressOptions): Pieces {
  const input = new StreamInput(source, STRETCH_BYTES, 0, signal);
  const encoder = new FrameEncoder(binding, level ?? ZSTD_LEVELS.default, threads);
  try {
    for (let piece = await input.next(); piece !== undefined; piece = await input.next()) {
      yield* encoder.encode(piece);
      await nextTurn();
    }
    for (let ended = false; !ended; ) {
      ended = encoder.end();
      const made = encoder.made(ended);
      if (made !== undefined) yield made;
      if (!ended) await nextTurn();
      if (signal?.aborted === true) throw interrupted();
    }
  } finally {
    await input.close();
  }
}

class FrameEncoder {
  readonly #context: NativeStreamCompressor;
  #output = Buffer.allocUnsafeSlow(OUTPUT_BYTES);
  #made = 0;

  constructor(
    private readonly binding: ZstdStreamBinding,
    level: number,
    threads = level <= MAX_FAST_LEVEL ? 1 : 0,
  ) {
    const { CParameter } = binding;
    this.#context = new binding.CCtx();
    this.#context.setParameter(CParameter.compressionLevel, level);
    if (threads === 0) return;
    this.#context.setParameter(CParameter.nbWorkers, threads);
    if (level > MAX_FAST_LEVEL) return;
    this.#context.setParameter(CParameter.jobSize, JOB_BYTES);
    this.#context.setParameter(CParameter.overlapLog, FULL_OVERLAP);
  }

  *encode(piece: Uint8Array): Generator<Buffer, void, void> {
    for (let rest = piece; rest.length > 0; ) {
      const [, made, taken] = this.#context.compressStream2(this.#room, rest, this.binding.EndDirective.continue);
      rest = rest.subarray(taken);
      this.#made += made;
      const full = this.made(false);
      if (full !== undefined) yield full;
    }
  }

  /** Finishes, as far as the room for one stretch goes. @returns whether all is done */
  end(): boolean {
    const [left, made] = this.#context.compressStream2(this.#room, NOTHING, this.binding.EndDirective.end);
    this.#made += made;
    return left === 0;
  }

  /** @returns what is made, where the buffer is full, or all is wanted */
  made(all: boolean): Buffer | undefined {
    if (this.#made < this.#output.length && !(all && this.#made > 0)) return undefined;
    const made = this.#output.subarray(0, this.#made);
    this.#output = Buffer.allocUnsafeSlow(OUTPUT_BYTES);
    this.#made = 0;
    return made;
  }

  get #room(): Uint8Array {
    return this.#output.subarray(this.#made, this.#made + STRETCH_BYTES);
  }
}
