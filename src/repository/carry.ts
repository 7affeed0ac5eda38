import { constants } from 'node:fs';
import { chmod, copyFile, lstat, mkdir, readlink, stat, symlink } from 'node:fs/promises';

import { toRevconvertError } from '../errors.js';
import type { BytePath } from '../formats/store-path.js';
import { folderMode } from './access.js';
import { below } from './byte-path.js';
import type { EntryKind } from './walk.js';
import { walk } from './walk.js';

/** Something to copy byte for byte: a file, a link, or a folder with all that is in it. */
export interface CarryItem {
  readonly name: BytePath;
  readonly targetName: BytePath;
  readonly kind: EntryKind;
}

export interface CarryOutcome {
  readonly files: number;
  readonly bytes: number;
  /** Neither file, folder nor link: not copied. */
  readonly skipped: readonly BytePath[];
}

/**
 * Copies items from one folder to another; shares the blocks where the file system can. Modes are kept.
 * @param signal stops between two files
 * @throws RevconvertError PERMISSION, NO_SPACE, SYSTEM, CANCELLED
 */
export async function carryFiles(from: string, to: string, items: readonly CarryItem[], signal?: AbortSignal): Promise<CarryOutcome> {
  let files = 0;
  let bytes = 0;
  const skipped: BytePath[] = [];
  for (const entry of expand(from, items)) {
    signal?.throwIfAborted();
    if (entry.kind === 'special') {
      skipped.push(entry.name);
      continue;
    }
    bytes += await copyEntry(below(from, entry.name), below(to, entry.targetName), entry.kind);
    if (entry.kind !== 'folder') files++;
  }
  return { files, bytes, skipped };
}

/** Each item, and what is in it where it is a folder: every folder before what is in it. */
function* expand(root: string, items: readonly CarryItem[]): Generator<CarryItem, void, void> {
  for (const item of items) {
    yield item;
    if (item.kind !== 'folder') continue;
    for (const entry of walk(root, item.name)) {
      yield { ...entry, targetName: item.targetName + entry.name.slice(item.name.length) };
    }
  }
}


async function copyEntry(from: string | Buffer, to: string | Buffer, kind: 'file' | 'folder' | 'link'): Promise<number> {
  try {
    if (kind === 'link') {
      await symlink(await readlink(from, 'buffer'), to);
      return 0;
    }
    if (kind === 'folder') {
      await mkdir(to, { recursive: true });
      await chmod(to, folderMode(await stat(from)));
      return 0;
    }
    await copyFile(from, to, constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL);
    return (await lstat(to)).size;
  } catch (error) {
    throw toRevconvertError(error);
  }
}
