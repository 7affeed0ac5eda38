import { HG, historyOf } from '../cases.js';
import type { Part } from '../dictionaries/part.js';
import { goalGrid } from '../goal.js';
import { quoted, spread } from '../measure.js';
import { storeBytes } from '../store-bytes.js';
import type { Contender } from './turns.js';
import { column, compareResults, ratio, runInTurns } from './turns.js';
import type { Workspace } from './workspace.js';
import { bundleCommand } from './workspace.js';

const CHECKS: readonly (readonly string[])[] = [[], ['--check', 'none'], ['--check', 'nodes'], ['--check', 'none', '--jobs', '1']];

/** How fast is a repository made of a bundle? */
export function measureToRepo(workspace: Workspace): Promise<Part> {
  const bundle = workspace.bundle('zstd-v2');
  const contenders: readonly Contender[] = [
    ...CHECKS.map((options): Contender => ({
      name: ['revconvert bundle --to-repo', ...options].join(' '),
      command: (made) => bundleCommand('--quiet', '--to-repo', made, '--to', 'zstd', ...options, bundle),
    })),
    { name: 'hg init; hg unbundle', command: (made) => ['bash', '-c', unbundleScript(made, bundle)] },
  ];
  const histories = new Set<string>();
  const results = runInTurns(workspace, contenders, (made) => {
    histories.add(historyOf(made));
    return storeBytes(made);
  });
  if (histories.size !== 1) throw new Error('the repositories do not have the same history');
  const theirs = results.at(-1);
  return Promise.resolve({
    name: 'to-repo',
    title: 'A repository of a bundle, against `hg unbundle`',
    isTimed: true,
    about:
      'All of medium.hg, zstd-v2, to a new repository whose store is zstd, level 3. Mercurial (6.3) compares a text with its node where it has to build it, as for each changeset, and takes deltas that it likes unseen; so do we, and the default (`--check chunks`) decodes every chunk again that it wrote; `--check nodes` builds and hashes every text. Both repositories have the same changesets with the same phases, as Mercurial lists them. Bytes are those of index and data files.',
    grids: [
      compareResults(results, theirs, 'store bytes'),
      goalGrid(
        results.slice(0, 3).map((own) => ({
          what: `\`${own.name.replace('revconvert bundle ', '')}\`, times as fast as \`hg init\` and \`hg unbundle\``,
          wanted: 5,
          more: true,
          ratio: ratio(own, theirs, 'wall'),
          pair: `${spread(column(theirs, 'wall'))} s / ${spread(column(own, 'wall'))} s`,
        })),
      ),
    ],
  });
}

/** Makes a repository with a zstd store, and unbundles into it. */
export const unbundleScript = (repository: string, bundle: string): string =>
  `${quoted([HG, 'init', '--config', 'format.revlog-compression=zstd', repository])} && ${quoted([HG, '-R', repository, 'unbundle', '-q', bundle])}`;
