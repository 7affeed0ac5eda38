/** The project as it is where some of its optional packages could not be installed. */
import { cpSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';

import { PROJECT_ROOT } from '../support/paths.js';

/**
 * Copies the compiled command to a folder, with all packages but some.
 * @param missing packages that are not there
 * @returns the script to run
 */
export function copyProject(folder: string, missing: readonly string[]): string {
  const packages = join(folder, 'node_modules');
  mkdirSync(packages, { recursive: true });
  for (const name of readdirSync(join(PROJECT_ROOT, 'node_modules'))) {
    if (!missing.includes(name)) symlinkSync(join(PROJECT_ROOT, 'node_modules', name), join(packages, name));
  }
  for (const part of ['dist/bin', 'dist/src', 'package.json']) cpSync(join(PROJECT_ROOT, part), join(folder, part), { recursive: true });
  return join(folder, 'dist', 'bin', 'revconvert.js');
}
