import type { PathLike } from 'node:fs';
import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';

import { RevconvertError, toRevconvertError } from '../errors.js';

const DEFAULT_MAX_BYTES = 1 << 20;

/**
 * Reads a small file whole.
 * @param maxBytes the most that it may have; more is no such file
 * @returns undefined where it does not exist
 * @throws RevconvertError FILE_TOO_LARGE, PERMISSION, SYSTEM; also where it is no regular file, which could block a reader for ever
 */
export function readSmallFile(path: PathLike, maxBytes = DEFAULT_MAX_BYTES): Buffer | undefined {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const found = fstatSync(descriptor);
    if (!found.isFile()) throw new RevconvertError('SYSTEM', 'not a regular file');
    if (found.size > maxBytes) throw new RevconvertError('FILE_TOO_LARGE', `${found.size} bytes; at most ${maxBytes} are expected`);
    return readFileSync(descriptor);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw toRevconvertError(error, { path: String(path) });
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

/**
 * The same, where what is no such file (a folder, a FIFO, one too large, one below a file) is not the system's refusal but the caller's.
 * @param bad makes the error
 * @throws what `bad` makes; RevconvertError PERMISSION, SYSTEM
 */
export function readSoundFile(path: string, maxBytes: number, bad: (message: string) => RevconvertError): Buffer | undefined {
  try {
    return readSmallFile(path, maxBytes);
  } catch (error) {
    if (!(error instanceof RevconvertError)) throw error;
    if (error.cause === undefined) throw bad(error.message);
    if ((error.cause as NodeJS.ErrnoException).code === 'ENOTDIR') return undefined;
    throw error;
  }
}
