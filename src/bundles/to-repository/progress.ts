import type { CreateProgress } from './options.js';

const MILLISECONDS_BETWEEN = 50;

/** Reports how far it has come, not too often. @returns to be called with where it is; `isLast`: report it in any case */
export function trackBuild(report: ((progress: CreateProgress) => void) | undefined): (progress: CreateProgress, isLast?: boolean) => void {
  let last = -Infinity;
  return (progress, isLast = false) => {
    const now = performance.now();
    if (!isLast && now - last < MILLISECONDS_BETWEEN) return;
    last = now;
    report?.(progress);
  };
}
