import type { BundleItem, Container } from '../formats/bundle/items.js';
import type { PartHeader } from '../formats/bundle/part-header.js';
import { readBundleItems } from '../streams/bundle/read-bundle.js';
import type { BundleItems } from '../streams/bundle/stage.js';
import type { BundleOptions } from './options.js';
import { fillBundleOptions } from './options.js';
import { targetVersion, versionOf } from './target-version.js';
import type { BundleOutput } from './write-items.js';
import { hasRevisionFilters, writeItems } from './write-items.js';

/**
 * Makes a bundle of another kind of one, and lets it through filters on the way. Nothing is held whole: it comes and goes in streams.
 * @param source the bytes of a bundle of any kind, in pieces of any size
 * @throws RevconvertError BUNDLE_SPEC, LEVEL, USAGE, ENGINE_MISSING, BZIP_PROGRAM, FILTER_MODULE, before anything is read; while the bytes
 *   are read, as readBundleItems, and BUNDLE_HOLDS, PART_UNKNOWN, BASE_MISSING, CANCELLED
 * @example
 * const { bytes } = await convertBundle(process.stdin, { to: 'zstd-v2' });
 * await pipeline(bytes, process.stdout);
 */
export async function convertBundle(source: AsyncIterable<Uint8Array>, options: BundleOptions = {}): Promise<BundleOutput> {
  const filled = fillBundleOptions(options);
  const { path, maxWindow, filters, signal } = filled;
  let bytesRead = 0;
  const onBytes = (bytes: number): void => void (bytesRead += bytes);
  const looksAtRevisions = hasRevisionFilters(filters);
  let container: Container | undefined;
  const needsRecords = (part: PartHeader): boolean => looksAtRevisions || versionOf(part) > '03' || targetVersion(part, filled.spec, container) !== versionOf(part);
  const items = watchStart(readBundleItems(source, { records: needsRecords, maxWindow, path, signal, onBytes }), (found) => {
    container = found;
  });
  return writeItems(items, filled, { bytesRead: () => bytesRead });
}

/** The first item says the container, before any part is read. */
async function* watchStart(items: BundleItems, onStart: (container: Container) => void): AsyncGenerator<readonly BundleItem[], void, void> {
  for await (const portion of items) {
    for (const item of portion) if (item.type === 'bundle') onStart(item.container);
    yield portion;
  }
}
