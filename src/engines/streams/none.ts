import { asBuffer } from '../../formats/bytes.js';
import type { Pieces } from './stream-engine.js';
import { StreamInput } from './stream-input.js';

/** No compression: the pieces as they come. */
export async function* passThrough(source: AsyncIterable<Uint8Array>, { signal }: { readonly signal?: AbortSignal | undefined }): Pieces {
  const input = new StreamInput(source, Infinity, 0, signal);
  try {
    for (let piece = await input.next(); piece !== undefined; piece = await input.next()) yield asBuffer(piece);
  } finally {
    await input.close();
  }
}
