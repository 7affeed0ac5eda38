/**
 * The repositories in test/fixtures/, each packed by scripts/make-fixtures.ts. A store holds names that
 * not every system, and not git, can keep as they are: so each is one archive, unpacked by the test that uses it.
 */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

import { PROJECT_ROOT } from './paths.js';
import { useTempFolder } from './temp-folder.js';

/** What each fixture is. All but `split` and `censored` hold the common history, without its large file. */
export const FIXTURES = {
  'default-zlib': 'today\'s default layout with zlib, and what a commit leaves behind for `hg rollback`',
  'zstd': 'the same layout with zstd',
  'no-generaldelta': 'the delta parent is always the revision before',
  'version-0': 'revlogs of version 0, in a store',
  'no-store': 'revlogs directly below .hg, names encoded the oldest way',
  'split': 'a filelog in two files, .i and .d',
  'tree-manifests': 'a manifest revlog for each directory',
  'censored': 'revisions whose content was taken out',
  'delta-info': 'made by Mercurial 7.2: delta flags in the index, a changelog in two files',
} as const;

export type FixtureName = keyof typeof FIXTURES;

export const fixtureFile = (name: FixtureName): string => join(PROJECT_ROOT, 'test', 'fixtures', `${name}.tar.gz`);

/**
 * Call it inside a `describe`: gives a function that unpacks a fixture for one test; it is removed after that test.
 * @returns unpacks a fixture and gives the path of the repository, a folder with `.hg` in it
 */
export function useFixtures(): (name: FixtureName) => string {
  const folder = useTempFolder();
  return (name) => {
    execFileSync('tar', ['xzf', fixtureFile(name), '-C', folder()]);
    return folder(name);
  };
}
