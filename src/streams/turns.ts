import { setImmediate as nextTurn } from 'node:timers/promises';

import { RevconvertError } from '../errors.js';

/** Milliseconds of work at a stretch. */
const STRETCH = 50;

/** For long work in small synchronous steps: lets signals and timers have their turn now and then. */
export class Turns {
  #last = performance.now();

  /** @param signal says when to stop: an AbortSignal, or whatever else knows */
  constructor(private readonly signal: { readonly aborted: boolean } | undefined) {}

  /** Whether the stretch is over: where steps are short, and even a promise that is kept at once would cost too much. */
  get due(): boolean {
    return performance.now() - this.#last >= STRETCH;
  }

  /** To be awaited between two steps. @throws RevconvertError CANCELLED once the signal is aborted */
  async give(): Promise<void> {
    if (this.due) {
      await nextTurn();
      this.#last = performance.now();
    }
    if (this.signal?.aborted === true) throw new RevconvertError('CANCELLED', 'interrupted');
  }
}
