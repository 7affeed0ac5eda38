import { statSync } from 'node:fs';

import type { RevlogSource } from './discover.js';
import type { Repository } from './open.js';
import { bytesOf } from './plan.js';

/** A thread pays for its start from about this many stored bytes on. */
const BYTES_A_THREAD = 1 << 20;

/** Whether a store is plainly large: threads may start while its files are looked at. */
export function looksLarge({ storeFolder }: Repository): boolean {
  const files = ['00changelog.i', '00changelog.d', '00manifest.i', '00manifest.d'];
  const bytes = files.reduce((sum, name) => sum + (statSync(`${storeFolder}/${name}`, { throwIfNoEntry: false })?.size ?? 0), 0);
  return bytes > 2 * BYTES_A_THREAD;
}

/** The threads that revlogs keep busy. */
export const threadsWorthFor = (revlogs: readonly RevlogSource[]): number =>
  Math.max(1, Math.floor(revlogs.reduce((sum, revlog) => sum + bytesOf(revlog), 0) / BYTES_A_THREAD));
