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
  const counts = new Map<number, { id: number; chunks: number; bytes: number }>();
  return {
    add(chunk) {
      const id = dictionaryIdOf(chunk);
      if (id === 0) return;
      const count = counts.get(id) ?? { id, chunks: 0, bytes: 0 };
      counts.set(id, count);
      count.chunks++;
      count.bytes += chunk.length;
    },
    get used() {
      return [...counts.values()].sort((a, b) => a.id - b.id);
    },
  };
}

/** Several counts as one. */
export function addUse(uses: readonly DictionaryUse[]): DictionaryUse {
  const sums = new Map<number, UsedDictionary>();
  for (const { id, chunks, bytes } of uses.flat()) {
    const known = sums.get(id) ?? { id, chunks: 0, bytes: 0 };
    sums.set(id, { id, chunks: known.chunks + chunks, bytes: known.bytes + bytes });
  }
  return [...sums.values()].sort((a, b) => a.id - b.id);
}
