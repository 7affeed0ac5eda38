import type { Dictionaries } from '../../engines/engine.js';
import type { ErrorData } from '../../errors.js';
import type { RevlogKind } from '../../formats/record.js';
import type { RevlogHeader } from '../../formats/revlog-header.js';
import type { BytePath } from '../../formats/store-path.js';
import type { FilePath } from '../byte-path.js';

/** What is sent to threads that verify, and what comes back: plain data. */

/** What every thread has to know. */
export interface VerifySettings {
  /** Flags of revisions that are not hashed, and are legal in this repository: bits of the index. */
  readonly unhashedFlags: number;
  /** Dictionaries that chunks may name. */
  readonly dictionaries: Dictionaries;
  /** Revlogs may say of their deltas and metadata by flags: a requirement allows it. */
  readonly deltaInfo: boolean;
}

/** What a revlog is. */
export interface VerifySubject {
  /** Comes back with the result. */
  readonly id: number;
  /** For messages. */
  readonly name: string;
  readonly kind: RevlogKind;
  /** What is put in front of the paths of a manifest: '' for the root, `dir/` for `meta/dir/00manifest.i`. */
  readonly folder: BytePath;
}

/** A revlog to be looked at whole. */
export interface VerifyJob extends VerifySubject {
  readonly indexFile: FilePath;
  readonly dataFile: FilePath;
}

/** The revisions `from` up to but not including `to` of a revlog whose index was read already. */
export interface VerifyRangeJob extends VerifySubject {
  /** The whole index, 64 bytes a revision, in shared memory; entries that are no good have been made harmless. */
  readonly table: Uint8Array;
  readonly header: RevlogHeader;
  /** Revisions that cannot be read, whatever their entry says. */
  readonly unreadable: Int32Array;
  /** What `position` of the index points into. */
  readonly chunkFile: FilePath;
  readonly from: number;
  readonly to: number;
}

export type VerifyTask =
  | { readonly type: 'revlogs'; readonly jobs: readonly VerifyJob[] }
  | { readonly type: 'range'; readonly job: VerifyRangeJob };

/** Revisions that were not hashed, by why. */
export interface Unhashed {
  readonly censored: number;
  readonly ellipsis: number;
  readonly external: number;
}

/** What was found in a revlog, or in a range of one. */
export interface VerifiedPart {
  readonly id: number;
  /** Each once: a revision that cannot be read because of another is none. */
  readonly faults: readonly ErrorData[];
  /** Pairs: a revision that is not sound, and the one that it is because of (itself, where the fault is its own). */
  readonly failed: Int32Array;
  readonly unhashed: Unhashed;
  /** For revisions whose node is not the hash of parents and text, the number of the revision, and that hash. */
  readonly rehashed: readonly Rehashed[];
  /** What the index says; undefined for a range, whose index is known. */
  readonly columns: RevisionColumns | undefined;
}

/** The hash that a revision has in truth: where others name it by that, it is the node in the index that is wrong. */
export interface Rehashed {
  readonly rev: number;
  /** 40 digits. */
  readonly node: string;
}

export interface RevisionColumns {
  /** 20 bytes a revision. */
  readonly nodes: Uint8Array;
  readonly linkRevs: Int32Array;
  /** The index could not be read: there are revisions, and nothing is known of them. */
  readonly isBroken: boolean;
  /** No revision refers to the data file, where there is one: the index is inline, or empty. */
  readonly needsNoData: boolean;
}

/** Numbers of one entry of {@link References}: name, part, revision (-1 - revision: not to be relied on), five of the node. */
export const REFERENCE_INTS = 8;

/** Revisions of other revlogs that the texts of a task name: files of manifests, sources of copies. */
export interface References {
  /** Names, one after the other, LF behind each: `f` and the path of a file, or `t` and that of a folder. */
  readonly names: Uint8Array;
  /** {@link REFERENCE_INTS} numbers each; the name by its place in `names`. */
  readonly entries: Int32Array;
}

/** In the place of a number of files: the changeset cannot be read. */
export const UNREADABLE = -1;
/** In the place of a number of files: the changeset stands for others that were cut away, and lists not all files that belong to it. */
export const CUT = -2;

/** What the changesets of a task say. */
export interface ChangesetColumns {
  /** The first of them. */
  readonly from: number;
  /** Five numbers a changeset: the node of its manifest; zeros: none. */
  readonly manifests: Int32Array;
  /** Files that each lists; {@link UNREADABLE}; {@link CUT}. */
  readonly fileCounts: Int32Array;
  /** Their names, by their place in `names`. */
  readonly files: Int32Array;
  /** LF behind each; `f` and a path. */
  readonly names: Uint8Array;
}

export interface VerifyResult {
  /** In the order of the jobs; one for a range. */
  readonly parts: readonly VerifiedPart[];
  readonly references: References;
  readonly changesets: ChangesetColumns | undefined;
}
