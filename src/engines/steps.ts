import type { MaybePromise } from './engine.js';
import { isPromise } from './engine.js';

/**
 * Work in steps that may have to wait, written once for engines that answer at once and those that answer later:
 * a generator that yields the promises it waits for, and is given what they bring. Where none is yielded no promise
 * is made, and no turn of the event loop passes.
 */
export type Steps<T> = Generator<Promise<unknown>, T, unknown>;

/** The value, waiting for it where it is a promise: `yield* settled(value)`. */
export function* settled<T>(value: MaybePromise<T>): Steps<T> {
  return isPromise(value) ? ((yield value) as T) : value;
}

/** Does all steps. @returns the result at once where nothing had to be waited for */
export function runSteps<T>(steps: Steps<T>): MaybePromise<T> {
  const next = steps.next();
  return next.done === true ? next.value : resume(steps, next.value);
}

async function resume<T>(steps: Steps<T>, first: Promise<unknown>): Promise<T> {
  let waiting = first;
  for (;;) {
    let next: IteratorResult<Promise<unknown>, T>;
    try {
      next = steps.next(await waiting);
    } catch (error) {
      // A failed wait fails the step that waits; what the step itself throws goes out as it is.
      next = steps.throw(error);
    }
    if (next.done === true) return next.value;
    waiting = next.value;
  }
}
