import { setImmediate as nextTurn } from 'node:timers/promises';

import type { ConversionSettings } from './settings.js';
import type { Task, TaskResult } from './tasks.js';
import { createTaskRunner } from './tasks.js';

/** Runs tasks in some number of threads. */
export interface TaskPool {
  /** Tasks worth having under way at once. */
  readonly width: number;
  run(task: Task): Promise<TaskResult>;
  /** Stops the threads, whatever they are doing. No file is written after it. */
  close(): Promise<void>;
}

/**
 * @param jobs threads; 1: this very thread, without starting any
 * @throws RevconvertError ENGINE_MISSING, LEVEL (1 job: here; more: as the result of the first task)
 */
export async function createPool(jobs: number, settings: ConversionSettings): Promise<TaskPool> {
  return jobs === 1 ? createInlinePool(settings) : createThreadPool(jobs, settings);
}

async function createInlinePool(settings: ConversionSettings): Promise<TaskPool> {
  const runTask = await createTaskRunner(settings);
  let queue: Promise<unknown> = Promise.resolve();
  return {
    width: 1,
    run(task) {
      // A turn of the event loop between two tasks lets signals and progress through.
      const result = queue.then(() => nextTurn()).then(() => runTask(task));
      queue = result;
      return result;
    },
    close: async () => {
      await queue;
    },
  };
}

async function createThreadPool(jobs: number, settings: ConversionSettings): Promise<TaskPool> {
  const { Piscina } = await import('piscina');
  const pool = new Piscina({
    filename: new URL('worker.js', import.meta.url).href,
    minThreads: jobs,
    maxThreads: jobs,
    idleTimeout: Infinity,
    recordTiming: false,
    workerData: settings,
  });
  return {
    // One more than there are threads, so that none waits for the next task.
    width: jobs + 1,
    run: (task) => pool.run(task) as Promise<TaskResult>,
    close: () => pool.destroy(),
  };
}
