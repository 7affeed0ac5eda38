import type { ErrorData } from '../errors.js';
import { RevconvertError, toRevconvertError } from '../errors.js';

/**
 * A kind of work that threads do. What crosses threads is plain data.
 * @typeParam S what each thread has to know at its start
 * @typeParam T a piece of work
 * @typeParam R what comes back for it
 */
export interface WorkKind<S, T, R> {
  /** By which a thread knows it. */
  readonly name: string;
  /** The entry point of its threads: a module that calls `serveThread` with this kind among others. */
  readonly entry: URL;
  /** Loads what does it, where it is wanted only. */
  readonly load: () => Promise<RunnerMaker<S, T, R>>;
}

/** What a thread is started for. The settings may not be known yet: threads start meanwhile. */
export interface Work<S, T, R> {
  readonly kind: WorkKind<S, T, R>;
  readonly settings: S | Promise<S>;
}

/** Does one task. @throws (rejects with) RevconvertError */
export type Run<T, R> = (task: T) => Promise<R>;

/**
 * Makes the function that does the work of one thread.
 * @param isStopped asked between two batches: where it says so a task ends with CANCELLED
 * @throws RevconvertError ENGINE_MISSING, LEVEL
 */
export type RunnerMaker<S, T, R> = (settings: S, isStopped: () => boolean) => Promise<Run<T, R>>;

/** Makes the function that does the work of one thread. What it takes is loaded while the settings are waited for. */
export async function createRunner<S, T, R>({ kind, settings }: Work<S, T, R>, isStopped: () => boolean): Promise<Run<T, R>> {
  const make = await kind.load();
  return make(await settings, isStopped);
}

/** What crosses threads. Errors come as data: a thrown error would lose its class on the way. */
export type Answer<R> = { readonly result: R } | { readonly error: ErrorData };

export async function answer<R>(action: () => Promise<R>): Promise<Answer<R>> {
  try {
    return { result: await action() };
  } catch (error) {
    return { error: toRevconvertError(error).toJSON() };
  }
}

/** @throws RevconvertError what the answer says */
export function resultOf<R>(given: Answer<R>): R {
  if ('error' in given) throw RevconvertError.fromJSON(given.error);
  return given.result;
}
