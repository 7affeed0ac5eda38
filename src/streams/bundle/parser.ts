import type { ErrorCode } from '../../errors.js';
import { RevconvertError } from '../../errors.js';
import type { BundleItem } from '../../formats/bundle/items.js';
import type { PartHeader } from '../../formats/bundle/part-header.js';
import type { ByteFeed } from './byte-feed.js';

/** Reads a format out of a feed: yields where more bytes are needed, or a promise that has to be waited for. */
export type Parsing<T> = Generator<Promise<unknown> | undefined, T, unknown>;

/** What the parsers of a bundle share. */
export interface ParserContext {
  readonly feed: ByteFeed;
  /** Takes what was read. */
  readonly emit: (item: BundleItem) => void;
  /** Where the parsers are, for messages: kept up to date as they go. */
  readonly place: { part?: string; group?: string };
  /** What it means when the feed ends in the middle. */
  readonly whenCut: ErrorCode;
  /** Whether the revisions of a changegroup are wanted as records; otherwise as chunks. */
  readonly records: (part: PartHeader) => boolean;
}

/** An error at the next byte of the feed. */
export const errorHere = ({ feed, place }: Pick<ParserContext, 'feed' | 'place'>, code: ErrorCode, message: string): RevconvertError =>
  new RevconvertError(code, message, { ...place, offset: feed.position });

/**
 * Exactly so many bytes.
 * @param what is read, for the message where the feed ends before that
 * @throws RevconvertError what the context says
 */
export function* take(context: ParserContext, length: number, what: string): Parsing<Buffer> {
  for (;;) {
    const taken = context.feed.take(length);
    if (taken !== undefined) return taken;
    yield* more(context, length, what);
  }
}

/** Waits for more bytes. */
export function* more(context: ParserContext, length: number, what: string): Parsing<void> {
  if (context.feed.ended) throw errorHere(context, context.whenCut, `${what}: ${length} bytes expected, ${context.feed.available} are there`);
  yield undefined;
}

const INT32_BYTES = 4;

/** A signed number of 32 bits. */
export function* takeInt32(context: ParserContext, what: string): Parsing<number> {
  return (yield* take(context, INT32_BYTES, what)).readInt32BE(0);
}
