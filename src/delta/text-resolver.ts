import type { MaybePromise } from '../engines/engine.js';
import { andThen } from '../engines/engine.js';
import { RevconvertError } from '../errors.js';
import type { Revision } from '../formats/record.js';
import { FULL_TEXT, NULL_BASE } from '../formats/record.js';
import type { RevlogIndex } from '../formats/revlog-index.js';
import { applyDelta } from './apply.js';
import type { TextCache } from './text-cache.js';

/** Rebuilds the raw texts of a revlog, revision after revision. */
export interface TextResolver {
  /**
   * The text of the next revision.
   * @param revision `delta` filled and measured; revisions come in order
   * @returns the text, valid until `settle`
   * @throws RevconvertError DELTA_BASE where the base cannot be had; what `fetch` throws
   */
  resolve(revision: Revision): MaybePromise<Uint8Array>;
  /** The text of an earlier revision. Valid until the next call: it may have to make room. */
  textOf(rev: number): MaybePromise<Uint8Array>;
  /** To be called when all is done with a revision: its `text` is kept where a later one needs it; what nothing later needs is forgotten. */
  settle(revision: Revision): void;
}

export interface TextResolverOptions {
  readonly cache: TextCache;
  /** The last revision that will need the text of `rev`; not after it: none will. */
  readonly lastUse: (rev: number) => number;
  /** Gets the text of an earlier revision that is not in the cache (any more), in memory that was allocated there. */
  readonly fetch: (rev: number) => MaybePromise<Buffer>;
}

export function createTextResolver({ cache, lastUse, fetch }: TextResolverOptions): TextResolver {
  /** The text that was resolved last. It is no part of the cache before it is settled: nothing may push it out. */
  let current: Buffer | undefined;
  /** What it was built on: a later step may have given the revision another base. */
  let builtOn = -1;

  const build = (revision: Revision, base: Uint8Array, delta: Uint8Array): Uint8Array => {
    const target = cache.allocate(revision.rawSize);
    const written = isExpected(base, revision) ? applyDelta(base, delta, target) : -1;
    if (written !== target.length) {
      cache.giveBack(target);
      throw new RevconvertError('CHUNK_SIZE', `the delta does not make a text of ${revision.rawSize} bytes of a base of ${base.length}`, { rev: revision.rev });
    }
    current = target;
    return target;
  };

  const textOf = createTextSource({ cache, fetch });

  const keepCurrent = ({ rev, text }: Revision): void => {
    const own = current;
    current = undefined;
    const isNeeded = text !== undefined && lastUse(rev) > rev;
    if (isNeeded) cache.put(rev, own ?? cache.copy(text));
    else if (own !== undefined) cache.giveBack(own);
  };

  const releaseAfter = (rev: number, text: number): void => {
    if (text >= 0 && lastUse(text) <= rev) cache.release(text);
  };

  return {
    textOf,
    resolve(revision) {
      const { deltaBase, delta } = revision;
      builtOn = deltaBase;
      if (delta === undefined || revision.rawSize < 0) throw new RevconvertError('INTERNAL', 'the chunk was not decompressed by an earlier stage', { rev: revision.rev });
      if (deltaBase === FULL_TEXT) return delta;
      if (deltaBase === NULL_BASE) return build(revision, EMPTY, delta);
      const base = cache.get(deltaBase);
      if (base !== undefined) return build(revision, base, delta);
      return andThen(textOf(deltaBase), (fetched) => build(revision, fetched, delta));
    },
    settle(revision) {
      const { rev, p1, p2 } = revision;
      // First what nothing needs: it must not push out what something does.
      releaseAfter(rev, builtOn);
      releaseAfter(rev, p1);
      releaseAfter(rev, p2);
      builtOn = -1;
      keepCurrent(revision);
    },
  };
}

const EMPTY = new Uint8Array(0);

/** Gives texts from the cache, and those that are not there from `fetch`, which it then holds. */
export const createTextSource =
  ({ cache, fetch }: Pick<TextResolverOptions, 'cache' | 'fetch'>): ((rev: number) => MaybePromise<Buffer>) =>
  (rev) =>
    cache.get(rev) ??
    andThen(fetch(rev), (text) => {
      cache.put(rev, text);
      return text;
    });

/** Whether a base has the length that the index names; where it names none, whatever it has. */
const isExpected = (base: Uint8Array, { deltaBase, baseSize }: Revision): boolean => deltaBase < 0 || baseSize < 0 || base.length === baseSize;

/** For each revision the last one that needs its text to resolve its own. */
export function lastDeltaUses(index: RevlogIndex): Int32Array {
  const last = new Int32Array(index.length).fill(-1);
  for (let rev = 0; rev < index.length; rev++) {
    const base = index.deltaBase(rev);
    if (base >= 0) last[base] = rev;
  }
  return last;
}

/**
 * The same where deltas against the parents are made too.
 * @param previous deltas against the previous revision are made as well
 */
export function lastTextUses(index: RevlogIndex, previous = false): Int32Array {
  const last = lastDeltaUses(index);
  for (let rev = 0; rev < index.length; rev++) {
    for (const base of [index.p1(rev), index.p2(rev), previous ? rev - 1 : -1]) if (base >= 0) last[base] = Math.max(last[base] ?? -1, rev);
  }
  return last;
}
