import { asBuffer } from '../formats/bytes.js';

/** Bytes that are counted as they pass. */
export function meter(source: AsyncIterable<Uint8Array>): { readonly bytes: AsyncGenerator<Buffer, void, void>; readonly count: () => number } {
  let total = 0;
  const counted = async function* (): AsyncGenerator<Buffer, void, void> {
    for await (const piece of source) {
      total += piece.length;
      yield asBuffer(piece);
    }
  };
  return { bytes: counted(), count: () => total };
}
