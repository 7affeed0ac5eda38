/** Runs commands as a person would, in a shell. */
import { spawnSync } from 'node:child_process';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { PROJECT_ROOT } from './paths.js';

/** The command, as it was built. */
export const COMMAND = join(PROJECT_ROOT, 'dist', 'bin', 'revconvert.js');

export interface ShellResult {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Runs a line in a shell.
 * @param env added to the environment
 * @param cwd @default the root of the project
 */
export function shell(line: string, env: NodeJS.ProcessEnv = {}, cwd = PROJECT_ROOT): ShellResult {
  const { status, stdout, stderr } = spawnSync('sh', ['-c', line], {
    cwd,
    env: { ...process.env, ...env },
    encoding: 'utf8',
    maxBuffer: 1 << 26,
  });
  return { status, stdout, stderr };
}

/** Puts the command, by its name, in a folder. @returns the PATH with that folder in front */
export function pathWithCommand(folder: string): string {
  const file = join(folder, 'revconvert');
  writeFileSync(file, `#!/bin/sh\nexec "${process.execPath}" "${COMMAND}" "$@"\n`);
  chmodSync(file, 0o755);
  return `${folder}:${process.env['PATH'] ?? ''}`;
}
