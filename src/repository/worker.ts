/** The entry point of a worker thread. `workerData` holds the settings of the conversion. */
import { workerData } from 'node:worker_threads';

import type { ConversionSettings } from './settings.js';
import type { RunTask, Task, TaskResult } from './tasks.js';
import { createTaskRunner } from './tasks.js';

let runner: Promise<RunTask> | undefined;

export default async function work(task: Task): Promise<TaskResult> {
  runner ??= createTaskRunner(workerData as ConversionSettings);
  return (await runner)(task);
}
