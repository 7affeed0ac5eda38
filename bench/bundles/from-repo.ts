import { execFileSync } from 'node:child_process';
import { statSync } from 'node:fs';

import { HG, HG_ENV } from '../cases.js';
import type { Part } from '../dictionaries/part.js';
import type { Goal } from '../goal.js';
import { goalGrid } from '../goal.js';
import { spread } from '../measure.js';
import type { Grid } from '../published/reproduction.js';
import type { Contender } from './turns.js';
import { column, compareResults, ratio, runInTurns } from './turns.js';
import type { StoreEngine, Workspace } from './workspace.js';
import { bundleCommand, hgCommand } from './workspace.js';

/** How fast is a bundle of a whole repository made? */
export function measureFromRepo(workspace: Workspace): Promise<Part> {
  const [zlib, zstd] = [compareMaking(workspace, 'zlib'), compareMaking(workspace, 'zstd')];
  return Promise.resolve({
    name: 'from-repo',
    title: 'A bundle of a repository, against `hg bundle`',
    isTimed: true,
    about: 'All of medium.hg to zstd-v2, level 3, from a store that is zlib and from one that is zstd. Both bundles have the same changesets, as Mercurial lists them.',
    grids: [zlib.grid, zstd.grid, goalGrid([zlib.goal, zstd.goal])],
  });
}

function compareMaking(workspace: Workspace, engine: StoreEngine): { readonly grid: Grid; readonly goal: Goal } {
  const repository = workspace.repository(engine);
  const own = (name: string, ...options: readonly string[]): Contender => ({ name, command: (made) => bundleCommand('--quiet', '--from-repo', repository, '--to', 'zstd-v2', ...options, made) });
  const contenders: readonly Contender[] = [
    own('revconvert bundle --from-repo'),
    own('revconvert bundle --from-repo --jobs 1', '--jobs', '1'),
    { name: 'hg bundle -a -t zstd-v2', command: (made) => hgCommand(repository, 'bundle', '-q', '-a', '-t', 'zstd-v2', made) },
  ];
  const lists = new Set<string>();
  const results = runInTurns(workspace, contenders, (made) => {
    lists.add(changesetsOf(made));
    return statSync(made).size;
  });
  if (lists.size !== 1) throw new Error('the bundles do not have the same changesets');
  const [ours, , theirs] = results;
  const { head, rows } = compareResults(results, theirs, 'bytes');
  return {
    grid: { head: [`from the ${engine} store`, ...head.slice(1)], rows },
    goal: {
      what: `\`--from-repo\` to zstd-v2 from the ${engine} store, times as fast as \`hg bundle\``,
      wanted: 3,
      more: true,
      ratio: ratio(ours, theirs, 'wall'),
      pair: `${spread(column(theirs, 'wall'))} s / ${spread(column(ours, 'wall'))} s`,
    },
  };
}

/** The changesets of a bundle, as Mercurial lists them. */
const changesetsOf = (bundle: string): string =>
  execFileSync(HG, ['debugbundle', bundle], { env: HG_ENV, encoding: 'utf8', maxBuffer: 1 << 28 })
    .split('\n')
    .filter((line) => /^ +[0-9a-f]{40}$/.test(line))
    .join('\n');
