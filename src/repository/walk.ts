import { readdirSync } from 'node:fs';

import type { BytePath } from '../formats/store-path.js';
import { below } from './byte-path.js';

export type EntryKind = 'file' | 'folder' | 'link' | 'special';

export interface WalkEntry {
  /** Below the folder that was walked; one character a byte. */
  readonly name: BytePath;
  readonly kind: EntryKind;
}

/**
 * Lists a folder and those below it, each folder before what is in it; symbolic links are not followed.
 * @param root the folder; one that does not exist is empty
 * @param start a name below it to begin at; '' for all
 * @param enter whether to go into a folder
 */
export function* walk(root: string, start: BytePath, enter: (name: BytePath) => boolean = () => true): Generator<WalkEntry, void, void> {
  const waiting: BytePath[] = [start];
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    for (const entry of readFolder(root, folder)) {
      yield entry;
      if (entry.kind === 'folder' && enter(entry.name)) waiting.push(entry.name);
    }
  }
}

function readFolder(root: string, folder: BytePath): WalkEntry[] {
  try {
    return readdirSync(folder === '' ? root : below(root, folder), { withFileTypes: true, encoding: 'latin1' }).map((entry) => ({
      name: folder === '' ? entry.name : `${folder}/${entry.name}`,
      kind: entry.isFile() ? 'file' : entry.isDirectory() ? 'folder' : entry.isSymbolicLink() ? 'link' : 'special',
    }));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
