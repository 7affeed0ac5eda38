import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createWriteStream, statSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

import { RevconvertError, toRevconvertError } from '../errors.js';
import { flush } from '../repository/flush.js';

/**
 * Writes bytes into a stream that stays open, like standard output.
 * @returns false where its reader went away: that is its right
 * @throws RevconvertError what the bytes throw; NO_SPACE, SYSTEM; CANCELLED
 */
export async function writeToStream(bytes: AsyncIterable<Buffer>, output: Writable, signal?: AbortSignal): Promise<boolean> {
  let gone = false;
  let failure: unknown;
  const onError = (error: NodeJS.ErrnoException): void => {
    if (error.code === 'EPIPE') gone = true;
    else failure = error;
  };
  output.on('error', onError);
  try {
    for await (const piece of bytes) {
      if (gone) return false;
      if (failure !== undefined) throw toRevconvertError(failure, { path: 'standard output' });
      signal?.throwIfAborted();
      if (!output.write(piece)) await writable(output, signal);
    }
    await new Promise<void>((resolve) => output.write('', () => resolve()));
    if (failure !== undefined) throw toRevconvertError(failure, { path: 'standard output' });
    return !gone;
  } finally {
    output.off('error', onError);
  }
}

/** Waits until there is room, or there will be none any more. */
async function writable(output: Writable, signal: AbortSignal | undefined): Promise<void> {
  if (output.destroyed || output.errored !== null) return;
  const settled = new AbortController();
  const either = signal === undefined ? settled.signal : AbortSignal.any([settled.signal, signal]);
  try {
    await Promise.race([once(output, 'drain', { signal: either }), once(output, 'close', { signal: either })]);
  } catch (error) {
    signal?.throwIfAborted();
    // The error of the stream is heard by whoever listens for it.
    if (output.errored === null) throw error;
  } finally {
    settled.abort();
  }
}

/**
 * Writes bytes into a file, which is there whole or not at all: under a temporary name beside it first, flushed, then renamed.
 * What is no regular file (a device, a FIFO) is written to as it is.
 * @throws RevconvertError what the bytes throw; NO_SPACE, PERMISSION, SYSTEM; CANCELLED
 */
export async function writeToFile(bytes: AsyncIterable<Buffer>, path: string, signal?: AbortSignal): Promise<void> {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found?.isDirectory() === true) throw new RevconvertError('USAGE', `${path} is a folder; a file is expected`);
  try {
    if (found !== undefined && !found.isFile()) await pipeline(bytes, createWriteStream(path), { signal });
    else await replaceFile(bytes, path, signal);
  } catch (error) {
    throw toRevconvertError(error, error instanceof RevconvertError ? {} : { path });
  }
}

async function replaceFile(bytes: AsyncIterable<Buffer>, path: string, signal: AbortSignal | undefined): Promise<void> {
  const temporary = join(dirname(path), `.${basename(path)}.${randomBytes(4).toString('hex')}.tmp`);
  try {
    await pipeline(bytes, createWriteStream(temporary, { flags: 'wx' }), { signal });
    await flush(temporary);
    signal?.throwIfAborted();
    await rename(temporary, path);
    await flush(dirname(path)).catch(() => undefined);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}
