/** Changegroups with other delta bases, verified and filtered, against Mercurial. */
import assert from 'node:assert/strict';
import { createReadStream, rmSync, writeFileSync } from 'node:fs';
import { buffer } from 'node:stream/consumers';

import { describe, it } from 'mocha';

import type { FilterStep } from '../../src/index.js';
import { checkSame, convertFile, log, makeBundle, unbundle, verifyFile, withEach } from '../support/bundle-files.js';
import { callHg, runHgOk, withHg } from '../support/hg-session.js';
import { churnHistory, commonHistory } from '../support/histories.js';
import { requireMercurials } from '../support/mercurial.js';
import { useTempFolder } from '../support/temp-folder.js';

const MODES = ['parent', 'previous', 'none'] as const;

describe('changegroups with other bases', () => {
  const temporary = useTempFolder();

  it('make the repository that the original makes', async function () {
    this.timeout(300_000);
    await withEach(requireMercurials(this), temporary, async (hg, at) => {
      for (const history of [commonHistory, churnHistory]) {
        rmSync(at('source'), { recursive: true, force: true });
        runHgOk(hg, ['init', at('source')]);
        await withHg(hg, at('source'), [], (session) => history(session));
        for (const [kind, type] of [['v1', 'none-v1'], ['v2', 'none-v2'], ['v3', 'none-v2;cg.version=03']] as const) {
          makeBundle(hg, at('source'), at(`${kind}.hg`), type);
          assert.deepEqual((await verifyFile(at(`${kind}.hg`))).damage, []);
        }
        unbundle(hg, at('v2.hg'), at('reference'));
        const check = async (from: string, target: string, ...filters: readonly FilterStep[]): Promise<void> => {
          await convertFile(at(`${from}.hg`), at('made.hg'), target, filters);
          const { damage, kinds } = await verifyFile(at('made.hg'));
          assert.deepEqual(damage, []);
          assert.deepEqual([kinds.changelog.unresolved, kinds.manifest.unresolved, kinds.filelog.unresolved], [0, 0, 0]);
          unbundle(hg, at('made.hg'), at('made'));
          checkSame(hg, at('reference'), at('made'));
        };
        if (history === churnHistory) {
          for (const mode of MODES) await check('v2', 'none-v2', { type: 'redelta', mode });
        } else {
          await check('v1', 'none-v2', { type: 'redelta', mode: 'parent' });
          await check('v3', 'none-v1', { type: 'redelta', mode: 'previous' }, { type: 'redelta', mode: 'parent' }, { type: 'redelta', mode: 'none' });
        }
      }
    });
  });

  it('say of an incremental bundle what it is built on, and keep what they can', async function () {
    this.timeout(120_000);
    await withEach(requireMercurials(this), temporary, async (hg, at) => {
      runHgOk(hg, ['init', at('source')]);
      await withHg(hg, at('source'), [], (session) => commonHistory(session));
      const revisions = log(hg, at('source'), '{node}');
      const base = revisions[Math.floor(revisions.length / 2)] ?? '';
      makeBundle(hg, at('source'), at('first.hg'), 'none-v2', '--rev', base, '--base', 'null');
      makeBundle(hg, at('source'), at('rest.hg'), 'none-v2', '--rev', 'all()', '--base', base);
      const { damage, outsideBases, outsideParents, kinds } = await verifyFile(at('rest.hg'));
      assert.deepEqual(damage, []);
      assert.ok(outsideBases > 0 && outsideParents > 0);
      const { changelog } = kinds;
      assert.equal(changelog.checked + changelog.unresolved, changelog.revisions);
      for (const mode of ['none', 'parent'] as const) {
        const made = at(`${mode}.hg`);
        try {
          await convertFile(at('rest.hg'), made, 'none-v2', [{ type: 'redelta', mode }]);
        } catch (error) {
          assert.equal((error as { code?: unknown }).code, 'BASE_MISSING');
          continue;
        }
        unbundle(hg, at('first.hg'), at(mode));
        runHgOk(hg, ['--repository', at(mode), 'unbundle', '--quiet', made]);
        runHgOk(hg, ['--repository', at(mode), 'verify']);
        assert.deepEqual(log(hg, at(mode), '{node}').sort(), [...revisions].sort());
      }
    });
  });

  it('are refused by Mercurial where they are refused here', async function () {
    this.timeout(120_000);
    await withEach(requireMercurials(this), temporary, async (hg, at) => {
      runHgOk(hg, ['init', at('source')]);
      writeFileSync(at('source/f'), 'one\n');
      runHgOk(hg, ['commit', '--addremove', '--quiet', '--message', '1'], { cwd: at('source') });
      writeFileSync(at('source/f'), 'two\n');
      runHgOk(hg, ['commit', '--quiet', '--message', '2'], { cwd: at('source') });
      makeBundle(hg, at('source'), at('good.hg'), 'none-v2');
      const bytes = await buffer(createReadStream(at('good.hg')));
      const place = bytes.lastIndexOf('two\n');
      bytes.write('twx\n', place);
      writeFileSync(at('bad.hg'), bytes);
      const { damage } = await verifyFile(at('bad.hg'));
      assert.deepEqual(damage.map(({ code, at: where }) => [code, where.group]), [['NODE_MISMATCH', 'f']]);
      assert.ok((damage[0]?.at.offset ?? 0) < place && (damage[0]?.at.offset ?? 0) > place - 200);
      runHgOk(hg, ['init', at('made')]);
      const { status, output } = callHg(hg, ['--repository', at('made'), 'unbundle', at('bad.hg')]);
      // Some find it at once, some when they read it.
      const later = status === 0 ? callHg(hg, ['--repository', at('made'), 'verify']) : { status, output };
      assert.notEqual(later.status, 0);
      assert.match(later.output, /integrity check failed/);
    });
  });

  it('leave out a file, which is all that Mercurial misses then', async function () {
    this.timeout(120_000);
    await withEach(requireMercurials(this), temporary, async (hg, at) => {
      runHgOk(hg, ['init', at('source')]);
      for (const name of ['kept', 'left']) writeFileSync(at(`source/${name}`), `${name}\n`);
      runHgOk(hg, ['commit', '--addremove', '--quiet', '--message', '1'], { cwd: at('source') });
      makeBundle(hg, at('source'), at('all.hg'), 'none-v2');
      writeFileSync(at('filter.mjs'), `export default { onGroup: ({ name }) => (name === 'left' ? 'drop' : 'keep') };`);
      await convertFile(at('all.hg'), at('made.hg'), undefined, [{ type: 'module', path: at('filter.mjs') }]);
      assert.deepEqual((await verifyFile(at('made.hg'))).damage, []);
      unbundle(hg, at('made.hg'), at('made'));
      const { status, output } = callHg(hg, ['--repository', at('made'), 'verify']);
      assert.notEqual(status, 0);
      assert.match(output, /left/);
      assert.doesNotMatch(output, /kept/);
      assert.equal(runHgOk(hg, ['--repository', at('made'), 'cat', '--rev', '0', at('made/kept')]), 'kept\n');
    });
  });
});
