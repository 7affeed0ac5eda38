import { PENDING_BYTES, PendingText } from '../../delta/pending-text.js';
import type { TextCache } from '../../delta/text-cache.js';
import { createTextCache } from '../../delta/text-cache.js';
import { NULL_BASE } from '../../formats/record.js';
import type { GroupRecords } from './group-records.js';

/** Texts of revisions of the group that passes. */
export interface GroupTexts {
  /**
   * The text of a revision that has passed: from the cache, or built from its chain.
   * @returns valid until the next but one call; undefined where it cannot be had: `size` of the records says why
   */
  textOf(number: number): Buffer | undefined;
  /** Forgets all: the next group begins. */
  clear(): void;
}

/**
 * @param records of the group
 * @param cacheBytes of texts that are held. @default 32 MiB
 */
export function createGroupTexts(records: GroupRecords, cacheBytes?: number): GroupTexts {
  const cache = createTextCache({ maxBytes: cacheBytes });
  return {
    textOf(number) {
      const known = cache.get(number);
      if (known !== undefined) return known;
      if (records.size(number) < 0) return undefined;
      const text = buildText(number, records, cache);
      cache.put(number, text);
      return text;
    },
    clear: () => cache.clear(),
  };
}

/**
 * Builds a text from its chain, whatever the length of the chain.
 * @param number a revision whose text can be had
 * @param cache texts that are known already; nothing is put in, its memory is used
 * @returns the text, in memory of the cache that is the caller's to give back
 */
export function buildText(number: number, records: GroupRecords, cache: TextCache): Buffer {
  const chain: number[] = [];
  let known: Buffer | undefined;
  for (let current = number; current !== NULL_BASE; current = records.base(current)) {
    known = cache.get(current);
    if (known !== undefined) break;
    chain.push(current);
  }
  const text = new PendingText(cache, known);
  for (let member = chain.pop(); member !== undefined; member = chain.pop()) {
    text.push(records.delta(member), records.size(member));
    if (text.pendingBytes > PENDING_BYTES) text.apply();
  }
  return text.take();
}
