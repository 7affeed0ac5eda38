import { constants, createReadStream, openSync, statSync } from 'node:fs';
import { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { addAbortSignal } from 'node:stream';

import { RevconvertError, toRevconvertError } from '../errors.js';

/** Bytes of a read. */
const READ_BYTES = 1 << 18;

/** Bytes that are read. */
export interface Input {
  /** From the first to the last. Errors of the system come as ours. Nothing is opened before the first is asked for. */
  readonly bytes: AsyncIterable<Buffer>;
  /** No more is wanted: does not wait for what is being read, as a pipe may be silent for long. */
  readonly close: () => void;
}

/**
 * A file, or what behaves like one: a device, a FIFO.
 * @param signal ends the wait for it to be opened, and all reading
 * @throws RevconvertError USAGE where there is none, or a folder; SYSTEM, PERMISSION; so does reading
 */
export function openInput(path: string, signal?: AbortSignal): Input {
  const kind = kindOf(path);
  return readStream(() => (kind === 'fifo' ? openFifo(path) : createReadStream(path, { highWaterMark: READ_BYTES })), path, signal);
}

function kindOf(path: string): 'file' | 'fifo' {
  try {
    const found = statSync(path);
    if (found.isDirectory()) throw new RevconvertError('USAGE', 'a folder, where a bundle is expected (--from-repo makes one of a repository)');
    return found.isFIFO() ? 'fifo' : 'file';
  } catch (error) {
    const isMissing = ['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '');
    throw toRevconvertError(isMissing ? new RevconvertError('USAGE', 'there is no such file') : error, { path });
  }
}

/** Elsewhere a FIFO that nobody writes to yet looks as if it had ended. */
const WAITS_FOR_WRITER = process.platform === 'linux';

/** Opening a FIFO waits for whoever writes to it, and nothing could end that wait: it is opened without, and waited for later. */
function openFifo(path: string): Readable {
  if (!WAITS_FOR_WRITER) return createReadStream(path, { highWaterMark: READ_BYTES });
  return new Socket({ fd: openSync(path, constants.O_RDONLY | constants.O_NONBLOCK), readable: true, writable: false });
}

/**
 * The bytes of a stream.
 * @param open gives it
 * @param path its name, for messages
 */
export function readStream(open: () => Readable, path: string, signal?: AbortSignal): Input {
  let stream: Readable | undefined;
  const read = async function* (): AsyncGenerator<Buffer, void, void> {
    try {
      stream = open();
      if (signal !== undefined) addAbortSignal(signal, stream);
      for await (const bytes of stream as AsyncIterable<Buffer>) yield bytes;
    } catch (error) {
      throw toRevconvertError(error, error instanceof RevconvertError ? {} : { path });
    }
  };
  return { bytes: read(), close: () => stream?.destroy() };
}
