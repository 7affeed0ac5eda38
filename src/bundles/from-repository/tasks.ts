import type { Dictionaries } from '../../engines/engine.js';
import type { WrittenVersion } from '../../formats/bundle/changegroup-version.js';
import type { RevlogKind } from '../../formats/record.js';
import type { RevlogHeader } from '../../formats/revlog-header.js';
import type { FilePath } from '../../repository/byte-path.js';

/** What is sent to threads that make chunks of a changegroup, and what comes back: plain data. */

/** What every thread has to know. */
export interface BundleSettings {
  readonly version: WrittenVersion;
  /** Dictionaries that chunks may name. */
  readonly dictionaries: Dictionaries;
  /** Entries of the changelog's index, in shared memory: what linkrevs lead to. */
  readonly changelog: Uint8Array;
  /** For each changeset what becomes of it (changeset-state.ts), in shared memory; undefined: all are sent. */
  readonly states: Uint8Array | undefined;
  /** Whether the branches of changesets are wanted. */
  readonly branches: boolean;
}

export interface RevlogSubject {
  /** For messages. */
  readonly name: string;
  readonly kind: RevlogKind;
  /** Pairs of a revision and the changeset that brings it instead of the one that the index names. */
  readonly links: Int32Array | undefined;
}

/** A whole revlog. */
export interface RevlogJob extends RevlogSubject {
  readonly indexFile: FilePath;
  readonly dataFile: FilePath;
}

/** The revisions `from` up to but not including `to` of a revlog whose index was read already. */
export interface RangeJob extends RevlogSubject {
  /** The whole index, 64 bytes a revision, in shared memory. */
  readonly table: Uint8Array;
  readonly header: RevlogHeader;
  /** What `position` of the index points into. */
  readonly chunkFile: FilePath;
  readonly from: number;
  readonly to: number;
}

export type BundleTask = { readonly type: 'revlogs'; readonly jobs: readonly RevlogJob[] } | { readonly type: 'range'; readonly job: RangeJob };

/** What a revlog, or a range of one, has in a changegroup: whole chunks, in shared memory. */
export interface EncodedRevisions {
  readonly bytes: readonly Uint8Array[];
  readonly revisions: number;
}

/** The branches of changesets that were encoded. */
export interface BranchColumn {
  /** Names, in UTF-8, one character a byte. */
  readonly names: readonly string[];
  /** Pairs: the changeset; twice the place of its branch in `names`, and 1 more where it closes it. */
  readonly entries: Int32Array;
}

export interface BundleTaskResult {
  /** In the order of the jobs; one for a range. */
  readonly groups: readonly EncodedRevisions[];
  readonly branches: BranchColumn | undefined;
}
