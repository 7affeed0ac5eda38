import { chmodSync, writeFileSync } from 'node:fs';

import { toRevconvertError } from '../errors.js';

/** Writes a small file of the new repository. @throws RevconvertError NO_SPACE, PERMISSION, SYSTEM */
export function writeNew(path: string, bytes: Uint8Array, mode: number | undefined): void {
  try {
    writeFileSync(path, bytes, { flag: 'wx' });
    if (mode !== undefined) chmodSync(path, mode);
  } catch (error) {
    throw toRevconvertError(error, { path });
  }
}
