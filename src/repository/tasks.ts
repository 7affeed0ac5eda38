import type { ErrorData } from '../errors.js';
import { RevconvertError, toRevconvertError } from '../errors.js';
import type { RangeJob, RangeResult, RevlogJob, RevlogResult } from './convert-revlog.js';
import { convertRange, convertRevlog } from './convert-revlog.js';
import type { ConversionSettings } from './settings.js';
import { loadThreadEngines } from './thread-engines.js';

/** A piece of work for one thread. Plain data. */
export type Task =
  | { readonly type: 'revlogs'; readonly jobs: readonly RevlogJob[] }
  | { readonly type: 'range'; readonly job: RangeJob };

/** What comes back. Errors come as data: a thrown error would lose its class on the way. */
export type TaskResult =
  | { readonly type: 'revlogs'; readonly results: readonly RevlogResult[] }
  | { readonly type: 'range'; readonly result: RangeResult }
  | { readonly type: 'error'; readonly error: ErrorData };

/** The result of a task that did not fail. */
export type FinishedTask = Exclude<TaskResult, { readonly type: 'error' }>;

export type RunTask = (task: Task) => Promise<TaskResult>;

/**
 * Makes the function that does the work of one thread, with the native contexts of that thread.
 * @param isStopped asked between two batches: where it says so a task ends with CANCELLED
 * @throws RevconvertError ENGINE_MISSING, LEVEL
 */
export async function createTaskRunner(settings: ConversionSettings, isStopped: () => boolean): Promise<RunTask> {
  const engines = await loadThreadEngines(settings, isStopped);
  const perform = async (task: Task): Promise<TaskResult> => {
    if (task.type === 'range') return { type: 'range', result: await convertRange(task.job, settings, engines) };
    const results: RevlogResult[] = [];
    for (const job of task.jobs) results.push(await convertRevlog(job, settings, engines));
    return { type: 'revlogs', results };
  };
  return async (task) => {
    try {
      return await perform(task);
    } catch (error) {
      return { type: 'error', error: toRevconvertError(error).toJSON() };
    }
  };
}

/** The result of a task that must not have failed. @throws RevconvertError the task's error */
export function unwrap(result: TaskResult): FinishedTask {
  if (result.type === 'error') throw RevconvertError.fromJSON(result.error);
  return result;
}
