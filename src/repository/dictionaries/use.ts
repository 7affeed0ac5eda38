import { dictionaryIdOf } from '../../engines/zstd-frame.js';

/** How much one dictionary is used. */
export interface UsedDictionary {
  readonly id: number;
  /** Chunks that name it. */
  readonly chunks: number;
  /** What these take, as stored. */
  readonly bytes: number;
}

/** By rising ID; dictionaries that no chunk names are left out. */
export type DictionaryUse = readonly UsedDictionary[];

/** Counts the chunks that name a dictionary. */
export interface DictionaryCounter {
  add(chunk: Uint8Array): void;
  readonly used: DictionaryUse;
}

export function createDictionaryUse(): DictionaryCounter {
  const tally = new DictionaryTally();
  return {
    add(chunk) {
      const id = dictionaryIdOf(chunk);
      if (id !== 0) tally.add({ id, chunks: 1, bytes: chunk.length });
    },
    get used() {
      return tally.sums;
    },
  };
}

/** Several counts as one. */
export function addUse(uses: readonly DictionaryUse[]): DictionaryUse {
  const tally = new DictionaryTally();
  for (const one of uses.flat()) tally.add(one);
  return tally.sums;
}

/** Sums by dictionary. */
export class DictionaryTally {
  readonly #sums = new Map<number, { id: number; chunks: number; bytes: number }>();

  add({ id, chunks, bytes }: UsedDictionary): void {
    const sum = this.#sums.get(id);
    if (sum === undefined) {
      this.#sums.set(id, { id, chunks, bytes });
      return;
    }
    sum.chunks += chunks;
    sum.bytes += bytes;
  }

  get sums(): DictionaryUse {
    return [...this.#sums.values()].sort((a, b) => a.id - b.id);
  }
}
