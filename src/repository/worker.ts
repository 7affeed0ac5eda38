/** The entry point of a worker thread. `workerData` holds the settings of the conversion. */
import { workerData } from 'node:worker_threads';

import { move, transferableSymbol, valueSymbol } from 'piscina';

import type { ConversionSettings } from './settings.js';
import type { RunTask, Task } from './tasks.js';
import { createTaskRunner } from './tasks.js';

let runner: Promise<RunTask> | undefined;

export default async function work(task: Task): Promise<unknown> {
  runner ??= createTaskRunner(workerData as ConversionSettings);
  const result = await (await runner)(task);
  if (result.type !== 'range') return result;
  // The two large arrays are handed over, not copied: they are this range's own memory.
  const { entries, chunks } = result.result;
  return move({ [transferableSymbol]: [entries.buffer, chunks.buffer], [valueSymbol]: result });
}
