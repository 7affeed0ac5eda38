import { RevconvertError, toRevconvertError } from '../errors.js';
import type { RevlogHeader } from '../formats/revlog-header.js';
import { parseRevlogHeader } from '../formats/revlog-header.js';
import { checkIndex, ENTRY_SIZE, RevlogIndex } from '../formats/revlog-index.js';
import { V0_ENTRY_SIZE, v0ToTable } from '../formats/revlog-v0.js';
import type { ByteSource } from './byte-source.js';

/** Largest index held in memory: four million revisions of one revlog; a conversion needs about five times as much. */
const MAX_INDEX_BYTES = 1 << 28;

const EMPTY_HEADER: RevlogHeader = { version: 1, inline: false, generaldelta: false, filelogMeta: false, deltaInfo: false };

const CHUNK_LENGTH_AT = 8;

/**
 * Reads the index of a revlog, of version 0 or 1, inline or split; nothing is checked yet but the shape of the file.
 * An empty file is a revlog without revisions.
 * @param source the `.i` file
 * @param maxBytes the most bytes of entries to hold
 * @throws RevconvertError REVLOG_VERSION, REVLOG_FLAGS, INDEX_TRUNCATED, INDEX_ENTRY, INDEX_TOO_LARGE
 */
export function readIndex(source: ByteSource, maxBytes = MAX_INDEX_BYTES): RevlogIndex {
  const { path, size } = source;
  try {
    if (size === 0) return new RevlogIndex(EMPTY_HEADER, Buffer.alloc(0));
    if (size < 4) throw truncated(size, 'the header takes 4 bytes', 0);
    const header = parseRevlogHeader(source.read(0, 4).readUInt32BE(0));
    if (header.version === 0) return new RevlogIndex(header, v0ToTable(readTable(source, V0_ENTRY_SIZE, maxBytes)));
    return new RevlogIndex(header, header.inline ? readInlineTable(source, maxBytes) : readTable(source, ENTRY_SIZE, maxBytes));
  } catch (error) {
    throw toRevconvertError(error, { path });
  }
}

/**
 * Checks an index against the data that there is.
 * @param index as read
 * @param source the `.i` file
 * @param dataSize size of the `.d` file (Infinity: do not compare); ignored for inline revlogs
 * @throws RevconvertError INDEX_ENTRY, DELTA_BASE, DATA_TRUNCATED
 */
export function checkIndexAgainst(index: RevlogIndex, source: ByteSource, dataSize: number): void {
  try {
    checkIndex(index, index.header.inline ? source.size - index.length * ENTRY_SIZE : dataSize);
  } catch (error) {
    const failure = toRevconvertError(error, { path: source.path });
    const { rev } = failure.at;
    throw rev === undefined ? failure : failure.located({ offset: entryPosition(index, rev) });
  }
}

/** Where the entry of a revision stands in its file, in bytes. */
function entryPosition(index: RevlogIndex, rev: number): number {
  if (index.header.version === 0) return rev * V0_ENTRY_SIZE;
  let position = rev * ENTRY_SIZE;
  // By the lengths, which led to the entry when it was read: its own offset may be what is wrong.
  if (index.header.inline) for (let before = 0; before < rev; before++) position += index.chunkLength(before);
  return position;
}

const truncated = (size: number, why: string, rev: number): RevconvertError =>
  new RevconvertError('INDEX_TRUNCATED', `index of ${size} bytes ends inside an entry: ${why}`, { rev, offset: size });

const tooLarge = (size: number, maxBytes: number): RevconvertError =>
  new RevconvertError('INDEX_TOO_LARGE', `index of ${size} bytes; the limit is ${maxBytes}`);

function readTable(source: ByteSource, entrySize: number, maxBytes: number): Buffer {
  if (source.size > maxBytes) throw tooLarge(source.size, maxBytes);
  const rest = source.size % entrySize;
  if (rest !== 0) {
    throw truncated(source.size, `${rest} bytes of ${entrySize}`, (source.size - rest) / entrySize);
  }
  return source.read(0, source.size);
}

/** Gathers the entries that stand between the chunks. Reads in windows, whatever the size of the file. */
function readInlineTable(source: ByteSource, maxBytes: number): Buffer {
  const window = createWindow(source);
  let table: Buffer = Buffer.allocUnsafeSlow(Math.min(source.size, 64 * ENTRY_SIZE));
  let used = 0;
  let position = 0;
  while (position < source.size) {
    const rev = used / ENTRY_SIZE;
    if (source.size - position < ENTRY_SIZE) {
      throw truncated(source.size, `${source.size - position} bytes of ${ENTRY_SIZE}`, rev);
    }
    if (used + ENTRY_SIZE > maxBytes) throw tooLarge(used + ENTRY_SIZE, maxBytes);
    if (used + ENTRY_SIZE > table.length) table = grown(table);
    window.copy(position, ENTRY_SIZE, table, used);
    const length = table.readInt32BE(used + CHUNK_LENGTH_AT);
    if (length < 0) throw new RevconvertError('INDEX_ENTRY', `negative chunk length ${length}`, { rev, offset: position });
    used += ENTRY_SIZE;
    position += ENTRY_SIZE + length;
    if (position > source.size) {
      throw new RevconvertError('DATA_TRUNCATED', `inline chunk of ${length} bytes ends at ${position}, the file at ${source.size}`, {
        rev,
        offset: position - length,
      });
    }
  }
  return table.subarray(0, used);
}

function grown(table: Buffer): Buffer {
  const larger = Buffer.allocUnsafeSlow(table.length * 2);
  larger.set(table);
  return larger;
}

const WINDOW_BYTES = 1 << 18;

interface Window {
  copy(position: number, length: number, target: Buffer, at: number): void;
}

function createWindow(source: ByteSource): Window {
  let start = 0;
  let bytes = source.read(0, Math.min(WINDOW_BYTES, source.size));
  return {
    copy(position, length, target, at) {
      if (position < start || position + length > start + bytes.length) {
        start = position;
        bytes = source.read(start, Math.min(WINDOW_BYTES, source.size - start));
      }
      bytes.copy(target, at, position - start, position - start + length);
    },
  };
}
