import type { RevconvertError } from '../errors.js';
import { describeError, toRevconvertError } from '../errors.js';
import { showable } from '../repository/byte-path.js';
import { EXIT } from './exit-status.js';

/**
 * To be called once, before anything is said. A reader that goes away (`| head`, a terminal that is closed) is no error,
 * and must not stop what is under way; a result that cannot be written is one, and there is nothing left to do after it.
 */
export function watchOutput(): void {
  process.stderr.on('error', () => undefined);
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') return;
    say(`revconvert: ${toRevconvertError(error).code}: standard output: ${error.message}`);
    process.exit(EXIT.system);
  });
}

/** A line for a person, on standard error. */
export const say = (line: string): void => {
  process.stderr.write(`${showable(line)}\n`);
};

/** The result, on standard output. */
export const sayResult = (text: string): void => {
  process.stdout.write(`${text}\n`);
};

/**
 * An error: one line and a hint on standard error, or JSON on standard output.
 * @param command whose help is meant where a hint speaks of help
 */
export function sayError(error: RevconvertError, json: boolean, command: string): void {
  if (json) {
    sayResult(JSON.stringify({ error: error.toJSON() }));
    return;
  }
  say(`revconvert: ${error.code}: ${describeError(error).replace(/\s*\n\s*/g, ' ')}`);
  say(`hint: ${error.hint.replace('`revconvert --help`', `\`${command} --help\``)}`);
  if (error.kind === 'bug' && process.env['REVCONVERT_TRACE'] !== undefined) {
    process.stderr.write(`${(error.cause instanceof Error ? error.cause : error).stack ?? ''}\n`);
  }
}
