import { adoptOwner } from '../access.js';
import { commitDestination } from '../commit-destination.js';
import { createDestination } from '../destination.js';
import type { Repository } from '../open.js';
import { writeNew } from '../write-new.js';

/** A file to be written, by its name in the folder. */
export interface NewFile {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/**
 * Writes files into a folder, which is complete when the promise resolves, and as it was when it rejects. A folder that
 * is new is open to those who may read the repository: a dictionary holds parts of its history.
 * @param folder from `checkDestination`
 * @throws RevconvertError DESTINATION_EXISTS where something came into being there in the meantime; NO_SPACE, PERMISSION, SYSTEM, CANCELLED
 */
export async function writeNewFolder(folder: string, { root, storeFolder }: Repository, files: readonly NewFile[], signal: AbortSignal | undefined): Promise<void> {
  const target = createDestination(folder, root);
  try {
    for (const { name, bytes } of files) writeNew(`${target.temporary}/${name}`, bytes, undefined);
    adoptOwner(storeFolder, target.temporary);
    await commitDestination(target, signal);
  } catch (error) {
    target.discard();
    throw error;
  }
}
