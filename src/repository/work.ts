import type { ErrorData } from '../errors.js';
import { RevconvertError, toRevconvertError } from '../errors.js';
import type { ConversionSettings } from './settings.js';
import type { Task, TaskResult } from './tasks.js';
import type { VerifyResult, VerifySettings, VerifyTask } from './verify/tasks.js';

/** The kinds of work that threads do: what each has to know at its start, a piece of it, and what comes back. Plain data. */
export interface WorkTypes {
  convert: { readonly settings: ConversionSettings; readonly task: Task; readonly result: TaskResult };
  verify: { readonly settings: VerifySettings; readonly task: VerifyTask; readonly result: VerifyResult };
}

export type WorkKind = keyof WorkTypes;

/** What a thread is started for. */
export interface Work<K extends WorkKind> {
  readonly kind: K;
  readonly settings: WorkTypes[K]['settings'];
}

/** The same where the settings may not be known yet: threads start meanwhile. */
export interface ComingWork<K extends WorkKind> {
  readonly kind: K;
  readonly settings: WorkTypes[K]['settings'] | Promise<WorkTypes[K]['settings']>;
}

/** Does one task. @throws (rejects with) RevconvertError */
export type Run<K extends WorkKind> = (task: WorkTypes[K]['task']) => Promise<WorkTypes[K]['result']>;

type RunnerMaker<K extends WorkKind> = (settings: WorkTypes[K]['settings'], isStopped: () => boolean) => Promise<Run<K>>;

/** Each is loaded where it is wanted only. */
const MAKERS: { readonly [K in WorkKind]: () => Promise<RunnerMaker<K>> } = {
  convert: async () => (await import('./tasks.js')).createTaskRunner,
  verify: async () => (await import('./verify/runner.js')).createVerifyRunner,
};

/**
 * Makes the function that does the work of one thread. What it takes is loaded while the settings are waited for.
 * @param isStopped asked between two batches: where it says so a task ends with CANCELLED
 * @throws RevconvertError ENGINE_MISSING, LEVEL
 */
export async function createRunner<K extends WorkKind>({ kind, settings }: ComingWork<K>, isStopped: () => boolean): Promise<Run<K>> {
  const make = await MAKERS[kind]();
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
