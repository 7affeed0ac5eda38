import { RevconvertError } from '../errors.js';
import { MAX_TEXT } from './hunks.js';
import { FULL_TEXT, NULL_BASE } from './record.js';
import type { RevlogHeader } from './revlog-header.js';

/**
 * The index of a revlog in memory: one table of version 1 entries, whatever the file held.
 *
 * A version 1 entry, 64 bytes, big-endian (source: `hg help internals.revlogs`):
 *
 *     0  u48  offset of the chunk; in an inline revlog not counting index bytes (entry 0: the header stands here)
 *     6  u16  flags
 *     8  i32  length of the chunk as stored
 *    12  i32  length of the full raw text; -1: unknown
 *    16  i32  delta base: the revision itself for a full text
 *    20  i32  linkrev
 *    24  i32  p1, as a revision number; -1: none
 *    28  i32  p2
 *    32  20 bytes node, then 12 zero bytes
 */
export const ENTRY_SIZE = 64;

/** Revlogs of this many chunk bytes or more have a data file; smaller ones are inline (Mercurial 6.3 and 7.2: 131071 stays inline). */
export const INLINE_LIMIT = 131072;

const MAX_OFFSET = 2 ** 48 - 1;
/** Where the node stands in an entry. */
export const NODE_AT = 32;
export const NODE_BYTES = 20;

/** Read access to an index, by column and revision. No copy is made: `table` may lie in shared memory. */
export class RevlogIndex {
  readonly length: number;
  private readonly view: DataView;

  /**
   * @param header as found in the file; version 0 tables have been turned into version 1 entries
   * @param table `length` entries of 64 bytes
   */
  constructor(
    readonly header: RevlogHeader,
    readonly table: Uint8Array,
  ) {
    this.length = table.length / ENTRY_SIZE;
    this.view = viewOf(table);
  }

  /** Offset of the chunk among the chunks, in bytes. Revision 0 begins at 0: its field holds the header. */
  offset(rev: number): number {
    if (rev === 0) return 0;
    const at = rev * ENTRY_SIZE;
    return this.view.getUint32(at) * 0x10000 + this.view.getUint16(at + 4);
  }

  /** Where the chunk begins in the file that holds it. */
  position(rev: number): number {
    return this.header.inline ? this.offset(rev) + ENTRY_SIZE * (rev + 1) : this.offset(rev);
  }

  flags(rev: number): number {
    return this.view.getUint16(rev * ENTRY_SIZE + 6);
  }

  /** Bytes of the chunk as stored. */
  chunkLength(rev: number): number {
    return this.view.getInt32(rev * ENTRY_SIZE + 8);
  }

  /** Length of the full raw text in bytes; -1: unknown. */
  rawSize(rev: number): number {
    return this.view.getInt32(rev * ENTRY_SIZE + 12);
  }

  /** The base field as it stands in the file; {@link deltaBase} says what it means. */
  baseField(rev: number): number {
    return this.view.getInt32(rev * ENTRY_SIZE + 16);
  }

  /** What the chunk applies to: an earlier revision, FULL_TEXT or NULL_BASE. */
  deltaBase(rev: number): number {
    const base = this.baseField(rev);
    if (base === rev) return FULL_TEXT;
    const parent = this.header.generaldelta ? base : rev - 1;
    return parent === -1 ? NULL_BASE : parent;
  }

  /** Without generaldelta: the first revision of the chain that `rev` belongs to. */
  chainStart(rev: number): number {
    return this.baseField(rev);
  }

  linkRev(rev: number): number {
    return this.view.getInt32(rev * ENTRY_SIZE + 20);
  }

  p1(rev: number): number {
    return this.view.getInt32(rev * ENTRY_SIZE + 24);
  }

  p2(rev: number): number {
    return this.view.getInt32(rev * ENTRY_SIZE + 28);
  }

  node(rev: number): Uint8Array {
    const at = rev * ENTRY_SIZE + NODE_AT;
    return this.table.subarray(at, at + NODE_BYTES);
  }

  /** Bytes from the first chunk to the end of the last. */
  chunksEnd(): number {
    const last = this.length - 1;
    return last < 0 ? 0 : this.offset(last) + this.chunkLength(last);
  }
}

const bad = (code: 'INDEX_ENTRY' | 'DELTA_BASE', rev: number, message: string): RevconvertError =>
  new RevconvertError(code, message, { rev });

/**
 * Checks one entry against what every reader relies on: a chunk not before the end of the one before, sizes not
 * negative, parents and base earlier than the revision.
 * @param end where the chunk before ends
 * @returns where this chunk ends
 * @throws RevconvertError INDEX_ENTRY, DELTA_BASE with the revision
 */
export function checkEntry(index: RevlogIndex, rev: number, end: number): number {
  const offset = index.offset(rev);
  const length = index.chunkLength(rev);
  const base = index.baseField(rev);
  const p1 = index.p1(rev);
  const p2 = index.p2(rev);
  if (length < 0) throw bad('INDEX_ENTRY', rev, `negative chunk length ${length}`);
  if (offset < end) throw bad('INDEX_ENTRY', rev, `chunk begins at ${offset}, before the end of the one before (${end})`);
  if (index.rawSize(rev) < -1) throw bad('INDEX_ENTRY', rev, `negative text length ${index.rawSize(rev)}`);
  if (base > rev || base < -1) throw bad('DELTA_BASE', rev, `delta base ${base} is not an earlier revision`);
  if (p1 >= rev || p1 < -1) throw bad('INDEX_ENTRY', rev, `first parent ${p1} is not an earlier revision`);
  if (p2 >= rev || p2 < -1) throw bad('INDEX_ENTRY', rev, `second parent ${p2} is not an earlier revision`);
  if (index.linkRev(rev) < -1) throw bad('INDEX_ENTRY', rev, `negative linkrev ${index.linkRev(rev)}`);
  return offset + length;
}

/**
 * Checks every entry, and that the chunks lie within the data.
 * @param dataSize bytes of chunks that there are (an inline revlog: its size without the entries)
 * @throws RevconvertError INDEX_ENTRY, DELTA_BASE, DATA_TRUNCATED with revision and offset
 */
export function checkIndex(index: RevlogIndex, dataSize: number): void {
  let end = 0;
  for (let rev = 0; rev < index.length; rev++) {
    end = checkEntry(index, rev, end);
    if (end > dataSize) {
      const offset = index.position(rev);
      throw new RevconvertError('DATA_TRUNCATED', `chunk of ${index.chunkLength(rev)} bytes ends at ${end}, the data at ${dataSize}`, { rev, offset });
    }
  }
}

/** The fields of one entry, for writing. */
export interface IndexEntry {
  readonly offset: number;
  readonly flags: number;
  readonly chunkLength: number;
  readonly rawSize: number;
  readonly baseField: number;
  readonly linkRev: number;
  readonly p1: number;
  readonly p2: number;
  readonly node: Uint8Array;
}

/**
 * Writes one version 1 entry into a table.
 * @param view of the table, which is zero-filled, or at least in the last 12 bytes of the entry
 * @param at byte position of the entry in it
 * @throws RevconvertError ENTRY_RANGE where the offset or the length of the chunk does not fit its field
 */
export function encodeEntry(view: DataView, at: number, entry: IndexEntry): void {
  if (entry.offset > MAX_OFFSET || entry.chunkLength > MAX_TEXT) {
    throw new RevconvertError('ENTRY_RANGE', `chunk of ${entry.chunkLength} bytes at ${entry.offset} cannot be said in an index`);
  }
  view.setUint32(at, Math.floor(entry.offset / 0x10000));
  view.setUint16(at + 4, entry.offset % 0x10000);
  view.setUint16(at + 6, entry.flags);
  view.setInt32(at + 8, entry.chunkLength);
  view.setInt32(at + 12, entry.rawSize);
  view.setInt32(at + 16, entry.baseField);
  view.setInt32(at + 20, entry.linkRev);
  view.setInt32(at + 24, entry.p1);
  view.setInt32(at + 28, entry.p2);
  for (let i = 0; i < NODE_BYTES; i++) view.setUint8(at + NODE_AT + i, entry.node[i] ?? 0);
}

/** A view of bytes, for {@link encodeEntry}. */
export const viewOf = (bytes: Uint8Array): DataView => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** Moves the chunks of a table of entries by `distance` bytes. */
export function shiftOffsets(table: Buffer, distance: number): void {
  if (distance === 0) return;
  for (let at = 0; at < table.length; at += ENTRY_SIZE) {
    table.writeUIntBE(table.readUIntBE(at, 6) + distance, at, 6);
  }
}
