/** What the tests of whole repositories share: scratch folders, pictures of trees, and what to expect of a failure. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';

import { RevconvertError } from '../../src/errors.js';
import type { ConversionSummary, ConvertOptions, ErrorCode, Revision, RevisionBatch } from '../../src/index.js';
import { convertRepository, decompress, readRevlog } from '../../src/index.js';
import { PROJECT_ROOT } from '../support/paths.js';
import { useTempFolder } from '../support/temp-folder.js';

/** The compiled command. */
export const COMMAND = join(PROJECT_ROOT, 'dist', 'bin', 'revconvert.js');

/** A folder for each test, gone after it. */
export class Scratch {
  private constructor(private readonly folder: () => string) {}

  get root(): string {
    return this.folder();
  }

  at(...names: readonly string[]): string {
    return join(this.root, ...names);
  }

  /** To be called in a `describe`. */
  static use(): Scratch {
    return new Scratch(useTempFolder());
  }
}

/** Every entry below a folder: its kind, mode and content. Two equal pictures: byte for byte the same trees. */
export function picture(root: string): Record<string, string> {
  const entries: Record<string, string> = {};
  const visit = (name: string): void => {
    const path = join(root, name);
    const found = lstatSync(path);
    const mode = (found.mode & 0o7777).toString(8);
    if (found.isSymbolicLink()) entries[name] = `link to ${readlinkSync(path)}`;
    else if (found.isFile()) entries[name] = `${mode} file ${createHash('sha1').update(readFileSync(path)).digest('hex')}`;
    else entries[name] = `${mode} ${found.isDirectory() ? 'folder' : 'special'}`;
    if (!found.isDirectory()) return;
    for (const child of readdirSync(path).sort()) visit(name === '' ? child : `${name}/${child}`);
  };
  visit('');
  return entries;
}

/** What an error has to be; `path` by its end, since folders of tests have random names. */
export interface ExpectedError {
  readonly code: ErrorCode;
  readonly path?: string;
  readonly rev?: number;
  readonly offset?: number;
  readonly message?: RegExp;
}

type Found = Pick<RevconvertError, 'code' | 'message' | 'at'>;

/** Compares an error, or its JSON, with what is expected: code, path, revision and offset. */
export function assertError(found: Found, expected: ExpectedError): void {
  const said = `${found.code}: ${found.message} ${JSON.stringify(found.at)}`;
  assert.equal(found.code, expected.code, said);
  assert.equal(found.at.rev, expected.rev, said);
  if (expected.offset !== undefined) assert.equal(found.at.offset, expected.offset, said);
  if (expected.path === undefined) assert.equal(found.at.path, undefined, said);
  else assert.ok(found.at.path?.endsWith(expected.path), said);
  if (expected.message !== undefined) assert.match(found.message, expected.message);
}

/** Waits for a failure and returns it. */
export async function failureOf(action: Promise<unknown>): Promise<RevconvertError> {
  try {
    await action;
  } catch (error) {
    assert.ok(error instanceof RevconvertError, String(error));
    return error;
  }
  assert.fail('it did not fail');
}

/** Waits for a failure, and compares it. */
export async function assertFails(action: Promise<unknown>, expected: ExpectedError): Promise<void> {
  assertError(await failureOf(action), expected);
}

/** The failure of a plain function. */
export function assertThrows(action: () => unknown, expected: ExpectedError): void {
  assert.throws(action, (error) => {
    assert.ok(error instanceof RevconvertError, String(error));
    assertError(error, expected);
    return true;
  });
}

/** Converts to zstd in this thread, unless told otherwise. */
export const convert = (from: string, to: string, options: ConvertOptions = {}): Promise<ConversionSummary> =>
  convertRepository(from, to, { to: 'zstd', jobs: 1, ...options });

export interface Outcome {
  readonly status: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CommandOptions {
  readonly uid?: number;
  readonly env?: Readonly<Record<string, string>>;
  /** Called with what was written on standard error so far. */
  readonly onStderr?: (text: string, kill: (signal: NodeJS.Signals) => void) => void;
}

/** Runs the command itself. */
export function runCommand(args: readonly string[], options: CommandOptions = {}): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const { uid, env, onStderr } = options;
    const child = spawn(process.execPath, [COMMAND, ...args], {
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      ...(uid === undefined ? {} : { uid, gid: uid }),
    });
    let stdout = '';
    let stderr = '';
    child.stdout.on('data', (bytes: Buffer) => (stdout += bytes.toString()));
    child.stderr.on('data', (bytes: Buffer) => {
      stderr += bytes.toString();
      onStderr?.(stderr, (signal) => child.kill(signal));
    });
    child.once('error', reject);
    child.once('close', (status, signal) => resolve({ status, signal, stdout, stderr }));
  });
}

/** Whether this process may do what only root may. */
export const isRoot = process.getuid?.() === 0;

/** A user that owns nothing. */
export const NOBODY = 65534;

/** Nothing is there, not even a link to nowhere. */
export const assertGone = (path: string): void => assert.equal(lstatSync(path, { throwIfNoEntry: false }), undefined, path);

/** Writes bytes over others in a file, at a place. */
export function patch(path: string, at: number, bytes: Uint8Array): void {
  const file = readFileSync(path);
  file.set(bytes, at);
  writeFileSync(path, file);
}

/** A signed 32-bit field, as revlogs have it. */
export function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}

/** A 48-bit offset. */
export function uint48(value: number): Buffer {
  const bytes = Buffer.alloc(6);
  bytes.writeUIntBE(value, 0, 6);
  return bytes;
}

/** One revision as it is read again. */
export type ReadRevision = Pick<Revision, 'rev' | 'node' | 'p1' | 'p2' | 'linkRev' | 'flags' | 'rawSize' | 'deltaBase' | 'chunk' | 'delta' | 'damaged'>;

/** Reads a revlog with all of its chunks decoded. Those that cannot be decoded are `damaged`; without `tolerant` they are an error. */
export async function readBack(indexFile: string, tolerant = false): Promise<ReadRevision[]> {
  const onDamage = tolerant ? (): void => undefined : undefined;
  const revisions: ReadRevision[] = [];
  const files = { indexFile, dataFile: `${indexFile.slice(0, -1)}d`, onDamage };
  await pipeline(readRevlog(files), decompress({ onDamage }), async (batches: AsyncIterable<RevisionBatch>) => {
    for await (const batch of batches) revisions.push(...batch.revisions);
  });
  return revisions;
}

/** What must not change in a conversion: everything but the chunk. */
export const meaningOf = (revisions: readonly ReadRevision[]): unknown[] =>
  revisions.map(({ node, p1, p2, linkRev, flags, deltaBase, delta }) => ({
    node: Buffer.from(node).toString('hex'),
    parents: [p1, p2],
    linkRev,
    flags,
    deltaBase,
    delta: delta === undefined ? undefined : createHash('sha1').update(delta).digest('hex'),
  }));
