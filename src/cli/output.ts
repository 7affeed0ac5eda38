import type { RevconvertError } from '../errors.js';
import { describeError } from '../errors.js';

/** A line for a person, on standard error. */
export const say = (line: string): void => {
  process.stderr.write(`${line}\n`);
};

/** The result, on standard output. */
export const sayResult = (text: string): void => {
  process.stdout.write(`${text}\n`);
};

/** An error: one line and a hint on standard error, or JSON on standard output. */
export function sayError(error: RevconvertError, json: boolean): void {
  if (json) {
    sayResult(JSON.stringify({ error: error.toJSON() }));
    return;
  }
  say(`revconvert: ${error.code}: ${describeError(error).replace(/\s*\n\s*/g, ' ')}`);
  say(`hint: ${error.hint}`);
  if (error.kind === 'bug' && process.env['REVCONVERT_TRACE'] !== undefined) {
    say(error.cause instanceof Error ? (error.cause.stack ?? '') : (error.stack ?? ''));
  }
}
