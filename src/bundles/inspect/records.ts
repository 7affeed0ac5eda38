import type { BundleCompression, Container } from '../../formats/bundle/items.js';
import type { Parameter } from '../../formats/bundle/part-header.js';
import type { Bookmark } from '../../formats/bundle/payloads/bookmarks.js';
import type { ObsMarker } from '../../formats/bundle/payloads/obsmarkers.js';
import type { PhaseHead } from '../../formats/bundle/payloads/phase-heads.js';
import type { TagsFnode } from '../../formats/bundle/payloads/tags-fnodes.js';
import type { StreamEntry, StreamHeader } from '../../formats/bundle/stream-clone.js';
import type { RevlogKind } from '../../formats/record.js';

/** What a bundle is made of, one thing after the other. Names and values are Latin-1, one character a byte; nodes are hexadecimal. */
export type InspectRecord =
  | BundleRecord
  | PartRecord
  | GroupStartRecord
  | RevisionRecord
  | GroupRecord
  | MarkersRecord
  | ({ readonly record: 'marker' } & ObsMarker)
  | ({ readonly record: 'phase-head' } & PhaseHead)
  | ({ readonly record: 'bookmark' } & Bookmark)
  | BranchRecord
  | ({ readonly record: 'tags-fnode' } & TagsFnode)
  | ({ readonly record: 'stream' } & StreamHeader)
  | ({ readonly record: 'file' } & StreamEntry)
  | PartEndRecord
  | TotalRecord;

export interface BundleRecord {
  readonly record: 'bundle';
  readonly container: Container;
  readonly compression: BundleCompression;
  /** Of the stream, but for the compression. */
  readonly parameters: readonly Parameter[];
}

export interface PartRecord {
  readonly record: 'part';
  readonly part: string;
  readonly id: number;
  readonly mandatory: boolean;
  readonly mandatoryParameters: readonly Parameter[];
  readonly advisoryParameters: readonly Parameter[];
  /** It comes in the middle of another part. */
  readonly interrupts: boolean;
}

interface InGroup {
  readonly kind: RevlogKind;
  /** Of the file, or of a directory with `/`; empty: changelog, root manifest. */
  readonly name: string;
}

export interface GroupStartRecord extends InGroup {
  readonly record: 'group-start';
}

export interface RevisionRecord extends InGroup {
  readonly record: 'revision';
  readonly node: string;
  readonly p1: string;
  readonly p2: string;
  readonly linkNode: string;
  readonly base: string;
  readonly flags: number;
  readonly deltaBytes: number;
  /** Where its chunk begins, in bytes of the uncompressed bundle. */
  readonly offset: number;
}

/** A group that ended. */
export interface GroupRecord extends InGroup, GroupSums {
  readonly record: 'group';
}

export interface GroupSums {
  readonly revisions: number;
  /** Of deltas; of version 04 as they are when they are decompressed. */
  readonly deltaBytes: number;
  /** With the headers of the revisions, and what frames the group. */
  readonly bytes: number;
}

export interface MarkersRecord {
  readonly record: 'markers';
  readonly version: number;
  /** Markers of this version can be read. */
  readonly known: boolean;
}

export interface BranchRecord {
  readonly record: 'branch';
  readonly name: string;
  readonly changesets: number;
  /** Changesets that close the branch. */
  readonly closing: number;
}

export interface PartEndRecord {
  readonly record: 'part-end';
  readonly part: string;
  readonly id: number;
  /** Of its payload, without what frames it. */
  readonly bytes: number;
}

export interface KindSums extends GroupSums {
  readonly groups: number;
}

export interface TotalRecord {
  readonly record: 'total';
  readonly parts: number;
  /** Of the payloads of all parts. */
  readonly bytes: number;
  /** Of the bundle as it is stored; undefined: not known. */
  readonly storedBytes: number | undefined;
  readonly kinds: Readonly<Record<RevlogKind, KindSums>>;
}
