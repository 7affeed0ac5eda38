import { setImmediate as nextTurn } from 'node:timers/promises';

import type { TaskThread } from './thread.js';
import { startThread } from './thread.js';
import type { Run, Work } from './work.js';
import { createRunner } from './work.js';

/** Runs tasks in some number of threads. */
export interface TaskPool<T, R> {
  /** Threads that work, this one among them. */
  readonly threads: number;
  /** Each runs one task after the other; work is pulled by whichever is free. */
  readonly lanes: readonly Run<T, R>[];
  /** Lets every thread end the batch that it is doing, and waits for it. No file is written after it. */
  close(): Promise<void>;
}

/** Two lanes a thread: the next task lies ready when the one before is done. */
const LANES_PER_THREAD = 2;

/**
 * @param jobs threads that work, this very thread among them; 1 starts none
 * @param work its settings may come later: the threads start at once
 * @throws RevconvertError ENGINE_MISSING, LEVEL; what the settings reject with
 */
export async function createPool<S, T, R>(jobs: number, work: Work<S, T, R>): Promise<TaskPool<T, R>> {
  const others = startThreads(jobs - 1, work);
  try {
    const own = await createOwnLane(work);
    return {
      threads: jobs,
      lanes: [...others.lanes, own.run],
      close: async () => {
        await Promise.all([others.close(), own.close()]);
      },
    };
  } catch (error) {
    await others.close();
    throw error;
  }
}

async function createOwnLane<S, T, R>(work: Work<S, T, R>): Promise<TaskThread<T, R>> {
  let stopped = false;
  let current: Promise<unknown> = Promise.resolve();
  const runTask = await createRunner(work, () => stopped);
  return {
    run(task) {
      // A turn of the event loop before each task lets signals, progress and the other threads' results through.
      const result = nextTurn().then(() => runTask(task));
      current = result.catch(() => undefined);
      return result;
    },
    close: async () => {
      stopped = true;
      await current;
    },
  };
}

function startThreads<S, T, R>(count: number, work: Work<S, T, R>): TaskPool<T, R> {
  const threads: TaskThread<T, R>[] = [];
  try {
    while (threads.length < count) threads.push(startThread(work));
  } catch (error) {
    // No more threads to be had: those that started must not keep the process.
    for (const thread of threads) void thread.close();
    throw error;
  }
  return {
    threads: count,
    lanes: threads.flatMap(({ run }) => Array.from({ length: LANES_PER_THREAD }, () => run)),
    close: async () => {
      await Promise.all(threads.map((thread) => thread.close()));
    },
  };
}
