// What do zstd dictionaries gain, and what do they cost?
//
// usage: npm run bench:dictionaries -- [DATA] [--rounds N] [--only NAME[,NAME...]] [--print] [--provisional]
//
// DATA is the folder with small.hg, small-cyrillic.hg, small-han.hg and medium.hg (default: REVCONVERT_DATA, or
// ../shared/data). Prints all tables, and writes them into bench/RESULTS.md and docs/dictionaries.md, between marks.
// --only makes some of them; --print writes nothing. --provisional marks those with times as measured beside other work.
// Everything happens below TMPDIR (700 MB; TMPDIR=/dev/shm leaves the disk out of it). Takes about ten minutes. Needs
// Mercurial (hg, which unbundles; HG_NEWEST for all else), the program zstd, and GNU time.
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
import { measureSizes } from './dictionaries/sizes.js';
import { measureTrainers } from './dictionaries/trainers.js';
import { measureTransfer } from './dictionaries/transfer.js';
import { createWorkspace, HISTORIES } from './dictionaries/workspace.js';
import { PART_OPTIONS, runParts } from './run-parts.js';

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

const { values, positionals } = parseArgs({ allowPositionals: true, options: PART_OPTIONS });
await runParts(
  {
    name: 'dictionaries',
    parts: PARTS,
    documents: ['bench/RESULTS.md', 'docs/dictionaries.md'],
    needed: HISTORIES.map(({ name }) => `${name}.hg`),
    createWorkspace,
    describe: ({ hg, unbundler }) => `Mercurial ${hg.version} (${unbundler.version} unbundled the histories)`,
  },
  values,
  positionals[0],
);
