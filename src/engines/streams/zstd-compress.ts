import { ZSTD_LEVELS } from '../facts.js';
import type { Compress, Pieces, StreamCompressOptions } from './stream-engine.js';
import { StreamInput } from './stream-input.js';
import type { NativeStreamCompressor, ZstdStreamBinding } from './zstd-binding.js';

/** The most bytes of input between two looks at the signal. */
const INPUT_BYTES = 1 << 20;
const OUTPUT_BYTES = 256 * 1024;
/** Bytes that one thread compresses at a time. */
const JOB_BYTES = 4 << 20;
/** Each job may refer to a whole window before it: without this, bundles come out larger. */
const FULL_OVERLAP = 9;
const NOTHING = new Uint8Array(0);

/**
 * One zstd frame (RFC 8878) without its size and without a checksum, as Mercurial writes it, with zstd-napi. Threads of
 * zstd work beside the one that calls; the output is the same for one and for many.
 */
export const zstdCompress =
  (binding: ZstdStreamBinding): Compress =>
  (source, options) =>
    compressFrame(binding, source, options);

async function* compressFrame(binding: ZstdStreamBinding, source: AsyncIterable<Uint8Array>, { level, threads = 1, signal }: StreamCompressOptions): Pieces {
  const input = new StreamInput(source, INPUT_BYTES, 0, signal);
  const encoder = new FrameEncoder(binding, level ?? ZSTD_LEVELS.default, threads);
  try {
    for (let piece = await input.next(); piece !== undefined; piece = await input.next()) yield* encoder.encode(piece);
    yield* encoder.end();
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
    threads: number,
  ) {
    const { CParameter } = binding;
    this.#context = new binding.CCtx();
    this.#context.setParameter(CParameter.compressionLevel, level);
    if (threads === 0) return;
    this.#context.setParameter(CParameter.nbWorkers, threads);
    this.#context.setParameter(CParameter.jobSize, JOB_BYTES);
    this.#context.setParameter(CParameter.overlapLog, FULL_OVERLAP);
  }

  *encode(piece: Uint8Array): Generator<Buffer, void, void> {
    for (let rest = piece; rest.length > 0; ) {
      const [, made, taken] = this.#context.compressStream2(this.#output.subarray(this.#made), rest, this.binding.EndDirective.continue);
      rest = rest.subarray(taken);
      yield* this.#add(made);
    }
  }

  *end(): Generator<Buffer, void, void> {
    for (let left = 1; left > 0; ) {
      const [still, made] = this.#context.compressStream2(this.#output.subarray(this.#made), NOTHING, this.binding.EndDirective.end);
      left = still;
      yield* this.#add(made);
    }
    if (this.#made > 0) yield this.#output.subarray(0, this.#made);
  }

  /** Gives out the buffer when it is full. */
  *#add(made: number): Generator<Buffer, void, void> {
    this.#made += made;
    if (this.#made < this.#output.length) return;
    yield this.#output;
    this.#output = Buffer.allocUnsafeSlow(OUTPUT_BYTES);
    this.#made = 0;
  }
}
