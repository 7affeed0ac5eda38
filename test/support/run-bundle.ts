/** Runs `revconvert bundle` as a script does, with bytes for its standard input. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';

import type { ErrorCode } from '../../src/errors.js';
import { COMMAND } from './commands.js';

export interface BundleRun {
  readonly status: number | null;
  readonly stdout: Buffer;
  readonly stderr: string;
}

export interface RunOptions {
  /** For standard input. @default nothing */
  readonly input?: Buffer;
  readonly cwd?: string;
  /** The user who runs it. */
  readonly uid?: number | undefined;
}

export function runBundle(args: readonly string[], { input = Buffer.alloc(0), cwd, uid }: RunOptions = {}): BundleRun {
  const { status, stdout, stderr } = spawnSync(process.execPath, [COMMAND, 'bundle', ...args], { input, cwd, maxBuffer: 1 << 28, ...(uid === undefined ? {} : { uid, gid: uid }) });
  return { status, stdout, stderr: stderr.toString() };
}

/** It did what it was told to, without a word. @returns what it wrote on standard output */
export function assertDone({ status, stdout, stderr }: BundleRun, said = ''): Buffer {
  assert.equal(stderr, said);
  assert.equal(status, 0);
  return stdout;
}

/** It failed in one line, with a hint. @returns that line */
export function assertRefused({ status, stderr }: BundleRun, expected: { readonly status: number; readonly code: ErrorCode; readonly message?: RegExp }): string {
  const [line = '', hint = '', ...rest] = stderr.split('\n');
  assert.ok(line.startsWith(`revconvert: ${expected.code}: `), stderr);
  assert.match(hint, /^hint: ./);
  assert.deepEqual(rest, ['']);
  assert.equal(status, expected.status);
  if (expected.message !== undefined) assert.match(line, expected.message);
  return line;
}
