import type { Differ } from '../../delta/diff.js';
import type { TextCache } from '../../delta/text-cache.js';
import type { ChunkDecoders } from '../../engines/chunk-codec.js';
import { runSteps } from '../../engines/steps.js';
import { HUNK_HEADER } from '../../formats/hunks.js';
import { FULL_TEXT, NULL_BASE } from '../../formats/record.js';
import { FLAG_CENSORED, FLAG_EXTERNAL } from '../../formats/revision-flags.js';
import { readChain } from '../../streams/chain-reader.js';
import type { BatchOrigin } from '../../streams/read-revlog.js';
import { LEFT_OUT } from './changeset-state.js';
import type { DeltaBatch } from './delta-batch.js';
import type { RevlogScope } from './scope.js';

/** What new deltas are made with, in one thread. */
export interface DeltaTools {
  readonly decoders: ChunkDecoders;
  readonly differ: Differ;
  readonly texts: TextCache;
}

/** Texts of one revlog, rebuilt from their chains. */
export function createTextReader(origin: BatchOrigin, { decoders, texts }: Pick<DeltaTools, 'decoders' | 'texts'>): (rev: number) => Promise<Buffer> {
  texts.clear();
  return async (rev) => {
    const known = texts.get(rev);
    if (known !== undefined) return known;
    const text = await runSteps(readChain(rev, origin, decoders, texts));
    texts.put(rev, text);
    return text;
  };
}

/** Mercurial makes no delta against, or of, a revision whose text is not what its node is of. */
const NO_DELTAS = FLAG_CENSORED | FLAG_EXTERNAL;

const takesDeltas = ({ index }: BatchOrigin, rev: number): boolean => (index.flags(rev) & NO_DELTAS) === 0;

/** Changes deltas of a batch in place, where they cannot be sent as they are. Batches come in order. */
export type Rebase = (batch: DeltaBatch) => Promise<void>;

/** Makes anew the deltas whose base the receiver does not get: against the first parent that it gets, or the null revision. */
export function createRebase(origin: BatchOrigin, scope: RevlogScope, tools: DeltaTools): Rebase {
  const textOf = createTextReader(origin, tools);
  const isThere = (rev: number): boolean => rev >= 0 && scope.stateOf(rev) !== LEFT_OUT;
  return async ({ from, bases, deltas }) => {
    for (let i = 0; i < bases.length; i++) {
      const stored = bases[i] ?? NULL_BASE;
      if (stored < 0 || isThere(stored)) continue;
      const rev = from + i;
      const base = [origin.index.p1(rev), origin.index.p2(rev)].find((parent) => isThere(parent) && takesDeltas(origin, parent));
      const text = await textOf(rev);
      const isDelta = base !== undefined && takesDeltas(origin, rev);
      deltas[i] = isDelta ? tools.differ.diff(await textOf(base), text, { lines: origin.kind === 'manifest' }) : Buffer.from(text);
      bases[i] = isDelta ? base : FULL_TEXT;
    }
  };
}

/**
 * Makes every delta one against the revision that is sent before, as version 01 has them; that of the first against its
 * first parent. A stored text replaces the one before whole: no text has to be rebuilt for that, and where Mercurial
 * stored a text it found little in common with others.
 * @param first the base of the first revision; -1: null
 */
export function createPreviousBase(origin: BatchOrigin, first: number, tools: DeltaTools): Rebase {
  const { index } = origin;
  const textOf = createTextReader(origin, tools);
  let previous = first;

  const rebase = async (rev: number, base: number, stored: Uint8Array): Promise<Uint8Array> => {
    const isText = index.deltaBase(rev) === FULL_TEXT;
    const text = isText ? stored : await textOf(rev);
    if (base < 0) return replacement(0, text);
    if (isText) return replacement(await lengthOf(base), text);
    return tools.differ.diff(await textOf(base), text, { lines: origin.kind === 'manifest' });
  };

  const lengthOf = async (rev: number): Promise<number> => {
    const size = index.rawSize(rev);
    return size < 0 ? (await textOf(rev)).length : size;
  };

  return async ({ from, bases, deltas }) => {
    for (let i = 0; i < bases.length; i++) {
      const rev = from + i;
      const stored = bases[i] ?? NULL_BASE;
      const base = previous < 0 ? NULL_BASE : previous;
      if (stored !== base) deltas[i] = await rebase(rev, base, deltas[i] ?? NOTHING);
      bases[i] = base;
      previous = rev;
    }
  };
}

const NOTHING = new Uint8Array(0);

/** One hunk that replaces all of a base. */
function replacement(baseLength: number, text: Uint8Array): Buffer {
  if (baseLength === 0 && text.length === 0) return Buffer.alloc(0);
  const delta = Buffer.alloc(HUNK_HEADER + text.length);
  delta.writeInt32BE(baseLength, 4);
  delta.writeInt32BE(text.length, 8);
  delta.set(text, HUNK_HEADER);
  return delta;
}
