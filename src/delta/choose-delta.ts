import type { MaybePromise } from '../engines/engine.js';
import { isPromise } from '../engines/engine.js';
import type { Steps } from '../engines/steps.js';
import { settled } from '../engines/steps.js';
import type { Revision } from '../formats/record.js';
import { FULL_TEXT } from '../formats/record.js';
import { FLAG_CENSORED, FLAG_EXTERNAL } from '../formats/revision-flags.js';
import { candidateGroups } from './candidates.js';
import type { ChainTable } from './chain-table.js';
import type { DeltaPolicy } from './policy.js';

/** How a revision is stored. */
export interface DeltaChoice {
  /** FULL_TEXT or an earlier revision. */
  readonly base: number;
  /** The full text, or hunks against the base. */
  readonly delta: Uint8Array;
  /** The same as it is stored. */
  readonly chunk: Uint8Array;
}

/** What the search asks of its surroundings. */
export interface DeltaTools {
  readonly policy: DeltaPolicy;
  /** The revisions that were stored before. */
  readonly chains: ChainTable;
  /** The text of an earlier revision. */
  readonly textOf: (rev: number) => MaybePromise<Uint8Array>;
  /** Hunks that make `text` of `base`. */
  readonly diff: (base: Uint8Array, text: Uint8Array) => Uint8Array;
  /** Encodes as it will be stored. */
  readonly compress: (delta: Uint8Array) => MaybePromise<Uint8Array>;
  /** Whether a revision can be no base for another: its text is no text of its history, or readers would fail. */
  readonly isOffLimits: (base: number, revision: Revision) => boolean;
  /** The source's own delta against this base, where it may be used; undefined: it is to be made. */
  readonly reuse: (revision: Revision, base: number) => MaybePromise<Uint8Array | undefined>;
}

/** What is good, and how things are. */
type Rules = Pick<DeltaTools, 'policy' | 'chains'>;

/** Texts with these flags are neither base nor delta: what stands there stands for something else. */
export const isUnfit = (flags: number): boolean => (flags & (FLAG_CENSORED | FLAG_EXTERNAL)) !== 0;

/**
 * Chooses how a revision is stored: the smallest good delta of the first group of candidates that has one, or the full
 * text. What is good: see `isGood`.
 * @param text its raw text
 */
export function* chooseDelta(revision: Revision, text: Uint8Array, tools: DeltaTools): Steps<DeltaChoice> {
  const { policy, chains } = tools;
  if (!policy.deltas || text.length === 0 || revision.rev === 0 || isUnfit(revision.flags)) return yield* fullText(text, tools);
  const groups = candidateGroups({ rev: revision.rev, p1: revision.p1, p2: revision.p2, sourceBase: revision.deltaBase, chains, policy });
  const tried = new Set<number>();
  let best: DeltaChoice | undefined;
  let next = groups.next();
  while (next.done !== true) {
    for (const candidate of next.value) {
      // Without generaldelta no other base than the candidate can be said.
      const base = candidate < 0 || !policy.generaldelta ? candidate : chains.skipEmpty(candidate);
      if (base < 0 || tried.has(base)) continue;
      tried.add(base);
      if (tools.isOffLimits(base, revision) || isHopeless(base, revision, text.length, tools)) continue;
      const trial = yield* tryBase(base, revision, text, tools, best);
      if (trial !== undefined && (best === undefined || trial.chunk.length < best.chunk.length)) best = trial;
    }
    next = groups.next(best?.base);
  }
  return best ?? (yield* fullText(text, tools));
}

/**
 * Whether a delta that somebody else made may be stored as it is: what `chooseDelta` would say of it, without the text.
 * @param revision `deltaBase` an earlier revision, `delta` against it, `chunk` the same as it is stored, `rawSize` known
 */
export function isGoodAsItIs(revision: Revision, tools: Rules): boolean {
  const { deltaBase, delta, chunk, rawSize } = revision;
  if (!tools.policy.deltas || rawSize === 0 || delta === undefined || isHopeless(deltaBase, revision, rawSize, tools)) return false;
  return !isTooLong(delta.length, deltaBase, revision, rawSize, tools, undefined) && isGood(chunk.length, deltaBase, revision, rawSize, tools);
}

function* fullText(text: Uint8Array, { compress }: DeltaTools): Steps<DeltaChoice> {
  return { base: FULL_TEXT, delta: text, chunk: yield* settled(compress(text)) };
}

const times = (ratio: number | null, length: number): number => (ratio === null ? Infinity : ratio * length);

/** Whether a base can be left out before any delta is made. */
function isHopeless(base: number, { p1, p2 }: Revision, textLength: number, { policy, chains }: Rules): boolean {
  if (policy.maxChainLength !== null && (chains.chainLength[base] ?? 0) >= policy.maxChainLength) return true;
  const chainLimit = times(policy.maxChainRatio, textLength);
  if ((chains.chainBytes[base] ?? 0) > chainLimit) return true;
  if (!policy.sparse) return false;
  const baseLength = chains.rawSize[base] ?? 0;
  if (policy.minBaseDivisor !== null && baseLength < textLength / policy.minBaseDivisor) return true;
  if (policy.maxCompression === null || !chains.isSnapshotOn(base, p1, p2)) return false;
  // What the base lacks has to be in the delta.
  const least = (textLength - baseLength) / policy.maxCompression;
  return least > snapshotLimit(base, textLength, chains);
}

/** Most bytes of a snapshot on this base: half the text at the first level, a quarter at the next; and never more than the base itself. */
const snapshotLimit = (base: number, textLength: number, chains: ChainTable): number =>
  Math.min(Math.floor(textLength / 2 ** ((chains.level[base] ?? 0) + 1)), chains.chunkLength[base] ?? 0);

function* tryBase(base: number, revision: Revision, text: Uint8Array, tools: DeltaTools, best: DeltaChoice | undefined): Steps<DeltaChoice | undefined> {
  const reused = tools.reuse(revision, base);
  const known = isPromise(reused) ? ((yield reused) as Uint8Array | undefined) : reused;
  const delta = known ?? tools.diff(yield* settled(tools.textOf(base)), text);
  if (isTooLong(delta.length, base, revision, text.length, tools, best)) return undefined;
  const compressed = tools.compress(delta);
  const chunk = isPromise(compressed) ? ((yield compressed) as Uint8Array) : compressed;
  return isGood(chunk.length, base, revision, text.length, tools) ? { base, delta, chunk } : undefined;
}

/** Whether no compression that is thought possible makes a delta good, or better than the best. */
function isTooLong(length: number, base: number, { p1, p2 }: Revision, textLength: number, { policy, chains }: Rules, best: DeltaChoice | undefined): boolean {
  if (policy.maxCompression === null) return false;
  const least = length / policy.maxCompression;
  if (best !== undefined && least > best.chunk.length) return true;
  return policy.sparse && chains.isSnapshotOn(base, p1, p2) && least > snapshotLimit(base, textLength, chains);
}

/** Whether a delta of so many stored bytes may be stored: what it costs to read, alone and with its chain, is within the policy. */
function isGood(length: number, base: number, { p1, p2 }: Revision, textLength: number, { policy, chains }: Rules): boolean {
  if (length > policy.maxDeltaRatio * textLength) return false;
  if ((chains.chainBytes[base] ?? 0) + length > times(policy.maxChainRatio, textLength)) return false;
  if (policy.maxChainLength !== null && (chains.chainLength[base] ?? 0) + 1 > policy.maxChainLength) return false;
  if (policy.sparse) return !chains.isSnapshotOn(base, p1, p2) || length <= snapshotLimit(base, textLength, chains);
  return chains.end + length - chains.chainOffset(base) <= times(policy.maxSpanRatio, textLength);
}
