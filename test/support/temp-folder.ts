/** Folders for tests that need real files. */
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach } from 'mocha';

/**
 * An empty folder for each test of the suite, removed after it. Call it inside a `describe`.
 * @returns gives the path of a name in the folder; without a name that of the folder
 */
export function useTempFolder(): (name?: string) => string {
  let folder = '';
  beforeEach(() => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), 'revconvert-test-')));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));
  return (name = '') => (name === '' ? folder : join(folder, name));
}
