/** Dictionaries for tests, made by the zstd program itself, and stores that have some. No code under test is used. */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { appendFileSync, chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';

import type { Context } from 'mocha';

import { createRandom } from './random.js';

/** Whether the program that trains dictionaries is there. */
export const hasZstd = spawnSync('zstd', ['--version']).status === 0;

/** For the body of a test or hook: skips it where there is no zstd program, and says so. */
export function requireZstd(context: Context): void {
  if (hasZstd) return;
  if (process.env['CI'] === 'true') throw new Error('no zstd program: install it');
  process.stderr.write('      skipped: no zstd program\n');
  context.skip();
}

const WORDS = ['return', 'buffer', 'offset', 'length', 'parent', 'struct', 'static', 'result', 'const', 'while', 'index', 'size_t'];

/** Text like source code, the same for the same seed: short, and alike between seeds. */
export function codeText(seed: number, lines = 6): Buffer {
  const random = createRandom(seed + 1);
  const word = (): string => WORDS[random(WORDS.length)] ?? '';
  const line = (): string => `    ${word()} ${word()}_${random(50)} = find_the_${word()}(${word()}, ${random(90)});\n`;
  return Buffer.from(Array.from({ length: lines }, line).join(''));
}

export interface TrainOptions {
  readonly id?: number;
  readonly size?: number;
  readonly seed?: number;
}

const trained = new Map<string, Buffer>();

/** A dictionary that the zstd program trains on texts like those of {@link codeText}. */
export function trainByProgram({ id = 7, size = 2048, seed = 1000 }: TrainOptions = {}): Buffer {
  const key = JSON.stringify([id, size, seed]);
  const known = trained.get(key);
  if (known !== undefined) return Buffer.from(known);
  const folder = mkdtempSync(join(tmpdir(), 'revconvert-test-'));
  try {
    const names = Array.from({ length: 300 }, (_, i) => {
      writeFileSync(join(folder, `${i}`), codeText(seed + i));
      return `${i}`;
    });
    const { status, stderr } = spawnSync('zstd', ['-q', '--train', ...names, `--maxdict=${size}`, `--dictID=${id}`, '-T1', '-o', 'dictionary'], { cwd: folder, encoding: 'utf8' });
    if (status !== 0) throw new Error(`zstd --train: ${stderr}`);
    const bytes = readFileSync(join(folder, 'dictionary'));
    trained.set(key, bytes);
    return Buffer.from(bytes);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The same dictionary with another ID. */
export function withId(dictionary: Uint8Array, id: number): Buffer {
  const copy = Buffer.from(dictionary);
  copy.writeUInt32LE(id, 4);
  return copy;
}

/** Header and all are as they should be, but that the entropy tables are rubbish: zstd does not take it. */
export function withBadTables(dictionary: Uint8Array): Buffer {
  const copy = Buffer.from(dictionary);
  copy.fill(0xff, 8, 40);
  return copy;
}

/** Runs the zstd program over bytes with a dictionary. */
export function zstdWith(dictionary: Uint8Array, args: readonly string[], input: Uint8Array): { status: number | null; output: Buffer } {
  const folder = mkdtempSync(join(tmpdir(), 'revconvert-test-'));
  try {
    writeFileSync(join(folder, 'dictionary'), dictionary);
    writeFileSync(join(folder, 'input'), input);
    const { status, stdout } = spawnSync('zstd', ['-q', ...args, '-D', 'dictionary', '-c', 'input'], { cwd: folder, maxBuffer: 64 << 20 });
    return { status, output: stdout };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

export const DICTIONARY_REQUIREMENT = 'exp-revlog-zstd-dictionary.1';

export interface PutDictionary {
  readonly id: number;
  readonly bytes: Uint8Array;
  readonly kind?: string;
}

/** Writes dictionaries into a store, with an index that tells the truth unless it is changed. */
export function putDictionaries(store: string, dictionaries: readonly PutDictionary[], write: object = {}, change: (index: Record<string, unknown>) => unknown = (index) => index): string {
  const folder = join(store, 'revlog-dictionaries');
  mkdirSync(folder, { recursive: true });
  for (const { id, bytes } of dictionaries) writeFileSync(join(folder, `${id}.zdict`), bytes);
  const entries = dictionaries.map(({ id, bytes, kind = 'any' }) => ({ id, kind, bytes: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') }));
  writeFileSync(join(folder, 'index.json'), JSON.stringify(change({ version: 1, dictionaries: entries, write })));
  return folder;
}

/** Gives a repository of zstd chunks dictionaries that no chunk uses yet. */
export function giveDictionaries(hg: string, dictionaries: readonly PutDictionary[], write: object = {}): string {
  const folder = putDictionaries(join(hg, 'store'), dictionaries, write);
  const requires = join(hg, 'store', 'requires');
  const known = readFileSync(requires, 'utf8').split('\n');
  for (const name of ['revlog-compression-zstd', DICTIONARY_REQUIREMENT]) if (!known.includes(name)) appendFileSync(requires, `${name}\n`);
  return folder;
}

/** A program called `zstd` that does as the script says, and the PATH that finds it first. */
export function fakeZstd(folder: string, script: string): string {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'zstd'), `#!/bin/sh\n[ "$1" = --version ] && exit 0\n${script}\n`);
  chmodSync(join(folder, 'zstd'), 0o755);
  return `${folder}${delimiter}${process.env['PATH'] ?? ''}`;
}
