/**
 * Chunks by their length as they are stored, in classes of which each begins at twice the length of the one before. A
 * sample that is spread over the bytes of a store has too many large chunks; by class it says what it has to say of small ones too.
 */
import type { ChunkSum } from './chunk-sum.js';

const CLASSES = 32;

/** The class of a length of 1 or more. */
const classOf = (length: number): number => 31 - Math.clz32(length);

/** How many chunks a store has of each class, and their bytes. */
export class SizeClasses {
  readonly #classes: ChunkSum[] = Array.from({ length: CLASSES }, () => ({ chunks: 0, bytes: 0 }));

  /** Counts a chunk. @param length 1 or more */
  add(length: number): void {
    const sum = this.#classes[classOf(length)];
    if (sum === undefined) return;
    sum.chunks++;
    sum.bytes += length;
  }

  get total(): ChunkSum {
    return this.#classes.reduce((total, { chunks, bytes }) => ({ chunks: total.chunks + chunks, bytes: total.bytes + bytes }), { chunks: 0, bytes: 0 });
  }

  /**
   * How many bytes of all chunks each byte of a sample's chunks, as they are stored, stands for. Chunks of a class that the
   * sample has none of are stood for by those of the next class below that it has, or else above.
   * @param lengths of the sample's chunks
   * @returns for each
   */
  weigh(lengths: readonly number[]): number[] {
    const sampled = new Map<number, number>();
    for (const length of lengths) sampled.set(classOf(length), (sampled.get(classOf(length)) ?? 0) + length);
    const known = [...sampled.keys()].sort((a, b) => a - b);
    const represented = new Map<number, number>();
    for (const [i, { bytes }] of this.#classes.entries()) {
      const nearest = known.findLast((one) => one <= i) ?? known[0];
      if (nearest !== undefined) represented.set(nearest, (represented.get(nearest) ?? 0) + bytes);
    }
    return lengths.map((length) => (represented.get(classOf(length)) ?? 0) / (sampled.get(classOf(length)) ?? 1));
  }
}
