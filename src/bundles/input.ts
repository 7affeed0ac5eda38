import { createReadStream, statSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { addAbortSignal } from 'node:stream';

import { RevconvertError, toRevconvertError } from '../errors.js';

/** Bytes of a read. */
const READ_BYTES = 1 << 18;

/** Opens a file for reading from its first byte to its last. Errors of the system come as ours. @throws RevconvertError SYSTEM, PERMISSION, USAGE */
export function openInput(path: string, signal?: AbortSignal): AsyncIterable<Buffer> {
  try {
    if (statSync(path).isDirectory()) throw new RevconvertError('USAGE', `${path} is a folder; a bundle is expected (--from-repo makes one of a repository)`);
  } catch (error) {
    throw toRevconvertError(error, { path });
  }
  return readAll(createReadStream(path, { highWaterMark: READ_BYTES }), path, signal);
}

/** The bytes of a stream. Errors of the system come as ours. @param path its name, for messages */
export async function* readAll(stream: Readable, path: string, signal?: AbortSignal): AsyncGenerator<Buffer, void, void> {
  const watched = signal === undefined ? stream : addAbortSignal(signal, stream);
  try {
    for await (const bytes of watched as AsyncIterable<Buffer>) yield bytes;
  } catch (error) {
    throw toRevconvertError(error, error instanceof RevconvertError ? {} : { path });
  }
}
