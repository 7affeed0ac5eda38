/** Changegroups of other versions, and what these can hold, against Mercurial. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';

import { describe, it } from 'mocha';

import { BUNDLE_CONFIG, checkSame, convertFile, log, makeBundle, unbundle, verifyFile, withEach } from '../support/bundle-files.js';
import { callHg, configArguments, hgVersion, runHgOk, withHg } from '../support/hg-session.js';
import { commonHistory } from '../support/histories.js';
import { requireMercurials } from '../support/mercurial.js';
import { useTempFolder } from '../support/temp-folder.js';

const MODES = ['parent', 'previous', 'none'] as const;

describe('changegroups of other versions', () => {
  const temporary = useTempFolder();

  it('carry what was censored where Mercurial reads it', async function () {
    this.timeout(120_000);
    await withEach(requireMercurials(this), temporary, async (hg, at) => {
      runHgOk(hg, ['init', at('source')]);
      await withHg(hg, at('source'), [], async (session) => {
        for (let i = 1; i <= 9; i++) {
          writeFileSync(at('source/f'), Array.from({ length: 40 - i }, (_, line) => `line ${line + i}\n`).join(''));
          await session.run('commit', '--addremove', '--quiet', '--message', String(i));
        }
        await session.run('update', '--quiet', 'null');
      });
      runHgOk(hg, ['censor', '--rev', '4', '--tombstone', 'gone', 'f'], { cwd: at('source'), config: BUNDLE_CONFIG });
      makeBundle(hg, at('source'), at('v3.hg'), 'none-v2;cg.version=03');
      assert.deepEqual((await verifyFile(at('v3.hg'))).unhashed, { censored: 1, ellipsis: 0, external: 0 });
      unbundle(hg, at('v3.hg'), at('reference'));
      const said = callHg(hg, ['--repository', at('reference'), 'verify']).output;
      await assert.rejects(convertFile(at('v3.hg'), at('made.hg'), 'none-v1'), { code: 'BUNDLE_HOLDS' });
      for (const target of ['none-v2', 'none-v2;cg.version=03']) {
        for (const mode of ['parent', 'previous'] as const) {
          await convertFile(at('v3.hg'), at('made.hg'), target, [{ type: 'redelta', mode }]);
          unbundle(hg, at('made.hg'), at('made'));
          checkSame(hg, at('reference'), at('made'));
          assert.equal(callHg(hg, ['--repository', at('made'), 'verify']).output, said, `${target}, ${mode}`);
        }
      }
    });
  });

  it('carry tree manifests', async function () {
    this.timeout(120_000);
    const tree = 'experimental.treemanifest=yes';
    await withEach(requireMercurials(this), temporary, async (hg, at) => {
      runHgOk(hg, ['init', ...configArguments([tree]), at('source')]);
      await withHg(hg, at('source'), [], (session) => commonHistory(session));
      makeBundle(hg, at('source'), at('v3.hg'), 'none-v2;cg.version=03');
      assert.deepEqual((await verifyFile(at('v3.hg'))).damage, []);
      unbundle(hg, at('v3.hg'), at('reference'), tree);
      for (const mode of MODES) {
        await convertFile(at('v3.hg'), at('made.hg'), undefined, [{ type: 'redelta', mode }]);
        unbundle(hg, at('made.hg'), at('made'), tree);
        checkSame(hg, at('reference'), at('made'));
        runHgOk(hg, ['--repository', at('made'), 'verify']);
      }
      for (const target of ['none-v1', 'none-v2;cg.version=02']) await assert.rejects(convertFile(at('v3.hg'), at('made.hg'), target), { code: 'BUNDLE_HOLDS' });
    });
  });

  it('put parents back that version 04 has the other way round', async function () {
    this.timeout(120_000);
    const mercurials = requireMercurials(this).filter(({ hg }) => {
      const [major, minor] = hgVersion(hg);
      return major * 100 + minor >= 702;
    });
    if (mercurials.length === 0) this.skip();
    await withEach(mercurials, temporary, async (hg, at) => {
      runHgOk(hg, ['init', ...configArguments(['format.use-delta-info-flags=yes']), at('source')]);
      await withHg(hg, at('source'), [], async (session) => {
        const commit = (message: string): Promise<string> => session.run('commit', '--addremove', '--quiet', '--message', message);
        const lines = (count: number): string => Array.from({ length: count }, (_, i) => `${i}\n`).join('');
        writeFileSync(at('source/a'), lines(100));
        await commit('0');
        writeFileSync(at('source/b'), lines(50));
        await commit('1');
        await session.run('update', '--quiet', '0');
        writeFileSync(at('source/b'), lines(20));
        await commit('2');
        await session.run('merge', '--quiet', '--tool', ':local', '1');
        await session.run('copy', '--quiet', '--force', 'a', 'b');
        writeFileSync(at('source/b'), `${lines(100)}more\n`);
        await commit('merge with a copy');
      });
      assert.deepEqual(runHgOk(hg, ['--repository', at('source'), 'debugindex', 'b']).match(/0{12}$/gm)?.length, 3, 'the copy has its parent first');
      makeBundle(hg, at('source'), at('v2.hg'), 'none-v2');
      makeBundle(hg, at('source'), at('v4.hg'), 'none-v2;cg.version=04');
      assert.deepEqual((await verifyFile(at('v4.hg'))).damage, []);
      unbundle(hg, at('v2.hg'), at('reference'));
      for (const target of ['none-v1', 'none-v2;cg.version=02', 'none-v2;cg.version=03']) {
        await convertFile(at('v4.hg'), at('made.hg'), target);
        unbundle(hg, at('made.hg'), at('made'));
        checkSame(hg, at('reference'), at('made'));
        assert.deepEqual(log(hg, at('made'), '{rev} {file_copies}'), log(hg, at('reference'), '{rev} {file_copies}'));
      }
    });
  });
});
