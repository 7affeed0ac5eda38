import { asBuffer } from '../../formats/bytes.js';
import type { Pieces } from './stream-engine.js';
import { StreamInput } from './stream-input.js';

/**
 * No compression: the pieces as they come.
 * @param options `most`: the most bytes of a piece
 */
export async function* passThrough(source: AsyncIterable<Uint8Array>, { signal, most = Infinity }: { readonly signal?: AbortSignal | undefined; readonly most?: number }): Pieces {
  const input = new StreamInput(source, most, 0, signal);
  try {
    for (let piece = await input.next(); piece !== undefined; piece = await input.next()) yield asBuffer(piece);
  } finally {
    await input.close();
  }
}
