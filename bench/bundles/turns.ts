import { execFileSync } from 'node:child_process';

import { HG_ENV } from '../cases.js';
import { bytes, speedup, times } from '../dictionaries/part.js';
import type { Measurement } from '../measure.js';
import { measure, spread } from '../measure.js';
import type { Grid } from '../published/reproduction.js';
import type { Workspace } from './workspace.js';

/** A command that is measured. */
export interface Contender {
  readonly name: string;
  /** @param made the path of what it makes, where it makes something: nothing is there yet */
  readonly command: (made: string) => readonly string[];
}

/** All runs of a command. */
export interface Result {
  readonly name: string;
  readonly runs: readonly Measurement[];
  /** Of what it made; undefined: it made nothing. */
  readonly bytes: number | undefined;
}

/**
 * Runs commands in turns, in one order and in the other.
 * @param look looks at what a command made in the first round. @returns its bytes
 */
export function runInTurns({ rounds, newPath, remove }: Workspace, contenders: readonly Contender[], look?: (made: string, name: string) => number): Result[] {
  const results = contenders.map((contender) => ({ contender, name: contender.name, runs: [] as Measurement[], bytes: undefined as number | undefined }));
  for (let round = 0; round < rounds; round++) {
    for (const result of round % 2 === 0 ? results : results.toReversed()) {
      const made = newPath();
      // What earlier runs left to be written must not be written on this one's time.
      execFileSync('sync');
      result.runs.push(measure(result.contender.command(made), HG_ENV));
      if (round === 0) result.bytes = look?.(made, result.name);
      remove(made);
    }
  }
  return results;
}

/** One figure of all runs. */
export const column = (result: Result | undefined, figure: keyof Measurement): number[] => (result?.runs ?? []).map((run) => run[figure]);

/** How many times as fast as another, or how many times less: the median of the ratios pair by pair. */
export const ratio = (own: Result | undefined, other: Result | undefined, figure: keyof Measurement): number => speedup(column(own, figure), column(other, figure));

/**
 * Wall time, processor time and memory, against one of the commands.
 * @param made what is said of the bytes that were made; undefined: nothing is
 */
export const compareResults = (results: readonly Result[], reference: Result | undefined, made?: string): Grid => ({
  head: ['command', 'wall s', 'times as fast', 'CPU s', 'times less', 'peak MB', ...(made === undefined ? [] : [made])],
  rows: results.map((result) => [
    result.name,
    spread(column(result, 'wall')),
    times(ratio(result, reference, 'wall')),
    spread(column(result, 'cpu')),
    times(ratio(result, reference, 'cpu')),
    spread(column(result, 'memory'), 0),
    ...(made === undefined ? [] : [result.bytes === undefined ? '' : bytes(result.bytes)]),
  ]),
});
