import type { MaybePromise } from '../engines/engine.js';
import { andThen } from '../engines/engine.js';
import { RevconvertError } from '../errors.js';
import { asBuffer } from '../formats/bytes.js';
import type { Revision } from '../formats/record.js';
import { FULL_TEXT, NULL_BASE } from '../formats/record.js';
import type { RevlogIndex } from '../formats/revlog-index.js';
import { applyDelta } from './apply.js';
import { patchInPlace } from './patch-in-place.js';
import type { TextResolverOptions } from './text-resolver.js';
import { createTextSource } from './text-resolver.js';

/** What there has to be of a revision whose text is resolved. */
export type ResolvedRevision = Pick<Revision, 'rev' | 'deltaBase' | 'baseSize' | 'rawSize' | 'delta'>;

/** A `TextResolver` that needs less of a revision. */
export interface RunningResolver {
  /** The text of the next revision; as in `TextResolver`, but a text in memory of the cache in any case. */
  resolve(revision: ResolvedRevision): MaybePromise<Buffer>;
  textOf(rev: number): MaybePromise<Uint8Array>;
  settle(revision: Pick<Revision, 'rev'>): void;
}

/**
 * A resolver for who only looks at each text once, in order: a base that nothing else needs is turned into the text
 * that is built on it, in its own memory. Every text lies in memory of the cache, whatever the revision is.
 */
export function createRunningResolver({ cache, lastUse, fetch }: TextResolverOptions): RunningResolver {
  let current: Buffer | undefined;

  const keep = (text: Buffer): Buffer => {
    current = text;
    return text;
  };

  /** @param isOwn nothing else needs the base: its memory may be used */
  const build = (revision: ResolvedRevision, base: Buffer, delta: Buffer, isOwn: boolean): Buffer => {
    const { rawSize, baseSize } = revision;
    const isExpected = baseSize < 0 || base.length === baseSize;
    const inPlace = isOwn && isExpected ? patchInPlace(base, delta) : undefined;
    if (inPlace !== undefined) return checked(revision, keep(inPlace), inPlace.length);
    const target = keep(cache.allocate(rawSize));
    const written = isExpected ? applyDelta(base, delta, target) : -1;
    if (isOwn) cache.giveBack(base);
    return checked(revision, target, written);
  };

  const textOf = createTextSource({ cache, fetch });

  return {
    textOf,
    resolve(revision) {
      const { rev, deltaBase, rawSize } = revision;
      if (revision.delta === undefined || rawSize < 0) throw new RevconvertError('INTERNAL', 'the chunk was not decompressed by an earlier stage', { rev });
      const delta = asBuffer(revision.delta);
      if (deltaBase === FULL_TEXT) {
        return keep(cache.copy(delta));
      }
      if (deltaBase === NULL_BASE) return build(revision, EMPTY, delta, false);
      if (lastUse(deltaBase) > rev) return andThen(textOf(deltaBase), (base) => build(revision, base, delta, false));
      const own = cache.take(deltaBase);
      return own === undefined ? andThen(fetch(deltaBase), (base) => build(revision, base, delta, true)) : build(revision, own, delta, true);
    },
    settle({ rev }) {
      const text = current;
      current = undefined;
      if (text === undefined) return;
      if (lastUse(rev) > rev) cache.put(rev, text);
      else cache.giveBack(text);
    },
  };
}

const EMPTY = Buffer.alloc(0);

function checked(revision: ResolvedRevision, text: Buffer, written: number): Buffer {
  if (written === revision.rawSize) return text;
  throw new RevconvertError('CHUNK_SIZE', `the delta does not make a text of ${revision.rawSize} bytes of its base`, { rev: revision.rev });
}

/**
 * For the revisions of a range the last one, in the range, that is a delta against `rev`.
 * @returns -1 where there is none
 */
export function lastUsesWithin(index: RevlogIndex, from: number, to: number): (rev: number) => number {
  const within = new Int32Array(to - from).fill(-1);
  const before = new Map<number, number>();
  for (let rev = from; rev < to; rev++) {
    const base = index.deltaBase(rev);
    if (base >= from) within[base - from] = rev;
    else if (base >= 0) before.set(base, rev);
  }
  return (rev) => (rev >= from ? within[rev - from] : before.get(rev)) ?? -1;
}
