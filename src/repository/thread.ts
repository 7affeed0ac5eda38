import { Worker } from 'node:worker_threads';

import { RevconvertError, toRevconvertError } from '../errors.js';
import type { ConversionSettings } from './settings.js';
import type { RunTask, TaskResult } from './tasks.js';

/** A thread that does tasks one after the other. */
export interface TaskThread {
  /** Tasks may be given while others wait: they are answered in order. */
  readonly run: RunTask;
  /** Stops it, whatever it is doing. */
  close(): Promise<void>;
}

interface Waiting {
  readonly resolve: (result: TaskResult) => void;
  readonly reject: (error: RevconvertError) => void;
}

/** Starts a thread; tasks can be given at once. A thread that dies fails the tasks that it has. */
export function startThread(settings: ConversionSettings): TaskThread {
  const worker = new Worker(new URL('worker.js', import.meta.url), { workerData: settings });
  const waiting: Waiting[] = [];
  let failure: RevconvertError | undefined;
  const fail = (error: RevconvertError): void => {
    failure ??= error;
    for (const { reject } of waiting.splice(0)) reject(failure);
  };
  worker.on('message', (result: TaskResult) => waiting.shift()?.resolve(result));
  worker.on('error', (error) => fail(toRevconvertError(error)));
  worker.on('exit', (status) => fail(new RevconvertError('INTERNAL', `a thread ended with status ${status}`)));
  return {
    run: (task) =>
      new Promise((resolve, reject) => {
        if (failure !== undefined) {
          reject(failure);
          return;
        }
        waiting.push({ resolve, reject });
        worker.postMessage(task);
      }),
    close: async () => {
      fail(new RevconvertError('CANCELLED', 'interrupted'));
      await worker.terminate();
    },
  };
}
