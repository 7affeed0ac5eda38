/** A check at load time that a backend does here what it is relied on for. Takes a few milliseconds at most. */

import { BLOCK_BYTES } from '../arena.js';
import { isPromise } from '../engine.js';
import { DecodeFault, type LoadedBackend } from '../engine.js';

/** Text that every engine makes shorter, of `lines` lines that differ. */
function sampleText(lines: number): Uint8Array {
  let text = '';
  for (let i = 0; i < lines; i++) text += `src/file${i * 7919}.c\0${(i * 2654435761) % 4294967296}\n`;
  return Buffer.from(text, 'latin1');
}

const sameBytes = (a: unknown, b: Uint8Array): boolean => a instanceof Uint8Array && Buffer.compare(a, b) === 0;

/**
 * One round trip, awaited where the backend is asynchronous.
 * @returns whether a text comes back as it was, shorter in between
 */
export async function roundTrips(backend: LoadedBackend): Promise<boolean> {
  const text = sampleText(12);
  try {
    const [chunk] = await backend.createCompressor({}).compress([text]);
    if (chunk === undefined || chunk.length >= text.length) return false;
    const [back] = await backend.createDecompressor().decompress([chunk], [text.length]);
    return sameBytes(back, text);
  } catch {
    return false;
  }
}

/**
 * All that relies on Node's internals staying as they are, for a synchronous zlib backend: round trips with one
 * reused handle, outputs larger than the room first given, incompressible input, and truncated, damaged and
 * oversized streams that must be faults and must not spoil the good one after them.
 * @returns whether all of it holds; nothing is thrown
 */
export function zlibBehaves(backend: LoadedBackend): boolean {
  const small = sampleText(12);
  const large = Buffer.concat([small, Buffer.alloc(BLOCK_BYTES + 1000)]);
  try {
    const compressor = backend.createCompressor({});
    const decompressor = backend.createDecompressor();
    const decompress = (chunk: Uint8Array, limit: number): Uint8Array | DecodeFault | undefined => {
      const results = decompressor.decompress([chunk], [limit]);
      return isPromise(results) ? undefined : results[0];
    };
    const compressed = compressor.compress([small, large, small]);
    if (isPromise(compressed)) return false;
    const [first, second, third] = compressed;
    if (first === undefined || second === undefined || third === undefined) return false;
    const truncated = first.subarray(0, -6);
    const spoilt = first.slice();
    spoilt[spoilt.length - 1] = (spoilt[spoilt.length - 1] ?? 0) ^ 1;
    const bad: [Uint8Array, number][] = [
      [truncated, small.length],
      [spoilt, small.length],
      [first, small.length - 1],
      [second, large.length - 1],
      [second.subarray(0, -6), large.length],
    ];
    return (
      sameBytes(first, third) &&
      sameBytes(decompress(second, large.length), large) &&
      bad.every(
        ([chunk, limit]) =>
          decompress(chunk, limit) instanceof DecodeFault && sameBytes(decompress(first, small.length), small),
      ) &&
      sameBytes(decompress(second, large.length), large)
    );
  } catch {
    return false;
  }
}

/**
 * @returns whether both synchronous backends compress texts of falling length to the same bytes: what the first
 *   compressed before must not show
 */
export function sameOutput(backend: LoadedBackend, reference: LoadedBackend): boolean {
  const texts = [80, 40, 20, 10, 5].map(sampleText);
  const inputs = texts.flatMap((text) => [text, text.subarray(0, -1), text.subarray(0, -2), text.subarray(0, -3)]);
  try {
    const compressor = backend.createCompressor({});
    return [inputs, inputs].every((batch) => {
      const [own, other] = [compressor.compress(batch), reference.createCompressor({}).compress(batch)];
      if (isPromise(own) || isPromise(other)) return false;
      return own.every((chunk, i) => chunk !== undefined && sameBytes(other[i], chunk));
    });
  } catch {
    return false;
  }
}
