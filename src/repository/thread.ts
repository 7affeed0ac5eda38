import { Worker } from 'node:worker_threads';

import { RevconvertError, toRevconvertError } from '../errors.js';
import type { Answer, ComingWork, Run, WorkKind, WorkTypes } from './work.js';
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
  readonly kind: K;
  /** Not 0: stop. In shared memory: seen at once, also between two tasks that have come already. */
  readonly stopped: Int32Array;
}

/** What a thread is sent: its settings, then tasks, and at last (it may be at once) that there are no more. */
export type ThreadMessage<K extends WorkKind = WorkKind> =
  | { readonly type: 'settings'; readonly settings: WorkTypes[K]['settings'] }
  | { readonly type: 'task'; readonly task: WorkTypes[K]['task'] }
  | { readonly type: 'end' };

interface Waiting<R> {
  readonly resolve: (result: R) => void;
  readonly reject: (error: RevconvertError) => void;
}

/** Starts a thread; tasks can be given once its settings are there. A thread that dies fails the tasks that it has. */
export function startThread<K extends WorkKind>({ kind, settings }: ComingWork<K>): TaskThread<K> {
  type Result = WorkTypes[K]['result'];
  const data: ThreadData<K> = { kind, stopped: new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)) };
  const worker = new Worker(new URL('worker.js', import.meta.url), { workerData: data });
  const send = (message: ThreadMessage<K>): void => worker.postMessage(message);
  // Where they never come, whoever waits for them hears of it, and closes the thread.
  void Promise.resolve(settings).then((known) => send({ type: 'settings', settings: known }), () => undefined);
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
