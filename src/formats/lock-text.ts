/**
 * The text of Mercurial's locks (`.hg/wlock`, `.hg/store/lock`): the target of a symbolic link, or the content of a file
 * where there are none. `host:pid`; on Linux `host/pidns:pid`, with the inode of the pid namespace in hex.
 * Format facts: observed with Mercurial 6.3 and 7.2.
 */

/** Who holds a lock. */
export interface LockHolder {
  /** Host name, with `/` and the pid namespace where known (`box/effffffc`): the pid means something only there. */
  readonly host: string;
  readonly pid: number;
}

const LOCK_TEXT = /^([^:\r\n]+):([1-9][0-9]{0,9})\n?$/;

/**
 * @param text the text of a lock; one newline at the end is accepted
 * @returns who holds it; undefined for any other text. A pid of 0 is refused: signalled, it would mean the own group.
 */
export function parseLockText(text: string): LockHolder | undefined {
  const [, host, pid] = LOCK_TEXT.exec(text) ?? [];
  return host === undefined || pid === undefined ? undefined : { host, pid: Number(pid) };
}

/**
 * @param holder who holds the lock
 * @returns the text as Mercurial writes it, without a newline
 */
export const formatLockText = ({ host, pid }: LockHolder): string => `${host}:${pid}`;
