import { RevconvertError } from '../errors.js';

/**
 * The one record that every stage takes and gives, and the batch in which it travels.
 * A stage that is given a batch owns it: it fills fields in place and passes the batch on.
 */

/** What a revlog holds. Levels, policies and reports differ by it. */
export type RevlogKind = 'changelog' | 'manifest' | 'filelog';

export const REVLOG_KINDS = ['changelog', 'manifest', 'filelog'] as const satisfies readonly RevlogKind[];

/** One revision of one revlog, as far as the pipeline has come with it. */
export interface Revision {
  /** Number in its revlog, from 0. */
  readonly rev: number;
  /** 20 bytes: SHA-1 of parents and text, save for revisions whose flags say otherwise. */
  readonly node: Uint8Array;
  /** First parent as a revision number; -1 is the null revision. Order matters: see `p2`. */
  readonly p1: number;
  /** Second parent. A filelog entry with p1 -1 and p2 >= 0 is legal and means "look for copy metadata". */
  readonly p2: number;
  /** The changeset that brought this revision, as a revision number of the changelog. */
  readonly linkRev: number;
  /** 16 bits, as in the index; carried as they are, but for the bits about deltas, which new deltas change. */
  flags: number;
  /** Length of the full raw text in bytes; -1 where the format does not say (revlog version 0). */
  rawSize: number;
  /** The revision that `delta` applies to; -1: `delta` is the full text. `NULL_BASE`: a delta against the empty text. */
  deltaBase: number;
  /** Length of the raw text of `deltaBase`, as the index says; 0 where there is none, -1 where it is unknown. */
  baseSize: number;
  /** Where the chunk stands in its file, in bytes; for messages. */
  readonly position: number;
  /** The chunk as stored, marker included. Filled by a source, replaced by recompress. */
  chunk: Uint8Array;
  /** The chunk decompressed: hunks against `deltaBase`, or the full text. Filled by decompress. */
  delta: Uint8Array | undefined;
  /** The full raw text. Filled by resolveText. */
  text: Uint8Array | undefined;
  /** True where the chunk could not be decoded and is carried over byte for byte. */
  damaged: boolean;
}

/** `deltaBase` of a full text. */
export const FULL_TEXT = -1;

/** `deltaBase` of a delta against the empty text (an index entry whose base is -1: legal, and not a full text). */
export const NULL_BASE = -2;

/** Consecutive revisions of one revlog, in revision order. */
export interface RevisionBatch {
  /** Name for messages: the store's unencoded name, or a file path. */
  readonly path: string;
  readonly kind: RevlogKind;
  readonly revisions: Revision[];
}

/** Limits of a batch: whichever comes first. A larger chunk travels alone. */
export const MAX_BATCH_REVISIONS = 512;
export const MAX_BATCH_BYTES = 1 << 20;

/** Bytes that the chunks of a batch may decompress to; a chunk that may be larger travels alone. */
export const MAX_BATCH_RAW_BYTES = 1 << 26;

/** The revisions that are not damaged: usually all, without a copy. */
export const soundRevisions = ({ revisions }: RevisionBatch): readonly Revision[] =>
  revisions.some(({ damaged }) => damaged) ? revisions.filter(({ damaged }) => !damaged) : revisions;

/** The decompressed chunk of a revision that an earlier stage must have filled. @throws RevconvertError INTERNAL */
export function deltaOf(batch: RevisionBatch, revision: Revision): Uint8Array {
  if (revision.delta !== undefined) return revision.delta;
  throw new RevconvertError('INTERNAL', 'the chunk was not decompressed by an earlier stage', { path: batch.path, rev: revision.rev });
}
