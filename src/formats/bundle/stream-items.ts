import { RevconvertError } from '../../errors.js';
import type { BundleItem } from './items.js';
import type { PartHeader } from './part-header.js';
import { partName } from './part-header.js';
import { parseStreamPartHeader } from './stream-clone.js';
import type { StreamEvent } from './stream-parser.js';
import { StreamParser } from './stream-parser.js';

/** Parts that hold the files of a store. */
const STREAM_TYPE = /^stream\d/;

/** A part that holds the files of a store, of whatever version. */
export const isStreamPart = ({ type }: PartHeader): boolean => STREAM_TYPE.test(type);

const NOTHING: readonly StreamEvent[] = [];

/** Finds the stream clone among the items of a bundle, and reads it. One bundle has one at most. */
export class StreamItems {
  /** Parts that are open; each but the first interrupts the one before. */
  readonly #open: PartHeader[] = [];
  #part: PartHeader | undefined;
  #parser: StreamParser | undefined;

  /** The part with the stream clone; undefined: none came yet. */
  get part(): PartHeader | undefined {
    return this.#part;
  }

  /**
   * @returns what the item holds of the stream clone
   * @throws RevconvertError PART_UNKNOWN: a version that is not known; PART_MALFORMED, BUNDLE_TRUNCATED, BUNDLE_TRAILING
   */
  take(item: BundleItem): readonly StreamEvent[] {
    if (item.type === 'part') {
      this.#open.push(item.part);
      return isStreamPart(item.part) ? this.#begin(item.part) : NOTHING;
    }
    if (item.type === 'data' && this.#open.at(-1) === this.#part) return this.#parser?.push(item.bytes) ?? NOTHING;
    if (item.type === 'part-end' && this.#open.pop() === this.#part) this.#parser?.finish();
    return NOTHING;
  }

  #begin(part: PartHeader): readonly StreamEvent[] {
    const name = partName(part);
    if (this.#part !== undefined) throw new RevconvertError('PART_MALFORMED', 'a second stream clone in one bundle', { part: name });
    this.#part = part;
    if (part.type === 'stream1') {
      this.#parser = new StreamParser(name);
      return NOTHING;
    }
    if (part.type !== 'stream2') throw new RevconvertError('PART_UNKNOWN', `${part.type} is a stream clone of a version that this program does not read; \`hg bundle -a -t "none-v2;stream=v2"\` writes one that it does`, { part: name });
    const header = parseStreamPartHeader(part);
    this.#parser = new StreamParser(name, header);
    return [{ type: 'header', header }];
  }
}
