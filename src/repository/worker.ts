/** The entry point of a thread. `workerData` is its {@link ThreadData}; messages: {@link ThreadMessage}. */
import { parentPort, workerData } from 'node:worker_threads';

import type { ThreadData, ThreadMessage } from './thread.js';
import type { ComingWork, WorkKind } from './work.js';
import { answer, createRunner } from './work.js';

const { kind, stopped } = workerData as ThreadData;

const isStopped = (): boolean => Atomics.load(stopped, 0) !== 0;

let know: (settings: Awaited<ComingWork<WorkKind>['settings']>) => void = () => undefined;
const settings = new Promise<Awaited<ComingWork<WorkKind>['settings']>>((resolve) => {
  know = resolve;
});

const runner = createRunner({ kind, settings }, isStopped);
// Whoever gives the first task hears of a failure.
runner.catch(() => undefined);

let last: Promise<void> = Promise.resolve();

const take = async (message: ThreadMessage): Promise<void> => {
  if (message.type === 'settings') know(message.settings);
  // With its port closed there is nothing that keeps the thread.
  else if (message.type === 'end') parentPort?.close();
  else if (!isStopped()) parentPort?.postMessage(await answer(async () => (await runner)(message.task)));
};

// One after the other: answers go back in the order of the tasks.
parentPort?.on('message', (message: ThreadMessage) => {
  last = last.then(() => take(message));
});
