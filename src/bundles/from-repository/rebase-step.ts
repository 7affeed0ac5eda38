import type { Differ } from '../../delta/diff.js';
import type { TextCache } from '../../delta/text-cache.js';
import type { ChunkDecoders } from '../../engines/chunk-codec.js';
import { runSteps } from '../../engines/steps.js';
import { HUNK_HEADER } from '../../formats/hunks.js';
import type { Revision } from '../../formats/record.js';
import { deltaOf, FULL_TEXT, NULL_BASE } from '../../formats/record.js';
import { FLAG_CENSORED, FLAG_EXTERNAL } from '../../formats/revision-flags.js';
import { readChain } from '../../streams/chain-reader.js';
import type { BatchOrigin } from '../../streams/read-revlog.js';
import type { RevisionStep } from '../../streams/stage.js';
import { LEFT_OUT } from './changeset-state.js';
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

/**
 * A step that makes anew the deltas whose base the receiver does not get: against the first parent that it gets, or the
 * null revision.
 */
export function createRebaseStep(origin: BatchOrigin, scope: RevlogScope, tools: DeltaTools): RevisionStep {
  const textOf = createTextReader(origin, tools);
  const isThere = (rev: number): boolean => rev >= 0 && scope.stateOf(rev) !== LEFT_OUT;
  return (_, revision) => {
    const { deltaBase } = revision;
    if (deltaBase < 0 || isThere(deltaBase)) return undefined;
    return rebase(revision);
  };

  async function rebase(revision: Revision): Promise<void> {
    const { rev, p1, p2 } = revision;
    const base = [p1, p2].find((parent) => isThere(parent) && takesDeltas(origin, parent));
    const text = await textOf(rev);
    if (base === undefined || !takesDeltas(origin, rev)) {
      revision.delta = Buffer.from(text);
      revision.deltaBase = FULL_TEXT;
      return;
    }
    revision.delta = tools.differ.diff(await textOf(base), text, { lines: origin.kind === 'manifest' });
    revision.deltaBase = base;
  }
}

/**
 * A step that makes every delta one against the revision that is sent before, as version 01 has them; that of the first
 * against its first parent. A stored text replaces the one before whole: no text has to be rebuilt for that, and where
 * Mercurial stored a text it found little in common with others.
 * @param first the base of the first revision; -1: null
 */
export function createPreviousStep(origin: BatchOrigin, first: number, tools: DeltaTools): RevisionStep {
  const textOf = createTextReader(origin, tools);
  let previous = first;
  return (batch, revision) => {
    const base = previous;
    previous = revision.rev;
    const { deltaBase } = revision;
    if (deltaBase >= 0 ? deltaBase === base : deltaBase === NULL_BASE && base < 0) return undefined;
    return rebase(revision, deltaOf(batch, revision), base);
  };

  async function rebase(revision: Revision, delta: Uint8Array, base: number): Promise<void> {
    const { rev } = revision;
    const isText = revision.deltaBase === FULL_TEXT;
    revision.deltaBase = base < 0 ? NULL_BASE : base;
    if (base >= 0 && !isText && takesDeltas(origin, rev) && takesDeltas(origin, base)) {
      const text = await textOf(rev);
      revision.delta = tools.differ.diff(await textOf(base), text, { lines: origin.kind === 'manifest' });
      return;
    }
    const text = isText ? delta : await textOf(rev);
    revision.delta = replacement(base < 0 ? 0 : await lengthOf(base), text);
  }

  async function lengthOf(rev: number): Promise<number> {
    const size = origin.index.rawSize(rev);
    return size < 0 ? (await textOf(rev)).length : size;
  }
}

/** One hunk that replaces all of a base. */
function replacement(baseLength: number, text: Uint8Array): Buffer {
  if (baseLength === 0 && text.length === 0) return Buffer.alloc(0);
  const delta = Buffer.alloc(HUNK_HEADER + text.length);
  delta.writeInt32BE(baseLength, 4);
  delta.writeInt32BE(text.length, 8);
  delta.set(text, HUNK_HEADER);
  return delta;
}
