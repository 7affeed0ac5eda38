import type { PathLike } from 'node:fs';
import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';

import { RevconvertError, toRevconvertError } from '../errors.js';

/**
 * Reads a small file whole.
 * @returns undefined where it does not exist
 * @throws RevconvertError PERMISSION, SYSTEM; also where it is no regular file, which could block a reader for ever
 */
export function readSmallFile(path: PathLike): Buffer | undefined {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    if (!fstatSync(descriptor).isFile()) throw new RevconvertError('SYSTEM', 'not a regular file');
    return readFileSync(descriptor);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw toRevconvertError(error, { path: String(path) });
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}
