import type { BundleItem } from '../formats/bundle/items.js';
import { isStreamPart } from '../formats/bundle/stream-items.js';
import type { ConvertOptions } from '../repository/options.js';
import { readBundleItems } from '../streams/bundle/read-bundle.js';
import type { BundleItems } from '../streams/bundle/stage.js';
import { throughStages } from '../streams/bundle/stage.js';
import { refuseUnknownParts } from '../transforms/bundle/refuse-unknown-parts.js';
import type { BundleOptions } from './options.js';
import { fillBundleOptions } from './options.js';
import type { StreamOutcome } from './stream-clone/create-repository.js';
import { createRepositoryFromStream } from './stream-clone/create-repository.js';
import { createRepository } from './to-repository/create-repository.js';
import type { CreateOptions } from './to-repository/options.js';
import type { CreationSummary } from './to-repository/summary.js';
import { createFilters, hasRevisionFilters } from './write-items.js';

export interface MakeRepositoryOptions extends CreateOptions, Pick<BundleOptions, 'filters' | 'maxWindow' | 'path'> {}

/** What a repository was made of. */
export type RepositoryOutcome = (CreationSummary & { readonly from: 'changegroup' }) | (StreamOutcome & { readonly from: 'stream' });

/**
 * Makes a new repository of a full bundle, as `hg init` and `hg unbundle` do, or of a stream clone. It is complete when the promise
 * resolves, and absent when it rejects.
 * @param source the bytes of the bundle
 * @param destination a folder that does not exist, or is empty; the folder it lies in exists
 * @throws RevconvertError as readBundleItems; as createRepository, or createRepositoryFromStream
 */
export async function makeRepository(source: AsyncIterable<Uint8Array>, destination: string, options: MakeRepositoryOptions = {}): Promise<RepositoryOutcome> {
  const { path, maxWindow, filters: steps, ...how } = options;
  const filled = fillBundleOptions({ filters: steps, onNotice: how.onNotice });
  const filters = await createFilters(filled);
  const read = readBundleItems(source, { records: hasRevisionFilters(filled.filters), maxWindow, path, signal: how.signal });
  const { items, isStream } = await lookAhead(throughStages(read, [...filters, refuseUnknownParts()]));
  if (!isStream) return { ...(await createRepository(items, destination, how)), from: 'changegroup' };
  const { check, signal, onNotice } = how;
  const convert: ConvertOptions | undefined = changesStore(how) ? { ...how, check: check === 'none' ? 'none' : 'chunks', onProgress: undefined } : undefined;
  return { ...(await createRepositoryFromStream(items, destination, { convert, signal, onNotice })), from: 'stream' };
}

/** What makes a store other than it came in a stream clone. */
const CHANGES = ['to', 'level', 'checksum', 'redelta', 'policy', 'generaldelta', 'dictionaries'] as const;

const changesStore = (options: CreateOptions): boolean =>
  CHANGES.some((key) => options[key] !== undefined) || Object.values(options.levels ?? {}).some((level) => level !== undefined);

/** Of what stands before the history, far more than any bundle has; whoever takes it says what is missing. */
const MAX_AHEAD_BYTES = 1 << 26;

/** About what an item takes beside its bytes, of which it may have one only. */
const ITEM_BYTES = 256;

/** The same items, and whether the history in them is a stream clone: the first part that has any says it. */
async function lookAhead(items: AsyncGenerator<readonly BundleItem[], void, void>): Promise<{ readonly items: BundleItems; readonly isStream: boolean }> {
  const seen: (readonly BundleItem[])[] = [];
  let bytes = 0;
  while (bytes < MAX_AHEAD_BYTES) {
    const next = await items.next();
    if (next.done === true) break;
    seen.push(next.value);
    for (const item of next.value) bytes += ITEM_BYTES + (item.type === 'data' ? item.bytes.length : 0);
    const found = next.value.find((item) => item.type === 'part' && (item.part.type === 'changegroup' || isStreamPart(item.part)));
    if (found?.type === 'part') return { items: chain(seen, items), isStream: isStreamPart(found.part) };
  }
  return { items: chain(seen, items), isStream: false };
}

async function* chain(first: readonly (readonly BundleItem[])[], rest: AsyncGenerator<readonly BundleItem[], void, void>): AsyncGenerator<readonly BundleItem[], void, void> {
  try {
    yield* first;
    yield* rest;
  } finally {
    await rest.return();
  }
}
