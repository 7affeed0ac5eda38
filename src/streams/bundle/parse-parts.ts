import { RevconvertError } from '../../errors.js';
import type { PartHeader } from '../../formats/bundle/part-header.js';
import { parsePartHeader, partName } from '../../formats/bundle/part-header.js';
import { ByteFeed } from './byte-feed.js';
import { parseChangegroup } from './parse-changegroup.js';
import type { ParserContext, Parsing } from './parser.js';
import { errorHere, more, take, takeInt32 } from './parser.js';

/** A piece of a part's payload that is read whole, so that it is framed again as it was; of a larger one pieces as they come. */
const WHOLE_FRAME_BYTES = 1 << 20;

/** A frame of this length says that another part comes, and that this one goes on behind it. */
const INTERRUPT = -1;

/** Parts that may be open, each but the first in the middle of another: far more than any writer opens. Each takes memory, and some of the stack. */
const MAX_OPEN = 16;

/** A header is made of fields of at most 255 bytes, of which there are at most so many. */
const MAX_HEADER_BYTES = 7 + 255 + 510 * (2 + 510);

/**
 * Reads the parts of a bundle 2 stream, up to its end mark.
 * @throws RevconvertError PART_MALFORMED, CHANGEGROUP_VERSION; as parseChangegroup
 */
export function* parseParts(context: ParserContext): Parsing<void> {
  for (;;) {
    setPlace(context, undefined);
    const part = yield* parseHeader(context);
    if (part === undefined) return;
    yield* parsePart(context, part, 1);
  }
}

/** @returns undefined at the end of the stream */
function* parseHeader(context: ParserContext): Parsing<PartHeader | undefined> {
  const at = context.feed.position;
  const length = yield* takeInt32(context, 'a part, or the end of the bundle');
  if (length === 0) return undefined;
  if (length < 0 || length > MAX_HEADER_BYTES) throw new RevconvertError('PART_MALFORMED', `the header of a part cannot have ${length} bytes`, { ...context.place, offset: at });
  const bytes = yield* take(context, length, 'the header of a part');
  try {
    return parsePartHeader(bytes);
  } catch (error) {
    throw error instanceof RevconvertError ? error.located({ ...context.place, offset: at }) : error;
  }
}

/** @param depth parts that are open, this one among them */
function* parsePart(context: ParserContext, part: PartHeader, depth: number): Parsing<void> {
  setPlace(context, part);
  context.emit({ type: 'part', part, interrupts: depth > 1 });
  if (part.type === 'changegroup') yield* parseChangegroupPart(context, part, depth);
  else yield* parsePayload(context, part, depth, emitData(context));
  context.emit({ type: 'part-end' });
}

function setPlace({ place }: ParserContext, part: PartHeader | undefined): void {
  delete place.group;
  if (part === undefined) delete place.part;
  else place.part = partName(part);
}

/** What is done with pieces of a payload. */
interface PayloadTaker {
  /** Whether frames are wanted whole, where they are not large. */
  readonly whole: boolean;
  readonly take: (bytes: Buffer, offset: number) => Parsing<void>;
}

function emitData({ emit }: ParserContext): PayloadTaker {
  return {
    whole: true,
    // eslint wants a generator to yield: there is nothing to wait for here.
    *take(bytes) {
      emit({ type: 'data', bytes });
      yield* [];
    },
  };
}

function* parsePayload(context: ParserContext, part: PartHeader, depth: number, taker: PayloadTaker): Parsing<void> {
  for (;;) {
    const at = context.feed.position;
    const length = yield* takeInt32(context, 'the payload of a part');
    if (length === 0) return;
    if (length === INTERRUPT) yield* parseInterrupt(context, part, depth);
    else if (length < 0) throw new RevconvertError('PART_MALFORMED', `a piece of a payload cannot have ${length} bytes`, { ...context.place, offset: at });
    else yield* parseFrame(context, length, taker);
  }
}

function* parseFrame(context: ParserContext, length: number, taker: PayloadTaker): Parsing<void> {
  const { feed } = context;
  if (taker.whole && length <= WHOLE_FRAME_BYTES) {
    const offset = feed.position;
    yield* taker.take(yield* take(context, length, 'the payload of a part'), offset);
    return;
  }
  for (let left = length; left > 0; ) {
    const offset = feed.position;
    const some = feed.takeSome(left);
    if (some === undefined) yield* more(context, left, 'the payload of a part');
    else yield* taker.take(some, offset);
    left -= some?.length ?? 0;
  }
}

function* parseInterrupt(context: ParserContext, outer: PartHeader, depth: number): Parsing<void> {
  if (depth === MAX_OPEN) throw errorHere(context, 'PART_MALFORMED', `an interrupt, where ${depth} parts are open already`);
  const group = context.place.group;
  const part = yield* parseHeader(context);
  if (part === undefined) throw errorHere(context, 'PART_MALFORMED', 'an interrupt without a part');
  yield* parsePart(context, part, depth + 1);
  setPlace(context, outer);
  if (group !== undefined) context.place.group = group;
}

function* parseChangegroupPart(context: ParserContext, part: PartHeader, depth: number): Parsing<void> {
  const feed = new ByteFeed();
  const inner: ParserContext = { ...context, feed, whenCut: 'CHANGEGROUP_MALFORMED' };
  const parsing = parseChangegroup(inner, part);
  let isDone = false;
  /** Goes on as far as the bytes that are there reach. */
  const goOn = function* (): Parsing<void> {
    let waited: unknown;
    while (!isDone) {
      const next = parsing.next(waited);
      isDone = next.done === true;
      if (next.done === true || next.value === undefined) return;
      waited = yield next.value;
    }
  };
  yield* parsePayload(context, part, depth, {
    whole: false,
    *take(bytes, offset) {
      feed.push(bytes, offset);
      yield* goOn();
      if (isDone && feed.available > 0) throw errorHere(inner, 'CHANGEGROUP_MALFORMED', `${feed.available} bytes behind the end of the changegroup`);
    },
  });
  feed.end();
  yield* goOn();
}
