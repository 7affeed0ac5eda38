import { setImmediate as nextTurn } from 'node:timers/promises';

import type { ConversionSettings } from './settings.js';
import type { RunTask, Task, TaskResult } from './tasks.js';
import { createTaskRunner } from './tasks.js';

/** Runs tasks in some number of threads. */
export interface TaskPool {
  /** Threads that work, this one among them. */
  readonly threads: number;
  /** Each runs one task after the other; work is pulled by whichever is free. */
  readonly lanes: readonly RunTask[];
  /** Stops the threads, whatever they are doing, and waits for this one's. No file is written after it. */
  close(): Promise<void>;
}

/** Two lanes a thread: the next task lies ready when the one before is done. */
const LANES_PER_THREAD = 2;

/**
 * @param jobs threads that work, this very thread among them; 1 starts none
 * @throws RevconvertError ENGINE_MISSING, LEVEL
 */
export async function createPool(jobs: number, settings: ConversionSettings): Promise<TaskPool> {
  const others = jobs === 1 ? NO_THREADS : await startThreads(jobs - 1, settings);
  try {
    const own = createOwnLane(await createTaskRunner(settings));
    return {
      threads: jobs,
      lanes: [...others.lanes, own.run],
      close: async () => {
        await others.close();
        await own.idle();
      },
    };
  } catch (error) {
    await others.close();
    throw error;
  }
}

const NO_THREADS: TaskPool = { threads: 0, lanes: [], close: () => Promise.resolve() };

function createOwnLane(runTask: RunTask): { run: RunTask; idle: () => Promise<unknown> } {
  let current: Promise<unknown> = Promise.resolve();
  return {
    run(task) {
      // A turn of the event loop before each task lets signals, progress and the other threads' results through.
      const result = nextTurn().then(() => runTask(task));
      current = result;
      return result;
    },
    idle: () => current,
  };
}

/**
 * Piscina tries `require` before `import`. Node 20 to 22 abort the whole process where a thread is stopped in the middle
 * of requiring an ES module, as happens when a conversion fails at once.
 */
const THREAD_FLAGS = ['--no-experimental-require-module'];

async function startThreads(threads: number, settings: ConversionSettings): Promise<TaskPool> {
  const { Piscina } = await import('piscina');
  const pool = new Piscina({
    filename: new URL('worker.js', import.meta.url).href,
    minThreads: threads,
    maxThreads: threads,
    concurrentTasksPerWorker: LANES_PER_THREAD,
    idleTimeout: Infinity,
    recordTiming: false,
    workerData: settings,
    execArgv: [...process.execArgv, ...THREAD_FLAGS],
  });
  const run: RunTask = (task: Task) => pool.run(task) as Promise<TaskResult>;
  return {
    threads,
    lanes: Array.from({ length: threads * LANES_PER_THREAD }, () => run),
    close() {
      // A result that comes while the threads are stopped belongs to no task any more; Piscina calls that an error.
      pool.on('error', () => undefined);
      return pool.destroy();
    },
  };
}
