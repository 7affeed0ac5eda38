/** The entry point of a thread. `workerData` holds the settings of the conversion; each message is a task. */
import { parentPort, workerData } from 'node:worker_threads';

import { toRevconvertError } from '../errors.js';
import type { ConversionSettings } from './settings.js';
import type { Task, TaskResult } from './tasks.js';
import { createTaskRunner } from './tasks.js';

const runner = createTaskRunner(workerData as ConversionSettings);

const perform = async (task: Task): Promise<TaskResult> => {
  try {
    return await (await runner)(task);
  } catch (error) {
    return { type: 'error', error: toRevconvertError(error).toJSON() };
  }
};

let last: Promise<void> = Promise.resolve();

// One after the other: answers go back in the order of the tasks.
parentPort?.on('message', (task: Task) => {
  last = last.then(async () => parentPort?.postMessage(await perform(task)));
});
