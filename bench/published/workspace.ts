import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { convertRepository } from '../../src/repository/convert.js';
import type { ConvertOptions } from '../../src/repository/options.js';
import type { ConversionSummary } from '../../src/repository/summary.js';

export interface WorkspaceOptions {
  /** The folder with `medium.hg`. */
  readonly data: string;
  /** Revisions of the long chain. */
  readonly chainRevisions: number;
  /** A repository that long_chain.py made; undefined: one is made. */
  readonly chain: string | undefined;
  /** Timed runs of everything, one after the other in turns. */
  readonly rounds: number;
}

/** What the tables have in common. */
export interface Workspace {
  readonly rounds: number;
  readonly hg: Mercurial;
  /** The history of medium.hg: zlib, generaldelta, sparse-revlog, as Mercurial stores it. */
  readonly medium: string;
  /** The same without filelogs: changelog and manifest only. */
  readonly bare: string;
  /** One chain of a manifest of 130,558 entries; made when it is asked for. */
  readonly longChain: () => string;
  /** Converts into a new folder. */
  readonly convert: (source: string, options: ConvertOptions) => Promise<Converted>;
  readonly remove: (...folders: readonly string[]) => void;
}

export interface Converted {
  readonly folder: string;
  readonly summary: ConversionSummary;
}

export interface Mercurial {
  readonly version: string;
  readonly run: (...args: readonly string[]) => string;
  /** What a Python script prints in Mercurial's process, with `repo`; undefined where its `debugshell` takes no command (6.3 and before). */
  readonly runScript: (repository: string, script: string) => string | undefined;
}

/** @throws Error where it does not run */
export function findMercurial(command = process.env['HG_NEWEST'] ?? 'hg'): Mercurial {
  // Mercurial writes the names of files as its hash tables have them: with the same seed in the same order each time.
  const env = { ...process.env, HGRCPATH: '', HGPLAIN: '1', PYTHONHASHSEED: '0' };
  const run = (...args: readonly string[]): string => execFileSync(command, args, { env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'], maxBuffer: 1 << 26 });
  // As an expression: debugshell takes one statement.
  const runScript = (repository: string, script: string): string | undefined => {
    try {
      return run('-R', repository, 'debugshell', '-c', `exec(${JSON.stringify(script)})`);
    } catch (error) {
      if (!(error as Error).message.includes('option -c not recognized')) throw error;
      return undefined;
    }
  };
  return { run, runScript, version: /version ([^)]+)\)/.exec(run('--version', '-q'))?.[1] ?? 'unknown' };
}

export const bundleOf = (data: string): string => join(data, 'medium.hg');
export const chainMakerOf = (data: string): string => join(data, '../tools/long_chain.py');

/** Makes a folder below TMPDIR; it is gone when the process ends. */
export function createTemporaryFolder(bench: string): string {
  const folder = mkdtempSync(join(tmpdir(), `revconvert-${bench}-`));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));
  return folder;
}

/** Makes a repository of a bundle: generaldelta, sparse-revlog, as Mercurial stores it. */
export function unbundle(hg: Mercurial, bundle: string, repository: string, compression: 'zlib' | 'zstd' = 'zlib'): void {
  hg.run('init', '--config', `format.revlog-compression=${compression}`, repository);
  hg.run('-R', repository, 'unbundle', '-q', bundle);
}

/** Makes the folder that everything is in, below TMPDIR; it is gone when the process ends. */
export function createWorkspace({ data, chainRevisions, chain, rounds }: WorkspaceOptions): Workspace {
  const folder = createTemporaryFolder('published');
  const hg = findMercurial();
  const medium = join(folder, 'medium');
  unbundle(hg, bundleOf(data), medium);
  let made = chain;
  let count = 0;
  return {
    rounds,
    hg,
    medium,
    bare: withoutFilelogs(medium, join(folder, 'bare')),
    longChain() {
      if (made !== undefined) return made;
      made = join(folder, 'chain');
      execFileSync('python3', [chainMakerOf(data), made, '--revs', String(chainRevisions)], { stdio: ['ignore', 'ignore', 'inherit'] });
      return made;
    },
    async convert(source, options) {
      const destination = join(folder, `converted-${count++}`);
      const summary = await convertRepository(source, destination, { check: 'none', jobs: 1, ...options });
      return { folder: destination, summary };
    },
    remove(...folders) {
      for (const one of folders) rmSync(one, { recursive: true });
    },
  };
}

const CHANGELOG = ['requires', 'store/requires', '00changelog.i', 'store/00changelog.i', 'store/00changelog.d'];
const MANIFEST = ['store/00manifest.i', 'store/00manifest.d'];

const withoutFilelogs = (source: string, destination: string): string => copyFiles(source, destination, [...CHANGELOG, ...MANIFEST]);

/** Makes a repository that has the changelog of another, and nothing else. @returns its folder */
export const copyChangelog = (source: string, destination: string): string => copyFiles(source, destination, CHANGELOG);

function copyFiles(source: string, destination: string, names: readonly string[]): string {
  mkdirSync(join(destination, '.hg/store'), { recursive: true });
  for (const name of names) if (existsSync(join(source, '.hg', name))) cpSync(join(source, '.hg', name), join(destination, '.hg', name));
  writeFileSync(join(destination, '.hg/store/fncache'), '');
  return destination;
}
