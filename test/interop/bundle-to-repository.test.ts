/** Repositories made of bundles: what `hg init` and `hg unbundle` make is what we make. */
import assert from 'node:assert/strict';
import { createReadStream, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';

import { describe, it } from 'mocha';

import { createRepository } from '../../src/bundles/to-repository/create-repository.js';
import type { CreateOptions } from '../../src/bundles/to-repository/options.js';
import type { CreationSummary } from '../../src/bundles/to-repository/summary.js';
import { readBundleItems } from '../../src/streams/bundle/read-bundle.js';
import type { Converted } from '../support/after-conversion.js';
import { checkCommitAndUndo, checkEngine, checkPartialBundle, checkSameHistory, checkStreamBundle, checkVerify, contents, emptyFolder, storeBytes } from '../support/after-conversion.js';
import { bundle2, hunk, nodeOf, NULL, partHeader, payload, revision, tinyChangegroup, tinyHistory } from '../support/bundle-builder.js';
import { hgVersion, runHgOk, withHg } from '../support/hg-session.js';
import { churnHistory, commonHistory } from '../support/histories.js';
import { LAYOUTS, made } from '../support/layouts.js';
import type { Mercurial } from '../support/mercurial.js';
import { requireMercurials } from '../support/mercurial.js';
import { useTempFolder } from '../support/temp-folder.js';

/** What Mercurial needs to read and write all of them, and to take in what it would leave out by itself. */
const CONFIG = ['experimental.changegroup3=yes', 'experimental.evolution=all'];
const TREES = 'experimental.treemanifest=yes';

const create = (bundle: string, destination: string, options: CreateOptions = {}, records = false): Promise<CreationSummary> =>
  createRepository(readBundleItems(createReadStream(bundle), { records }), destination, options);

/** By Mercurial. */
function unbundle(hg: string, bundle: string, folder: string, config: readonly string[] = CONFIG): void {
  runHgOk(hg, ['init', folder], { config });
  runHgOk(hg, ['--repository', folder, 'unbundle', '--quiet', bundle], { config });
}

const sortedLines = (path: string): string[] => (existsSync(path) ? readFileSync(path, 'latin1').split('\n').filter((line) => line !== '').sort() : []);

/** Files beside the revlogs are the same, whatever order their lines have; and the list of files has what is there. */
function checkFiles(hg: string, reference: string, folder: string): void {
  for (const name of ['requires', 'store/requires', 'store/phaseroots', 'bookmarks', '00changelog.i']) {
    assert.deepEqual(sortedLines(`${folder}/.hg/${name}`), sortedLines(`${reference}/.hg/${name}`), name);
  }
  assert.match(runHgOk(hg, ['--repository', folder, 'debugrebuildfncache']), /fncache already up to date|not.*fncache/);
  assert.equal(existsSync(`${folder}/.hg/store/undo`), false);
}

const view = (hg: string, source: string, destination: string, scratch: string): Converted => ({ hg, source, destination, scratch, verifyClean: true, pulls: true, config: CONFIG });

describe('repositories made of bundles', () => {
  const temporary = useTempFolder();

  const folderOf = ({ version }: Mercurial): ((name: string) => string) => {
    const folder = temporary(version);
    mkdirSync(folder);
    return (name) => `${folder}/${name.replace(/[;=,]/g, '-')}`;
  };

  /** @param reference what it is compared with. @default what Mercurial makes of the bundle, under this name and `-reference` */
  const checkBundle = async (hg: string, at: (name: string) => string, bundle: string, name: string, config: readonly string[] = CONFIG, reference?: string): Promise<void> => {
    if (reference === undefined) unbundle(hg, bundle, at(`${name}-reference`), config);
    for (const records of [true, false]) await create(bundle, at(`${name}-${records}`), {}, records);
    assert.equal(contents(at(`${name}-true`)), contents(at(`${name}-false`)), 'records and chunks make the same');
    const converted = view(hg, reference ?? at(`${name}-reference`), at(`${name}-false`), at('scratch'));
    checkVerify(converted);
    checkSameHistory(converted);
    checkFiles(hg, converted.source, converted.destination);
  };

  const KINDS = ['none-v1', 'gzip-v1', 'none-v2', 'zstd-v2', 'none-v2;cg.version=03', 'none-v2;phases=yes;obsolescence=yes'];

  it('are those that Mercurial makes: a history with everything, in every kind of bundle', async function () {
    this.timeout(300_000);
    for (const mercurial of requireMercurials(this)) {
      const { hg } = mercurial;
      const at = folderOf(mercurial);
      runHgOk(hg, ['init', at('source')]);
      await withHg(hg, at('source'), [], (session) => commonHistory(session));
      const kinds = hgVersion(hg)[0] >= 7 ? [...KINDS, 'none-v2;cg.version=04'] : KINDS;
      for (const kind of kinds) {
        const bundle = at(`${kind}.hg`);
        runHgOk(hg, ['--repository', at('source'), 'bundle', '--quiet', '--all', '--type', kind, bundle], { config: CONFIG });
        // Out of version 04 Mercurial 7.2 puts the parents of texts with metadata in the order that its own fix of other bundles undoes.
        await checkBundle(hg, at, bundle, kind, CONFIG, kind.endsWith('04') ? at('none-v2-reference') : undefined);
      }
      for (const check of [checkPartialBundle, checkStreamBundle, checkCommitAndUndo]) {
        emptyFolder(at('scratch'));
        check(view(hg, at('none-v2-reference'), at('none-v2-false'), at('scratch')));
      }
      runHgOk(hg, ['clone', '--quiet', '--pull', '--noupdate', at('none-v2-false'), at('clone')]);
      const log = (name: string): string => runHgOk(hg, ['--repository', at(name), 'log', '--template', '{rev} {node} {manifest} {p1node} {p2node}\\n']);
      assert.equal(log('clone'), log('none-v2-reference'));
    }
  });

  it('have manifests of directories where the bundle has them', async function () {
    this.timeout(120_000);
    for (const mercurial of requireMercurials(this)) {
      const { hg } = mercurial;
      const at = folderOf(mercurial);
      runHgOk(hg, ['init', at('source')], { config: [TREES] });
      await withHg(hg, at('source'), [TREES], (session) => commonHistory(session));
      runHgOk(hg, ['--repository', at('source'), 'bundle', '--quiet', '--all', '--type', 'zstd-v2;cg.version=03', at('trees.hg')], { config: [...CONFIG, TREES] });
      await checkBundle(hg, at, at('trees.hg'), 'trees', [...CONFIG, TREES]);
    }
  });

  it('keep censored revisions, and their flags', async function () {
    this.timeout(120_000);
    for (const mercurial of requireMercurials(this)) {
      const { hg } = mercurial;
      const at = folderOf(mercurial);
      const layout = LAYOUTS.find(({ name }) => name.includes('censored'));
      assert.ok(layout);
      await layout.build(hg, at('source'));
      const config = [...CONFIG, ...(layout.config ?? []), 'censor.policy=ignore'];
      runHgOk(hg, ['--repository', at('source'), 'bundle', '--quiet', '--all', '--type', 'none-v2;cg.version=03', at('censored.hg')], { config });
      unbundle(hg, at('censored.hg'), at('reference'), config);
      await create(at('censored.hg'), at('created'));
      checkSameHistory({ ...view(hg, at('reference'), at('created'), ''), config });
    }
  });

  it('are no larger than those of Mercurial where chains grow long, in version 01 too, and do not depend on threads', async function () {
    this.timeout(300_000);
    for (const mercurial of requireMercurials(this)) {
      const { hg } = mercurial;
      const at = folderOf(mercurial);
      runHgOk(hg, ['init', at('source')]);
      await withHg(hg, at('source'), [], churnHistory);
      for (const kind of ['none-v1', 'none-v2']) {
        const bundle = at(`${kind}.hg`);
        runHgOk(hg, ['--repository', at('source'), 'bundle', '--quiet', '--all', '--type', kind, bundle]);
        unbundle(hg, bundle, at(`${kind}-reference`));
        for (const jobs of [1, 4]) await create(bundle, at(`${kind}-${jobs}`), { jobs, check: 'nodes' });
        assert.equal(contents(at(`${kind}-1`)), contents(at(`${kind}-4`)));
        const converted = view(hg, at(`${kind}-reference`), at(`${kind}-1`), at('scratch'));
        checkVerify(converted);
        checkSameHistory(converted);
        const [own, theirs] = [storeBytes(at(`${kind}-1`)), storeBytes(at(`${kind}-reference`))];
        assert.ok(own < theirs * 1.03, `${kind}: ${own} bytes, where Mercurial has ${theirs}`);
      }
    }
  });

  it('are written by every engine, with new deltas and with dictionaries', async function () {
    this.timeout(300_000);
    for (const mercurial of requireMercurials(this)) {
      const { hg } = mercurial;
      const at = folderOf(mercurial);
      await made([])(hg, at('source'));
      runHgOk(hg, ['--repository', at('source'), 'bundle', '--quiet', '--all', '--type', 'zstd-v2', at('all.hg')]);
      unbundle(hg, at('all.hg'), at('reference'));
      for (const to of ['none', 'zlib', 'zstd'] as const) {
        const { conversion, kinds } = await create(at('all.hg'), at(to), { to });
        assert.equal(conversion, undefined);
        assert.equal(kinds.changelog.revisions, runHgOk(hg, ['--repository', at('reference'), 'log', '--template', 'x']).length);
        const converted = view(hg, at('reference'), at(to), at('scratch'));
        checkVerify(converted);
        checkSameHistory(converted);
        checkEngine(converted, to);
      }
      const { conversion } = await create(at('all.hg'), at('new-deltas'), { to: 'zlib', redelta: 'all', policy: { preset: 'smallest' } });
      assert.equal(conversion?.redelta, 'all');
      const converted = view(hg, at('reference'), at('new-deltas'), at('scratch'));
      checkVerify(converted);
      checkSameHistory(converted);
      checkEngine(converted, 'zlib');
    }
  });

  it('take in each part as Mercurial does', async function () {
    this.timeout(120_000);
    const { changesets } = tinyHistory();
    const [c0, c1] = changesets.map(({ node }) => node) as [Buffer, Buffer];
    const changegroup = (target?: string): Buffer => Buffer.concat([partHeader('CHANGEGROUP', 0, [['version', '02']], target === undefined ? [] : [['targetphase', target]]), payload(tinyChangegroup())]);
    const part = (type: string, bytes: Buffer, mandatory: readonly (readonly [string, string])[] = []): Buffer => Buffer.concat([partHeader(type, 7, mandatory), payload(bytes)]);
    const phase = (number: number, node: Buffer): Buffer => Buffer.concat([Buffer.from([0, 0, 0, number]), node]);
    const bookmark = (name: string, node: Buffer): Buffer => Buffer.concat([node, Buffer.from([0, name.length]), Buffer.from(name)]);
    const bundles: Readonly<Record<string, Buffer>> = {
      'all public': bundle2(changegroup(), part('PHASE-HEADS', phase(0, c1))),
      'public and draft': bundle2(changegroup(), part('PHASE-HEADS', Buffer.concat([phase(0, c0), phase(1, c1)]))),
      'all secret': bundle2(changegroup('2')),
      'secret, in part': bundle2(changegroup('2'), part('PHASE-HEADS', phase(1, c0))),
      'a phase that is no lower': bundle2(changegroup(), part('PHASE-HEADS', phase(2, c1))),
      'bookmarks': bundle2(changegroup(), part('BOOKMARKS', Buffer.concat([bookmark('two', c1), bookmark('one', c0)]))),
      'a bookmark, and a phase, pushed': bundle2(changegroup(), part('PUSHKEY', Buffer.alloc(0), [['namespace', 'bookmarks'], ['key', 'x'], ['old', ''], ['new', c1.toString('hex')]]), part('PUSHKEY', Buffer.alloc(0), [['namespace', 'phases'], ['key', c0.toString('hex')], ['old', '1'], ['new', '0']])),
      'markers': bundle2(changegroup(), part('OBSMARKERS', Buffer.concat([Buffer.from([1, 0, 0, 0, 59]), Buffer.alloc(12), Buffer.from([1, 3, 0]), Buffer.alloc(20, 7), c1]))),
      'caches': bundle2(changegroup(), part('cache:rev-branch-cache', Buffer.alloc(2)), part('hgtagsfnodes', Buffer.alloc(30))),
      'what an empty repository has': bundle2(part('CHECK:HEADS', NULL), part('CHECK:PHASES', Buffer.alloc(0)), part('CHECK:BOOKMARKS', bookmark('x', Buffer.alloc(20, 255))), changegroup()),
      'nothing': bundle2(),
    };
    for (const mercurial of requireMercurials(this)) {
      const at = folderOf(mercurial);
      for (const [name, bytes] of Object.entries(bundles)) {
        writeFileSync(at(`${name}.hg`), bytes);
        unbundle(mercurial.hg, at(`${name}.hg`), at(`${name} reference`));
        await create(at(`${name}.hg`), at(name));
        checkSameHistory(view(mercurial.hg, at(`${name} reference`), at(name), ''));
        const known = ['store/requires', 'store/phaseroots', 'store/obsstore'].map((file) => `.hg/${file}`);
        for (const file of known) assert.deepEqual(sortedLines(`${at(name)}/${file}`), sortedLines(`${at(`${name} reference`)}/${file}`), `${name}: ${file}`);
      }
    }
  });

  it('put parents in order where a text has metadata, as Mercurial does', async function () {
    this.timeout(120_000);
    const { changesets, manifests, name } = tinyHistory();
    const [c0, c1] = changesets.map(({ node }) => node) as [Buffer, Buffer];
    const meta = '\x01\nfoo: bar\n\x01\n';
    const first = { text: `${meta}one\n`, node: nodeOf(NULL, NULL, `${meta}one\n`) };
    /** What the second revision is made of the first by, and what it is then. */
    const seconds: readonly (readonly [delta: Buffer, text: string])[] = [
      [hunk(0, first.text.length, `${meta}two\n`), `${meta}two\n`],
      [hunk(first.text.length, first.text.length, 'two\n'), `${first.text}two\n`],
      [hunk(0, meta.length, ''), 'one\n'],
      [hunk(1, 2, ''), first.text.replace('\n', '')],
      [hunk(0, 1, '\x01'), first.text],
    ];
    for (const mercurial of requireMercurials(this)) {
      const at = folderOf(mercurial);
      for (const [i, [delta, text]] of seconds.entries()) {
        const node = nodeOf(first.node, NULL, text);
        const file = [revision('02', { node: first.node, link: c0, delta: hunk(0, 0, first.text) }), revision('02', { node, p1: first.node, base: first.node, link: c1, delta })];
        const end = Buffer.alloc(4);
        const groups = [...changesets, ...manifests].map((one) => revision('02', one));
        const chunkOfName = Buffer.concat([Buffer.from([0, 0, 0, 4 + name.length]), Buffer.from(name)]);
        const bytes = Buffer.concat([...groups.slice(0, 2), end, ...groups.slice(2), end, chunkOfName, ...file, end, end]);
        writeFileSync(at(`${i}.hg`), bundle2(Buffer.concat([partHeader('CHANGEGROUP', 0, [['version', '02']]), payload(bytes)])));
        unbundle(mercurial.hg, at(`${i}.hg`), at(`${i}-reference`));
        await create(at(`${i}.hg`), at(`${i}`));
        checkSameHistory(view(mercurial.hg, at(`${i}-reference`), at(`${i}`), ''));
      }
    }
  });
});
