import type { Duplex } from 'node:stream';
import { finished } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';

import chain from 'stream-chain';
import asStream from 'stream-chain/asStream.js';

import type { MaybePromise } from '../engines/engine.js';
import { andThen, isPromise } from '../engines/engine.js';
import type { Revision, RevisionBatch } from '../formats/record.js';

/**
 * A stage: a plain function from a batch to a batch. It owns the batch it is given, may fill its records in place or
 * return another, and answers at once or with a promise. What it holds back it gives out in `flush`.
 */
export interface Stage {
  (batch: RevisionBatch): MaybePromise<RevisionBatch>;
  /** Called once after the last batch. */
  flush?: () => MaybePromise<RevisionBatch | undefined>;
}


/** What is done with one revision of a batch, before the next one is looked at. Fills fields of the record. */
export type RevisionStep = (batch: RevisionBatch, revision: Revision) => MaybePromise<void>;

/**
 * Steps as a stage: each revision goes through all of them before the next one begins, so that its text need not
 * outlive them and is in the processor's cache all the while.
 */
export function stageOf(...steps: readonly RevisionStep[]): Stage {
  const goOn = (batch: RevisionBatch, from: number, firstStep: number): MaybePromise<RevisionBatch> => {
    let step = firstStep;
    for (let i = from; i < batch.revisions.length; i++) {
      const revision = batch.revisions[i];
      for (; revision !== undefined && step < steps.length; step++) {
        const done = steps[step]?.(batch, revision);
        if (isPromise(done)) {
          const next = step + 1;
          return done.then(() => goOn(batch, i, next));
        }
      }
      step = 0;
    }
    return batch;
  };
  return (batch) => goOn(batch, 0, 0);
}

const run = (stages: readonly Stage[], from: number, batch: RevisionBatch): MaybePromise<RevisionBatch> => {
  let current: MaybePromise<RevisionBatch> = batch;
  for (let i = from; i < stages.length; i++) {
    const stage = stages[i];
    if (stage !== undefined) current = andThen(current, stage);
  }
  return current;
};

/**
 * Several stages as one. A batch runs through all of them before the next one begins; what a stage flushes runs
 * through those behind it. Stages that answer at once make a fused stage that answers at once.
 */
export function fuseStages(stages: readonly Stage[]): Stage {
  const fused: Stage = (batch) => run(stages, 0, batch);
  if (stages.some((stage) => stage.flush !== undefined)) fused.flush = () => flushAll(stages);
  return fused;
}

async function flushAll(stages: readonly Stage[]): Promise<RevisionBatch | undefined> {
  const held: RevisionBatch[] = [];
  for (const [i, stage] of stages.entries()) {
    const flushed = await stage.flush?.();
    if (flushed === undefined) continue;
    held.push(await run(stages, i + 1, flushed));
  }
  const [first] = held;
  if (first === undefined) return undefined;
  return { ...first, revisions: held.flatMap((batch) => batch.revisions) };
}

/** A stage that has to load something first: the first batch waits for it. */
export function lazyStage(load: () => Promise<Stage>): Stage {
  let stage: Stage | undefined;
  const lazy: Stage = (batch) => {
    if (stage !== undefined) return stage(batch);
    return load().then((loaded) => {
      stage = loaded;
      return loaded(batch);
    });
  };
  lazy.flush = () => stage?.flush?.();
  return lazy;
}

/** Batches that wait in a stream between two stages; each holds up to a MiB of stored bytes. */
const BATCHES_IN_FLIGHT = 2;
const FEW_BATCHES = { writableHighWaterMark: BATCHES_IN_FLIGHT, readableHighWaterMark: BATCHES_IN_FLIGHT };

/** asStream waits for room in the output only behind generators: what a plain promise gives would pile up there. */
async function* yieldLater<T>(output: Promise<T>): AsyncGenerator<T, void, void> {
  yield await output;
}

/**
 * Stages as one Transform in object mode, for pipelines of one's own.
 * @param stages one or more; more are fused, which costs less than a stream for each
 */
export function toTransform(...stages: readonly Stage[]): Duplex {
  const stage = stages.length === 1 && stages[0] !== undefined ? stages[0] : fuseStages(stages);
  const step = (batch: RevisionBatch | typeof chain.none): unknown => {
    const output = batch === chain.none ? stage.flush?.() : stage(batch);
    return isPromise(output) ? yieldLater(output) : output;
  };
  return asStream(stage.flush === undefined ? step : chain.flushable(step), FEW_BATCHES);
}

/**
 * Groups streams into one Duplex whose destruction, and any error, reaches all of them; `chain` alone leaves the
 * siblings of a failed stream open, and their file handles with them. Where you can, give `pipeline` a flat list instead.
 * @param stages first to last; each Duplex
 */
export function joinStages(stages: readonly Duplex[]): Duplex {
  const joined: Duplex = chain([...stages], {
    ...FEW_BATCHES,
    skipEvents: true,
    destroy(error: Error | null, done: (error: Error | null) => void) {
      for (const stage of stages) stage.destroy(error ?? undefined);
      done(error);
    },
  });
  for (const stage of stages) {
    finished(stage, (error) => {
      if (error) joined.destroy(error);
    });
  }
  return joined;
}

/** Batches between two turns of the event loop, so that signals and timers are heard in a long revlog. */
const BATCHES_A_TURN = 16;

/** Runs batches through a stage into a sink, without a stream between them; awaits only where something is asynchronous. */
export async function drive(
  batches: Iterable<RevisionBatch>,
  stage: Stage,
  sink: (batch: RevisionBatch) => MaybePromise<void>,
): Promise<void> {
  let count = 0;
  for (const batch of batches) {
    const done = andThen(stage(batch), sink);
    if (isPromise(done)) await done;
    if (++count % BATCHES_A_TURN === 0) await nextTurn();
  }
  const last = await stage.flush?.();
  if (last !== undefined) await sink(last);
}
