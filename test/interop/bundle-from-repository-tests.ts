/** Bundles of every layout, made by us and by Mercurial, compared and taken by Mercurial. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { after, before, describe, it } from 'mocha';

import { RevconvertError } from '../../src/errors.js';
import { checkSameChanges, checkSameRepositories, EVOLUTION, groupsOf, hiddenHistory, partsOf, sorted, tangledHistory, unbundle, writeOurs, writeTheirs } from '../support/bundled-repositories.js';
import { hgVersion, withHg } from '../support/hg-session.js';
import { storeHistory, writeHistory } from '../support/history-builder.js';
import type { Layout } from '../support/layouts.js';
import { LAYOUTS, made } from '../support/layouts.js';
import type { Mercurial } from '../support/mercurial.js';

const ZLIB = 'format.revlog-compression=zlib';
const TREES = 'experimental.treemanifest=yes';
const NO_GENERALDELTA = ['format.usegeneraldelta=no', 'format.sparse-revlog=no'];

/** Layouts that store revisions in different ways, or hold what others do not. */
const STORED_DIFFERENTLY = [
  'zstd', 'split changelog, manifest and filelog', 'changelog with deltas', 'no generaldelta', 'no store', 'version 0 with store', 'tree manifests', 'censored', 'lfs',
  'obsolescence markers', 'internal phase', 'archived phase', 'narrow with ellipses', 'empty', 'no manifest', 'stripped', 'delta-info', 'fileindex',
];

const ALL_PARTS = 'none-v2;phases=yes;obsolescence=yes';
const ALL_PARTS_03 = `${ALL_PARTS};cg.version=03`;

/** Those of which bundles of version 01 are made too: every delta anew, but for those against the revision before. */
const ALSO_01 = ['zstd', 'no generaldelta', 'version 0 with store', 'delta-info', 'empty'];

/** Layouts that only changegroups of version 03 hold. */
const NEED_03 = ['tree manifests', 'lfs', 'narrow with ellipses'];

/** Mercurial writes bundles of version 01 of it that it cannot read itself. */
const NOT_IN_01 = 'censored';

/** A receiver that is no narrow clone lacks what lies outside. */
const NO_RECEIVER = 'narrow with ellipses';

const isBuiltBy = ({ minVersion: [major, minor] = [0, 0] }: Layout, [ownMajor, ownMinor]: readonly [number, number]): boolean => ownMajor > major || (ownMajor === major && ownMinor >= minor);

export function testBundlesOf({ hg, version }: Mercurial): void {
  const own = hgVersion(hg);
  describe(`bundles of repositories, with Mercurial ${version}`, function () {
    this.timeout(60_000);
    let root = '';
    const at = (name: string): string => join(root, name);
    before(() => {
      root = mkdtempSync(join(tmpdir(), 'revconvert-bundle-'));
    });
    after(() => rmSync(root, { recursive: true, force: true }));

    /** Compares our bundle with Mercurial's, and what becomes of both. @returns whether there is one */
    const compare = async (source: string, spec: string, config: readonly string[], receives = true): Promise<boolean> => {
      const theirs = writeTheirs(hg, source, at('theirs.hg'), spec, config);
      if (theirs === undefined) return false;
      await writeOurs(source, at('ours.hg'), spec, { jobs: 1 });
      // A layout may ask Mercurial by its configuration for more than the kind of bundle says.
      assert.deepEqual(partsOf(hg, at('ours.hg'), config), partsOf(hg, theirs, config));
      if (!spec.endsWith('v1')) {
        const isNewest = own[0] >= 7 && !source.endsWith('changelog-with-deltas');
        assert.deepEqual(sorted(groupsOf(hg, at('ours.hg'), config, isNewest)), sorted(groupsOf(hg, theirs, config, isNewest)));
      }
      if (receives) {
        unbundle(hg, at('from-theirs'), [theirs], config);
        unbundle(hg, at('from-ours'), [at('ours.hg')], config);
        checkSameRepositories(hg, at('from-theirs'), at('from-ours'), config);
      }
      rmSync(theirs);
      return true;
    };

    for (const layout of LAYOUTS.filter((one) => STORED_DIFFERENTLY.includes(one.name) && isBuiltBy(one, own))) {
      it(`${layout.name}: the same revisions as Mercurial's, which take the place of Mercurial's`, async () => {
        const source = at(layout.name.replaceAll(' ', '-'));
        await layout.build(hg, source);
        const config = [ZLIB, ...(layout.config ?? []), ...(layout.name === 'tree manifests' ? [TREES] : [])];
        const needs03 = NEED_03.includes(layout.name);
        assert.equal(await compare(source, needs03 ? ALL_PARTS_03 : ALL_PARTS, config, layout.name !== NO_RECEIVER), layout.name !== 'empty');
        if (ALSO_01.includes(layout.name)) assert.equal(await compare(source, 'none-v1', config), layout.name !== 'empty');
        if (needs03 || layout.name === NOT_IN_01) await assert.rejects(writeOurs(source, at('refused.hg'), 'none-v1'), (error) => error instanceof RevconvertError && error.code === 'BUNDLE_HOLDS');
      });
    }

    for (const [name, config] of [
      ['generaldelta', []],
      ['no generaldelta', NO_GENERALDELTA],
      ['tree manifests', [TREES, 'format.bookmarks-in-store=yes', 'format.use-dirstate-v2=yes', 'storage.dirstate-v2.slow-path=allow']],
    ] as const) {
      it(`hidden changesets stay behind, and nothing that visible ones share with them: ${name}`, async () => {
        const source = at(`hidden-${name.replaceAll(' ', '-')}`);
        const all = [ZLIB, ...EVOLUTION, ...config];
        await made(all, hiddenHistory)(hg, source);
        const version = name === 'tree manifests' ? ';cg.version=03' : '';
        assert.equal(await compare(source, `${ALL_PARTS}${version}`, all), true);
        if (name === 'no generaldelta') assert.equal(await compare(source, 'none-v1', all), true);
        await checkRanges(source, `none-v2;phases=yes${version}`, all);
      });
    }

    it('of a repository with several heads, in ranges', async () => {
      for (const [seed, config] of [[1, []], [2, NO_GENERALDELTA]] as const) {
        const source = at(`tangled-${seed}`);
        const all = [ZLIB, ...config];
        await made(all, (session) => tangledHistory(session, seed))(hg, source);
        for (const spec of ['none-v2;phases=yes', 'none-v1']) await checkRanges(source, spec, all);
      }
    });

    it('of a repository whose files came in another order than their changesets, in ranges', async () => {
      const text = (round: number): string => `${'a line that stays\n'.repeat(20)}round ${round}\n`;
      const files = { a: [0, 3, 1, 2].map((link, rev) => ({ text: text(rev), link, p1: rev === 0 ? -1 : 0 })) };
      const { root: source } = writeHistory(at('disorder'), storeHistory({ files, changesets: [0, 2, 3, 1].map((rev) => ({ manifest: { a: rev }, files: ['a'] })) }));
      for (const spec of ['none-v2', 'none-v1']) {
        assert.equal(await compare(source, spec, []), true);
        // Revisions of the file are numbered as they come: in two bundles in another order.
        await checkRanges(source, spec, [], checkSameChanges);
      }
    });

    /** Two bundles, one after the other, are what one of all is. */
    async function checkRanges(source: string, spec: string, config: readonly string[], check = checkSameRepositories): Promise<void> {
      await writeOurs(source, at('all.hg'), spec);
      unbundle(hg, at('from-all'), [at('all.hg')], config);
      const count = await withHg(hg, source, config, async (session) => Number(await session.run('log', '--hidden', '--rev', 'tip', '--template', '{rev}')) + 1);
      for (const cut of [Math.floor(count / 3), Math.floor((3 * count) / 4)]) {
        await writeOurs(source, at('below.hg'), spec, { range: { from: 0, to: cut - 1 } });
        await writeOurs(source, at('above.hg'), spec, { range: { from: cut, to: count - 1 } });
        unbundle(hg, at('from-two'), [at('below.hg'), at('above.hg')], config);
        check(hg, at('from-all'), at('from-two'), config);
      }
    }
  });
}
