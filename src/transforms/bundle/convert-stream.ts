import { RevconvertError } from '../../errors.js';
import type { BundleItem, BundleStart, PartStart } from '../../formats/bundle/items.js';
import { partName } from '../../formats/bundle/part-header.js';
import type { BundleSpec } from '../../formats/bundle/spec.js';
import { encodeStreamEntry, framed, streamPartHeader } from '../../formats/bundle/stream-clone.js';
import { isStreamPart, StreamItems } from '../../formats/bundle/stream-items.js';
import type { StreamEvent } from '../../formats/bundle/stream-parser.js';
import type { BundleStage } from '../../streams/bundle/stage.js';

/** The kind of bundle that is to come out. */
export type StreamTarget = Pick<BundleSpec, 'container' | 'content' | 'compression'>;

const TO_REVISIONS = 'make a repository of it (--to-repo), and the bundle from that (--from-repo)';
const TO_STREAM = 'make a repository of it (--to-repo), and the stream clone from that (--from-repo --stream)';

/** Bytes of the payload that are made at once: a multiple of a frame. */
const PIECE_BYTES = 1 << 18;

/**
 * Stream clones on their way from one bundle to another: packed1 becomes stream2, the compression around stream2 changes.
 * Whatever passes is checked: a stream clone whose counts lie stops at the first that shows. Bundles without one pass
 * through where changegroups are asked for.
 * @param target undefined: the kind of the source
 * @returns the stage. It throws RevconvertError BUNDLE_HOLDS where the target cannot hold what comes, with the way round;
 *   PART_UNKNOWN (a version of stream clones that is not known), PART_MALFORMED, BUNDLE_TRUNCATED, BUNDLE_TRAILING
 */
export function createStreamStage(target?: StreamTarget): BundleStage {
  const stream = new StreamItems();
  const packed = new Repacker();
  let start: BundleStart | undefined;
  const repacks = (): boolean => start?.container === 'HGS1' && target?.container === 'HG20';
  return (item) => {
    if (item.type === 'bundle') {
      start = item;
      return target?.content === 'stream' ? { ...item, container: target.container, compression: target.compression } : item;
    }
    const events = stream.take(item);
    if (item.type === 'part' && target !== undefined) checkPart(item, target);
    if (!repacks()) return item;
    if (item.type === 'part') return [];
    const made = packed.take(events);
    return item.type === 'data' ? made : [...packed.flush(), item];
  };
}

/** @throws RevconvertError BUNDLE_HOLDS */
function checkPart({ part }: PartStart, { content, container }: StreamTarget): void {
  const cannot = (message: string): RevconvertError => new RevconvertError('BUNDLE_HOLDS', message, { part: partName(part) });
  if (content === 'changegroup' && isStreamPart(part)) throw cannot(`files of a store are no revisions: ${TO_REVISIONS}`);
  if (content === 'stream' && part.type === 'changegroup') throw cannot(`revisions are no files of a store: ${TO_STREAM}`);
  if (container === 'HGS1' && part.type !== 'stream1') {
    throw cannot(part.type === 'stream2' ? `packed1 says first how many files it has, without caches, and stream2 does not tell them apart before they come: ${TO_STREAM}` : 'packed1 has no parts but its files: --drop-part leaves it out');
  }
}

/** Makes the payload of a stream2 part of what a packed1 bundle holds. */
class Repacker {
  #pieces: Uint8Array[] = [];
  #length = 0;

  take(events: readonly StreamEvent[]): BundleItem[] {
    const items: BundleItem[] = [];
    for (const event of events) {
      if (event.type === 'header') {
        items.push({ type: 'part', part: streamPartHeader(event.header, 0), interrupts: false });
        continue;
      }
      const bytes = event.type === 'bytes' ? event.bytes : encodeStreamEntry(event.entry, 'stream2');
      this.#pieces.push(bytes);
      this.#length += bytes.length;
      if (this.#length >= PIECE_BYTES) items.push(...this.#makeWhole());
    }
    return items;
  }

  /** What is left. */
  flush(): BundleItem[] {
    const items = framed(Buffer.concat(this.#pieces));
    this.#pieces = [];
    this.#length = 0;
    return items;
  }

  #makeWhole(): BundleItem[] {
    const bytes = Buffer.concat(this.#pieces);
    const rest = bytes.length % PIECE_BYTES;
    this.#pieces = rest === 0 ? [] : [Buffer.from(bytes.subarray(-rest))];
    this.#length = rest;
    return framed(bytes.subarray(0, bytes.length - rest));
  }
}
