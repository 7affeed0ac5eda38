import { RevconvertError, toRevconvertError } from '../errors.js';
import type { HeldLocks } from './locks.js';
import { lockRepository } from './locks.js';
import type { Repository } from './open.js';
import { openRepository } from './open.js';
import type { FilledOptions } from './options.js';

/** What opening a source takes. */
export type SourceOptions = Pick<FilledOptions, 'lock' | 'lockTimeout' | 'signal' | 'onNotice'>;

/** A source that is open, and locked where that was wanted and could be. */
export interface LockedSource {
  readonly repository: Repository;
  readonly locks: HeldLocks;
}

/**
 * Opens and locks a source. Its locks are the caller's to give back.
 * @throws RevconvertError as openRepository; LOCKED, CANCELLED
 */
export async function lockSource(source: string, options: SourceOptions): Promise<LockedSource> {
  const notice = (lock: string, holder: string): void => options.onNotice?.(`waiting for ${lock}, held by ${holder}`);
  let locks: HeldLocks = { unlocked: '--no-lock', release: () => undefined };
  try {
    const first = openRepository(source);
    if (options.lock) locks = await lockRepository(first, { timeoutSeconds: options.lockTimeout, signal: options.signal, onWait: notice });
    options.signal?.throwIfAborted();
    // Again: what was read before the lock was held may have changed since.
    return { repository: openRepository(source), locks };
  } catch (error) {
    locks.release();
    throw asFailure(error, options.signal);
  }
}

/**
 * Opens and locks a source for the time of an action.
 * @throws RevconvertError as openRepository; LOCKED, CANCELLED; what the action throws
 */
export async function withSource<T>(source: string, options: SourceOptions, action: (repository: Repository, locks: HeldLocks) => Promise<T>): Promise<T> {
  const { repository, locks } = await lockSource(source, options);
  try {
    return await action(repository, locks);
  } catch (error) {
    throw asFailure(error, options.signal);
  } finally {
    locks.release();
  }
}

/** Whatever was thrown, as one of ours: a caller may abort with any reason, which is then what was thrown. */
export function asFailure(error: unknown, signal: AbortSignal | undefined): RevconvertError {
  const isReason = signal?.aborted === true && error === signal.reason;
  return isReason ? new RevconvertError('CANCELLED', 'interrupted', {}, { cause: error }) : toRevconvertError(error);
}

/** What to say where a lock was wanted and could not be had. */
export const lockNotice = ({ unlocked }: HeldLocks, { lock }: Pick<FilledOptions, 'lock'>): string | undefined =>
  unlocked === undefined || !lock ? undefined : `read without the source's lock (${unlocked}); its files were the same before and after`;
