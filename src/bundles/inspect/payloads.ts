import { NODE } from '../../formats/bundle/changegroup.js';
import type { PartHeader } from '../../formats/bundle/part-header.js';
import { partName } from '../../formats/bundle/part-header.js';
import { BOOKMARKS } from '../../formats/bundle/payloads/bookmarks.js';
import type { EntryFormat } from '../../formats/bundle/payloads/entry-format.js';
import type { ObsMarker } from '../../formats/bundle/payloads/obsmarkers.js';
import { OBSMARKER_VERSIONS } from '../../formats/bundle/payloads/obsmarkers.js';
import { PHASE_HEADS } from '../../formats/bundle/payloads/phase-heads.js';
import { REV_BRANCH_CACHE } from '../../formats/bundle/payloads/rev-branch-cache.js';
import { TAGS_FNODES } from '../../formats/bundle/payloads/tags-fnodes.js';
import { parseStreamPartHeader } from '../../formats/bundle/stream-clone.js';
import { StreamParser } from '../../formats/bundle/stream-parser.js';
import { EntryFeed } from './entry-feed.js';
import type { InspectRecord } from './records.js';

/** Reads what the payload of a part holds. */
export interface PayloadInspector {
  /** @throws RevconvertError PART_MALFORMED */
  push(bytes: Uint8Array): InspectRecord[];
  /** The payload ended. @throws RevconvertError PART_MALFORMED, BUNDLE_TRUNCATED */
  finish(): void;
}

/**
 * @param all also what there is much of: files of a stream clone, revisions of .hgtags
 * @returns what reads the payload of a part; undefined: its payload is not looked at
 * @throws RevconvertError PART_MALFORMED
 */
export function inspectorOf(part: PartHeader, all: boolean): PayloadInspector | undefined {
  switch (part.type) {
    case 'obsmarkers':
      return new MarkersInspector(partName(part));
    case 'phase-heads':
      return entries(part, PHASE_HEADS, (head) => ({ record: 'phase-head', ...head }));
    case 'bookmarks':
      return entries(part, BOOKMARKS, (bookmark) => ({ record: 'bookmark', ...bookmark }));
    case 'cache:rev-branch-cache':
      return entries(part, REV_BRANCH_CACHE, ({ name, open, closed }) => ({ record: 'branch', name, changesets: (open.length + closed.length) / NODE, closing: closed.length / NODE }));
    case 'hgtagsfnodes':
      return all ? entries(part, TAGS_FNODES, (entry) => ({ record: 'tags-fnode', ...entry })) : undefined;
    case 'stream1':
    case 'stream2':
      return new StreamInspector(part, all);
    default:
      return undefined;
  }
}

function entries<T>(part: PartHeader, format: EntryFormat<T>, toRecord: (entry: T) => InspectRecord): PayloadInspector {
  const feed = new EntryFeed(format, partName(part));
  return { push: (bytes) => feed.push(bytes).map(toRecord), finish: () => feed.finish() };
}

/** Markers: their version is the first byte. */
class MarkersInspector implements PayloadInspector {
  #feed: EntryFeed<ObsMarker> | undefined;
  #started = false;

  constructor(private readonly part: string) {}

  push(bytes: Uint8Array): InspectRecord[] {
    if (bytes.length === 0) return [];
    const records: InspectRecord[] = [];
    if (!this.#started) {
      const version = bytes[0] ?? 0;
      const format = OBSMARKER_VERSIONS[version];
      this.#feed = format === undefined ? undefined : new EntryFeed(format, this.part);
      this.#started = true;
      records.push({ record: 'markers', version, known: format !== undefined });
      bytes = bytes.subarray(1);
    }
    for (const marker of this.#feed?.push(bytes) ?? []) records.push({ record: 'marker', ...marker });
    return records;
  }

  finish(): void {
    this.#feed?.finish();
  }
}

class StreamInspector implements PayloadInspector {
  readonly #parser: StreamParser;
  #first: InspectRecord[] = [];

  constructor(
    part: PartHeader,
    private readonly all: boolean,
  ) {
    const header = part.type === 'stream1' ? undefined : parseStreamPartHeader(part);
    this.#parser = new StreamParser(partName(part), header);
    if (header !== undefined) this.#first.push({ record: 'stream', ...header });
  }

  push(bytes: Uint8Array): InspectRecord[] {
    const records = this.#first;
    this.#first = [];
    for (const event of this.#parser.push(bytes)) {
      if (event.type === 'header') records.push({ record: 'stream', ...event.header });
      else if (event.type === 'file' && this.all) records.push({ record: 'file', ...event.entry });
    }
    return records;
  }

  finish(): void {
    this.#parser.finish();
  }
}
