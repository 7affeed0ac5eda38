/** Repositories with zstd dictionaries, made by Mercurial itself, and what their chunks look like. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, sep } from 'node:path';

import { openRevlog } from '../../src/index.js';
import { configArguments, hgEnvironment, runHgOk } from './hg-session.js';
import { PROJECT_ROOT, supportFile } from './paths.js';

/** Loads the extension under test. */
export const WITH_DICTIONARIES = [`extensions.revlogdict=${join(PROJECT_ROOT, 'contrib', 'hg', 'revlogdict.py')}`];

export interface DictionaryOptions {
  /** Two seeds make two sets of dictionaries under the same IDs. @default 1 */
  readonly seed?: number;
  /** ID of the first of three: changelog, manifest, filelog. @default 1 */
  readonly first?: number;
  /** As in index.json. */
  readonly suffixes?: Readonly<Record<string, number>>;
}

/** Gives a repository dictionaries; its chunks stay as they are. */
export function addDictionaries(hg: string, repository: string, options: DictionaryOptions = {}): void {
  const { seed = 1, first = 1, suffixes = {} } = options;
  const config = [`extensions.makedictionaries=${supportFile('make_dictionaries.py')}`];
  const args = ['--seed', String(seed), '--first', String(first), '--suffixes', JSON.stringify(suffixes)];
  runHgOk(hg, ['makedictionaries', ...args], { cwd: repository, config });
}

/** Compresses all chunks anew. */
export function recompressAll(hg: string, repository: string, config: readonly string[] = []): string {
  const args = ['debugupgraderepo', '--run', '--no-backup', '--optimize', 're-delta-all'];
  return runHgOk(hg, args, { cwd: repository, config: [...WITH_DICTIONARIES, ...config] });
}

const ZSTD_MAGIC = Buffer.from('28b52ffd', 'hex');

/** The dictionary ID of a zstd frame, 0 for none. */
function dictionaryOf(frame: Buffer): number {
  const descriptor = frame[4] ?? 0;
  const length = [0, 1, 2, 4][descriptor & 3] ?? 0;
  return length === 0 ? 0 : frame.readUIntLE((descriptor & 0x20) === 0 ? 6 : 5, length);
}

/** The IDs of all that looks like a zstd frame, in the order in which they first appear. */
export function dictionariesIn(bytes: Buffer): number[] {
  const found = new Set<number>();
  for (let at = bytes.indexOf(ZSTD_MAGIC); at >= 0 && at + 10 < bytes.length; at = bytes.indexOf(ZSTD_MAGIC, at + 4)) {
    found.add(dictionaryOf(bytes.subarray(at)));
  }
  return [...found];
}

const kindOf = (name: string): string => {
  if (name === '00changelog.i') return 'changelog';
  return name.endsWith('00manifest.i') ? 'manifest' : 'filelog';
};

function* storedChunks(store: string): Generator<{ kind: string; name: string; chunk: Buffer }, void, void> {
  const files = readdirSync(store, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.i'));
  for (const file of files.map((name) => name.split(sep).join('/')).sort()) {
    const indexFile = join(store, file);
    const revlog = openRevlog({ indexFile, dataFile: `${indexFile.slice(0, -1)}d` });
    for (const { revisions } of revlog.batches()) {
      for (const { chunk } of revisions) yield { kind: kindOf(file), name: file, chunk: Buffer.from(chunk) };
    }
    revlog.close();
  }
}

/** How many zstd frames a store has, by kind of revlog and dictionary: `manifest 2`. */
export function countFrames(repository: string, only = ''): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { kind, name, chunk } of storedChunks(join(repository, '.hg', 'store'))) {
    if (!name.endsWith(only) || !chunk.subarray(0, 4).equals(ZSTD_MAGIC)) continue;
    const key = `${kind} ${dictionaryOf(chunk)}`;
    counts[key] = (counts[key] ?? 0) + 1;
  }
  return counts;
}

/** The dictionaries that the chunks of a store need, 0 for frames without one. */
export const dictionariesUsed = (repository: string): number[] =>
  [...new Set(Object.keys(countFrames(repository)).map((key) => Number(key.split(' ')[1])))].sort((a, b) => a - b);

/** The requirements of a repository, those of its store among them. */
export const requirements = (repository: string): string[] =>
  ['requires', 'store/requires'].flatMap((name) => readFileSync(join(repository, '.hg', name), 'utf8').trim().split('\n'));

/** A script that does something with the arguments it is given. */
export function writeScript(file: string, line: string): string {
  writeFileSync(file, `#!/bin/sh\n${line}\n`);
  chmodSync(file, 0o755);
  return file;
}

async function firstLine(server: ChildProcess): Promise<string> {
  let text = '';
  const { stdout, stderr } = server;
  stderr?.on('data', (bytes: Buffer) => (text += bytes.toString()));
  return new Promise((resolve, reject) => {
    stdout?.on('data', (bytes: Buffer) => {
      text += bytes.toString();
      const line = /^(http:.*)\n/m.exec(text)?.[1];
      if (line !== undefined) resolve(line.trim());
    });
    server.on('close', () => reject(new Error(`hg serve ended\n${text}`)));
  });
}

/** Serves the repositories of a folder by one process for as long as the work takes. */
export async function withServer(hg: string, folder: string, work: (url: string) => void | Promise<void>): Promise<void> {
  const web = join(folder, 'hgweb.conf');
  writeFileSync(web, `[paths]\n/ = ${folder}/*\n[web]\npush_ssl = no\nallow-push = *\n`);
  const args = [...configArguments(WITH_DICTIONARIES), 'serve', '--web-conf', web, '-a', '127.0.0.1', '-p', '0', '--print-url', '-A', '/dev/null'];
  const server = spawn(hg, args, { cwd: folder, env: hgEnvironment(), stdio: ['ignore', 'pipe', 'pipe'] });
  try {
    await work(await firstLine(server));
  } finally {
    const closed = once(server, 'close');
    if (server.exitCode === null && server.kill()) await closed;
  }
}
