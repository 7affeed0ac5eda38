import type { PathLike } from 'node:fs';
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';

import { RevconvertError, toRevconvertError } from '../errors.js';
import { asBuffer } from '../formats/bytes.js';

/**
 * Bytes that are read in ranges: a file, or whatever a caller has. Synchronous: it is used in worker threads, where
 * waiting costs nobody anything, and a promise for each small file would cost more than reading it.
 */
export interface ByteSource {
  /** For messages. */
  readonly path: string;
  /** In bytes; may be over 4 GiB. */
  readonly size: number;
  /**
   * Reads exactly `length` bytes.
   * @throws RevconvertError DATA_TRUNCATED where the source ends before that
   */
  read(position: number, length: number): Buffer;
  close(): void;
}

/**
 * Opens a file for reading in ranges.
 * @param file the file
 * @param path its name for messages
 * @throws RevconvertError PERMISSION, SYSTEM; NodeJS ENOENT comes as SYSTEM with the cause
 */
export function openByteSource(file: PathLike, path: string): ByteSource {
  let descriptor: number;
  try {
    // A FIFO in the place of a file must not block for ever.
    descriptor = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    throw toRevconvertError(error, { path });
  }
  try {
    const found = fstatSync(descriptor);
    if (!found.isFile()) throw new RevconvertError('SYSTEM', 'not a regular file');
    return fileSource(descriptor, path, found.size);
  } catch (error) {
    closeSync(descriptor);
    throw toRevconvertError(error, { path });
  }
}

/** Files up to this size are read at once: most revlogs of a repository are smaller, and several reads would cost more. */
const READ_AT_ONCE = 1 << 18;

function fileSource(descriptor: number, path: string, size: number): ByteSource {
  let open = true;
  let whole: Buffer | undefined;
  const readRange = (position: number, length: number): Buffer => {
    const bytes = Buffer.allocUnsafeSlow(length);
    let filled = 0;
    while (filled < length) {
      const got = readSync(descriptor, bytes, filled, length - filled, position + filled);
      if (got === 0) {
        throw new RevconvertError('DATA_TRUNCATED', `${length} bytes wanted, ${filled} read`, { path, offset: position });
      }
      filled += got;
    }
    return bytes;
  };
  return {
    path,
    size,
    read(position, length) {
      if (position + length > size) {
        throw new RevconvertError('DATA_TRUNCATED', `${length} bytes wanted, the file ends at ${size}`, { path, offset: position });
      }
      if (size > READ_AT_ONCE) return readRange(position, length);
      whole ??= readRange(0, size);
      return whole.subarray(position, position + length);
    },
    close() {
      if (open) closeSync(descriptor);
      open = false;
    },
  };
}

/** Bytes in memory as a source: for tests, and for revlogs that come from elsewhere. */
export function memorySource(bytes: Uint8Array, path: string): ByteSource {
  const buffer = asBuffer(bytes);
  return {
    path,
    size: buffer.length,
    read(position, length) {
      if (position + length > buffer.length) {
        throw new RevconvertError('DATA_TRUNCATED', `${length} bytes wanted, there are ${buffer.length}`, { path, offset: position });
      }
      return buffer.subarray(position, position + length);
    },
    close: () => undefined,
  };
}
