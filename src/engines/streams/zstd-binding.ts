/** zstd's streaming interface in zstd-napi's thin binding. */

/** What a call left to do, the bytes it made, and the bytes it took. */
type StreamResult = readonly [left: number, made: number, taken: number];

export interface NativeStreamCompressor {
  setParameter(parameter: number, value: number): void;
  /** `left` 0 behind an `end`: all is written. */
  compressStream2(output: Uint8Array, input: Uint8Array, directive: number): StreamResult;
}

export interface NativeStreamDecompressor {
  setParameter(parameter: number, value: number): void;
  /** Takes nothing beyond the end of a frame. `left` 0: it is at one, and all is written; otherwise the bytes that it would like next. */
  decompressStream(output: Uint8Array, input: Uint8Array): StreamResult;
}

/** The part of zstd-napi/binding that is used for streams. */
export interface ZstdStreamBinding {
  readonly CCtx: new () => NativeStreamCompressor;
  readonly DCtx: new () => NativeStreamDecompressor;
  readonly CParameter: Readonly<Record<'compressionLevel' | 'nbWorkers' | 'jobSize' | 'overlapLog', number>>;
  readonly DParameter: { readonly windowLogMax: number };
  readonly EndDirective: Readonly<Record<'continue' | 'end', number>>;
}

/** A frame without size, one raw block of three bytes, and a byte that does not belong to it. */
const PROBE = Uint8Array.of(0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x58, 0x19, 0, 0, 1, 2, 3, 0xff);

/** @returns whether the binding does here what it is relied on for; may throw where it does not */
function behaves(binding: ZstdStreamBinding): boolean {
  const output = new Uint8Array(64);
  const [left, made, taken] = new binding.DCtx().decompressStream(output, PROBE);
  if (left !== 0 || made !== 3 || taken !== PROBE.length - 1) return false;
  const [rest, written] = new binding.CCtx().compressStream2(output, PROBE, binding.EndDirective.end);
  return rest === 0 && written > 0;
}

/**
 * @param importBinding gives the native module; tests give another
 * @returns undefined where the package is not installed, or does not work here
 */
export async function loadZstdStreams(
  importBinding: () => Promise<ZstdStreamBinding> = async () => (await import('zstd-napi/binding.js')).default,
): Promise<ZstdStreamBinding | undefined> {
  try {
    const binding = await importBinding();
    return behaves(binding) ? binding : undefined;
  } catch {
    return undefined;
  }
}
