// Do the published results, with which the rules of Mercurial's storage were argued for ten years, hold here?
//
// usage: npm run bench:published -- [DATA] [--rounds N] [--revisions N] [--chain REPOSITORY] [--only TABLE]
//
// DATA is the folder with medium.hg (default: REVCONVERT_DATA, or ../shared/data); long_chain.py lies beside it, in
// ../tools. Writes all tables, ours next to the published ones, into bench/RESULTS.md, between two marks. --only prints
// one table (1 to 5) and writes nothing. --revisions is the length of the long chain (45,000: three minutes and a half to
// make); longer ones are extrapolated. --chain takes one that was made before. Everything happens below TMPDIR (400 MB).
// Needs Mercurial (HG_NEWEST, or hg) and python3.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

import { describeMachine, loadNow } from './machine.js';
import { reproduceChainLength } from './published/chain-length.js';
import { reproduceChangelogDeltas } from './published/changelog-deltas.js';
import { reproduceManifestPolicies } from './published/manifest-policies.js';
import type { Reproduction } from './published/reproduction.js';
import { renderReproduction } from './published/reproduction.js';
import { replaceSection } from './published/section.js';
import type { Workspace } from './published/workspace.js';
import { bundleOf, chainMakerOf, createWorkspace } from './published/workspace.js';
import { reproduceZlibLevels } from './published/zlib-levels.js';
import { reproduceZlibZstd } from './published/zlib-zstd.js';

const TABLES: readonly ((workspace: Workspace) => Promise<Reproduction>)[] = [
  reproduceChainLength,
  reproduceManifestPolicies,
  reproduceChangelogDeltas,
  reproduceZlibLevels,
  reproduceZlibZstd,
];

const RESULTS = fileURLToPath(new URL('../../bench/RESULTS.md', import.meta.url));
const HOW =
  'Times are medians with their ranges. Ratios of runs in turns are medians of the ratios pair by pair; those of other runs, and straight lines, go by the best runs, since what disturbs a run only adds to it.';
const LEAST_ROUNDS = 3;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { rounds: { type: 'string', default: '5' }, revisions: { type: 'string', default: '45000' }, chain: { type: 'string' }, only: { type: 'string' } },
});
const data = positionals[0] ?? process.env['REVCONVERT_DATA'] ?? '../shared/data';
const rounds = Math.max(LEAST_ROUNDS, Number(values.rounds));

for (const needed of values.chain === undefined ? [bundleOf(data), chainMakerOf(data)] : [bundleOf(data)]) {
  if (existsSync(needed)) continue;
  console.error(`there is no ${needed}: name the folder with the data`);
  process.exit(2);
}

const loadBefore = loadNow();
const workspace = createWorkspace({ data, chainRevisions: Number(values.revisions), chain: values.chain, rounds });
const parts: string[] = [];
for (const [i, reproduce] of TABLES.entries()) {
  if (values.only !== undefined && values.only !== String(i + 1)) continue;
  console.error(`table ${i + 1} of ${TABLES.length}`);
  parts.push(renderReproduction(await reproduce(workspace)));
}
const machine = [...(await describeMachine()), `Mercurial ${workspace.hg.version}`, `${rounds} rounds in turns`, `load of the machine ${loadBefore} at the beginning, ${loadNow()} at the end`];
const text = [`${machine.join('; ')}. ${HOW}`, ...parts].join('\n\n');
console.log(text);
if (values.only === undefined) writeFileSync(RESULTS, replaceSection(readFileSync(RESULTS, 'utf8'), 'published', text));
