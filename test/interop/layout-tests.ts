/** Every layout, built by each Mercurial at hand, converted and converted back, and looked at by Mercurial. */
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { ConvertOptions } from '../../src/index.js';
import { convertRepository, RevconvertError } from '../../src/index.js';
import {
  checkCarriedFiles,
  checkCommitAndUndo,
  checkEngine,
  checkPartialBundle,
  checkSameHistory,
  checkStreamBundle,
  checkUpgradeFindsNothing,
  checkVerify,
  contents,
  type Converted,
  emptyFolder,
  fingerprint,
  type HgEngine,
} from '../support/after-conversion.js';
import { hgVersion } from '../support/hg-session.js';
import { type CheckName, type Layout, LAYOUTS } from '../support/layouts.js';
import type { Mercurial } from '../support/mercurial.js';

const CHECKS: Readonly<Record<CheckName, (converted: Converted) => void>> = {
  partialBundle: checkPartialBundle,
  streamBundle: checkStreamBundle,
  commitAndUndo: checkCommitAndUndo,
  upgradeFindsNothing: (converted) => checkUpgradeFindsNothing(converted, 'zstd'),
};

const CHECK_TITLES: Readonly<Record<CheckName, string>> = {
  partialBundle: 'a bundle of one head can be made and applied',
  streamBundle: 'a stream bundle can be made and applied',
  commitAndUndo: 'a commit can be rolled back and stripped',
  upgradeFindsNothing: 'debugupgraderepo finds nothing to do for the compression',
};

const CHECK_NAMES = Object.keys(CHECKS) as CheckName[];

/** The way there and back, after the first step to zstd. Mercurial cannot read lz4, only what comes back from it. */
const ROUND_TRIP: readonly { readonly from: string; readonly to: HgEngine | 'lz4' }[] = [
  { from: 'zstd', to: 'zlib' },
  { from: 'zlib', to: 'none' },
  { from: 'none', to: 'lz4' },
  { from: 'lz4', to: 'zlib' },
];

const isBuiltBy = ({ minVersion: [needMajor, needMinor] = [0, 0] }: Layout, [major, minor]: readonly [number, number]): boolean =>
  major > needMajor || (major === needMajor && minor >= needMinor);

/** The folders of one layout; made when the suite starts, gone when it ends. */
class Folders {
  #root = '';

  create(): void {
    this.#root = mkdtempSync(join(tmpdir(), 'revconvert-layout-'));
  }

  remove(): void {
    rmSync(this.#root, { recursive: true, force: true });
  }

  get source(): string {
    return join(this.#root, 'source');
  }

  get scratch(): string {
    return join(this.#root, 'scratch');
  }

  to(name: string): string {
    return join(this.#root, `to-${name}`);
  }
}

const view = (hg: string, layout: Layout, folders: Folders, destination: string): Converted => ({
  hg,
  source: folders.source,
  destination,
  scratch: folders.scratch,
  verifyClean: layout.verifyClean,
  ...(layout.config === undefined ? {} : { config: layout.config }),
});

function testConversion(hg: string, layout: Layout, folders: Folders): void {
  const zstd = (): Converted => view(hg, layout, folders, folders.to('zstd'));

  it('is converted to zstd, and the source is left alone', async () => {
    const before = fingerprint(folders.source);
    await convertRepository(folders.source, folders.to('zstd'), { to: 'zstd' });
    assert.equal(fingerprint(folders.source), before);
    checkVerify(zstd());
    checkSameHistory(zstd());
    checkCarriedFiles(zstd());
    checkEngine(zstd(), 'zstd');
  });

  for (const name of CHECK_NAMES) {
    const reason = layout.without?.[name];
    if (reason !== undefined) continue;
    it(CHECK_TITLES[name], () => {
      emptyFolder(folders.scratch);
      CHECKS[name](zstd());
    });
  }

  it('goes back to zlib, to none, to lz4 and back', async () => {
    let from = folders.to('zstd');
    for (const [step, { to }] of ROUND_TRIP.entries()) {
      const destination = folders.to(`${step}-${to}`);
      await convertRepository(from, destination, { to });
      from = destination;
      if (to === 'lz4') continue;
      const converted = view(hg, layout, folders, destination);
      checkVerify(converted);
      checkSameHistory(converted);
      checkCarriedFiles(converted);
      checkEngine(converted, to);
    }
  });

  it('is the same for one job and four', async () => {
    for (const jobs of [1, 4]) await convertRepository(folders.source, folders.to(`jobs-${jobs}`), { to: 'zstd', jobs });
    assert.equal(contents(folders.to('jobs-4')), contents(folders.to('jobs-1')));
  });
}

/** Other ways to new deltas than `all`, which every layout goes. */
const WAYS: readonly (readonly [title: string, options: ConvertOptions])[] = [
  ['parent', { redelta: 'parent' }],
  ['multibase', { redelta: 'multibase' }],
  ['fulladd', { redelta: 'fulladd' }],
  ['the smallest', { redelta: 'fulladd', policy: { preset: 'smallest' } }],
  ['the rules of 3.7, with deltas in the changelog', { redelta: 'all', policy: { preset: 'mercurial-3.7', changelog: { deltas: true } } }],
  ['short chains', { redelta: 'all', policy: { preset: 'fastest-read', maxChainLength: 3 } }],
  ['no generaldelta', { redelta: 'all', policy: { generaldelta: false, changelog: { deltas: true } } }],
  ['no deltas', { redelta: 'all', policy: { deltas: false, filelog: { deltas: false }, manifest: { deltas: false } } }],
];

/** Ways that a layout goes besides: each is gone by several layouts, one after the other. */
const WAYS_EACH = 1;

const waysOf = (layout: Layout): typeof WAYS => {
  const first = LAYOUTS.indexOf(layout) * WAYS_EACH;
  return Array.from({ length: WAYS_EACH }, (_, i) => WAYS[(first + i) % WAYS.length]).filter((way) => way !== undefined);
};

const isDeltaInfo = (folder: string): boolean => ['.hg/requires', '.hg/store/requires'].some((name) => existsSync(join(folder, name)) && readFileSync(join(folder, name), 'utf8').includes('delta-info-revlog'));

function testRedelta(hg: string, layout: Layout, folders: Folders): void {
  const all = (): Converted => ({ ...view(hg, layout, folders, folders.to('all')), pulls: true });

  const convertWith = async (name: string, options: ConvertOptions): Promise<void> => {
    await convertRepository(folders.source, folders.to(name), { to: 'zstd', ...options });
    const converted = view(hg, layout, folders, folders.to(name));
    checkVerify(converted);
    checkSameHistory(converted);
  };

  it('is converted with all deltas anew', async () => {
    await convertWith('all', { redelta: 'all' });
    checkCarriedFiles(all());
    checkEngine(all(), 'zstd');
  });

  for (const [title, options] of waysOf(layout)) {
    it(`with new deltas: ${title}`, async () => {
      const conversion = convertWith(title.replace(/\W+/g, '-'), options);
      if (isDeltaInfo(folders.source) && /3\.7|no generaldelta/.test(title)) await assert.rejects(conversion, { code: 'USAGE' });
      else await conversion;
    });
  }

  for (const name of CHECK_NAMES) {
    if (layout.without?.[name] !== undefined) continue;
    it(`with new deltas, ${CHECK_TITLES[name]}`, () => {
      emptyFolder(folders.scratch);
      CHECKS[name](all());
    });
  }

  it('with new deltas, what one job makes is what four make', async () => {
    for (const jobs of [1, 4]) await convertRepository(folders.source, folders.to(`all-jobs-${jobs}`), { to: 'zstd', redelta: 'all', jobs });
    assert.equal(contents(folders.to('all-jobs-4')), contents(folders.to('all-jobs-1')));
  });
}

function testRefusal(folders: Folders, code: string): void {
  it(`is refused with ${code}, and nothing is written`, async () => {
    const destination = folders.to('zstd');
    await assert.rejects(convertRepository(folders.source, destination, { to: 'zstd' }), (error) => {
      assert.ok(error instanceof RevconvertError, String(error));
      assert.equal(error.code, code, error.message);
      return true;
    });
    assert.equal(existsSync(destination), false);
  });
}

/** The suite of one Mercurial: every layout that it can build. */
export function testLayouts({ hg, version: name }: Mercurial): void {
  const version = hgVersion(hg);
  describe(`layouts of Mercurial ${name}`, () => {
    for (const layout of LAYOUTS.filter((one) => isBuiltBy(one, version))) {
      describe(layout.name, () => {
        const folders = new Folders();
        before(async () => {
          folders.create();
          await layout.build(hg, folders.source);
        });
        after(() => folders.remove());
        if (layout.expectRefusal !== undefined) {
          testRefusal(folders, layout.expectRefusal);
          return;
        }
        testConversion(hg, layout, folders);
        testRedelta(hg, layout, folders);
      });
    }
  });
}
