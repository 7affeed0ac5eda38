import { execFileSync } from 'node:child_process';

import { collectStats } from '../../src/report/store-stats.js';
import { COMMAND } from '../cases.js';
import { copyChangelog } from '../published/workspace.js';
import type { Workspace } from './workspace.js';

/** One history in two stores that differ in nothing but the changelog. */
export interface StorePair {
  /** Each changeset is stored whole, as Mercurial does it since 4.0. */
  readonly without: string;
  /** Changesets are stored as deltas against a parent, where that is good. */
  readonly with: string;
}

const DELTAS = ['--redelta', 'parent', '--changelog-deltas'] as const;

/** The changelog of medium.hg alone, zlib. */
export function makeChangelogs({ repository, newPath }: Workspace): StorePair {
  const without = copyChangelog(repository('zlib'), newPath());
  return { without, with: convert(without, newPath(), DELTAS) };
}

/** All of medium.hg, zlib, the deltas of manifests and files made anew in the same way in both. */
export const makeStores = ({ repository, newPath }: Workspace): StorePair => ({
  without: convert(repository('zlib'), newPath(), ['--redelta', 'parent']),
  with: convert(repository('zlib'), newPath(), DELTAS),
});

function convert(source: string, made: string, options: readonly string[]): string {
  execFileSync(process.execPath, [COMMAND, '--quiet', '--to', 'zlib', ...options, source, made], { stdio: ['ignore', 'ignore', 'inherit'] });
  return made;
}

/** What share of the changesets is stored as deltas. */
export async function shareOfDeltas(repository: string): Promise<number> {
  const { fullTexts, revisions } = (await collectStats(repository, { only: 'changelog' })).kinds.changelog;
  return 1 - fullTexts.count / revisions;
}
