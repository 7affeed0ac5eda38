import { parentPort, workerData } from 'node:worker_threads';

import type { ThreadData, ThreadMessage } from './thread.js';
import type { WorkKind } from './work.js';
import { answer, createRunner } from './work.js';

/** Kinds of work whatever they take and give: which of them it is, is known by name only. */
type AnyWorkKind = WorkKind<never, never, unknown>;

/**
 * Does the tasks of one thread, one after the other, until there are no more. `workerData` is its {@link ThreadData};
 * messages: {@link ThreadMessage}.
 * @param kinds those that this entry point can do
 */
export function serveThread(kinds: readonly AnyWorkKind[]): void {
  const { kind, stopped } = workerData as ThreadData;
  const isStopped = (): boolean => Atomics.load(stopped, 0) !== 0;

  let know: (settings: never) => void = () => undefined;
  const settings = new Promise<never>((resolve) => {
    know = resolve;
  });
  const known = kinds.find(({ name }) => name === kind);
  if (known === undefined) throw new Error(`no work is called ${kind}`);
  const runner = createRunner({ kind: known, settings }, isStopped);
  // Whoever gives the first task hears of a failure.
  runner.catch(() => undefined);

  const take = async (message: ThreadMessage<never, never>): Promise<void> => {
    if (message.type === 'settings') know(message.settings);
    // With its port closed there is nothing that keeps the thread.
    else if (message.type === 'end') parentPort?.close();
    else if (!isStopped()) parentPort?.postMessage(await answer(async () => (await runner)(message.task)));
  };

  let last: Promise<void> = Promise.resolve();
  // One after the other: answers go back in the order of the tasks.
  parentPort?.on('message', (message: ThreadMessage<never, never>) => {
    last = last.then(() => take(message));
  });
}
