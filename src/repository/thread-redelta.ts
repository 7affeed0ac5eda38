import type { Differ } from '../delta/diff.js';
import { createDiffer } from '../delta/diff.js';
import { createIndexCheck, nodesOf } from '../delta/node-hash.js';
import type { RedeltaMode } from '../delta/policy-input.js';
import { createSpoiltRevisions } from '../delta/spoilt.js';
import type { TextCache } from '../delta/text-cache.js';
import { createTextCache } from '../delta/text-cache.js';
import { createTextResolver, lastDeltaUses, lastTextUses } from '../delta/text-resolver.js';
import type { Arena } from '../engines/arena.js';
import type { ChunkDecoders } from '../engines/chunk-codec.js';
import { encodeChunks } from '../engines/chunk-codec.js';
import type { ChunkCompressor } from '../engines/engine.js';
import { andThen } from '../engines/engine.js';
import { runSteps } from '../engines/steps.js';
import { RevconvertError } from '../errors.js';
import { readChain } from '../streams/chain-reader.js';
import type { BatchOrigin } from '../streams/read-revlog.js';
import type { RevisionStep, Stage } from '../streams/stage.js';
import { stageOf } from '../streams/stage.js';
import { Turns } from '../streams/turns.js';
import { createCheckStep } from '../transforms/check-chunks.js';
import { createCheckNodeStep } from '../transforms/check-node.js';
import { createRedeltaStep } from '../transforms/redelta.js';
import { createResolveStep, createSettleStep } from '../transforms/resolve-text.js';
import type { ConversionSettings } from './settings.js';

/** Makes new deltas in one thread: the memory of its texts and of its diffs serves all revlogs, one after the other. */
export interface ThreadRedelta {
  /** The stage of one revlog: from decompressed chunks to new deltas, compressed. */
  createStage(origin: BatchOrigin, compressor: ChunkCompressor, onDamage?: (error: RevconvertError) => void): Stage;
}

const SOURCE_DELTAS = { never: 'kept', parent: 'kept', multibase: 'kept', all: 'tightened', fulladd: 'unused' } as const satisfies Record<RedeltaMode, string>;

/** @param isStopped whether the thread is to stop */
export function createThreadRedelta(settings: ConversionSettings, decoders: ChunkDecoders, memory: Arena, isStopped: () => boolean): ThreadRedelta {
  const turns = new Turns({
    get aborted() {
      return isStopped();
    },
  });
  // Within a batch: one of large texts takes far longer than a signal may wait.
  const takeTurn: RevisionStep = () => (turns.due ? turns.give() : undefined);
  let differ: Differ | undefined;
  let cache: TextCache | undefined;
  return {
    createStage(origin, compressor, onDamage) {
      const { index, path, kind } = origin;
      const texts = (cache ??= createTextCache());
      const own = (differ ??= createDiffer());
      texts.clear();
      const policy = settings.policy[kind];
      const lastUse = policy.deltas ? lastTextUses(index, policy.previous || !policy.generaldelta) : lastDeltaUses(index);
      const spoilt = createSpoiltRevisions();
      const resolver = createTextResolver({
        cache: texts,
        lastUse: (rev) => lastUse[rev] ?? -1,
        fetch: (rev) =>
          andThen(runSteps(readChain(rev, { index, path, data: origin.data }, decoders, texts)), (text) => {
            if (settings.checkChunks) checkText(rev, text);
            return text;
          }),
      });
      /** A text that was rebuilt out of order is compared with its node again: what is built on it is compared with it only. */
      const check = createIndexCheck(index);
      const checkText = (rev: number, text: Uint8Array): void => {
        if (check(rev, text) === undefined) return;
        throw new RevconvertError('NODE_MISMATCH', 'the text, rebuilt from its chain, is not what its node says', { path, rev });
      };
      const redelta = createRedeltaStep({
        kind,
        policy,
        revisions: index.length,
        deltaInfo: index.header.deltaInfo,
        sourceDeltas: SOURCE_DELTAS[settings.redelta],
        check: settings.checkChunks,
        spoilt,
        flagsOf: (rev) => index.flags(rev),
        textOf: (rev) => resolver.textOf(rev),
        diff: (base, text) => own.diff(base, text, { lines: kind === 'manifest' }),
        tighten: (base, delta, text) => own.tighten(base, delta, text),
        compress: (delta) => andThen(encodeChunks([delta], compressor, memory), ([chunk = delta]) => (chunk === delta ? copyOf(delta, memory) : chunk)),
      });
      const resolve = createResolveStep({ resolver, spoilt, onDamage });
      const settle = createSettleStep(resolver);
      if (!settings.checkChunks) return stageOf(takeTurn, resolve, redelta, settle);
      return stageOf(takeTurn, resolve, createCheckNodeStep({ nodeOf: nodesOf(index), spoilt, onDamage }), redelta, createCheckStep(decoders), settle);
    },
  };
}

/** A chunk may be the very text that it was made from, whose memory is used again before the chunk is written. */
function copyOf(text: Uint8Array, memory: Arena): Uint8Array {
  const chunk = memory.allocate(text.length);
  chunk.set(text);
  return chunk;
}
