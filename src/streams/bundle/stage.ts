import type { Duplex } from 'node:stream';

import asStream from 'stream-chain/asStream.js';

import type { MaybePromise } from '../../engines/engine.js';
import { isPromise } from '../../engines/engine.js';
import type { BundleItem } from '../../formats/bundle/items.js';

/**
 * A stage of a bundle pipeline: a plain function from an item to what takes its place: an item, several, or none. It owns
 * what it is given. The last item is `end`: what is held back comes out before it.
 */
export interface BundleStage {
  (item: BundleItem): MaybePromise<BundleItem | readonly BundleItem[]>;
  /** Called once when no more items come, whether the last one was seen or not: gives back what the stage holds of the system. */
  close?: () => void;
}

/** Items, in the portions in which they came. */
export type BundleItems = AsyncIterable<readonly BundleItem[]>;

/** Several stages as one. Items stay in order. */
export function chainBundleStages(stages: readonly BundleStage[]): (item: BundleItem) => MaybePromise<readonly BundleItem[]> {
  const run = (items: readonly BundleItem[], from: number): MaybePromise<readonly BundleItem[]> => {
    let current = items;
    for (let i = from; i < stages.length; i++) {
      const stage = stages[i];
      if (stage === undefined || current.length === 0) continue;
      const next = applyStage(stage, current);
      if (isPromise(next)) return next.then((done) => run(done, i + 1));
      current = next;
    }
    return current;
  };
  return (item) => run([item], 0);
}

function applyStage(stage: BundleStage, items: readonly BundleItem[]): MaybePromise<readonly BundleItem[]> {
  const output: BundleItem[] = [];
  const add = (made: BundleItem | readonly BundleItem[]): void => {
    if (isList(made)) output.push(...made);
    else output.push(made);
  };
  for (let i = 0; i < items.length; i++) {
    const item = items[i];
    const made = item === undefined ? [] : stage(item);
    if (isPromise(made)) return finishLater(stage, items.slice(i + 1), made, output);
    add(made);
  }
  return output;
}

async function finishLater(stage: BundleStage, rest: readonly BundleItem[], first: Promise<BundleItem | readonly BundleItem[]>, output: BundleItem[]): Promise<readonly BundleItem[]> {
  output.push(...[await first].flat());
  for (const item of rest) output.push(...[await stage(item)].flat());
  return output;
}

const isList = (made: BundleItem | readonly BundleItem[]): made is readonly BundleItem[] => Array.isArray(made);

/** Items that go through stages. These are closed when all is done, when something fails, and when nobody wants any more. */
export async function* throughStages(items: BundleItems, stages: readonly BundleStage[]): AsyncGenerator<readonly BundleItem[], void, void> {
  if (stages.length === 0) {
    yield* items;
    return;
  }
  const run = chainBundleStages(stages);
  try {
    for await (const portion of items) {
      const output: BundleItem[] = [];
      for (const item of portion) {
        const made = run(item);
        output.push(...(isPromise(made) ? await made : made));
      }
      if (output.length > 0) yield output;
    }
  } finally {
    closeBundleStages(stages);
  }
}

export function closeBundleStages(stages: readonly BundleStage[]): void {
  for (const stage of stages) stage.close?.();
}

/** Items that wait in a stream between two stages; one may hold a MiB. */
const ITEMS_IN_FLIGHT = 4;

/** Stages as one Transform in object mode, for pipelines of one's own. */
export function toBundleTransform(...stages: readonly BundleStage[]): Duplex {
  const run = chainBundleStages(stages);
  const step = async function* (item: BundleItem): AsyncGenerator<BundleItem, void, void> {
    yield* await run(item);
  };
  const stream = asStream(step, { writableHighWaterMark: ITEMS_IN_FLIGHT, readableHighWaterMark: ITEMS_IN_FLIGHT });
  stream.once('close', () => closeBundleStages(stages));
  return stream;
}
