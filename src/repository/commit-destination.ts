import { dirname } from 'node:path';

import { toRevconvertError } from '../errors.js';
import type { Destination } from './destination.js';
import { flush, flushTree } from './flush.js';

/**
 * Brings what was built to the disk, and puts it in its place.
 * @throws RevconvertError DESTINATION_EXISTS, NO_SPACE, SYSTEM; what the signal throws
 */
export async function commitDestination(target: Destination, signal: AbortSignal | undefined): Promise<void> {
  target.open();
  await flushTree(target.temporary);
  signal?.throwIfAborted();
  target.commit();
  await flush(dirname(target.path)).catch((error: unknown) => {
    // A folder may be open to new names, but not to be read: then it cannot be flushed, and what is in it is there all the same.
    if (toRevconvertError(error).code !== 'PERMISSION') throw error;
  });
}
