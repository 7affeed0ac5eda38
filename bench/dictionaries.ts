// What do zstd dictionaries gain, and what do they cost?
//
// usage: npm run bench:dictionaries -- [DATA] [--rounds N] [--only NAME[,NAME...]] [--print] [--provisional]
//
// DATA is the folder with small.hg, small-cyrillic.hg, small-han.hg and medium.hg (default: REVCONVERT_DATA, or
// ../shared/data). Prints all tables, and writes them into bench/RESULTS.md and docs/dictionaries.md, between marks.
// --only makes some of them; --print writes nothing. --provisional marks those with times as measured beside other work.
// Everything happens below TMPDIR (700 MB; TMPDIR=/dev/shm leaves the disk out of it). Takes about ten minutes. Needs
// Mercurial (hg, which unbundles; HG_NEWEST for all else), the program zstd, and GNU time.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

import { measureAging } from './dictionaries/aging.js';
import { measureConversions } from './dictionaries/conversions.js';
import { measureDesign } from './dictionaries/design.js';
import { measureGoals } from './dictionaries/goals.js';
import { measureGroups, measureTraining } from './dictionaries/groups.js';
import { measureLanguages } from './dictionaries/languages.js';
import { measureLengths } from './dictionaries/lengths.js';
import { measureLevels } from './dictionaries/levels.js';
import type { MakePart } from './dictionaries/part.js';
import { renderPart } from './dictionaries/part.js';
import { measureSizes } from './dictionaries/sizes.js';
import { measureTrainers } from './dictionaries/trainers.js';
import { measureTransfer } from './dictionaries/transfer.js';
import { bundleOf, createWorkspace, HISTORIES } from './dictionaries/workspace.js';
import { describeMachine, loadNow } from './machine.js';
import { beginOf, replaceSection } from './published/section.js';

const PARTS: Readonly<Record<string, MakePart>> = {
  goals: measureGoals,
  conversions: measureConversions,
  groups: measureGroups,
  lengths: measureLengths,
  design: measureDesign,
  languages: measureLanguages,
  transfer: measureTransfer,
  aging: measureAging,
  sizes: measureSizes,
  trainers: measureTrainers,
  training: measureTraining,
  levels: measureLevels,
};

const RESULTS = fileURLToPath(new URL('../../bench/RESULTS.md', import.meta.url));
const GUIDE = fileURLToPath(new URL('../../docs/dictionaries.md', import.meta.url));

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { rounds: { type: 'string', default: '5' }, only: { type: 'string' }, print: { type: 'boolean', default: false }, provisional: { type: 'boolean', default: false } },
});
const data = positionals[0] ?? process.env['REVCONVERT_DATA'] ?? '../shared/data';
const rounds = Math.max(1, Math.floor(Number(values.rounds)) || 0);
const wanted = values.only?.split(',') ?? Object.keys(PARTS);

function fail(message: string): never {
  console.error(message);
  process.exit(2);
}
for (const { name } of HISTORIES) if (!existsSync(bundleOf(data, name))) fail(`there is no ${bundleOf(data, name)}: name the folder with the data`);
for (const name of wanted) if (!(name in PARTS)) fail(`there is no table '${name}': ${Object.keys(PARTS).join(', ')}`);

const workspace = createWorkspace(data, rounds);
const load = loadNow();
for (const name of wanted) {
  const started = performance.now();
  const part = await PARTS[name]?.(workspace);
  if (part === undefined) continue;
  const text = renderPart(part, values.provisional);
  console.log(`### ${part.title}\n\n${text}\n`);
  console.error(`${name}: ${((performance.now() - started) / 1000).toFixed(0)} s`);
  write(name, text);
}
const machine = [
  ...(await describeMachine()),
  `Mercurial ${workspace.hg.version} (${workspace.unbundler.version} unbundled the histories)`,
  rounds === 1 ? 'one round' : `${rounds} rounds in turns`,
  `load of the machine ${load} at the beginning, ${loadNow()} at the end`,
];
console.log(`${machine.join('; ')}.`);
write('machine', `${machine.join('; ')}.`);

/** Into each document that has marks for it. */
function write(name: string, text: string): void {
  if (values.print) return;
  for (const path of [RESULTS, GUIDE]) {
    const document = readFileSync(path, 'utf8');
    const marks = `dictionaries, ${name}`;
    if (document.includes(beginOf(marks))) writeFileSync(path, replaceSection(document, marks, text));
  }
}
