/** Which files this process has open, so that a test can say that it left none. Linux only: it reads /proc. */
import assert from 'node:assert/strict';
import { readdirSync, readlinkSync } from 'node:fs';
import { sep } from 'node:path';

/** Elsewhere {@link descriptorsIn} finds nothing. */
export const CAN_LIST_DESCRIPTORS = process.platform === 'linux';

const DESCRIPTORS = '/proc/self/fd';

const targetOf = (descriptor: string): string | undefined => {
  try {
    return readlinkSync(`${DESCRIPTORS}/${descriptor}`);
  } catch {
    return undefined; // the one that listed the folder is gone again
  }
};

/**
 * The files in a folder that are open now, also where they were removed since.
 * @param folder its real path
 */
export function descriptorsIn(folder: string): string[] {
  if (!CAN_LIST_DESCRIPTORS) return [];
  return readdirSync(DESCRIPTORS)
    .map(targetOf)
    .filter((target): target is string => target?.startsWith(folder + sep) ?? false);
}

export function assertNoDescriptors(folder: string): void {
  assert.deepEqual(descriptorsIn(folder), [], 'files left open');
}
