/** New deltas against Mercurial's own, on a history in which chains grow too long and snapshots come about. */
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';

import { describe, it } from 'mocha';

import type { ConvertOptions } from '../../src/index.js';
import { collectStats, convertRepository } from '../../src/index.js';
import type { Converted } from '../support/after-conversion.js';
import { checkCommitAndUndo, checkNoLarger, checkPartialBundle, checkSameHistory, checkStreamBundle, checkVerify, emptyFolder, storeBytes, upgradeByMercurial } from '../support/after-conversion.js';
import { configArguments, runHgOk, withHg } from '../support/hg-session.js';
import { churnHistory } from '../support/histories.js';
import { requireMercurials } from '../support/mercurial.js';
import { useTempFolder } from '../support/temp-folder.js';

const ZSTD = configArguments(['format.revlog-compression=zstd']);

const levels = async (folder: string): Promise<number> => (await collectStats(folder)).total.snapshots.length;

describe('new deltas of a history with branches that meet', () => {
  const temporary = useTempFolder();

  it('make a store that is right, has snapshots, and is no larger than what Mercurial makes', async function () {
    this.timeout(300_000);
    for (const { hg, version } of requireMercurials(this)) {
      const at = (name: string): string => temporary(`${name}-${version}`);
      mkdirSync(at('source'));
      runHgOk(hg, ['init', ...ZSTD, at('source')]);
      await withHg(hg, at('source'), [], churnHistory);
      upgradeByMercurial(hg, at('source'), at('upgraded'));
      const make = async (name: string, options: ConvertOptions): Promise<Converted> => {
        await convertRepository(at('source'), at(name), { to: 'zstd', ...options });
        const made: Converted = { hg, source: at('source'), destination: at(name), scratch: at('scratch'), pulls: true, verifyClean: true };
        checkVerify(made);
        checkSameHistory(made);
        return made;
      };
      for (const redelta of ['all', 'fulladd', 'parent', 'multibase'] as const) {
        const made = await make(redelta, { redelta });
        assert.ok((await levels(at(redelta))) >= 1, 'there are snapshots');
        if (redelta === 'all' || redelta === 'fulladd') checkNoLarger(at(redelta), at('upgraded'));
        for (const check of redelta === 'all' ? [checkPartialBundle, checkStreamBundle, checkCommitAndUndo] : []) {
          emptyFolder(at('scratch'));
          check(made);
        }
      }
      await make('smallest', { redelta: 'all', policy: { preset: 'smallest' } });
      assert.ok(storeBytes(at('smallest')) < storeBytes(at('all')));
      await make('short', { redelta: 'all', policy: { maxChainLength: 4 } });
      const { total } = await collectStats(at('short'));
      assert.equal(total.chains.longest, 4);
      await make('flat', { redelta: 'all', policy: { sparse: false } });
      assert.equal(await levels(at('flat')), 0);
    }
  });
});
