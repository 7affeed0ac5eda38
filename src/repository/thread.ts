import { Worker } from 'node:worker_threads';

import { RevconvertError, toRevconvertError } from '../errors.js';
import type { ConversionSettings } from './settings.js';
import type { RunTask, Task, TaskResult } from './tasks.js';

/** A thread that does tasks one after the other. */
export interface TaskThread {
  /** Tasks may be given while others wait: they are answered in order. */
  readonly run: RunTask;
  /** Lets it end the batch that it is doing, and no other; waits until it is gone. */
  close(): Promise<void>;
}

/** What a thread is given at its start. */
export interface ThreadData {
  readonly settings: ConversionSettings;
  /** Not 0: stop. In shared memory: seen at once, also between two tasks that have come already. */
  readonly stopped: Int32Array;
}

/** What a thread is sent: tasks, and at last that there are no more. */
export type ThreadMessage = Task | 'end';

interface Waiting {
  readonly resolve: (result: TaskResult) => void;
  readonly reject: (error: RevconvertError) => void;
}

/** Starts a thread; tasks can be given at once. A thread that dies fails the tasks that it has. */
export function startThread(settings: ConversionSettings): TaskThread {
  const data: ThreadData = { settings, stopped: new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)) };
  const worker = new Worker(new URL('worker.js', import.meta.url), { workerData: data });
  const gone = new Promise<void>((resolve) => worker.once('exit', () => resolve()));
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
    close: () => {
      fail(new RevconvertError('CANCELLED', 'interrupted'));
      // Not `terminate`: in the middle of native code, or of loading it, that can abort the whole process (Node 20 to 22).
      Atomics.store(data.stopped, 0, 1);
      worker.postMessage('end' satisfies ThreadMessage);
      return gone;
    },
  };
}
