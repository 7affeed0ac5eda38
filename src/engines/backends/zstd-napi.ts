/** zstd through zstd-napi's thin binding: synchronous, one native context for all chunks. */

import { RevconvertError } from '../../errors.js';
import { Arena, MAX_RESERVE, ownBuffer, trim } from '../arena.js';
import type { ChunkCompressor, ChunkDecompressor, CompressorOptions, DecompressorOptions, Dictionaries, Dictionary, LoadedBackend } from '../engine.js';
import { DecodeFault } from '../engine.js';
import { MAX_TEXT_BYTES, ZSTD_DICTIONARY_MIN_INPUT, ZSTD_LEVELS, ZSTD_MIN_INPUT } from '../facts.js';
import { damaged, messageOf, missingDictionary, refusedDictionary, tooLarge } from '../faults.js';
import { type FrameHeader, measureFrame, readFrameHeader } from '../zstd-frame.js';
import type { ZstdParameters } from '../zstd-parameters.js';
import { dictionaryParameters } from '../zstd-parameters.js';
import { roundTrips } from './probe.js';

interface NativeCompressor {
  /** Compresses into one frame; throws where `output` is too small. */
  compress2(output: Uint8Array, input: Uint8Array): number;
  setParameter(parameter: number, value: number): void;
  /** For all that follows; throws where it is no sound dictionary, once something is compressed. */
  loadDictionary(dictionary: Uint8Array): void;
}


interface NativeDecompressor {
  /** Decompresses all frames of `input`; throws where `output` is too small, or the input ends within a frame. */
  decompress(output: Uint8Array, input: Uint8Array): number;
  /** For all that follows; throws where it is no sound dictionary. */
  loadDictionary(dictionary: Uint8Array): void;
}

/** The part of zstd-napi/binding that is used. */
export interface ZstdBinding {
  readonly CCtx: new () => NativeCompressor;
  readonly DCtx: new () => NativeDecompressor;
  readonly CParameter: { readonly compressionLevel: number; readonly checksumFlag: number } & Readonly<Record<keyof ZstdParameters, number>>;
}

/** Outputs are first given this many times the length of the chunk, and more once they have filled it. */
const FIRST_EXPANSION = 16;
const GROWTH = 4;
/** Scratch memory up to this size is kept between chunks. */
const MAX_SCRATCH = 4 << 20;

const PROBE = Uint8Array.of(0);
const NO_DICTIONARIES: Dictionaries = new Map();

/** The most bytes a frame takes for an input of this length (ZSTD_COMPRESSBOUND in zstd.h). */
export const compressBound = (length: number): number =>
  length + (length >>> 8) + (length < 131_072 ? (131_072 - length) >>> 11 : 0);

class ZstdCompressor implements ChunkCompressor {
  readonly #arena: Arena;
  readonly #context: NativeCompressor;
  readonly #minInput: number;
  #scratch = new Uint8Array(0);

  constructor(binding: ZstdBinding, { level = 0, checksum = false, dictionary, memory = new Arena() }: CompressorOptions) {
    this.#arena = memory;
    this.#context = new binding.CCtx();
    const known = level === 0 ? ZSTD_LEVELS.default : level;
    this.#context.setParameter(binding.CParameter.compressionLevel, known);
    this.#context.setParameter(binding.CParameter.checksumFlag, checksum ? 1 : 0);
    this.#minInput = dictionary === undefined ? ZSTD_MIN_INPUT : ZSTD_DICTIONARY_MIN_INPUT;
    if (dictionary === undefined) return;
    for (const [name, value] of Object.entries(dictionaryParameters(known) ?? {}) as [keyof ZstdParameters, number][]) this.#context.setParameter(binding.CParameter[name], value);
    this.#load(dictionary);
  }

  /** It is digested once something is compressed. What the binding says of one that is not sound is about memory. */
  #load({ id, bytes }: Dictionary): void {
    try {
      this.#context.loadDictionary(bytes);
      this.#context.compress2(new Uint8Array(compressBound(PROBE.length)), PROBE);
    } catch (error) {
      throw new RevconvertError('DICTIONARY_DAMAGED', refusedDictionary(id), {}, { cause: error });
    }
  }

  compress(inputs: readonly Uint8Array[]): (Uint8Array | undefined)[] {
    return inputs.map((input) => (input.length < this.#minInput ? undefined : this.#compress(input)));
  }

  #compress(input: Uint8Array): Uint8Array | undefined {
    const bound = compressBound(input.length);
    if (bound > MAX_RESERVE) return this.#compressLarge(input, bound);
    this.#arena.reserve(bound);
    const length = this.#context.compress2(this.#arena.peek(bound), input);
    return length < input.length ? this.#arena.take(length) : undefined;
  }

  #compressLarge(input: Uint8Array, bound: number): Uint8Array | undefined {
    if (bound > MAX_SCRATCH) {
      const output = ownBuffer(bound);
      const length = this.#context.compress2(output, input);
      return length < input.length ? trim(output, length) : undefined;
    }
    if (this.#scratch.length < bound) this.#scratch = ownBuffer(bound);
    const length = this.#context.compress2(this.#scratch, input);
    return length < input.length ? this.#scratch.slice(0, length) : undefined;
  }
}

class ZstdDecompressor implements ChunkDecompressor {
  readonly #arena: Arena;
  readonly #context: NativeDecompressor;
  readonly #dictionaries: Dictionaries;
  /** One for each dictionary, made when the first frame names it: that is faster than to say with each frame which one. */
  readonly #contexts = new Map<number, NativeDecompressor | DecodeFault>();

  constructor(
    private readonly binding: ZstdBinding,
    /** The words in which the binding says that the output is too small. */
    private readonly outputTooSmall: string,
    { memory = new Arena(), dictionaries = NO_DICTIONARIES }: DecompressorOptions,
  ) {
    this.#arena = memory;
    this.#context = new binding.DCtx();
    this.#dictionaries = dictionaries;
  }

  decompress(chunks: readonly Uint8Array[], limits: readonly number[]): (Uint8Array | DecodeFault)[] {
    return chunks.map((chunk, i) => this.#decompress(chunk, Math.min(limits[i] ?? 0, MAX_TEXT_BYTES)));
  }

  #decompress(chunk: Uint8Array, limit: number): Uint8Array | DecodeFault {
    const header = readFrameHeader(chunk);
    if (header instanceof DecodeFault) return header;
    const { contentSize, dictionaryId } = header;
    const context = dictionaryId === 0 ? this.#context : (this.#contexts.get(dictionaryId) ?? this.#contextFor(dictionaryId));
    if (context instanceof DecodeFault) return context;
    if (contentSize === undefined || contentSize > MAX_RESERVE) return this.#decompressCarefully(chunk, header, limit, context);
    if (contentSize > limit) return tooLarge(limit, contentSize);
    // Usual: a small frame with nothing behind it.
    this.#arena.reserve(contentSize);
    const output = this.#arena.take(contentSize);
    try {
      if (context.decompress(output, chunk) === contentSize) return output;
    } catch {
      // Found out below: trailing bytes are no fault, damage is.
    }
    this.#arena.giveBack(contentSize);
    return this.#decompressCarefully(chunk, header, limit, context);
  }

  #contextFor(id: number): NativeDecompressor | DecodeFault {
    const dictionary = this.#dictionaries.get(id);
    if (dictionary === undefined) return missingDictionary(id);
    let context: NativeDecompressor | DecodeFault = new this.binding.DCtx();
    try {
      context.loadDictionary(dictionary.bytes);
    } catch {
      context = new DecodeFault('DICTIONARY_DAMAGED', refusedDictionary(id));
    }
    this.#contexts.set(id, context);
    return context;
  }

  /** The first frame alone, into room that grows as the data fills it. */
  #decompressCarefully(chunk: Uint8Array, header: FrameHeader, limit: number, context: NativeDecompressor): Uint8Array | DecodeFault {
    const { contentSize } = header;
    if (contentSize !== undefined && contentSize > limit) return tooLarge(limit, contentSize);
    const extent = measureFrame(chunk, header);
    if (extent instanceof DecodeFault) return extent;
    if (extent.minContent > limit) return tooLarge(limit);
    const frame = chunk.subarray(0, extent.end);
    const most = contentSize ?? Math.min(extent.maxContent, limit);
    let room = Math.min(most, Math.max(MAX_RESERVE, chunk.length * FIRST_EXPANSION));
    for (;;) {
      const output = ownBuffer(room);
      try {
        return trim(output, context.decompress(output, frame));
      } catch (error) {
        const message = messageOf(error);
        if (message !== this.outputTooSmall) return damaged('zstd', message);
        if (room >= most) return contentSize === undefined && most === limit ? tooLarge(limit) : damaged('zstd', message);
        room = Math.min(most, room * GROWTH);
      }
    }
  }
}

/** The words of the binding's error for an output that is too small; undefined where there is no error. */
function outputTooSmallMessage(binding: ZstdBinding): string | undefined {
  // One raw block of three bytes, content size 3.
  const frame = Uint8Array.of(0x28, 0xb5, 0x2f, 0xfd, 0x20, 3, 0x19, 0, 0, 1, 2, 3);
  const context = new binding.DCtx();
  if (context.decompress(new Uint8Array(3), frame) !== 3) return undefined;
  try {
    context.decompress(new Uint8Array(2), frame);
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}

/** The backend over a binding; throws where the binding is not of the known form. */
export function zstdNapiBackend(binding: ZstdBinding): LoadedBackend {
  const outputTooSmall = outputTooSmallMessage(binding);
  if (outputTooSmall === undefined) throw new TypeError('zstd-napi does not report an output that is too small');
  return {
    createCompressor: (options) => new ZstdCompressor(binding, options),
    createDecompressor: (options = {}) => new ZstdDecompressor(binding, outputTooSmall, options),
  };
}

/**
 * @param importBinding gives the native module; tests give another
 * @returns undefined where the package is not installed, or not built for this machine
 */
export async function loadZstdNapi(
  importBinding: () => Promise<ZstdBinding> = async () => (await import('zstd-napi/binding.js')).default,
): Promise<LoadedBackend | undefined> {
  try {
    const backend = zstdNapiBackend(await importBinding());
    return (await roundTrips(backend)) ? backend : undefined;
  } catch {
    return undefined;
  }
}
