import { spawn } from 'node:child_process';
import { open } from 'node:fs/promises';

import { toRevconvertError } from '../errors.js';
import { below } from './byte-path.js';
import { walk } from './walk.js';

/**
 * Brings a folder and all that is in it to the disk, so that a crash after the rename finds it whole. One syncfs of its
 * file system (through the `sync` program of coreutils) costs a tenth of an fsync of every file; where that program is
 * missing or fails, every file and folder is flushed by itself.
 * @throws RevconvertError NO_SPACE, SYSTEM
 */
export async function flushTree(folder: string): Promise<void> {
  if (await syncFileSystem(folder)) return;
  const names = ['', ...[...walk(folder, '')].filter(({ kind }) => kind === 'file' || kind === 'folder').map(({ name }) => name)];
  await Promise.all(Array.from({ length: FLUSHES_AT_ONCE }, async () => {
    for (let name = names.pop(); name !== undefined; name = names.pop()) await flush(name === '' ? folder : below(folder, name));
  }));
}

const FLUSHES_AT_ONCE = 8;

/** @returns false where there is no such program, or it failed */
function syncFileSystem(folder: string): Promise<boolean> {
  return new Promise((resolve) => {
    const child = spawn('sync', ['--file-system', '--', folder], { stdio: 'ignore' });
    child.once('error', () => resolve(false));
    child.once('exit', (status) => resolve(status === 0));
  });
}

/** Flushes one file or folder. @throws RevconvertError NO_SPACE, SYSTEM */
export async function flush(path: string | Buffer): Promise<void> {
  try {
    const handle = await open(path, 'r');
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  } catch (error) {
    throw toRevconvertError(error);
  }
}
