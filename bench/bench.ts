// How fast is it, against what Mercurial has for the same job?
//
// usage: npm run bench -- REPOSITORY [rounds] [case ...]
//
// Cases: see cases.ts; all of them where none is named. Results are made in TMPDIR (/tmp) and removed at the end of
// a case: on ext4, files made soon after many were removed are many times slower to make, for everybody. TMPDIR=/dev/shm
// leaves the disk out of it. The commands of a case are run in turns, each on a fresh copy or into a fresh folder. Prints
// the median of each figure with its range, the ratios pair by pair, the sizes of the stores, and the time of
// `revconvert --help`. The histories of the results are compared with `hg log`.
// Mercurial is HG_NEWEST, or hg. Needs GNU time.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';

import type { Case } from './cases.js';
import { CASES, COMMAND, hgVersion, historyOf } from './cases.js';
import type { Measurement } from './measure.js';
import { measure, median, spread } from './measure.js';
import { storeBytes } from './store-bytes.js';

function runCase({ name: caseName, question, ours, theirs, makes }: Case, repository: string, rounds: number): void {
  const contenders = [...ours, ...theirs];
  const results = new Map<string, Measurement[]>(contenders.map(({ name }) => [name, []]));
  const sizes = new Map<string, number>();
  const histories = new Set<string>([historyOf(repository)]);
  const parent = mkdtempSync(join(tmpdir(), 'revconvert-bench-'));
  for (let round = 0; round < rounds; round++) {
    for (const { name, run } of contenders) {
      const folder = join(parent, `${round}-${name.replace(/\W+/g, '-')}`);
      // What earlier runs left to be written must not be written on this one's time.
      execFileSync('sync');
      results.get(name)?.push(run(repository, folder));
      if (!makes || round > 0) continue;
      sizes.set(name, storeBytes(folder));
      histories.add(historyOf(folder));
    }
  }
  rmSync(parent, { recursive: true });
  if (histories.size !== 1) throw new Error('the results do not hold the same history');

  const column = (name: string, figure: keyof Measurement): number[] => (results.get(name) ?? []).map((measurement) => measurement[figure]);
  const ratio = (name: string, figure: keyof Measurement): string => {
    const own = column(name, figure);
    return median(column(theirs[0]?.name ?? '', figure).map((value, i) => value / (own[i] ?? NaN))).toFixed(2);
  };
  console.log(`\n## ${caseName}\n\n${question}\n`);
  console.log(`| command | wall s | times as fast | CPU s | times less | peak MB |${makes ? ' store bytes |' : ''}`);
  console.log(`| --- | --- | --- | --- | --- | --- |${makes ? ' --- |' : ''}`);
  for (const { name } of contenders) {
    const cells = [spread(column(name, 'wall')), ratio(name, 'wall'), spread(column(name, 'cpu')), ratio(name, 'cpu'), spread(column(name, 'memory'), 0), ...(makes ? [sizes.get(name) ?? ''] : [])];
    console.log(`| ${name} | ${cells.join(' | ')} |`);
  }
}

const [repository, rounds = '3', ...names] = process.argv.slice(2);
const cases = CASES.filter(({ name }) => names.length === 0 || names.includes(name));
if (repository === undefined || !existsSync(join(repository, '.hg')) || cases.length < names.length) {
  console.error(`usage: npm run bench -- REPOSITORY [rounds] [${CASES.map(({ name }) => name).join('|')} ...]`);
  process.exit(2);
}
console.log(`${cpus().length} x ${cpus()[0]?.model ?? 'unknown'}, Node ${process.version}, ${hgVersion()}; ${rounds} rounds; median (range)`);
console.log(`source store: ${storeBytes(repository)} bytes`);
for (const one of cases) runCase(one, repository, Number(rounds));
const help = Array.from({ length: Number(rounds) }, () => measure([process.execPath, COMMAND, '--help']));
console.log(`\nrevconvert --help: ${spread(help.map(({ wall }) => wall))} s`);
