import { randomBytes } from 'node:crypto';
import type { Stats } from 'node:fs';
import { accessSync, close, constants, open, realpathSync, statSync, write } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { Socket } from 'node:net';
import { dirname, join } from 'node:path';
import type { Writable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';

import { interrupted } from '../engines/streams/stream-input.js';
import { RevconvertError, toRevconvertError } from '../errors.js';
import { flush } from '../repository/flush.js';

const [openFile, closeFile, writeSome] = [promisify(open), promisify(close), promisify(write)];

const STANDARD_OUTPUT = 'standard output';

/**
 * Writes bytes to standard output, which stays open.
 * @param output `process.stdout`
 * @returns false where its reader went away: that is its right
 * @throws RevconvertError what the bytes throw; NO_SPACE, SYSTEM; CANCELLED
 */
export async function writeToStream(bytes: AsyncIterable<Buffer>, output: Writable & { readonly fd?: number }, signal?: AbortSignal): Promise<boolean> {
  if (output instanceof Socket || output.fd === undefined) return writeToPipe(bytes, output, STANDARD_OUTPUT, signal);
  await writeToDescriptor(bytes, output.fd, STANDARD_OUTPUT, signal);
  return true;
}

/** @returns false where its reader went away */
async function writeToPipe(bytes: AsyncIterable<Buffer>, output: Writable, path: string, signal: AbortSignal | undefined): Promise<boolean> {
  const ending = watchEnd(output, path);
  try {
    for await (const piece of bytes) {
      if (ending.isGone()) return false;
      if (!output.write(piece)) await happens(output, ['drain'], signal);
      checkAborted(signal);
    }
    if (output.writableLength > 0) await Promise.race([new Promise<void>((resolve) => output.write('', () => resolve())), happens(output, [], signal)]);
    checkAborted(signal);
    return !ending.isGone();
  } finally {
    ending.stop();
  }
}

/** @throws RevconvertError CANCELLED */
function checkAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted === true) throw interrupted();
}

/** Listens for the end of an output that comes too early. */
function watchEnd(output: Writable, path: string): { readonly isGone: () => boolean; readonly stop: () => void } {
  const errors: NodeJS.ErrnoException[] = [];
  const note = (error: NodeJS.ErrnoException): void => void errors.push(error);
  output.on('error', note);
  return {
    /** @throws RevconvertError where it is not its reader that went away */
    isGone() {
      const failure = errors.find(({ code }) => code !== 'EPIPE');
      if (failure !== undefined) throw toRevconvertError(failure, { path });
      return errors.length > 0;
    },
    stop: () => void output.off('error', note),
  };
}

/** Waits for one of these events, or until none of them can come any more. */
function happens(output: Writable, wanted: readonly string[], signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const events = [...wanted, 'close', 'error'];
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
 * Writes bytes where a descriptor says, and waits until each piece is taken: the system may take a part of it only, where room
 * runs out, and says why when it is given the rest.
 */
async function writeToDescriptor(bytes: AsyncIterable<Buffer>, descriptor: number, path: string, signal: AbortSignal | undefined): Promise<void> {
  /** What is being written while the next piece is made. */
  let underWay = Promise.resolve();
  try {
    for await (const piece of bytes) {
      await underWay;
      checkAborted(signal);
      underWay = writeAll(descriptor, piece, path);
      underWay.catch(() => undefined);
    }
  } finally {
    await underWay;
  }
}

async function writeAll(descriptor: number, piece: Buffer, path: string): Promise<void> {
  try {
    for (let at = 0; at < piece.length; ) at += (await writeSome(descriptor, piece, at, piece.length - at, null)).bytesWritten;
  } catch (error) {
    throw toRevconvertError(error, { path });
  }
}

/**
 * Writes bytes into a file, which is there whole or not at all: under a temporary name beside it first, flushed, then renamed.
 * A file that was there keeps its mode, and the links to it. What is no regular file (a device, a FIFO) is written to as it is.
 * @returns false where it is a FIFO, and its reader went away
 * @throws RevconvertError what the bytes throw; USAGE, DESTINATION_PARENT, NO_SPACE, PERMISSION, SYSTEM; CANCELLED
 */
export async function writeToFile(bytes: AsyncIterable<Buffer>, path: string, signal?: AbortSignal): Promise<boolean> {
  const found = find(path);
  if (found?.isDirectory() === true) throw new RevconvertError('USAGE', `${path} is a folder; a file is expected`);
  if (found === undefined && find(dirname(path))?.isDirectory() !== true) throw new RevconvertError('DESTINATION_PARENT', `the folder of ${path} does not exist`);
  if (found?.isFIFO() === true) return writeToFifo(bytes, path, signal);
  if (found === undefined || found.isFile()) await replaceFile(bytes, path, found?.mode, signal);
  else await using(await opened(path, constants.O_WRONLY, path), path, (descriptor) => writeToDescriptor(bytes, descriptor, path, signal));
  return true;
}

function find(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOTDIR') return undefined;
    throw toRevconvertError(error, { path });
  }
}

async function opened(file: string, flags: number, path: string, mode = 0o666): Promise<number> {
  try {
    return await openFile(file, flags, mode);
  } catch (error) {
    throw named(error, path);
  }
}

/** The error, with the name that a person gave. */
function named(error: unknown, path: string): RevconvertError {
  const { code, message, at } = toRevconvertError(error);
  return new RevconvertError(code, message, { ...at, path }, { cause: error });
}

async function using(descriptor: number, path: string, action: (descriptor: number) => Promise<void>): Promise<void> {
  let failed = true;
  try {
    await action(descriptor);
    failed = false;
  } finally {
    await closeFile(descriptor).catch((error: unknown) => {
      if (!failed) throw named(error, path);
    });
  }
}

async function replaceFile(bytes: AsyncIterable<Buffer>, path: string, mode: number | undefined, signal: AbortSignal | undefined): Promise<void> {
  const target = mode === undefined ? path : writable(path);
  const temporary = join(dirname(target), `.revconvert-${randomBytes(6).toString('hex')}.tmp`);
  const descriptor = await opened(temporary, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, path, mode === undefined ? undefined : mode & 0o777);
  try {
    await using(descriptor, path, (to) => writeToDescriptor(bytes, to, path, signal));
    await flush(temporary);
    checkAborted(signal);
    await rename(temporary, target);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error instanceof RevconvertError ? error : named(error, path);
  }
  await flush(dirname(target)).catch(() => undefined);
}

/** @returns the file itself, where links lead to it @throws RevconvertError PERMISSION where it may not be written to, though the folder may */
function writable(path: string): string {
  try {
    accessSync(path, constants.W_OK);
    return realpathSync(path);
  } catch (error) {
    throw named(error, path);
  }
}

/** Between two looks whether a FIFO has a reader by now. */
const READER_WAIT_MS = 50;

/** Opening a FIFO waits for its reader, and so does writing, and nothing could end these waits: it is opened without. */
async function writeToFifo(bytes: AsyncIterable<Buffer>, path: string, signal: AbortSignal | undefined): Promise<boolean> {
  const output = new Socket({ fd: await openForReader(path, signal), readable: false, writable: true });
  try {
    return await writeToPipe(bytes, output, path, signal);
  } finally {
    output.destroy();
  }
}

async function openForReader(path: string, signal: AbortSignal | undefined): Promise<number> {
  for (;;) {
    try {
      return await openFile(path, constants.O_WRONLY | constants.O_NONBLOCK);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENXIO') throw toRevconvertError(error, { path });
    }
    checkAborted(signal);
    await delay(READER_WAIT_MS);
  }
}
