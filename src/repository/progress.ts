import type { RevlogSource } from './discover.js';
import type { Progress } from './options.js';
import { bytesOf } from './plan.js';

const MILLISECONDS_BETWEEN = 50;

/** Adds up what is done and reports it, not too often; always at the end. */
export function trackProgress(
  revlogs: readonly RevlogSource[],
  report: ((progress: Progress) => void) | undefined,
): (bytes: number, revlogs: number) => void {
  const bytesTotal = revlogs.reduce((sum, revlog) => sum + bytesOf(revlog), 0);
  let bytesDone = 0;
  let revlogsDone = 0;
  let last = -Infinity;
  return (bytes, count) => {
    bytesDone += bytes;
    revlogsDone += count;
    const now = performance.now();
    if (now - last < MILLISECONDS_BETWEEN && revlogsDone < revlogs.length) return;
    last = now;
    report?.({ revlogsDone, revlogsTotal: revlogs.length, bytesDone: Math.min(bytesDone, bytesTotal), bytesTotal });
  };
}
