import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { median } from '../src/report/perf-samples.js';

/** What one run of a command took: the whole process, all threads. */
export interface Measurement {
  /** Seconds. */
  readonly wall: number;
  /** Seconds of all cores, user and system. */
  readonly cpu: number;
  /** Largest resident size, in megabytes. */
  readonly memory: number;
}

/**
 * Runs a command and measures it with GNU time.
 * @param source what writes to its standard input, and is not measured; its output goes through a pipe then, and nowhere
 * @throws Error where the command fails, or GNU time is missing
 */
export function measure(command: readonly string[], env: NodeJS.ProcessEnv = process.env, source?: readonly string[]): Measurement {
  const folder = mkdtempSync(join(tmpdir(), 'revconvert-bench-'));
  try {
    const report = join(folder, 'time');
    const timed = ['/usr/bin/time', '-f', '%e %U %S %M', '-o', report, ...command];
    const [program = '', ...args] = source === undefined ? timed : ['bash', '-c', `set -o pipefail; ${quoted(source)} | ${quoted(timed)} | cat >/dev/null`];
    const run = spawnSync(program, args, { env, encoding: 'utf8', maxBuffer: 1 << 26 });
    if (run.error !== undefined) throw new Error('GNU time is needed: apt-get install time', { cause: run.error });
    if (run.status !== 0) throw new Error(`${command.join(' ')}: status ${run.status ?? 'none'}\n${run.stdout}${run.stderr}`);
    const [wall, user, system, kilobytes] = (readFileSync(report, 'utf8').trim().split('\n').at(-1) ?? '').split(' ').map(Number);
    return { wall: wall ?? NaN, cpu: (user ?? NaN) + (system ?? NaN), memory: (kilobytes ?? NaN) / 1024 };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A command for a shell. */
export const quoted = (command: readonly string[]): string => command.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ');

/** `1.23 (1.20-1.31)`: median and range. */
export const spread = (values: readonly number[], digits = 2): string =>
  `${median(values).toFixed(digits)} (${Math.min(...values).toFixed(digits)}-${Math.max(...values).toFixed(digits)})`;

export { median };
