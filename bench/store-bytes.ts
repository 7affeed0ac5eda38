import { statSync } from 'node:fs';
import { join } from 'node:path';

import { DICTIONARY_FOLDER } from '../src/repository/dictionaries/folder.js';
import { walk } from '../src/repository/walk.js';

/** Bytes of all files in a store whose names match. */
function bytesOf(folder: string, pattern: RegExp): number {
  const store = join(folder, '.hg/store');
  let total = 0;
  for (const { name, kind } of walk(store, '')) if (kind === 'file' && pattern.test(name)) total += statSync(join(store, name)).size;
  return total;
}

/** Bytes of the index and data files of a repository. */
export const storeBytes = (folder: string): number => bytesOf(folder, /\.[id]$/);

/** Bytes of the folder of dictionaries, its index among them. */
export const dictionaryBytes = (folder: string): number => bytesOf(folder, new RegExp(`^${DICTIONARY_FOLDER}/`));
