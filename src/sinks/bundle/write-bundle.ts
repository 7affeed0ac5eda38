import type { Duplex } from 'node:stream';
import { Duplex as DuplexStream } from 'node:stream';

import type { MaybePromise } from '../../engines/engine.js';
import { compressBundle } from '../../engines/streams/compress-bundle.js';
import { RevconvertError } from '../../errors.js';
import type { BundleCompression, BundleItem } from '../../formats/bundle/items.js';
import type { BundleItems } from '../../streams/bundle/stage.js';
import { BodyEncoder, encodeStart } from './encode-bundle.js';

export interface WriteBundleOptions {
  /** Of the compression that the first item names. @default the engine's */
  readonly level?: number | undefined;
  /** Threads that compress, beside the one that calls. @default the engine's */
  readonly threads?: number | undefined;
  /** Gives what compresses where it is no engine of this library; undefined: the engine does. @default the engine, always */
  readonly compressor?: ((compression: BundleCompression) => MaybePromise<Compress | undefined>) | undefined;
  /** Ends the work. */
  readonly signal?: AbortSignal | undefined;
}

/** Makes the bytes of a compressed stream. */
export type Compress = (source: AsyncIterable<Buffer>) => AsyncIterable<Buffer>;

/**
 * Writes a bundle of the kind that its first item names.
 * @param items as `readBundleItems` gives them
 * @returns its bytes, of which none come before some of its content does. Where it throws, what was given out has no end mark: no reader
 *   takes it for whole
 * @throws RevconvertError BUNDLE_HOLDS, LEVEL, ENGINE_MISSING; CANCELLED; what the items throw
 */
export async function* writeBundleBytes(items: BundleItems, options: WriteBundleOptions = {}): AsyncGenerator<Buffer, void, void> {
  const iterator = portions(items);
  try {
    const first = await iterator.next();
    const [start, ...rest] = first.done === true ? [] : first.value;
    if (start?.type !== 'bundle') throw new RevconvertError('INTERNAL', 'a bundle begins with what it is');
    const { level, threads, compressor, signal } = options;
    const compress = (await compressor?.(start.compression)) ?? ((source) => compressBundle(start.compression, source, { level, threads, signal }));
    yield* behind(encodeStart(start), compress(encodeBody(new BodyEncoder(start.container), rest, iterator)));
  } finally {
    await iterator.return();
  }
}

/** Bytes, and what follows them; what fails before anything follows leaves nothing. */
async function* behind(first: Buffer, rest: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void, void> {
  let before: Buffer | undefined = first;
  for await (const piece of rest) {
    yield before === undefined ? piece : Buffer.concat([before, piece]);
    before = undefined;
  }
  if (before !== undefined) yield before;
}

async function* portions(items: BundleItems): AsyncGenerator<readonly BundleItem[], void, void> {
  for await (const portion of items) if (portion.length > 0) yield portion;
}

async function* encodeBody(encoder: BodyEncoder, first: readonly BundleItem[], rest: BundleItems): AsyncGenerator<Buffer, void, void> {
  encodeAll(encoder, first);
  for await (const portion of rest) {
    encodeAll(encoder, portion);
    yield* encoder.take();
  }
  yield* encoder.finish();
}

function encodeAll(encoder: BodyEncoder, items: readonly BundleItem[]): void {
  for (const item of items) {
    if (item.type === 'bundle') throw new RevconvertError('INTERNAL', 'a bundle that begins twice');
    encoder.encode(item);
  }
}

/** Items as the bytes of a bundle, a Transform; errors as {@link writeBundleBytes}. */
export function writeBundle(options: WriteBundleOptions = {}): Duplex {
  return DuplexStream.from(async function* (source: AsyncIterable<BundleItem>) {
    yield* writeBundleBytes(one(source), options);
  });
}

async function* one(source: AsyncIterable<BundleItem>): AsyncGenerator<readonly BundleItem[], void, void> {
  for await (const item of source) yield [item];
}
