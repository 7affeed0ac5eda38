import { writeSync } from 'node:fs';

import { RevconvertError } from '../errors.js';
import { EXIT } from './exit-status.js';

/** What Node ends with where nothing is left to do, and the work is not done. */
const UNSETTLED = 13;

const STANDARD_ERROR = 2;

/** Whether modules of the user's own run in this process. */
export const runsForeignCode = (argv: readonly string[]): boolean => argv.some((argument) => argument === '--filter' || argument.startsWith('--filter='));

/** What happens beside the work. */
export interface Strays {
  /** An error that nobody caught; undefined: there was none. */
  readonly failure: () => RevconvertError | undefined;
  /** The work is done: nothing is watched any more. */
  readonly done: () => void;
}

/**
 * Watches for errors that nobody catches, and for the end of the process before the work is done: what is half made is to be removed,
 * and no status may say that all is well. Both come from modules of the user's own, or are bugs.
 * @param stop called at the first error
 */
export function watchStrays(argv: readonly string[], stop: () => void): Strays {
  const [code, who] = runsForeignCode(argv) ? (['FILTER_MODULE', 'a filter'] as const) : (['INTERNAL', 'something'] as const);
  let failure: RevconvertError | undefined;
  const onError = (error: unknown): void => {
    failure ??= new RevconvertError(code, `${who} threw where nobody catches: ${error instanceof Error ? error.message : String(error)}`, {}, { cause: error });
    stop();
  };
  const onExit = (status: number): void => {
    if (status !== EXIT.done && status !== UNSETTLED) return;
    writeSync(STANDARD_ERROR, `revconvert: ${code}: ${who} ended the process before its work was done\n`);
    process.exitCode = code === 'INTERNAL' ? EXIT.bug : EXIT.usage;
  };
  process.on('uncaughtException', onError);
  process.on('exit', onExit);
  return {
    failure: () => failure,
    done: () => {
      process.off('uncaughtException', onError);
      process.off('exit', onExit);
    },
  };
}
