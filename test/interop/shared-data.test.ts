/** Real histories, where they are at hand beside the project: unbundled by Mercurial, converted there and back. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

import { describe, it } from 'mocha';

import { convertRepository } from '../../src/index.js';
import type { Converted } from '../support/after-conversion.js';
import {
  checkCommitAndUndo,
  checkEngine,
  checkNoLarger,
  checkPartialBundle,
  checkSameHistory,
  checkStreamBundle,
  checkUpgradeFindsNothing,
  checkVerify,
  contents,
  emptyFolder,
  upgradeByMercurial,
} from '../support/after-conversion.js';
import { configArguments, runHgOk } from '../support/hg-session.js';
import { requireMercurials } from '../support/mercurial.js';
import { PROJECT_ROOT } from '../support/paths.js';
import { useTempFolder } from '../support/temp-folder.js';

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

        upgradeByMercurial(hg, at('source'), at('upgraded'));
        for (const redelta of ['all', 'fulladd'] as const) {
          await convertRepository(at('source'), at(redelta), { to: 'zstd', redelta });
          const made = view(at(redelta));
          checkVerify(made);
          checkSameHistory(made);
          for (const check of [checkPartialBundle, checkStreamBundle, checkCommitAndUndo]) {
            emptyFolder(at('scratch'));
            check(made);
          }
          checkNoLarger(at(redelta), at('upgraded'));
        }

        await convertRepository(at('zstd'), at('zlib'), { to: 'zlib' });
        checkSameHistory(view(at('zlib')));
        checkEngine(view(at('zlib')), 'zlib');
      }
    });
  }
});
