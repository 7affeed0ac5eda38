import { readlinkSync, statSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';

import { RevconvertError, toRevconvertError } from '../errors.js';
import type { LockHolder } from '../formats/lock-text.js';
import { formatLockText, parseLockText } from '../formats/lock-text.js';
import type { Repository } from './open.js';
import { readSmallFile } from './read-file.js';

/** Locks that are held, or why they are not. */
export interface HeldLocks {
  /** Undefined: held. Otherwise why the source is read without them. */
  readonly unlocked: string | undefined;
  /** Gives them back, last taken first. Safe to call twice. */
  release(): void;
}

export interface LockOptions {
  /** How long to wait for another process, in seconds. Mercurial waits 600. */
  readonly timeoutSeconds: number;
  readonly signal?: AbortSignal | undefined;
  /** Called once for each lock that has to be waited for. */
  readonly onWait?: ((lock: string, holder: string) => void) | undefined;
}

/** Who we are, as Mercurial writes it: `host/pidns:pid`, where pidns is the inode of the PID namespace in hex. */
export function ownHolder(): LockHolder {
  const host = hostname();
  try {
    return { host: `${host}/${statSync('/proc/self/ns/pid').ino.toString(16)}`, pid: process.pid };
  } catch {
    return { host, pid: process.pid };
  }
}

/**
 * Takes Mercurial's own locks on a repository: `wlock`, then the lock of the store, in this order as every Mercurial
 * does. Where the folder cannot be written to, nothing is locked and `unlocked` says why.
 * @throws RevconvertError LOCKED after the timeout, CANCELLED, SYSTEM
 */
export async function lockRepository(repository: Repository, options: LockOptions): Promise<HeldLocks> {
  const held: string[] = [];
  const release = (): void => {
    for (let path = held.pop(); path !== undefined; path = held.pop()) removeOwnLock(path);
  };
  try {
    for (const path of [`${repository.hgFolder}/wlock`, `${repository.storeFolder}/lock`]) {
      const refused = await takeLock(path, options);
      if (refused !== undefined) {
        release();
        return { unlocked: refused, release };
      }
      held.push(path);
    }
    return { unlocked: undefined, release };
  } catch (error) {
    release();
    throw error;
  }
}

/** Gives a lock back, where it is still there and still ours. */
function removeOwnLock(path: string): void {
  if (readLock(path) === formatLockText(ownHolder())) unlinkSync(path);
}

const READ_ONLY = new Set(['EACCES', 'EROFS', 'EPERM']);

/** @returns undefined once it is held, or why the folder cannot hold a lock */
async function takeLock(path: string, options: LockOptions): Promise<string | undefined> {
  const own = ownHolder();
  const end = Date.now() + options.timeoutSeconds * 1000;
  for (let waited = false; ; ) {
    try {
      createLock(path, formatLockText(own));
      return undefined;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code !== undefined && READ_ONLY.has(code)) return `${path}: ${code}`;
      if (code !== 'EEXIST') throw toRevconvertError(error, { path });
    }
    const text = readLock(path);
    if (text === undefined || breakStale(path, text, own)) continue;
    if (!waited) options.onWait?.(path, text);
    waited = true;
    await waitTurn(path, text, end, options.signal);
  }
}

/** A symbolic link whose target is the text; a file made exclusively where the file system has no links. */
function createLock(path: string, text: string): void {
  try {
    symlinkSync(text, path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ENOSYS' && code !== 'ENOTSUP' && code !== 'EOPNOTSUPP') throw error;
    writeFileSync(path, text, { flag: 'wx' });
  }
}

/** @returns undefined where the lock is gone @throws RevconvertError PERMISSION, SYSTEM: it cannot be read */
function readLock(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    if (code !== 'EINVAL') throw toRevconvertError(error, { path });
  }
  return readSmallFile(path)?.toString('utf8');
}

/** Removes the lock of a dead process of this host and PID namespace, guarded by a lock on the lock. */
function breakStale(path: string, text: string, own: LockHolder): boolean {
  const holder = parseLockText(text);
  if (holder?.host !== own.host || isAlive(holder.pid)) return false;
  const guard = `${path}.break`;
  try {
    createLock(guard, formatLockText(own));
  } catch {
    return false;
  }
  try {
    if (readLock(path) === text) unlinkSync(path);
    return true;
  } finally {
    unlinkSync(guard);
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}

const POLL_MILLISECONDS = 1000;

async function waitTurn(path: string, text: string, end: number, signal: AbortSignal | undefined): Promise<void> {
  const left = end - Date.now();
  if (left <= 0) throw new RevconvertError('LOCKED', `timed out waiting for the lock held by ${text.trim()}`, { path });
  await delay(Math.min(left, POLL_MILLISECONDS), undefined, signal === undefined ? {} : { signal });
}
