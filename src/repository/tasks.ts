import type { RangeJob, RangeResult, RevlogJob, RevlogResult } from './convert-revlog.js';
import { convertRange, convertRevlog } from './convert-revlog.js';
import type { ConversionSettings } from './settings.js';
import { loadThreadEngines } from './thread-engines.js';

/** A piece of work for one thread. Plain data. */
export type Task =
  | { readonly type: 'revlogs'; readonly jobs: readonly RevlogJob[] }
  | { readonly type: 'range'; readonly job: RangeJob };

/** What comes back. */
export type TaskResult =
  | { readonly type: 'revlogs'; readonly results: readonly RevlogResult[] }
  | { readonly type: 'range'; readonly result: RangeResult };

/** Does one task. @throws (rejects with) RevconvertError */
export type RunTask = (task: Task) => Promise<TaskResult>;

/**
 * Makes the function that converts in one thread, with the native contexts of that thread.
 * @param isStopped asked between two batches: where it says so a task ends with CANCELLED
 * @throws RevconvertError ENGINE_MISSING, LEVEL
 */
export async function createTaskRunner(settings: ConversionSettings, isStopped: () => boolean): Promise<RunTask> {
  const engines = await loadThreadEngines(settings, isStopped);
  return async (task) => {
    if (task.type === 'range') return { type: 'range', result: await convertRange(task.job, settings, engines) };
    const results: RevlogResult[] = [];
    for (const job of task.jobs) results.push(await convertRevlog(job, settings, engines));
    return { type: 'revlogs', results };
  };
}
