import type { Pieces } from './stream-engine.js';

/**
 * Pieces that are made while whoever reads them is busy with the ones before.
 * @param make makes them; ends when the signal that it is given is aborted
 * @param most no more are made while so many bytes wait
 * @param outer aborts it too
 */
export async function* readAhead(make: (signal: AbortSignal) => Pieces, most: number, outer?: AbortSignal): Pieces {
  const stop = new AbortController();
  const signal = outer === undefined ? stop.signal : AbortSignal.any([outer, stop.signal]);
  const ready: Buffer[] = [];
  let waiting = 0;
  const state = { ended: false };
  const failures: unknown[] = [];
  let wakeReader = (): void => undefined;
  let wakeMaker = (): void => undefined;
  const fill = async (): Promise<void> => {
    for await (const piece of make(signal)) {
      ready.push(piece);
      waiting += piece.length;
      wakeReader();
      while (waiting >= most && !signal.aborted) {
        await new Promise<void>((resolve) => {
          wakeMaker = resolve;
        });
      }
      if (stop.signal.aborted) return;
    }
  };
  const filled = fill()
    .catch((error: unknown) => {
      failures.push(error);
    })
    .finally(() => {
      state.ended = true;
      wakeReader();
    });
  try {
    for (;;) {
      const piece = ready.shift();
      if (piece !== undefined) {
        waiting -= piece.length;
        wakeMaker();
        yield piece;
      } else if (state.ended) {
        break;
      } else {
        await new Promise<void>((resolve) => {
          wakeReader = resolve;
        });
      }
    }
    for (const failure of failures) throw failure;
  } finally {
    stop.abort();
    wakeMaker();
    await filled;
  }
}
