import { closeSync, fchmodSync, openSync, readSync, rmSync, writeSync } from 'node:fs';

import { RevconvertError, toRevconvertError } from '../errors.js';
import { ByteCollector } from '../formats/byte-collector.js';
import { asBuffer } from '../formats/bytes.js';
import type { EntryEncoder } from '../formats/encode-entries.js';
import { createEntryEncoder } from '../formats/encode-entries.js';
import type { RevisionBatch } from '../formats/record.js';
import type { RevlogHeader } from '../formats/revlog-header.js';
import { encodeRevlogHeader } from '../formats/revlog-header.js';
import { ENTRY_SIZE, INLINE_LIMIT, shiftOffsets } from '../formats/revlog-index.js';

export interface RevlogWriterOptions {
  /** The `.i` file to make. */
  readonly indexFile: string | Buffer;
  /** The `.d` file to make where the chunks take 128 KiB or more. */
  readonly dataFile: string | Buffer;
  /** Name for messages. @default the index file */
  readonly path?: string;
  readonly generaldelta: boolean;
  /** Mercurial 7.1+ header bits; carried from the source. @default false */
  readonly filelogMeta?: boolean;
  readonly deltaInfo?: boolean;
  /** About how many bytes of chunks there will be; saves copying. */
  readonly expectedBytes?: number;
  /** Mode of the files. @default what the umask gives */
  readonly mode?: number | undefined;
}

const FIRST_CAPACITY = 4096;

/** Chunks of a split revlog are written when this many bytes have gathered. */
const WRITE_BYTES = 1 << 18;

export interface RevlogOutcome {
  readonly revisions: number;
  readonly inline: boolean;
  readonly indexBytes: number;
  readonly dataBytes: number;
}

/**
 * Writes a version 1 revlog: inline below Mercurial's limit, split from there on. Holds the index (64 bytes a
 * revision) and less than 128 KiB of chunks in memory. Synchronous, as {@link ByteSource} is, and for the same reason.
 *
 * The files must not exist: nothing is ever written into an existing file, since clones share them by hard link.
 */
export class RevlogWriter {
  private readonly encoder: EntryEncoder;
  private readonly tables: Buffer[] = [];
  /** Chunks not written yet: all of them, as long as the revlog may be inline. Copies: a batch's memory is its owner's. */
  private readonly pending: ByteCollector;
  private revisions = 0;
  private end = 0;
  private data: number | undefined;
  /** What this writer has made, to be removed by `abort`. */
  private readonly made: (string | Buffer)[] = [];

  constructor(private readonly options: RevlogWriterOptions) {
    this.encoder = createEntryEncoder(options);
    this.pending = new ByteCollector(options.expectedBytes ?? FIRST_CAPACITY);
  }

  /** Appends the revisions of a batch, `chunk` filled. @throws RevconvertError NO_SPACE, PERMISSION, SYSTEM, INTERNAL */
  write(batch: RevisionBatch): void {
    this.appendEntries(this.encoder.encode(batch.revisions));
    for (const { chunk } of batch.revisions) this.appendChunks(chunk);
  }

  /**
   * Appends revisions that were encoded elsewhere (a range of a large revlog, in another thread).
   * @param table their entries, offsets counted from the first of them; changed in place
   * @param chunks their chunks, one after the other
   */
  writeEncoded(table: Buffer, chunks: Uint8Array): void {
    shiftOffsets(table, this.end);
    this.appendEntries(table);
    this.appendChunks(chunks);
  }

  /** Bytes of all chunks so far. */
  get size(): number {
    return this.end;
  }

  /**
   * Reads chunks that were written, while the revlog is not finished.
   * @param position of the first byte, counted among the chunks
   * @returns the bytes, valid until the next call of any method
   * @throws RevconvertError INTERNAL where so much was not written; SYSTEM
   */
  read(position: number, length: number): Buffer {
    if (position + length > this.end) throw new RevconvertError('INTERNAL', `${length} bytes at ${position} are wanted, ${this.end} were written`);
    const flushed = this.end - this.pending.length;
    if (position >= flushed) return asBuffer(this.pending.view().subarray(position - flushed, position - flushed + length));
    const bytes = Buffer.allocUnsafe(length);
    const inFile = Math.min(length, flushed - position);
    if (inFile < length) bytes.set(this.pending.view().subarray(0, length - inFile), inFile);
    this.guard(() => {
      for (let filled = 0; filled < inFile; ) {
        const got = readSync(this.data ?? -1, bytes, filled, inFile - filled, position + filled);
        if (got === 0) throw new RevconvertError('INTERNAL', `${length} bytes at ${position} are wanted, and were written, ${filled} are there`);
        filled += got;
      }
    });
    return bytes;
  }

  /** Writes what is still in memory and closes the files. */
  finish(): RevlogOutcome {
    const inline = this.data === undefined;
    if (this.data !== undefined) this.writePending(this.data);
    this.closeData();
    const index = this.revisions === 0 ? Buffer.alloc(0) : this.assembleIndex(inline);
    const descriptor = this.create(this.options.indexFile);
    try {
      this.guard(() => writeFully(descriptor, index));
    } finally {
      closeSync(descriptor);
    }
    return { revisions: this.revisions, inline, indexBytes: index.length, dataBytes: inline ? 0 : this.end };
  }

  /** Closes and removes what was written. Safe to call at any time. */
  abort(): void {
    this.closeData();
    for (const file of this.made.splice(0)) rmSync(file, { force: true });
  }

  private appendEntries(table: Buffer): void {
    this.tables.push(table);
    this.revisions += table.length / ENTRY_SIZE;
  }

  private appendChunks(chunks: Uint8Array): void {
    this.end += chunks.length;
    if (this.end >= INLINE_LIMIT) this.data ??= this.create(this.options.dataFile);
    this.pending.append(chunks);
    if (this.data !== undefined && this.pending.length >= WRITE_BYTES) this.writePending(this.data);
  }

  private writePending(data: number): void {
    this.guard(() => writeFully(data, this.pending.view()));
    this.pending.clear();
  }

  private assembleIndex(inline: boolean): Buffer {
    const { generaldelta, filelogMeta = false, deltaInfo = false } = this.options;
    const header: RevlogHeader = { version: 1, inline, generaldelta, filelogMeta, deltaInfo };
    const table = Buffer.concat(this.tables);
    table.writeUInt32BE(encodeRevlogHeader(header), 0);
    return inline ? interleave(table, this.pending.view()) : table;
  }

  private create(file: string | Buffer): number {
    const descriptor = this.guard(() => openSync(file, 'wx+'));
    this.made.push(file);
    const { mode } = this.options;
    if (mode === undefined) return descriptor;
    try {
      this.guard(() => fchmodSync(descriptor, mode));
      return descriptor;
    } catch (error) {
      closeSync(descriptor);
      throw error;
    }
  }

  private closeData(): void {
    if (this.data !== undefined) closeSync(this.data);
    this.data = undefined;
  }

  private guard<T>(action: () => T): T {
    try {
      return action();
    } catch (error) {
      throw toRevconvertError(error, { path: this.options.path ?? String(this.options.indexFile) });
    }
  }
}

const CHUNK_LENGTH_AT = 8;

/** Entry, chunk, entry, chunk: the layout of an inline revlog. */
function interleave(table: Buffer, chunks: Uint8Array): Buffer {
  const whole = Buffer.allocUnsafe(table.length + chunks.length);
  let to = 0;
  let from = 0;
  for (let at = 0; at < table.length; at += ENTRY_SIZE) {
    const length = table.readInt32BE(at + CHUNK_LENGTH_AT);
    to += table.copy(whole, to, at, at + ENTRY_SIZE);
    whole.set(chunks.subarray(from, from + length), to);
    to += length;
    from += length;
  }
  return whole;
}

function writeFully(descriptor: number, bytes: Uint8Array): void {
  let written = 0;
  while (written < bytes.length) written += writeSync(descriptor, bytes, written, bytes.length - written);
}
