import type { ErrorKind } from '../errors.js';

/** What the command ends with. */
export const EXIT = {
  done: 0,
  /** Finished, but with something to report: damage carried over. */
  warnings: 1,
  usage: 2,
  input: 3,
  system: 4,
  /** A bug of ours: EX_SOFTWARE of sysexits.h. */
  bug: 70,
  cancelled: 130,
} as const satisfies Record<ErrorKind | 'done' | 'warnings', number>;
