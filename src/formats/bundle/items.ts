import type { RevlogKind } from '../record.js';
import type { ChangegroupVersion } from './changegroup-version.js';
import type { Parameter,PartHeader } from './part-header.js';

/**
 * What a bundle is made of, as it passes through a pipeline: the bundle begins, parts begin, hold groups of revisions or
 * plain bytes, and end, the bundle ends. Every kind of bundle is read into these, and written from them.
 *
 *     bundle ( part ( data* | ( group ( revisions | chunks )* )* ) part-end )* end
 *
 * A part that interrupts another comes between two items of it. HG10 has one part, which stands in no header; so has HGS1.
 */
export type BundleItem = BundleStart | PartStart | PartData | GroupStart | RevisionGroupBatch | GroupChunks | PartEnd | BundleEnd;

export type Container = 'HG10' | 'HG20' | 'HGS1';

/** The compressions of bundles, by the names of their engines. */
export type BundleCompression = 'none' | 'zlib' | 'bzip2' | 'zstd';

export interface BundleStart {
  readonly type: 'bundle';
  readonly container: Container;
  readonly compression: BundleCompression;
  /** Of the stream, but for the compression; empty but in HG20. */
  readonly parameters: readonly Parameter[];
}

export interface PartStart {
  readonly type: 'part';
  readonly part: PartHeader;
  /** It comes in the middle of another part, which goes on behind it. */
  readonly interrupts: boolean;
}

/** Bytes of a part that is no changegroup: a piece of its payload, as it was framed where that is not large. */
export interface PartData {
  readonly type: 'data';
  readonly bytes: Uint8Array;
}

/** A revlog's share of a changegroup. */
export interface Group {
  readonly kind: RevlogKind;
  /** The tracked file; of a tree manifest the directory, with `/` at the end; empty for changelog and root manifest. Latin-1: one character a byte. */
  readonly name: string;
}

export interface GroupStart {
  readonly type: 'group';
  readonly group: Group;
}

/** Consecutive revisions of one group, at most {@link MAX_GROUP_BATCH_REVISIONS} or about {@link MAX_GROUP_BATCH_BYTES}. */
export interface RevisionGroupBatch {
  readonly type: 'revisions';
  readonly group: Group;
  readonly revisions: ChangegroupRevision[];
}

export const MAX_GROUP_BATCH_REVISIONS = 512;
export const MAX_GROUP_BATCH_BYTES = 1 << 20;

/**
 * Revisions that nobody looked at: whole chunks of a group as they stand in a changegroup of this version, one after the other.
 * What has to look at revisions makes `revisions` of them (`parseChunks`).
 */
export interface GroupChunks {
  readonly type: 'chunks';
  readonly group: Group;
  readonly version: ChangegroupVersion;
  /** One or several pieces; a chunk may lie across two of them. */
  readonly bytes: readonly Uint8Array[];
  /** How many chunks they are. */
  readonly revisions: number;
}

/** One revision in a changegroup. Nodes have 20 bytes; that of the null revision is all zeros. */
export interface ChangegroupRevision {
  readonly node: Uint8Array;
  readonly p1: Uint8Array;
  readonly p2: Uint8Array;
  /** The changeset that brought it; of a changeset itself. */
  readonly linkNode: Uint8Array;
  /** What `delta` applies to; the null node: the empty text. Version 01 does not say it: the reader does. */
  readonly base: Uint8Array;
  /** As in a revlog's index; 0 where the version has no room for them. */
  readonly flags: number;
  /** Hunks against the text of `base`. */
  readonly delta: Uint8Array;
  /** Sidedata, as it came; only in versions that have it, and lost in all that are written. */
  readonly sidedata?: Uint8Array | undefined;
  /** Where its chunk begins, in bytes of the uncompressed bundle; -1: it was not read from one. For messages. */
  readonly offset: number;
}

export interface PartEnd {
  readonly type: 'part-end';
}

export interface BundleEnd {
  readonly type: 'end';
}

/** A group as a person knows it. */
export const groupName = ({ kind, name }: Group): string => (name === '' ? kind : kind === 'manifest' ? `manifest ${name}` : name);
