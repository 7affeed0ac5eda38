import { closeSync, ftruncateSync, openSync, readSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { RevconvertError, toRevconvertError } from '../errors.js';

/** Bytes that are put into a file of their own and read again, until they are not wanted any more. */
export interface TemporaryFile {
  write(bytes: Uint8Array, position: number): void;
  /** @throws RevconvertError SYSTEM where there are not so many bytes */
  read(position: number, length: number): Buffer;
  /** Gives the room back; the file can be written again. */
  truncate(): void;
  /** The file is gone. */
  close(): void;
}

let count = 0;

/**
 * Makes a file in the folder for temporary files (`TMPDIR`). It loses its name at once, so that nothing is left of it
 * whatever ends the process; where the system does not allow that, it is removed when it is closed.
 * @throws RevconvertError NO_SPACE, PERMISSION, SYSTEM; so do the functions of the file
 */
export function createTemporaryFile(): TemporaryFile {
  const path = join(tmpdir(), `revconvert-${process.pid}-${Date.now().toString(36)}-${count++}`);
  const located = <T>(action: () => T): T => {
    try {
      return action();
    } catch (error) {
      throw toRevconvertError(error, { path });
    }
  };
  const descriptor = located(() => openSync(path, 'wx+', 0o600));
  const hasName = !removed(path);
  let open = true;
  return {
    write: (bytes, position) =>
      located(() => {
        for (let done = 0; done < bytes.length; ) done += writeSync(descriptor, bytes, done, bytes.length - done, position + done);
      }),
    read: (position, length) =>
      located(() => {
        const bytes = Buffer.allocUnsafeSlow(length);
        for (let filled = 0; filled < length; ) {
          const got = readSync(descriptor, bytes, filled, length - filled, position + filled);
          if (got === 0) throw new RevconvertError('SYSTEM', `${length} bytes wanted, ${filled} read`, { offset: position });
          filled += got;
        }
        return bytes;
      }),
    truncate: () => located(() => ftruncateSync(descriptor, 0)),
    close() {
      if (!open) return;
      open = false;
      closeSync(descriptor);
      if (hasName) rmSync(path, { force: true });
    },
  };
}

function removed(path: string): boolean {
  try {
    rmSync(path);
    return true;
  } catch {
    return false;
  }
}
