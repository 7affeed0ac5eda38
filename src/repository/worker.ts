/** The entry point of a thread. `workerData` is its {@link ThreadData}; each message is a task, or the end. */
import { parentPort, workerData } from 'node:worker_threads';

import type { ThreadData, ThreadMessage } from './thread.js';
import { answer, createRunner } from './work.js';

const { work, stopped } = workerData as ThreadData;

const isStopped = (): boolean => Atomics.load(stopped, 0) !== 0;

const runner = createRunner(work, isStopped);
// Whoever gives the first task hears of a failure.
runner.catch(() => undefined);

let last: Promise<void> = Promise.resolve();

const take = async (message: ThreadMessage): Promise<void> => {
  // With its port closed there is nothing that keeps the thread.
  if (message === 'end') parentPort?.close();
  else if (!isStopped()) parentPort?.postMessage(await answer(async () => (await runner)(message)));
};

// One after the other: answers go back in the order of the tasks.
parentPort?.on('message', (message: ThreadMessage) => {
  last = last.then(() => take(message));
});
