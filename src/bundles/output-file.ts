import { randomBytes } from 'node:crypto';
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
  const ending = watchEnd(output);
  try {
    for await (const piece of bytes) {
      if (ending.isGone()) return false;
      signal?.throwIfAborted();
      if (!output.write(piece)) await writable(output, signal);
    }
    await new Promise<void>((resolve) => output.write('', () => resolve()));
    return !ending.isGone();
  } finally {
    ending.stop();
  }
}

/** Listens for the end of an output that comes too early. */
function watchEnd(output: Writable): { readonly isGone: () => boolean; readonly stop: () => void } {
  const errors: NodeJS.ErrnoException[] = [];
  const note = (error: NodeJS.ErrnoException): void => void errors.push(error);
  output.on('error', note);
  return {
    /** @throws RevconvertError where it is not its reader that went away */
    isGone() {
      const failure = errors.find(({ code }) => code !== 'EPIPE');
      if (failure !== undefined) throw toRevconvertError(failure, { path: 'standard output' });
      return errors.length > 0;
    },
    stop: () => void output.off('error', note),
  };
}

/** Waits until there is room, or there will be none any more. */
function writable(output: Writable, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const events = ['drain', 'close', 'error'] as const;
    const done = (): void => {
      for (const event of events) output.off(event, done);
      signal?.removeEventListener('abort', done);
      resolve();
    };
    for (const event of events) output.on(event, done);
    signal?.addEventListener('abort', done);
    if (output.destroyed || signal?.aborted === true) done();
  });
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
