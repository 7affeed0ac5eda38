import { Worker } from 'node:worker_threads';

import { RevconvertError, toRevconvertError } from '../errors.js';
import type { Answer, Run, Work } from './work.js';
import { resultOf } from './work.js';

/** A thread that does tasks one after the other. */
export interface TaskThread<T, R> {
  /** Tasks may be given while others wait: they are answered in order. */
  readonly run: Run<T, R>;
  /** Lets it end the batch that it is doing, and no other; waits until it is gone. */
  close(): Promise<void>;
}

/** What a thread is given at its start. */
export interface ThreadData {
  /** The name of its kind of work. */
  readonly kind: string;
  /** Not 0: stop. In shared memory: seen at once, also between two tasks that have come already. */
  readonly stopped: Int32Array;
}

/** What a thread is sent: its settings, then tasks, and at last (it may be at once) that there are no more. */
export type ThreadMessage<S, T> =
  | { readonly type: 'settings'; readonly settings: S }
  | { readonly type: 'task'; readonly task: T }
  | { readonly type: 'end' };

interface Waiting<R> {
  readonly resolve: (result: R) => void;
  readonly reject: (error: RevconvertError) => void;
}

/** Starts a thread; tasks can be given once its settings are there. A thread that dies fails the tasks that it has. */
export function startThread<S, T, R>({ kind, settings }: Work<S, T, R>): TaskThread<T, R> {
  const data: ThreadData = { kind: kind.name, stopped: new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)) };
  const worker = new Worker(kind.entry, { workerData: data });
  const send = (message: ThreadMessage<S, T>): void => worker.postMessage(message);
  // Where they never come, whoever waits for them hears of it, and closes the thread.
  void Promise.resolve(settings).then((known) => send({ type: 'settings', settings: known }), () => undefined);
  const gone = new Promise<void>((resolve) => worker.once('exit', () => resolve()));
  const waiting: Waiting<Answer<R>>[] = [];
  let failure: RevconvertError | undefined;
  const fail = (error: RevconvertError): void => {
    failure ??= error;
    for (const { reject } of waiting.splice(0)) reject(failure);
  };
  worker.on('message', (result: Answer<R>) => waiting.shift()?.resolve(result));
  worker.on('error', (error) => fail(toRevconvertError(error)));
  worker.on('exit', (status) => fail(new RevconvertError('INTERNAL', `a thread ended with status ${status}`)));
  return {
    run: (task) =>
      new Promise<Answer<R>>((resolve, reject) => {
        if (failure !== undefined) {
          reject(failure);
          return;
        }
        waiting.push({ resolve, reject });
        send({ type: 'task', task });
      }).then(resultOf),
    close: () => {
      fail(new RevconvertError('CANCELLED', 'interrupted'));
      // Not `terminate`: in the middle of native code, or of loading it, that can abort the whole process (Node 20 to 22).
      Atomics.store(data.stopped, 0, 1);
      send({ type: 'end' });
      return gone;
    },
  };
}
