import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';

import { RevconvertError, toRevconvertError } from '../../errors.js';
import type { StreamVersion } from '../../formats/bundle/stream-clone.js';
import { encodeStreamEntry } from '../../formats/bundle/stream-clone.js';
import type { StreamFile } from './list-store.js';
import { streamFileName } from './list-store.js';

/** Bytes of a piece that is given out. */
const PIECE_BYTES = 1 << 20;

/**
 * The payload of a stream clone, in large pieces: of each file its header, and as many bytes as were there when it was listed.
 * @throws RevconvertError SOURCE_CHANGED: a file has become shorter, or another; PERMISSION, SYSTEM
 */
export function* readFiles(files: readonly StreamFile[], version: StreamVersion, before: Uint8Array): Generator<Buffer, void, void> {
  const pieces = new Pieces();
  yield* pieces.add(before);
  for (const file of files) {
    yield* pieces.add(encodeStreamEntry(file, version));
    if (file.content === undefined) yield* readFile(file, pieces);
    else yield* pieces.add(file.content);
  }
  yield* pieces.finish();
}

function* readFile(file: StreamFile, pieces: Pieces): Generator<Buffer, void, void> {
  if (file.bytes === 0) return;
  const path = streamFileName(file);
  const changed = (message: string, offset?: number): RevconvertError => new RevconvertError('SOURCE_CHANGED', message, offset === undefined ? { path } : { path, offset });
  let descriptor: number;
  try {
    descriptor = openSync(file.path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') throw changed('it was removed while the repository was read');
    throw toRevconvertError(error, { path });
  }
  try {
    if (fstatSync(descriptor).ino !== file.inode) throw changed('another file took its place while the repository was read');
    for (let at = 0; at < file.bytes; ) {
      const room = pieces.room();
      const got = readSync(descriptor, room, 0, Math.min(room.length, file.bytes - at), at);
      if (got === 0) throw changed(`it was cut to ${at} bytes while the repository was read; there were ${file.bytes}`, at);
      at += got;
      yield* pieces.filled(got);
    }
  } finally {
    closeSync(descriptor);
  }
}

/** Bytes that are gathered in large pieces; what is given out is never written to again. */
class Pieces {
  #bytes = Buffer.allocUnsafeSlow(PIECE_BYTES);
  #used = 0;

  /** Where bytes can be read into; never empty. */
  room(): Buffer {
    return this.#bytes.subarray(this.#used);
  }

  /** So many bytes were put there. */
  *filled(length: number): Generator<Buffer, void, void> {
    this.#used += length;
    if (this.#used < this.#bytes.length) return;
    yield this.#bytes;
    this.#bytes = Buffer.allocUnsafeSlow(PIECE_BYTES);
    this.#used = 0;
  }

  *add(bytes: Uint8Array): Generator<Buffer, void, void> {
    for (let at = 0; at < bytes.length; ) {
      const room = this.room();
      const some = bytes.subarray(at, at + room.length);
      room.set(some);
      at += some.length;
      yield* this.filled(some.length);
    }
  }

  *finish(): Generator<Buffer, void, void> {
    if (this.#used > 0) yield this.#bytes.subarray(0, this.#used);
  }
}
