import type { StreamEntry, StreamHeader, StreamVersion } from '../../formats/bundle/stream-clone.js';
import { StreamItems } from '../../formats/bundle/stream-items.js';
import type { BundleItems, BundleStage } from '../../streams/bundle/stage.js';

/** What is in a stream clone, in sum. */
export interface StreamDescription extends StreamHeader {
  readonly version: StreamVersion;
  /** Of all files: those of the store, and the caches. */
  readonly store: StreamTotals;
  readonly cache: StreamTotals;
}

export interface StreamTotals {
  readonly files: number;
  readonly bytes: number;
}

/** Looks on as items pass. */
export interface StreamObserver {
  readonly stage: BundleStage;
  /** What came so far; undefined: no stream clone. */
  readonly description: () => StreamDescription | undefined;
}

/**
 * A stage that looks at the stream clone of a bundle, and lets everything pass as it is.
 * @param onFile called with each file as it begins
 * @returns the stage. It throws RevconvertError PART_UNKNOWN, PART_MALFORMED, BUNDLE_TRUNCATED, BUNDLE_TRAILING
 */
export function observeStream(onFile: (entry: StreamEntry) => void = () => undefined): StreamObserver {
  const stream = new StreamItems();
  const sums = { store: { files: 0, bytes: 0 }, cache: { files: 0, bytes: 0 } };
  let header: StreamHeader | undefined;
  const stage: BundleStage = (item) => {
    for (const event of stream.take(item)) {
      if (event.type === 'header') header = event.header;
      if (event.type !== 'file') continue;
      const sum = sums[event.entry.place];
      sum.files++;
      sum.bytes += event.entry.bytes;
      onFile(event.entry);
    }
    return item;
  };
  const version = (): StreamVersion => (stream.part?.type === 'stream1' ? 'stream1' : 'stream2');
  return { stage, description: () => (header === undefined ? undefined : { ...header, version: version(), store: { ...sums.store }, cache: { ...sums.cache } }) };
}

/**
 * Reads a bundle to its end, and says what stream clone is in it.
 * @param onFile called with each file as it begins
 * @returns undefined: it has none
 * @throws RevconvertError as the items and {@link observeStream}
 */
export async function describeStream(items: BundleItems, onFile?: (entry: StreamEntry) => void): Promise<StreamDescription | undefined> {
  const { stage, description } = observeStream(onFile);
  for await (const portion of items) for (const item of portion) await stage(item);
  return description();
}
