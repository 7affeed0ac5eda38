/**
 * zlib through the native handle inside Node's own zlib streams, one handle reused for every chunk: making and
 * freeing a handle is more than half of the cost of `inflateSync` on a chunk of a few hundred bytes.
 *
 * The handle is internal to Node. What is used of it: `writeSync(flush, input, inOffset, inLength, output,
 * outOffset, outLength)`, which leaves the free bytes of output and the unread bytes of input in the stream's
 * `_writeState`; `reset()`; and `onerror(message, errno, code)`, called during `writeSync`. Nothing here is relied on
 * before `zlibBehaves` (probe.ts) has seen it work.
 */

import { constants, createDeflate, createInflate } from 'node:zlib';

import { Arena, MAX_RESERVE, ownBuffer, trim } from '../arena.js';
import type { ChunkCompressor, ChunkDecompressor, DecodeFault, LoadedBackend } from '../engine.js';
import { MAX_TEXT_BYTES, ZLIB_LEVELS, ZLIB_MIN_INPUT } from '../facts.js';
import { damaged, tooLarge } from '../faults.js';

const { Z_FINISH } = constants;

/** Bytes of deflate's window and the look-ahead behind it, with a 32 KiB window. */
const WINDOW_BYTES = 64 * 1024;
const ZEROS = new Uint8Array(WINDOW_BYTES);

interface NativeHandle {
  onerror: (message: string, errno: number, code: string) => void;
  writeSync(
    flush: number,
    input: Uint8Array,
    inOffset: number,
    inLength: number,
    output: Uint8Array,
    outOffset: number,
    outLength: number,
  ): void;
  reset(): void;
}

interface StreamWithHandle {
  readonly _handle: NativeHandle;
  readonly _writeState: Uint32Array;
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;

function hasHandle(stream: unknown): stream is StreamWithHandle {
  if (!isObject(stream) || !isObject(stream['_handle'])) return false;
  const handle = stream['_handle'];
  const state = stream['_writeState'];
  return (
    state instanceof Uint32Array &&
    state.length >= 2 &&
    typeof handle['writeSync'] === 'function' &&
    typeof handle['reset'] === 'function'
  );
}

/** One native handle. After an error it must be reset. */
class ZlibHandle {
  /** What went wrong in the last write. */
  error: string | undefined;
  readonly #handle: NativeHandle;
  readonly #state: Uint32Array;

  constructor(stream: StreamWithHandle) {
    this.#handle = stream._handle;
    this.#state = stream._writeState;
    this.#handle.onerror = (message) => {
      this.error = message;
    };
  }

  /** Reads input to its end or until the output is full, whichever is first. */
  write(input: Uint8Array, inOffset: number, output: Uint8Array, outOffset: number, outLength: number): void {
    this.#handle.writeSync(Z_FINISH, input, inOffset, input.length - inOffset, output, outOffset, outLength);
  }

  /** Bytes of output that the last write left free; of no meaning after an error. */
  get availOut(): number {
    return this.#state[0] ?? 0;
  }

  /** Bytes of input that the last write left unread; of no meaning after an error. */
  get availIn(): number {
    return this.#state[1] ?? 0;
  }

  reset(): void {
    this.error = undefined;
    this.#handle.reset();
  }
}

class HandleDecompressor implements ChunkDecompressor {
  readonly #arena: Arena;

  constructor(
    private readonly handle: ZlibHandle,
    memory = new Arena(),
  ) {
    this.#arena = memory;
  }

  decompress(chunks: readonly Uint8Array[], limits: readonly number[]): (Uint8Array | DecodeFault)[] {
    return chunks.map((chunk, i) => this.#inflate(chunk, Math.min(limits[i] ?? 0, MAX_TEXT_BYTES)));
  }

  #inflate(chunk: Uint8Array, limit: number): Uint8Array | DecodeFault {
    const handle = this.handle;
    const arena = this.#arena;
    arena.reserve(Math.min(Math.max(2048, chunk.length * 4), MAX_RESERVE));
    // One byte more than the limit, so that what exceeds it shows.
    const room = Math.min(arena.remaining, limit + 1);
    handle.write(chunk, 0, arena.block, arena.offset, room);
    const produced = room - handle.availOut;
    let result: Uint8Array | DecodeFault;
    if (handle.error !== undefined) result = damaged('zlib', handle.error);
    else if (produced > limit) result = tooLarge(limit);
    else if (handle.availOut === 0) result = this.#inflateRest(chunk, arena.peek(produced), limit);
    else result = arena.take(produced);
    handle.reset();
    return result;
  }

  /** Goes on after `head`, which filled the room it had, in a buffer that grows as the data fills it. */
  #inflateRest(chunk: Uint8Array, head: Uint8Array<ArrayBuffer>, limit: number): Uint8Array | DecodeFault {
    const handle = this.handle;
    let output = head;
    let produced = head.length;
    while (handle.availOut === 0) {
      const larger = ownBuffer(Math.min(limit + 1, Math.max(produced * 2, chunk.length * 4, MAX_RESERVE)));
      larger.set(output);
      output = larger;
      handle.write(chunk, chunk.length - handle.availIn, output, produced, output.length - produced);
      produced = output.length - handle.availOut;
      if (handle.error !== undefined) return damaged('zlib', handle.error);
      if (produced > limit) return tooLarge(limit);
    }
    return trim(output, produced);
  }
}

/**
 * Deflates with one handle, and yet gives each input the very bytes that a new handle would give it. That takes care:
 * `reset` leaves the last input in deflate's window, and where Node's zlib hashes four bytes at a time it reads a few
 * bytes behind the end of the data. What is left there would decide which matches it finds, so that the output
 * would depend on what came before. In a new handle the window is all zeros; so inputs are deflated in order of
 * their length, shortest first, and before the first the window is overwritten with zeros.
 */
class HandleCompressor implements ChunkCompressor {
  readonly #arena: Arena;
  /** How much of the window, from its start, may hold something other than zeros. */
  #dirty = 0;

  constructor(
    private readonly handle: ZlibHandle,
    memory = new Arena(),
  ) {
    this.#arena = memory;
  }

  compress(inputs: readonly Uint8Array[]): (Uint8Array | undefined)[] {
    const results = new Array<Uint8Array | undefined>(inputs.length).fill(undefined);
    const tried: { readonly input: Uint8Array; readonly index: number }[] = [];
    for (const [index, input] of inputs.entries()) {
      if (input.length >= ZLIB_MIN_INPUT) tried.push({ input, index });
    }
    tried.sort((a, b) => a.input.length - b.input.length);
    for (const { input, index } of tried) {
      if (input.length < this.#dirty) this.#clearWindow();
      results[index] = this.#deflate(input);
      this.#dirty = Math.min(input.length, WINDOW_BYTES);
    }
    return results;
  }

  /** With room for as many bytes as the input has, a stream that leaves none of it free is not shorter. */
  #deflate(input: Uint8Array): Uint8Array | undefined {
    const handle = this.handle;
    const arena = this.#arena;
    const room = input.length;
    if (room > MAX_RESERVE) return this.#deflateLarge(input);
    arena.reserve(room);
    handle.write(input, 0, arena.block, arena.offset, room);
    const result = this.#isShorter() ? arena.take(room - handle.availOut) : undefined;
    handle.reset();
    return result;
  }

  #deflateLarge(input: Uint8Array): Uint8Array | undefined {
    const output = ownBuffer(input.length);
    this.handle.write(input, 0, output, 0, output.length);
    const result = this.#isShorter() ? trim(output, output.length - this.handle.availOut) : undefined;
    this.handle.reset();
    return result;
  }

  #clearWindow(): void {
    const zeros = ZEROS.subarray(0, this.#dirty);
    this.#arena.reserve(MAX_RESERVE);
    this.handle.write(zeros, 0, this.#arena.block, this.#arena.offset, MAX_RESERVE);
    this.handle.reset();
  }

  #isShorter(): boolean {
    if (this.handle.error !== undefined) throw new Error(`zlib: ${this.handle.error}`);
    return this.handle.availOut > 0;
  }
}

/** Makes the streams whose handles are used. Tests give others. */
export interface StreamFactory {
  inflate(): unknown;
  deflate(level: number): unknown;
}

const nodeStreams: StreamFactory = {
  inflate: () => createInflate(),
  deflate: (level) => createDeflate({ level }),
};

function openHandle(stream: unknown): ZlibHandle {
  if (!hasHandle(stream)) throw new TypeError('zlib streams of this Node have no handle of the known form');
  return new ZlibHandle(stream);
}

/**
 * The backend over native handles. Creating a codec throws a TypeError where streams have no handle of the known
 * form; check with `zlibBehaves` before use.
 */
export const handleBackend = (streams: StreamFactory = nodeStreams): LoadedBackend => ({
  createCompressor: ({ level = ZLIB_LEVELS.default, memory }) => new HandleCompressor(openHandle(streams.deflate(level)), memory),
  createDecompressor: ({ memory } = {}) => new HandleDecompressor(openHandle(streams.inflate()), memory),
});
