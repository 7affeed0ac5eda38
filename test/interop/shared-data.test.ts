/** Real histories, where they are at hand beside the project: unbundled by Mercurial, converted there and back. */
import assert from 'node:assert/strict';
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';

import { describe, it } from 'mocha';

import { convertRepository } from '../../src/index.js';
import type { Converted } from '../support/after-conversion.js';
import {
  checkCommitAndUndo,
  checkEngine,
  checkPartialBundle,
  checkSameHistory,
  checkStreamBundle,
  checkUpgradeFindsNothing,
  checkVerify,
  contents,
  copyFolder,
  emptyFolder,
  listFiles,
} from '../support/after-conversion.js';
import { configArguments, runHgOk } from '../support/hg-session.js';
import { requireMercurials } from '../support/mercurial.js';
import { PROJECT_ROOT } from '../support/paths.js';
import { useTempFolder } from '../support/temp-folder.js';

/** Bytes of the revlogs of a store. */
const storeBytes = (folder: string): number =>
  listFiles(join(folder, '.hg', 'store'))
    .filter((name) => /\.[id]$/.test(name))
    .reduce((sum, name) => sum + statSync(join(folder, '.hg', 'store', name)).size, 0);

/** Under the rules of Mercurial a store is no larger than what Mercurial itself makes with all deltas anew: 1 % of grace. */
function assertNoLarger(hg: string, source: string, made: string, upgraded: string): void {
  copyFolder(source, upgraded);
  runHgOk(hg, ['-R', upgraded, ...configArguments(['format.revlog-compression=zstd']), 'debugupgraderepo', '--run', '--no-backup', '--optimize', 're-delta-all']);
  const [own, theirs] = [storeBytes(made), storeBytes(upgraded)];
  assert.ok(own <= theirs * 1.01, `${own} bytes, where Mercurial needs ${theirs}`);
}

const DATA = join(PROJECT_ROOT, '..', 'shared', 'data');
const BUNDLES = ['small.hg', 'small-cyrillic.hg', 'small-han.hg'];

describe('real histories', () => {
  const temporary = useTempFolder();

  for (const name of BUNDLES) {
    it(`${name}: zlib to zstd and back, by one thread and by four`, async function () {
      this.timeout(600_000);
      const bundle = join(DATA, name);
      if (!existsSync(bundle)) {
        this.skip();
        return;
      }
      for (const { hg, version } of requireMercurials(this)) {
        const at = (folder: string): string => temporary(`${folder}-${version}`);
        runHgOk(hg, ['init', ...configArguments(['format.revlog-compression=zlib']), at('source')]);
        runHgOk(hg, ['-R', at('source'), 'unbundle', '--quiet', bundle]);
        const view = (destination: string): Converted => ({ hg, source: at('source'), destination, scratch: at('scratch'), verifyClean: true });

        await convertRepository(at('source'), at('zstd'), { to: 'zstd', jobs: 4 });
        await convertRepository(at('source'), at('one-job'), { to: 'zstd', jobs: 1 });
        assert.equal(contents(at('one-job')), contents(at('zstd')));
        const zstd = view(at('zstd'));
        checkVerify(zstd);
        checkSameHistory(zstd);
        checkEngine(zstd, 'zstd');
        checkUpgradeFindsNothing(zstd, 'zstd');
        for (const check of [checkPartialBundle, checkStreamBundle, checkCommitAndUndo]) {
          emptyFolder(at('scratch'));
          check(zstd);
        }

        for (const redelta of ['all', 'fulladd'] as const) {
          await convertRepository(at('source'), at(redelta), { to: 'zstd', redelta });
          const made = view(at(redelta));
          checkVerify(made);
          checkSameHistory(made);
          for (const check of [checkPartialBundle, checkStreamBundle, checkCommitAndUndo]) {
            emptyFolder(at('scratch'));
            check(made);
          }
          assertNoLarger(hg, at('source'), at(redelta), at(`upgraded-${redelta}`));
        }

        await convertRepository(at('zstd'), at('zlib'), { to: 'zlib' });
        checkSameHistory(view(at('zlib')));
        checkEngine(view(at('zlib')), 'zlib');
      }
    });
  }
});
