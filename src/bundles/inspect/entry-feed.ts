import { RevconvertError } from '../../errors.js';
import type { EntryFormat } from '../../formats/bundle/payloads/entry-format.js';
import { MAX_ENTRY } from '../../formats/bundle/payloads/entry-format.js';
import { asBuffer } from '../../formats/bytes.js';
import { ByteFeed } from '../../streams/bundle/byte-feed.js';

/** Reads the entries of a payload that comes in slices of any size. Holds no more than one entry. */
export class EntryFeed<T> {
  readonly #feed = new ByteFeed();
  #head: Buffer | undefined;

  /** @param part for messages */
  constructor(
    private readonly format: EntryFormat<T>,
    private readonly part: string,
  ) {}

  /** @throws RevconvertError PART_MALFORMED */
  push(bytes: Uint8Array): T[] {
    this.#feed.push(asBuffer(bytes));
    const entries: T[] = [];
    for (let entry = this.#next(); entry !== undefined; entry = this.#next()) {
      const decoded = this.format.decode(entry);
      if (typeof decoded === 'string') throw this.#malformed(decoded);
      entries.push(decoded);
    }
    return entries;
  }

  /** To be called where the payload ends. @throws RevconvertError PART_MALFORMED */
  finish(): void {
    const left = (this.#head?.length ?? 0) + this.#feed.available;
    if (left > 0) throw this.#malformed(`the payload ends ${left} bytes behind the beginning of an entry, which is longer`);
  }

  #next(): Buffer | undefined {
    const { headBytes, lengthOf } = this.format;
    this.#head ??= this.#feed.take(headBytes);
    if (this.#head === undefined) return undefined;
    const length = lengthOf(this.#head);
    if (length < headBytes || length > MAX_ENTRY) throw this.#malformed(`an entry cannot have ${length} bytes`);
    const rest = this.#feed.take(length - headBytes);
    if (rest === undefined) return undefined;
    const entry = rest.length === 0 ? this.#head : Buffer.concat([this.#head, rest]);
    this.#head = undefined;
    return entry;
  }

  #malformed(message: string): RevconvertError {
    return new RevconvertError('PART_MALFORMED', message, { part: this.part, offset: this.#feed.position });
  }
}
