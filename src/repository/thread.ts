import { Worker } from 'node:worker_threads';

import { RevconvertError, toRevconvertError } from '../errors.js';
import type { Answer, Run, Work, WorkKind, WorkTypes } from './work.js';
import { resultOf } from './work.js';

/** A thread that does tasks one after the other. */
export interface TaskThread<K extends WorkKind> {
  /** Tasks may be given while others wait: they are answered in order. */
  readonly run: Run<K>;
  /** Lets it end the batch that it is doing, and no other; waits until it is gone. */
  close(): Promise<void>;
}

/** What a thread is given at its start. */
export interface ThreadData<K extends WorkKind = WorkKind> {
  readonly work: Work<K>;
  /** Not 0: stop. In shared memory: seen at once, also between two tasks that have come already. */
  readonly stopped: Int32Array;
}

/** What a thread is sent: tasks, and at last that there are no more. */
export type ThreadMessage<K extends WorkKind = WorkKind> = WorkTypes[K]['task'] | 'end';

interface Waiting<R> {
  readonly resolve: (result: R) => void;
  readonly reject: (error: RevconvertError) => void;
}

/** Starts a thread; tasks can be given at once. A thread that dies fails the tasks that it has. */
export function startThread<K extends WorkKind>(work: Work<K>): TaskThread<K> {
  type Result = WorkTypes[K]['result'];
  const data: ThreadData<K> = { work, stopped: new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)) };
  const worker = new Worker(new URL('worker.js', import.meta.url), { workerData: data });
  const gone = new Promise<void>((resolve) => worker.once('exit', () => resolve()));
  const waiting: Waiting<Answer<Result>>[] = [];
  let failure: RevconvertError | undefined;
  const fail = (error: RevconvertError): void => {
    failure ??= error;
    for (const { reject } of waiting.splice(0)) reject(failure);
  };
  worker.on('message', (result: Answer<Result>) => waiting.shift()?.resolve(result));
  worker.on('error', (error) => fail(toRevconvertError(error)));
  worker.on('exit', (status) => fail(new RevconvertError('INTERNAL', `a thread ended with status ${status}`)));
  return {
    run: (task) =>
      new Promise<Answer<Result>>((resolve, reject) => {
        if (failure !== undefined) {
          reject(failure);
          return;
        }
        waiting.push({ resolve, reject });
        worker.postMessage(task);
      }).then(resultOf),
    close: () => {
      fail(new RevconvertError('CANCELLED', 'interrupted'));
      // Not `terminate`: in the middle of native code, or of loading it, that can abort the whole process (Node 20 to 22).
      Atomics.store(data.stopped, 0, 1);
      worker.postMessage('end' satisfies ThreadMessage);
      return gone;
    },
  };
}
