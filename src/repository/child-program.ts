/** What running another program has in common, whichever it is. */

import { type ErrorCode, RevconvertError } from '../errors.js';

/** The last of what a program says is kept. */
const MAX_SAID = 1 << 14;

/** @returns a function that gives the end of what a program has said on this stream */
export function collectSaid(stream: NodeJS.ReadableStream): () => string {
  let said = '';
  stream.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(-MAX_SAID);
  });
  return () => said;
}

/** @returns the last line of what a program said, of at most 200 characters */
export const lastLine = (said: string): string => said.trim().split(/[\r\n]+/).at(-1)?.slice(0, 200) ?? '';

/**
 * @param error that starting a program gave
 * @param program for the message: which, and what it is for
 * @returns an error with this code where the program is not there, or may not be run; otherwise the error itself
 */
export function notStarted(error: NodeJS.ErrnoException, code: ErrorCode, program: string): Error {
  const what = error.code === 'ENOENT' ? 'is not there' : error.code === 'EACCES' ? 'may not be run' : undefined;
  return what === undefined ? error : new RevconvertError(code, `the program ${program}, ${what}`, {}, { cause: error });
}

/** For good, and whatever it started: a script in place of the program may ignore a request, or be waited for by nobody. */
export function killGroup(leader: number | undefined): void {
  try {
    if (leader !== undefined) process.kill(-leader, 'SIGKILL');
  } catch {
    // It is gone.
  }
}
