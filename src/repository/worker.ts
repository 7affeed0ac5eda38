/** The entry point of a thread. `workerData` is its {@link ThreadData}; each message is a task, or the end. */
import { parentPort, workerData } from 'node:worker_threads';

import { toRevconvertError } from '../errors.js';
import type { Task, TaskResult } from './tasks.js';
import { createTaskRunner } from './tasks.js';
import type { ThreadData, ThreadMessage } from './thread.js';

const { settings, stopped } = workerData as ThreadData;

const isStopped = (): boolean => Atomics.load(stopped, 0) !== 0;

const runner = createTaskRunner(settings, isStopped);

const perform = async (task: Task): Promise<TaskResult> => {
  try {
    return await (await runner)(task);
  } catch (error) {
    return { type: 'error', error: toRevconvertError(error).toJSON() };
  }
};

let last: Promise<void> = Promise.resolve();

const take = async (message: ThreadMessage): Promise<void> => {
  // With its port closed there is nothing that keeps the thread.
  if (message === 'end') parentPort?.close();
  else if (!isStopped()) parentPort?.postMessage(await perform(message));
};

// One after the other: answers go back in the order of the tasks.
parentPort?.on('message', (message: ThreadMessage) => {
  last = last.then(() => take(message));
});
