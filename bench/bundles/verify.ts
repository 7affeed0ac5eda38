import { COMMAND } from '../cases.js';
import type { Part } from '../dictionaries/part.js';
import type { Contender } from './turns.js';
import { compareResults, runInTurns } from './turns.js';
import type { Workspace } from './workspace.js';
import { bundleCommand } from './workspace.js';

/** How fast is a bundle verified, against its repository? */
export function measureVerify(workspace: Workspace): Promise<Part> {
  const { bundle, repository } = workspace;
  const verify = (name: string, ...args: readonly string[]): Contender => ({ name, command: () => [process.execPath, COMMAND, 'verify', '--quiet', ...args] });
  const contenders: readonly Contender[] = [
    ...(['zstd-v2', 'none-v2'] as const).map((kind): Contender => ({ name: `revconvert bundle --verify, ${kind}`, command: () => bundleCommand('--verify', '--quiet', bundle(kind)) })),
    verify('revconvert verify, zstd store', repository('zstd')),
    verify('revconvert verify --jobs 1, zstd store', '--jobs', '1', repository('zstd')),
  ];
  // They are made before anything is timed.
  for (const { command } of contenders) command('');
  const results = runInTurns(workspace, contenders);
  return Promise.resolve({
    name: 'verify',
    title: 'Verification of a bundle, against that of its repository',
    isTimed: true,
    about: 'Every text of medium.hg rebuilt and hashed: out of a bundle, in one pass, and out of the store. Mercurial has nothing that verifies a bundle but unbundling it.',
    grids: [compareResults(results, results.at(-2))],
  });
}
