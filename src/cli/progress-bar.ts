import type { Progress } from '../repository/options.js';
import { bytes, count, duration } from './format.js';

/** A progress display that can be taken away again. */
export interface ProgressDisplay {
  update(progress: Progress): void;
  stop(): void;
}

const NOTHING: ProgressDisplay = { update: () => undefined, stop: () => undefined };

/** Speed over the whole run, and the time that the rest will take at it. */
export function estimate(progress: Progress, milliseconds: number): { readonly rate: number; readonly left: number } {
  const rate = milliseconds <= 0 ? 0 : (progress.bytesDone / milliseconds) * 1000;
  return { rate, left: rate === 0 ? 0 : ((progress.bytesTotal - progress.bytesDone) / rate) * 1000 };
}

/**
 * A bar on standard error: revlogs and bytes done, rate, time left. Nothing where that is no terminal.
 * @param wanted false: nothing in any case
 */
export async function createProgressDisplay(wanted: boolean): Promise<ProgressDisplay> {
  if (!wanted || !process.stderr.isTTY) return NOTHING;
  const { default: cliProgress } = await import('cli-progress');
  const bar = new cliProgress.SingleBar({
    stream: process.stderr,
    format: '{bar} {percentage} % | {revlogs} revlogs | {done} of {all} | {rate}/s | {left} left',
    hideCursor: true,
    clearOnComplete: true,
    gracefulExit: false,
    barsize: 24,
  });
  const started = performance.now();
  let shown = false;
  return {
    update(progress) {
      const { rate, left } = estimate(progress, performance.now() - started);
      const payload = {
        revlogs: `${count(progress.revlogsDone)}/${count(progress.revlogsTotal)}`,
        done: bytes(progress.bytesDone),
        all: bytes(progress.bytesTotal),
        rate: bytes(rate),
        left: duration(left),
      };
      if (!shown) bar.start(progress.bytesTotal, progress.bytesDone, payload);
      else bar.update(progress.bytesDone, payload);
      shown = true;
    },
    stop() {
      if (shown) bar.stop();
      shown = false;
    },
  };
}
