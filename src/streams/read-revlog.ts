import type { PathLike } from 'node:fs';
import { Readable } from 'node:stream';

import { RevconvertError, toRevconvertError } from '../errors.js';
import type { Revision, RevisionBatch, RevlogKind } from '../formats/record.js';
import { MAX_BATCH_BYTES, MAX_BATCH_RAW_BYTES, MAX_BATCH_REVISIONS } from '../formats/record.js';
import type { RevlogIndex } from '../formats/revlog-index.js';
import type { ByteSource } from './byte-source.js';
import { memorySource, openByteSource } from './byte-source.js';
import { checkIndexAgainst, readIndex } from './read-index.js';

/** An open revlog: its index in memory, its chunks to be read in batches. */
export interface RevlogReader {
  readonly path: string;
  readonly kind: RevlogKind;
  readonly index: RevlogIndex;
  /** Bytes of chunk data that no revision refers to, behind the last chunk. Mercurial ignores them, and so do we. */
  readonly trailingBytes: number;
  /** Where its chunks are, for reading single revisions. */
  readonly origin: BatchOrigin;
  /** Batches of the revisions `from` (0) up to but not including `to` (all), in order, `chunk` filled. */
  batches(from?: number, to?: number): Generator<RevisionBatch, void, void>;
  close(): void;
}

export interface RevlogFiles {
  /** The `.i` file. */
  readonly indexFile: PathLike;
  /** The `.d` file; not opened where the revlog is inline. */
  readonly dataFile: PathLike;
  /** Name for messages. @default the path of the index */
  readonly path?: string;
  /** @default 'filelog' */
  readonly kind?: RevlogKind;
  /**
   * Called for each revision whose chunk lies beyond the end of the data; its batch then has the bytes that there are,
   * marked `damaged`. Without it such a revlog cannot be opened.
   */
  readonly onDamage?: ((error: RevconvertError) => void) | undefined;
  /** How its batches are cut. */
  readonly limits?: BatchLimits;
}

/**
 * Opens a revlog of any version and layout that this program reads, and checks its index.
 * @throws RevconvertError REVLOG_VERSION, REVLOG_FLAGS, INDEX_*, DELTA_BASE, DATA_TRUNCATED, DATA_MISSING, PERMISSION, SYSTEM
 */
export function openRevlog(files: RevlogFiles): RevlogReader {
  const path = files.path ?? String(files.indexFile);
  const source = openByteSource(files.indexFile, path);
  try {
    const index = readIndex(source);
    return createReader(source, index, {
      path,
      kind: files.kind ?? 'filelog',
      openData: () => openDataOf(index, files, path),
      onDamage: files.onDamage,
      limits: files.limits,
    });
  } catch (error) {
    source.close();
    throw error;
  }
}

/**
 * Opens the data file of a revlog that is not inline; one that is missing is none where no revision has any bytes.
 * @param path of the index, for messages
 * @throws RevconvertError DATA_MISSING, PERMISSION, SYSTEM
 */
export function openDataOf(index: RevlogIndex, files: Pick<RevlogFiles, 'dataFile'>, path: string): ByteSource {
  const dataPath = path.endsWith('.i') ? `${path.slice(0, -1)}d` : path;
  try {
    return openByteSource(files.dataFile, dataPath);
  } catch (error) {
    const failure = toRevconvertError(error);
    const missing = (failure.cause as NodeJS.ErrnoException | undefined)?.code === 'ENOENT';
    if (!missing) throw failure;
    const bytes = index.chunksEnd();
    if (bytes === 0) return emptySource(dataPath);
    throw new RevconvertError('DATA_MISSING', `the data file is missing; the index names ${bytes} bytes in it`, { path: dataPath }, { cause: failure });
  }
}

/** A data file that is not there: legal where no revision has any bytes. */
const emptySource = (path: string): ByteSource => ({
  path,
  size: 0,
  read: () => Buffer.alloc(0),
  close: () => undefined,
});

/** Opens what the positions of an index point into, for who has the index already. Where no revision has any bytes there may be no file. */
export const openChunksOf = (index: RevlogIndex, file: PathLike, path: string): ByteSource =>
  index.chunksEnd() === 0 ? memorySource(new Uint8Array(0), path) : openByteSource(file, path);

interface ReaderOptions {
  readonly path: string;
  readonly kind: RevlogKind;
  readonly openData: () => ByteSource;
  readonly onDamage?: ((error: RevconvertError) => void) | undefined;
  readonly limits?: BatchLimits | undefined;
}

/** A reader over sources of the caller's; it owns `source` and what `openData` opens from here on. */
export function createReader(source: ByteSource, index: RevlogIndex, options: ReaderOptions): RevlogReader {
  const data = index.header.inline || index.length === 0 ? source : options.openData();
  const close = (): void => {
    source.close();
    if (data !== source) data.close();
  };
  try {
    checkIndexAgainst(index, source, options.onDamage === undefined ? data.size : Infinity);
    reportBeyond(index, data, options);
  } catch (error) {
    close();
    throw error;
  }
  const last = index.length - 1;
  const end = last < 0 ? 0 : index.position(last) + index.chunkLength(last);
  const origin: BatchOrigin = { index, data, path: options.path, kind: options.kind };
  return {
    path: options.path,
    kind: options.kind,
    index,
    origin,
    trailingBytes: index.length === 0 ? 0 : Math.max(0, data.size - end),
    batches: (from = 0, to = index.length) => readBatches(origin, from, to, options.limits),
    close,
  };
}

/** Reports the revisions whose chunks end behind the data, where that is tolerated. */
function reportBeyond(index: RevlogIndex, data: ByteSource, { path, onDamage }: ReaderOptions): void {
  if (onDamage === undefined) return;
  for (let rev = index.length - 1; rev >= 0; rev--) {
    const offset = index.position(rev);
    const end = offset + index.chunkLength(rev);
    if (end <= data.size) return;
    if (index.chunkLength(rev) === 0) continue;
    onDamage(new RevconvertError('DATA_TRUNCATED', `chunk ends at ${end}, the data at ${data.size}`, { path, rev, offset }));
  }
}

/** What batches are cut from. */
export interface BatchOrigin {
  readonly index: RevlogIndex;
  /** Where `index.position` points: the data file, or an inline index file. */
  readonly data: ByteSource;
  readonly path: string;
  readonly kind: RevlogKind;
}

/** Limits of a batch: whichever comes first. A larger chunk travels alone. */
export interface BatchLimits {
  /** @default 512 */
  readonly maxRevisions?: number;
  /** Stored bytes. @default 1 MiB */
  readonly maxBytes?: number;
}

/** Cuts revisions into batches; one read for each batch. */
export function* readBatches(origin: BatchOrigin, from: number, to: number, limits: BatchLimits = {}): Generator<RevisionBatch, void, void> {
  for (let rev = from; rev < to; ) {
    const end = batchEnd(origin.index, rev, to, limits);
    yield { path: origin.path, kind: origin.kind, revisions: readSpan(origin, rev, end) };
    rev = end;
  }
}

/** The first revision that no longer fits in a batch that begins at `from`. */
export function batchEnd(index: RevlogIndex, from: number, to: number, limits: BatchLimits = {}): number {
  const { maxRevisions = MAX_BATCH_REVISIONS, maxBytes = MAX_BATCH_BYTES } = limits;
  const start = index.position(from);
  const last = Math.min(to, from + maxRevisions);
  let rev = from + 1;
  let raw = rawBound(index, from);
  while (rev < last && index.position(rev) + index.chunkLength(rev) - start <= maxBytes) {
    raw += rawBound(index, rev);
    if (raw > MAX_BATCH_RAW_BYTES) break;
    rev++;
  }
  return rev;
}

/** No engine makes more of a chunk than this many times its bytes: zstd's run-length blocks make 128 KiB of 4 bytes. */
const MAX_EXPANSION = 32768;

/** About the most bytes that a chunk decompresses to: those of its text, or what its own bytes can make. */
function rawBound(index: RevlogIndex, rev: number): number {
  const most = index.chunkLength(rev) * MAX_EXPANSION;
  const rawSize = index.rawSize(rev);
  return rawSize < 0 ? most : Math.min(rawSize, most);
}

function readSpan(origin: BatchOrigin, from: number, to: number): Revision[] {
  const { index, data } = origin;
  const start = index.position(from);
  const end = index.position(to - 1) + index.chunkLength(to - 1);
  const bytes = start >= data.size ? Buffer.alloc(0) : data.read(start, Math.min(end, data.size) - start);
  const revisions: Revision[] = [];
  for (let rev = from; rev < to; rev++) revisions.push(new StoredRevision(index, rev, bytes, start));
  return revisions;
}

/** A record as it is read. A class, so that all have one shape. */
class StoredRevision implements Revision {
  readonly node: Uint8Array;
  readonly p1: number;
  readonly p2: number;
  readonly linkRev: number;
  flags: number;
  rawSize: number;
  deltaBase: number;
  baseSize: number;
  readonly position: number;
  chunk: Uint8Array;
  delta: Uint8Array | undefined = undefined;
  text: Uint8Array | undefined = undefined;
  damaged: boolean;

  /**
   * @param bytes of the file, from `start` on; where they end before the chunk does, the chunk is what there is
   */
  constructor(
    index: RevlogIndex,
    readonly rev: number,
    bytes: Uint8Array,
    start: number,
  ) {
    this.node = index.node(rev);
    this.p1 = index.p1(rev);
    this.p2 = index.p2(rev);
    this.linkRev = index.linkRev(rev);
    this.flags = index.flags(rev);
    this.rawSize = index.rawSize(rev);
    this.deltaBase = index.deltaBase(rev);
    this.baseSize = this.deltaBase < 0 ? 0 : index.rawSize(this.deltaBase);
    this.position = index.position(rev);
    const at = Math.min(this.position - start, bytes.length);
    const length = index.chunkLength(rev);
    const there = Math.min(length, bytes.length - at);
    this.chunk = new Uint8Array(bytes.buffer, bytes.byteOffset + at, there);
    this.damaged = there < length;
  }
}

/**
 * A revlog as a stream of batches, object mode. Its descriptors are closed when it ends or is destroyed.
 * @param files where it is
 * @returns Readable of {@link RevisionBatch}; errors as {@link openRevlog}, emitted by the stream
 * @example
 * await pipeline(readRevlog({ indexFile: 'f.i', dataFile: 'f.d' }), decompress(), recompress({ engine: 'zstd' }), writeRevlog({ indexFile: 'out.i' }));
 */
export function readRevlog(files: RevlogFiles): Readable {
  return Readable.from(streamBatches(files), { objectMode: true, highWaterMark: 2 });
}

function* streamBatches(files: RevlogFiles): Generator<RevisionBatch, void, void> {
  const reader = openRevlog(files);
  try {
    yield* reader.batches();
  } finally {
    reader.close();
  }
}
