import type { Duplex } from 'node:stream';

import { isLineAligned } from '../delta/align.js';
import { ChainTable } from '../delta/chain-table.js';
import { makesText } from '../delta/check-delta.js';
import type { DeltaChoice, DeltaTools } from '../delta/choose-delta.js';
import { chooseDelta, isUnfit } from '../delta/choose-delta.js';
import { createDiffer } from '../delta/diff.js';
import type { DeltaPolicy } from '../delta/policy.js';
import { PRESETS } from '../delta/policy.js';
import type { SpoiltRevisions } from '../delta/spoilt.js';
import { createSpoiltRevisions } from '../delta/spoilt.js';
import { createTextCache } from '../delta/text-cache.js';
import { encodeChunks } from '../engines/chunk-codec.js';
import type { ChunkCompressor, CompressorOptions, EngineName, MaybePromise } from '../engines/engine.js';
import { andThen } from '../engines/engine.js';
import { findEngine, loadEngine } from '../engines/registry.js';
import { runSteps } from '../engines/steps.js';
import { RevconvertError } from '../errors.js';
import type { Revision, RevisionBatch, RevlogKind } from '../formats/record.js';
import { deltaOf, FULL_TEXT, NULL_BASE } from '../formats/record.js';
import { FLAG_SNAPSHOT, FLAGS_QUALITY } from '../formats/revision-flags.js';
import type { RevisionStep, Stage } from '../streams/stage.js';
import { lazyStage, stageOf, toTransform } from '../streams/stage.js';

export interface RedeltaStepOptions {
  readonly kind: RevlogKind;
  readonly policy: DeltaPolicy;
  /** Revisions that there will be. */
  readonly revisions: number;
  /** Entry flags say which deltas are snapshots (Mercurial 7.1+): they are renewed. */
  readonly deltaInfo: boolean;
  /** What becomes of the source's own delta where its base is the one wanted: it is used as it is, made smaller, or not used. */
  readonly sourceDeltas: 'kept' | 'tightened' | 'unused';
  /** Compare what each new delta makes with the text. */
  readonly check: boolean;
  readonly spoilt: SpoiltRevisions;
  readonly flagsOf: (rev: number) => number;
  readonly textOf: DeltaTools['textOf'];
  readonly diff: DeltaTools['diff'];
  /** Makes a delta of a filelog smaller: see `Differ.tighten`. */
  readonly tighten: (base: Uint8Array, delta: Uint8Array, text: Uint8Array) => Uint8Array;
  readonly compress: DeltaTools['compress'];
}

/**
 * A step that chooses the delta of each revision anew and fills `deltaBase`, `delta` and `chunk`. Spoilt revisions keep
 * the delta that they have.
 * @throws RevconvertError CHECK_FAILED where a new delta does not make the text; DELTA_BASE where a spoilt revision
 *   cannot keep its delta, since there is no generaldelta
 */
export function createRedeltaStep(options: RedeltaStepOptions): RevisionStep {
  const { policy, spoilt, flagsOf, textOf, diff, compress } = options;
  const chains = new ChainTable(options.revisions);
  const tools: DeltaTools = {
    policy,
    chains,
    textOf,
    diff,
    compress,
    isOffLimits: (base, revision) => isUnfit(flagsOf(base)) || spoilt.has(base) || (options.kind === 'changelog' && !isParent(base, revision)),
    reuse: (revision, base) => (options.sourceDeltas !== 'unused' && base === revision.deltaBase ? sourceDelta(revision, base, options) : undefined),
  };

  const note = (revision: Revision): void => {
    const { deltaBase, chunk, rawSize, p1, p2 } = revision;
    chains.add(deltaBase, chunk.length, rawSize, chains.isSnapshotOn(deltaBase, p1, p2));
    if (options.deltaInfo) revision.flags = withDeltaInfo(revision.flags, (chains.level[revision.rev] ?? 0) >= 0);
  };

  const store = (revision: Revision, { base, delta, chunk }: DeltaChoice): void => {
    revision.deltaBase = base;
    revision.baseSize = base < 0 ? 0 : (chains.rawSize[base] ?? -1);
    revision.delta = delta;
    revision.chunk = chunk;
    note(revision);
  };

  const keep = (batch: RevisionBatch, revision: Revision): MaybePromise<void> => {
    const { rev, deltaBase } = revision;
    if (!policy.generaldelta && !isPlain(rev, deltaBase)) {
      const base = deltaBase < 0 ? 'the empty text' : `rev ${deltaBase}`;
      throw new RevconvertError('DELTA_BASE', `damaged, and its delta against ${base} cannot be kept without generaldelta`, { path: batch.path, rev });
    }
    if (revision.damaged) {
      note(revision);
      return undefined;
    }
    const delta = deltaOf(batch, revision);
    return andThen(compress(delta), (chunk) => store(revision, { base: deltaBase, delta, chunk }));
  };

  const checked = ({ path }: RevisionBatch, revision: Revision, text: Uint8Array, choice: DeltaChoice): MaybePromise<void> => {
    if (!options.check || choice.base < 0 || choice.delta === revision.delta) return undefined;
    return andThen(textOf(choice.base), (base) => {
      if (makesText(base, choice.delta, text)) return;
      throw new RevconvertError('CHECK_FAILED', `the new delta against ${choice.base} does not make the text`, { path, rev: revision.rev });
    });
  };

  return (batch, revision) => {
    const { text } = revision;
    if (text === undefined) return keep(batch, revision);
    return andThen(runSteps(chooseDelta(revision, text, tools)), (choice) =>
      andThen(checked(batch, revision, text, choice), () => store(revision, choice)),
    );
  };
}

/**
 * Mercurial 7.2 fails to send a changeset whose delta base it must not show (hidden, or secret): a changeset that it
 * shows has parents that it shows.
 */
const isParent = (base: number, { p1, p2 }: Revision): boolean => base === p1 || base === p2;

/** Whether a base can be said without generaldelta. */
const isPlain = (rev: number, base: number): boolean => base === FULL_TEXT || base === (rev === 0 ? NULL_BASE : rev - 1);

/**
 * The source's delta against its base, as it may be used; undefined: not at all. One of a manifest must exchange whole
 * lines. Of one that replaces most of the text, a new one is made too, and the shorter taken.
 */
function sourceDelta(revision: Revision, base: number, { kind, sourceDeltas, textOf, diff, tighten }: RedeltaStepOptions): MaybePromise<Uint8Array | undefined> {
  const { delta, text } = revision;
  if (delta === undefined || text === undefined) return undefined;
  const isLong = delta.length * 2 > text.length;
  if (kind !== 'manifest' && sourceDeltas === 'kept' && !isLong) return delta;
  return andThen(textOf(base), (baseText) => {
    if (kind === 'manifest' && !isLineAligned(baseText, delta)) return undefined;
    const known = kind === 'manifest' || sourceDeltas === 'kept' ? delta : tighten(baseText, delta, text);
    if (!isLong) return known;
    const made = diff(baseText, text);
    return made.length < known.length ? made : known;
  });
}

/** Quality is not told: that is legal, and it is the writer's opinion only. */
const withDeltaInfo = (flags: number, isSnapshot: boolean): number =>
  (flags & ~(FLAG_SNAPSHOT | FLAGS_QUALITY)) | (isSnapshot ? FLAG_SNAPSHOT : 0);

export interface RecomputeDeltaOptions extends CompressorOptions {
  /** Engine of the chunks: how small a delta is, is what it takes when stored. */
  readonly engine: EngineName;
  /** How deltas are chosen. @default that of the preset `mercurial` for the kind of the first batch */
  readonly policy?: DeltaPolicy | undefined;
  /** Bytes of texts to keep as bases; one that was let go is no candidate. @default 32 MiB */
  readonly maxCacheBytes?: number | undefined;
}

/**
 * Chooses the delta of each revision anew and fills `deltaBase`, `delta` and `chunk`: a Transform over batches, in object
 * mode. The stream has every revision of one revlog, from the first on, `text` filled.
 * @throws (as the stream's error) RevconvertError ENGINE_MISSING, LEVEL, CHECK_FAILED; INTERNAL where `text` is missing
 */
export function recomputeDelta(options: RecomputeDeltaOptions): Duplex {
  const load = async (): Promise<Stage> => {
    const compressor = (await loadEngine(findEngine(options.engine))).createCompressor(options);
    let stage: Stage | undefined;
    return (batch) => (stage ??= createRecomputeStage(batch.kind, compressor, options))(batch);
  };
  return toTransform(lazyStage(load));
}

function createRecomputeStage(kind: RevlogKind, compressor: ChunkCompressor, options: RecomputeDeltaOptions): Stage {
  const cache = createTextCache({ maxBytes: options.maxCacheBytes });
  const differ = createDiffer();
  const flags: number[] = [];
  const spoilt = createSpoiltRevisions();
  const step = createRedeltaStep({
    kind,
    policy: options.policy ?? PRESETS.mercurial[kind],
    revisions: 0,
    deltaInfo: false,
    sourceDeltas: 'tightened',
    check: true,
    spoilt: { add: (rev) => spoilt.add(rev), has: (rev) => spoilt.has(rev) || cache.get(rev) === undefined },
    flagsOf: (rev) => flags[rev] ?? 0,
    textOf: (rev) => cache.get(rev) ?? EMPTY,
    diff: (base, text) => differ.diff(base, text, { lines: kind === 'manifest' }),
    tighten: (base, delta, text) => differ.tighten(base, delta, text),
    compress: (delta) => andThen(encodeChunks([delta], compressor), ([chunk]) => chunk ?? delta),
  });
  const remember: RevisionStep = ({ path }, { rev, text, damaged, flags: own }) => {
    flags[rev] = own;
    if (text !== undefined) cache.put(rev, cache.copy(text));
    else if (!damaged) throw new RevconvertError('INTERNAL', 'the text was not resolved by an earlier stage', { path, rev });
  };
  return stageOf(step, remember);
}

const EMPTY = new Uint8Array(0);
