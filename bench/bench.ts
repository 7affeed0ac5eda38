// How fast is a conversion from zlib to zstd, against Mercurial's own upgrade?
//
// usage: npm run bench -- REPOSITORY [rounds]
//
// Results are made in TMPDIR (/tmp) and removed at the end only: on ext4, files made soon after many were removed are
// many times slower to make, for everybody. TMPDIR=/dev/shm leaves the disk out of it.
// In turns, in one run: revconvert in three ways and `hg debugupgraderepo --run --no-backup` (HG_NEWEST, or hg), each
// on a fresh copy or into a fresh folder. Prints the median of each figure with its range, the ratios pair by pair, the
// sizes of the stores, and the time of `revconvert --help`. The histories of the results are compared with `hg log`.
// Needs GNU time and Mercurial.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { walk } from '../src/repository/walk.js';
import type { Measurement } from './measure.js';
import { measure, median, spread } from './measure.js';

const COMMAND = fileURLToPath(new URL('../bin/revconvert.js', import.meta.url));
const REVCONVERT = [process.execPath, COMMAND, '--quiet', '--to', 'zstd'];
const HG_ENV = { ...process.env, HGRCPATH: '', HGPLAIN: '1' };

const [repository, rounds = '3'] = process.argv.slice(2);
if (repository === undefined || !existsSync(join(repository, '.hg'))) {
  console.error('usage: npm run bench -- REPOSITORY [rounds]');
  process.exit(2);
}
const hg = process.env['HG_NEWEST'] ?? 'hg';
const hgVersion = execFileSync(hg, ['--version', '-q'], { env: HG_ENV, encoding: 'utf8' }).trim();

interface Contender {
  readonly name: string;
  /** Makes the converted repository in the folder given. */
  readonly run: (folder: string) => Measurement;
}

const ours = (name: string, options: readonly string[]): Contender => ({
  name,
  run: (folder) => measure([...REVCONVERT, ...options, repository, folder]),
});

const theirs: Contender = {
  name: 'hg debugupgraderepo',
  run: (folder) => {
    cpSync(repository, folder, { recursive: true });
    return measure([hg, '-R', folder, '--config', 'format.revlog-compression=zstd', 'debugupgraderepo', '--run', '--no-backup', '-q'], HG_ENV);
  },
};

const CONTENDERS: readonly Contender[] = [
  ours('revconvert', []),
  ours('revconvert --check none', ['--check', 'none']),
  ours('revconvert --check none --jobs 1', ['--check', 'none', '--jobs', '1']),
  theirs,
];

function storeBytes(folder: string): number {
  const store = join(folder, '.hg/store');
  let total = 0;
  for (const { name, kind } of walk(store, '')) if (kind === 'file' && /\.[id]$/.test(name)) total += statSync(join(store, name)).size;
  return total;
}

const history = (folder: string): string =>
  createHash('sha1').update(execFileSync(hg, ['-R', folder, 'log', '--hidden', '-T', '{node} {phase}\n'], { env: HG_ENV, maxBuffer: 1 << 28 })).digest('hex');

const results = new Map<string, Measurement[]>(CONTENDERS.map(({ name }) => [name, []]));
const sizes = new Map<string, number>([['source', storeBytes(repository)]]);
const histories = new Set<string>([history(repository)]);
const help: Measurement[] = [];
const parent = mkdtempSync(join(tmpdir(), 'revconvert-bench-'));
for (let round = 0; round < Number(rounds); round++) {
  for (const { name, run } of CONTENDERS) {
    const folder = join(parent, `${round}-${name.replace(/\W+/g, '-')}`);
    // What earlier runs left to be written must not be written on this one's time.
    execFileSync('sync');
    results.get(name)?.push(run(folder));
    if (round === 0) {
      sizes.set(name, storeBytes(folder));
      histories.add(history(folder));
    }
  }
  help.push(measure([process.execPath, COMMAND, '--help']));
}
rmSync(parent, { recursive: true });
if (histories.size !== 1) throw new Error('the results do not hold the same history');

const column = (name: string, figure: keyof Measurement): number[] => (results.get(name) ?? []).map((measurement) => measurement[figure]);
const ratio = (name: string, figure: keyof Measurement): string => {
  const own = column(name, figure);
  return median(column(theirs.name, figure).map((value, i) => value / (own[i] ?? NaN))).toFixed(2);
};

console.log(`${cpus().length} x ${cpus()[0]?.model ?? 'unknown'}, Node ${process.version}, ${hgVersion}; ${rounds} rounds; median (range)\n`);
console.log('| command | wall s | times as fast | CPU s | times less | peak MB | store bytes |');
console.log('| --- | --- | --- | --- | --- | --- | --- |');
for (const { name } of CONTENDERS) {
  const cells = [spread(column(name, 'wall')), ratio(name, 'wall'), spread(column(name, 'cpu')), ratio(name, 'cpu'), spread(column(name, 'memory'), 0), sizes.get(name) ?? ''];
  console.log(`| ${name} | ${cells.join(' | ')} |`);
}
console.log(`\nsource store: ${sizes.get('source') ?? ''} bytes; revconvert --help: ${spread(help.map(({ wall }) => wall))} s`);
