/** Stream clones: ours are taken by every Mercurial at hand, theirs are taken by us, and the newest writes the same bytes. */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { after, before, describe, it } from 'mocha';

import { hgVersion, runHgOk } from '../support/hg-session.js';
import type { Mercurial } from '../support/mercurial.js';
import { newestHg, requireMercurials } from '../support/mercurial.js';
import { checkSame, checkVerified, INIT, makeHistory, PACKED1, readStream, STREAM2, take, writeStream } from '../support/stream-clones.js';

interface Layout {
  readonly title: string;
  readonly config: readonly string[];
  /** Needed in each command. */
  readonly always?: readonly string[];
  readonly minMajor?: number;
  /** Versions that cannot write it as stream2. */
  readonly noBundle?: readonly number[];
  /** Sources made by each, taken by each; otherwise by the last, and by the one that did not make it. */
  readonly full?: boolean;
}

const LAYOUTS: readonly Layout[] = [
  { title: 'today\'s layout with zlib', config: INIT, full: true },
  { title: 'zstd', config: ['format.revlog-compression=zstd'] },
  { title: 'without generaldelta', config: [...INIT, 'format.usegeneraldelta=no'] },
  { title: 'without a store', config: [...INIT, 'format.usestore=no'] },
  { title: 'tree manifests', config: [...INIT, 'experimental.treemanifest=yes'], always: ['experimental.changegroup3=yes'], noBundle: [6] },
  { title: 'look-up tables', config: [...INIT, 'format.use-persistent-nodemap=yes'], always: ['storage.revlog.persistent-nodemap.slow-path=allow'] },
  { title: 'delta information', config: [...INIT, 'format.use-delta-info-flags=yes'], minMajor: 7 },
  { title: 'a file index', config: [...INIT, 'format.use-fileindex-v1=yes'], always: ['storage.fileindex.slow-path=allow'], minMajor: 7 },
];

const majorOf = ({ hg }: Mercurial): number => hgVersion(hg)[0];
const named = ({ version }: Mercurial): string => version.replaceAll('.', '-');

type Kind = 'packed1' | 'stream2';

/** Mercurial's own. */
function makeTheirs({ hg }: Mercurial, source: string, bundle: string, kind: Kind, always: readonly string[]): void {
  if (kind === 'packed1') runHgOk(hg, ['debugcreatestreamclonebundle', bundle], { cwd: source, config: always });
  else runHgOk(hg, ['bundle', '--all', '--type', STREAM2, bundle], { cwd: source, config: [...always, 'phases.publish=no'] });
}

describe('stream clones and Mercurial', function () {
  this.timeout(120_000);
  let root = '';
  let mercurials: Mercurial[] = [];
  before(function () {
    mercurials = requireMercurials(this);
    root = mkdtempSync(join(tmpdir(), 'revconvert-stream-clone-'));
  });
  after(() => rmSync(root, { recursive: true, force: true }));

  async function checkOurs(source: string, taker: Mercurial, kind: Kind, { config, always = [] }: Layout): Promise<void> {
    const taken = `${source}-${kind}-${named(taker)}`;
    await writeStream(source, `${taken}.hg`, kind === 'packed1' ? PACKED1 : STREAM2, { phases: true });
    // For packed1 Mercurial does not change what a repository requires: it must be of the kind that comes.
    take(taker.hg, `${taken}.hg`, taken, kind === 'packed1', [...config, ...always].filter((item) => item !== 'format.usestore=no'));
    checkVerified(taker.hg, taken, always);
    checkSame(taker.hg, source, taken, always, kind === 'stream2');
  }

  async function checkTheirs(source: string, maker: Mercurial, kind: Kind, { always = [], noBundle = [] }: Layout): Promise<void> {
    if (kind === 'stream2' && noBundle.includes(majorOf(maker))) return;
    const theirs = `${source}-by-${named(maker)}-${kind}`;
    makeTheirs(maker, source, `${theirs}.hg`, kind, always);
    await readStream(`${theirs}.hg`, theirs);
    checkSame(maker.hg, source, theirs, always, kind === 'stream2');
  }

  async function checkBytes(source: string, newest: Mercurial, kind: Kind, { always = [] }: Layout): Promise<void> {
    const theirs = `${source}-again.${kind}`;
    // Each version has caches of its own, which are made when they are missed.
    rmSync(join(source, '.hg', 'cache'), { recursive: true, force: true });
    makeTheirs(newest, source, theirs, kind, always);
    await writeStream(source, `${theirs}.ours`, kind === 'packed1' ? PACKED1 : STREAM2, { phases: true });
    const wanted = readFileSync(theirs);
    // What Mercurial 6.3 kept of its last transaction is in no clone of ours.
    if (!wanted.includes('undo.backup.00changelog')) assert.deepEqual(readFileSync(`${theirs}.ours`), wanted);
  }

  for (const layout of LAYOUTS) {
    const { title, config, always = [], minMajor = 0, full = false } = layout;
    it(`${title}: the same history there and back, and the same bytes`, async () => {
      const able = mercurials.filter((one) => majorOf(one) >= minMajor);
      for (const maker of full ? able : able.slice(-1)) {
        const source = join(root, `${title.replaceAll(/\W/g, '-')}-${named(maker)}`);
        makeHistory(maker.hg, source, [...config, ...always]);
        for (const other of full ? able : able.slice(0, 1)) {
          for (const kind of ['packed1', 'stream2'] as const) {
            await checkOurs(source, other, kind, layout);
            await checkTheirs(source, other, kind, layout);
          }
        }
        const newest = newestHg();
        if (newest === undefined) continue;
        for (const kind of ['packed1', 'stream2'] as const) await checkBytes(source, newest, kind, layout);
      }
    });
  }
});
