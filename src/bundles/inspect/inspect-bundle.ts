import { RevconvertError } from '../../errors.js';
import { CHUNK_HEADER, REVISION_HEADER } from '../../formats/bundle/changegroup.js';
import type { ChangegroupVersion } from '../../formats/bundle/changegroup-version.js';
import { CHANGEGROUP_VERSIONS } from '../../formats/bundle/changegroup-version.js';
import type { BundleItem, ChangegroupRevision, Group } from '../../formats/bundle/items.js';
import type { PartHeader } from '../../formats/bundle/part-header.js';
import { partParameter } from '../../formats/bundle/part-header.js';
import type { RevlogKind } from '../../formats/record.js';
import type { BundleItems } from '../../streams/bundle/stage.js';
import type { PayloadInspector } from './payloads.js';
import { inspectorOf } from './payloads.js';
import type { GroupSums, InspectRecord, KindSums } from './records.js';

export interface InspectOptions {
  /**
   * Which revisions come as records of their own: `none`; `changesets`; `all`, and then everything else that there is much of, too:
   * files of a stream clone, revisions of .hgtags. @default none
   */
  readonly revisions?: 'none' | 'changesets' | 'all' | undefined;
  /** Bytes of the bundle that were read so far, as it is stored. */
  readonly bytesRead?: (() => number) | undefined;
}

/**
 * What a bundle is made of.
 * @param items with revisions as records
 * @returns records in portions, in the order of the bundle; the last is `total`
 * @throws RevconvertError what the items throw; PART_MALFORMED, BUNDLE_TRUNCATED where a payload is not what its part should hold; INTERNAL where chunks come
 */
export async function* inspectBundle(items: BundleItems, options: InspectOptions = {}): AsyncGenerator<readonly InspectRecord[], void, void> {
  const inspection = new Inspection(options);
  let isWhole = false;
  for await (const portion of items) {
    for (const item of portion) {
      isWhole ||= item.type === 'end';
      inspection.take(item);
    }
    const records = inspection.records.splice(0);
    if (records.length > 0) yield records;
  }
  if (!isWhole) throw new RevconvertError('USAGE', 'the items of a whole bundle are expected, as readBundleItems gives them');
}

/** A part that is open. */
interface OpenPart {
  readonly part: PartHeader;
  readonly inspector: PayloadInspector | undefined;
  readonly version: ChangegroupVersion | undefined;
  group: Group | undefined;
  sums: Sums;
  bytes: number;
}

type Sums = { -readonly [name in keyof GroupSums]: GroupSums[name] };
type MutableKindSums = { -readonly [name in keyof KindSums]: KindSums[name] };

const noSums = (): Sums => ({ revisions: 0, deltaBytes: 0, bytes: 0 });
const noKindSums = (): MutableKindSums => ({ groups: 0, ...noSums() });

class Inspection {
  readonly records: InspectRecord[] = [];
  /** The innermost last. */
  readonly #open: OpenPart[] = [];
  readonly #kinds: Record<RevlogKind, MutableKindSums> = { changelog: noKindSums(), manifest: noKindSums(), filelog: noKindSums() };
  #parts = 0;
  #bytes = 0;

  constructor(private readonly options: InspectOptions) {}

  take(item: BundleItem): void {
    const current = this.#open.at(-1);
    switch (item.type) {
      case 'bundle':
        this.records.push({ record: 'bundle', container: item.container, compression: item.compression, parameters: item.parameters });
        return;
      case 'part':
        this.#begin(item.part, item.interrupts);
        return;
      case 'part-end':
        if (current !== undefined) this.#end(current);
        this.#open.pop();
        return;
      case 'end':
        this.records.push({ record: 'total', parts: this.#parts, bytes: this.#bytes, storedBytes: this.options.bytesRead?.(), kinds: this.#kinds });
        return;
      case 'group':
        if (current !== undefined) this.#beginGroup(current, item.group);
        return;
      case 'data':
        if (current === undefined) return;
        current.bytes += item.bytes.length;
        this.records.push(...(current.inspector?.push(item.bytes) ?? []));
        return;
      case 'revisions':
        if (current !== undefined) for (const revision of item.revisions) this.#takeRevision(current, revision, item.group);
        return;
      case 'chunks':
        throw new RevconvertError('INTERNAL', 'revisions must be records here, not chunks');
    }
  }

  #begin(part: PartHeader, interrupts: boolean): void {
    const { type, id, mandatory, mandatoryParameters, advisoryParameters } = part;
    this.#parts++;
    this.records.push({ record: 'part', part: type, id, mandatory, mandatoryParameters, advisoryParameters, interrupts });
    const inspector = inspectorOf(part, this.options.revisions === 'all');
    const version = type === 'changegroup' ? CHANGEGROUP_VERSIONS.find((one) => one === (partParameter(part, 'version') ?? '01')) : undefined;
    this.#open.push({ part, inspector, version, group: undefined, sums: noSums(), bytes: 0 });
  }

  #end(current: OpenPart): void {
    const { part, inspector, version } = current;
    inspector?.finish();
    this.#endGroup(current);
    // Behind the files, and from version 03 on behind the directories, stands an empty chunk.
    if (version !== undefined) current.bytes += version >= '03' ? 2 * CHUNK_HEADER : CHUNK_HEADER;
    this.#bytes += current.bytes;
    this.records.push({ record: 'part-end', part: part.type, id: part.id, bytes: current.bytes });
  }

  #beginGroup(current: OpenPart, group: Group): void {
    this.#endGroup(current);
    current.group = group;
    current.sums = { revisions: 0, deltaBytes: 0, bytes: CHUNK_HEADER + (group.name === '' ? 0 : CHUNK_HEADER + group.name.length) };
    this.records.push({ record: 'group-start', kind: group.kind, name: group.name });
  }

  #endGroup(current: OpenPart): void {
    const { group, sums } = current;
    if (group === undefined) return;
    current.group = undefined;
    current.bytes += sums.bytes;
    const kind = this.#kinds[group.kind];
    kind.groups++;
    kind.revisions += sums.revisions;
    kind.deltaBytes += sums.deltaBytes;
    kind.bytes += sums.bytes;
    this.records.push({ record: 'group', kind: group.kind, name: group.name, ...sums });
  }

  #takeRevision({ sums, version = '01' }: OpenPart, revision: ChangegroupRevision, { kind, name }: Group): void {
    const { node, p1, p2, linkNode, base, flags, delta, sidedata, offset } = revision;
    sums.revisions++;
    sums.deltaBytes += delta.length;
    sums.bytes += CHUNK_HEADER + REVISION_HEADER[version] + delta.length + (sidedata === undefined ? 0 : CHUNK_HEADER + sidedata.length);
    const { revisions = 'none' } = this.options;
    if (revisions === 'none' || (revisions === 'changesets' && kind !== 'changelog')) return;
    this.records.push({ record: 'revision', kind, name, node: hex(node), p1: hex(p1), p2: hex(p2), linkNode: hex(linkNode), base: hex(base), flags, deltaBytes: delta.length, offset });
  }
}

const hex = (node: Uint8Array): string => Buffer.from(node.buffer, node.byteOffset, node.byteLength).toString('hex');
