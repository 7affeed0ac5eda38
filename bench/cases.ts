import { execFileSync } from 'node:child_process';
import { cpSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import type { Measurement } from './measure.js';
import { measure } from './measure.js';

export const COMMAND = fileURLToPath(new URL('../bin/revconvert.js', import.meta.url));
export const HG_ENV = { ...process.env, HGRCPATH: '', HGPLAIN: '1' };
export const HG = process.env['HG_NEWEST'] ?? 'hg';

/** One command of a case. */
export interface Contender {
  readonly name: string;
  /** Runs it; what it makes, if anything, goes to the folder given. */
  readonly run: (repository: string, folder: string) => Measurement;
}

/** Commands that do the same, measured in turns. The first of `theirs` is what the others are compared with. */
export interface Case {
  readonly name: string;
  readonly question: string;
  readonly ours: readonly Contender[];
  readonly theirs: readonly Contender[];
  /** What is made is a repository, whose history and size are looked at. */
  readonly makes: boolean;
}

const ours = (name: string, ...options: readonly string[]): Contender => ({
  name: `revconvert ${name}`.trimEnd(),
  run: (repository, folder) => measure([process.execPath, COMMAND, '--quiet', ...options, repository, folder]),
});

const upgrade = (engine: string, ...options: readonly string[]): Contender => ({
  name: ['hg debugupgraderepo', ...options, ...(engine === 'zstd' ? [] : [`(${engine})`])].join(' '),
  run: (repository, folder) => {
    cpSync(repository, folder, { recursive: true });
    return measure([HG, '-R', folder, '--config', `format.revlog-compression=${engine}`, 'debugupgraderepo', '--run', '--no-backup', '-q', ...options], HG_ENV);
  },
});

const verify = (...options: readonly string[]): Contender => ({
  name: ['revconvert verify', ...options].join(' '),
  run: (repository) => measure([process.execPath, COMMAND, 'verify', '--quiet', ...options, repository]),
});

const hgVerify = (...options: readonly string[]): Contender => ({
  name: ['hg verify', ...options].join(' '),
  run: (repository) => measure([HG, '-R', repository, 'verify', '-q', ...options], HG_ENV),
});

/** The cases, by the name that the command line gives. */
export const CASES: readonly Case[] = [
  {
    name: 'convert',
    question: 'How fast is a conversion to zstd, all deltas kept?',
    ours: [ours('', '--to', 'zstd'), ours('--check none', '--to', 'zstd', '--check', 'none'), ours('--check none --jobs 1', '--to', 'zstd', '--check', 'none', '--jobs', '1')],
    theirs: [upgrade('zstd')],
    makes: true,
  },
  {
    name: 'redelta',
    question: 'How fast is a conversion to zstd with all deltas anew?',
    ours: [
      ours('--redelta all', '--to', 'zstd', '--redelta', 'all'),
      ours('--redelta all --check none', '--to', 'zstd', '--redelta', 'all', '--check', 'none'),
      ours('--redelta fulladd --check none', '--to', 'zstd', '--redelta', 'fulladd', '--check', 'none'),
    ],
    theirs: [upgrade('zstd', '--optimize', 're-delta-all')],
    makes: true,
  },
  {
    name: 'redelta-zlib',
    question: 'How fast are all deltas made anew in a zlib store?',
    ours: [ours('--to zlib --redelta all', '--to', 'zlib', '--redelta', 'all'), ours('--to zlib --redelta all --check none', '--to', 'zlib', '--redelta', 'all', '--check', 'none')],
    theirs: [upgrade('zlib', '--optimize', 're-delta-all')],
    makes: true,
  },
  {
    name: 'verify',
    question: 'How fast is every revision verified? (hg verify checks no manifest text without --full)',
    ours: [verify(), verify('--jobs', '1')],
    theirs: [hgVerify(), hgVerify('--full')],
    makes: false,
  },
];

/** What a repository holds, as Mercurial says. */
export const historyOf = (folder: string): string =>
  execFileSync(HG, ['-R', folder, 'log', '--hidden', '-T', '{node} {phase}\n'], { env: HG_ENV, encoding: 'utf8', maxBuffer: 1 << 28 });

export const hgVersion = (): string => execFileSync(HG, ['--version', '-q'], { env: HG_ENV, encoding: 'utf8' }).trim();
