import { RevconvertError } from '../../errors.js';
import type { WrittenVersion } from '../../formats/bundle/changegroup-version.js';
import { WRITTEN_VERSIONS } from '../../formats/bundle/changegroup-version.js';
import type { BundleItem, BundleStart, Container, PartStart } from '../../formats/bundle/items.js';
import { CODE_OF } from '../../formats/bundle/magic.js';
import type { PartHeader } from '../../formats/bundle/part-header.js';
import { partParameter } from '../../formats/bundle/part-header.js';
import { encodeStreamParameters } from '../../formats/bundle/stream-parameters.js';
import { ChangegroupWriter } from './changegroup-writer.js';
import { GatheredOutput } from './output.js';
import type { PayloadWriter } from './payload-writer.js';
import { PartsWriter, plainPayload } from './payload-writer.js';

/** The bytes before what is compressed. */
export function encodeStart({ container, compression, parameters }: BundleStart): Buffer {
  const magic = Buffer.from(container, 'latin1');
  // The letters BZ are written by bzip2 itself.
  if (container !== 'HG20') return compression === 'bzip2' ? magic : Buffer.concat([magic, Buffer.from(CODE_OF[compression], 'latin1')]);
  const all = compression === 'none' ? parameters : [{ name: 'Compression', value: CODE_OF[compression] }, ...parameters];
  const bytes = encodeStreamParameters(all);
  const length = Buffer.allocUnsafe(4);
  length.writeUInt32BE(bytes.length);
  return Buffer.concat([magic, length, bytes]);
}

/** A part that is being written. */
interface OpenPart {
  readonly payload: PayloadWriter;
  readonly changegroup: ChangegroupWriter | undefined;
}

/** Turns the items of a bundle into the bytes that are compressed. */
export class BodyEncoder {
  readonly #output = new GatheredOutput();
  readonly #parts: PartsWriter | undefined;
  readonly #open: OpenPart[] = [];
  #count = 0;

  constructor(private readonly container: Container) {
    this.#parts = container === 'HG20' ? new PartsWriter(this.#output) : undefined;
  }

  /**
   * @param item any but the first, which says the container
   * @throws RevconvertError BUNDLE_HOLDS: the changegroup's version is none that is written, or the container, which has no headers of
   *   parts, gets another number of them than one; INTERNAL: items in no order
   */
  encode(item: Exclude<BundleItem, BundleStart>): void {
    switch (item.type) {
      case 'part':
        this.#open.push(this.#begin(item));
        break;
      case 'data':
        this.#current().payload.writeWhole(item.bytes);
        break;
      case 'group':
        this.#changegroup().group(item.group);
        break;
      case 'revisions':
        this.#changegroup().revisions(item);
        break;
      case 'chunks':
        this.#changegroup().chunks(item);
        break;
      case 'part-end':
        this.#current().changegroup?.end();
        this.#open.pop();
        this.#parts?.end();
        break;
      case 'end':
        if (this.#parts === undefined && this.#count === 0) throw this.#notOne('none is');
        this.#parts?.finish();
    }
  }

  /** The bytes that are ready. */
  take(): Buffer[] {
    return this.#output.take();
  }

  /** The last bytes. */
  finish(): Buffer[] {
    return this.#output.finish();
  }

  #begin({ part }: PartStart): OpenPart {
    this.#count++;
    if (this.#parts === undefined && this.#count > 1) throw this.#notOne('another is');
    const payload = this.#parts?.begin(part) ?? plainPayload(this.#output);
    return { payload, changegroup: part.type === 'changegroup' ? new ChangegroupWriter(payload, writtenVersion(part)) : undefined };
  }

  #notOne(found: string): RevconvertError {
    return new RevconvertError('BUNDLE_HOLDS', `a bundle of kind ${this.container} is made of one part: ${found} left`);
  }

  #current(): OpenPart {
    const open = this.#open.at(-1);
    if (open === undefined) throw new RevconvertError('INTERNAL', 'items of a bundle outside of any part');
    return open;
  }

  #changegroup(): ChangegroupWriter {
    const { changegroup } = this.#current();
    if (changegroup === undefined) throw new RevconvertError('INTERNAL', 'revisions outside of a changegroup');
    return changegroup;
  }
}

function writtenVersion(part: PartHeader): WrittenVersion {
  const given = partParameter(part, 'version') ?? '01';
  const version = WRITTEN_VERSIONS.find((one) => one === given);
  if (version === undefined) throw new RevconvertError('BUNDLE_HOLDS', `changegroups of version ${given} are not written: give cg.version=03`);
  return version;
}
