import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

import { RevconvertError } from '../errors.js';
import type { BundleStage } from '../streams/bundle/stage.js';
import type { BundleFilter } from './filter.js';
import { createFilterStage } from './filter-stage.js';
import { settled } from './settled.js';

export interface LoadFilterOptions {
  /** Called with a line of text: what the filter returned at the end, and what its user has to know. */
  readonly onNotice?: ((notice: string) => void) | undefined;
  /** Bytes of deltas of one group that are kept in memory, where texts are wanted. @default 64 MiB */
  readonly spoolBytes?: number | undefined;
}

/**
 * Loads a filter of the user's own.
 * @param path of an ES module whose default export is a {@link BundleFilter}, or a function that makes one
 * @returns a stage, which needs revisions as records. It throws FILTER_MODULE where the filter throws, or does what it must not
 * @throws RevconvertError FILTER_MODULE
 */
export async function loadFilter(path: string, options: LoadFilterOptions = {}): Promise<BundleStage> {
  try {
    const { exported } = await importDefault(path);
    const { made } = isFunction(exported) ? await call(exported, path) : { made: exported };
    return createFilterStage(checkFilter(made, path), path, options);
  } catch (error) {
    // Whatever is looked at may be a trap: a getter, or a proxy.
    throw error instanceof RevconvertError ? error : new RevconvertError('FILTER_MODULE', `cannot be looked at: ${messageOf(error)}`, { path }, { cause: error });
  }
}

const isFunction = (value: unknown): value is () => unknown => typeof value === 'function';

/** In an object, since what is exported may look like a promise. */
async function importDefault(path: string): Promise<{ readonly exported: unknown }> {
  try {
    const module = (await settled(import(pathToFileURL(resolve(path)).href))) as { readonly default?: unknown };
    return { exported: module.default };
  } catch (error) {
    throw new RevconvertError('FILTER_MODULE', `cannot be loaded: ${messageOf(error)}`, { path }, { cause: error });
  }
}

async function call(make: () => unknown, path: string): Promise<{ readonly made: unknown }> {
  try {
    return { made: await settled(Promise.resolve(make())) };
  } catch (error) {
    throw new RevconvertError('FILTER_MODULE', `its default export is a function, which threw: ${messageOf(error)}`, { path }, { cause: error });
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

const FUNCTIONS = ['onPart', 'onGroup', 'onRevision', 'onEnd'] as const;
const KINDS: readonly unknown[] = ['changelog', 'manifest', 'filelog'];

/** @throws RevconvertError FILTER_MODULE */
function checkFilter(value: unknown, path: string): BundleFilter {
  const wrong = (message: string): RevconvertError => new RevconvertError('FILTER_MODULE', message, { path });
  if (typeof value !== 'object' || value === null) throw wrong(`the default export must be an object with ${FUNCTIONS.join(', ')}, or a function that makes one`);
  for (const [name, given] of Object.entries(value) as [string, unknown][]) {
    if (name === 'texts') {
      if (given !== undefined && !(Array.isArray(given) && given.every((kind) => KINDS.includes(kind)))) throw wrong(`texts must be a list of ${KINDS.join(', ')}`);
      continue;
    }
    if (!FUNCTIONS.some((known) => known === name)) throw wrong(`'${name}' is not known: a filter has ${FUNCTIONS.join(', ')}, and texts`);
  }
  const filter = value as Readonly<Record<string, unknown>>;
  const odd = FUNCTIONS.find((name) => filter[name] !== undefined && typeof filter[name] !== 'function');
  if (odd !== undefined) throw wrong(`${odd} must be a function`);
  if (FUNCTIONS.every((name) => filter[name] === undefined)) throw wrong(`it does nothing: a filter has at least one of ${FUNCTIONS.join(', ')}`);
  return value;
}
