/** The temporary folder beside the place of the destination, and the move into it. */
import assert from 'node:assert/strict';
import { chmodSync, existsSync, lchownSync, mkdirSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

import { describe, it } from 'mocha';

import { checkDestination, createDestination } from '../../src/repository/destination.js';
import { fncacheLines, modesFor } from '../../src/repository/target-layout.js';
import { buildRepository, rawChunk, writeAt } from '../support/repository-builder.js';
import { assertThrows, convert, isRoot, NOBODY, runCommand, Scratch } from './support.js';

describe('destination', () => {
  const scratch = Scratch.use();

  it('is built under a name of its own beside its place', () => {
    const target = createDestination(scratch.at('dst'), scratch.root);
    assert.equal(dirname(target.temporary), scratch.root);
    assert.match(basename(target.temporary), new RegExp(`^\\.dst\\.revconvert-${process.pid}-[0-9a-f]{8}$`));
    assert.ok(statSync(target.temporary).isDirectory());
    assert.equal(existsSync(scratch.at('dst')), false);
  });

  it('two at once do not meet', () => {
    assert.notEqual(createDestination(scratch.at('dst'), scratch.root).temporary, createDestination(scratch.at('dst'), scratch.root).temporary);
  });

  it('commit moves it into its place; a discard after it does nothing', () => {
    const target = createDestination(scratch.at('dst'), scratch.root);
    writeFileSync(join(target.temporary, 'file'), '');
    target.commit();
    target.discard();
    assert.deepEqual(readdirSync(scratch.root), ['dst']);
    assert.deepEqual(readdirSync(scratch.at('dst')), ['file']);
  });

  it('discard removes all of it, and may be called again', () => {
    const target = createDestination(scratch.at('dst'), scratch.root);
    writeAt(join(target.temporary, 'deep', 'file'), '');
    target.discard();
    target.discard();
    assert.deepEqual(readdirSync(scratch.root), []);
  });

  it('commit goes onto an empty folder', () => {
    mkdirSync(scratch.at('dst'));
    createDestination(scratch.at('dst'), scratch.root).commit();
    assert.deepEqual(readdirSync(scratch.root), ['dst']);
  });

  it('is its maker\'s alone until it is opened: then as the source, or as the empty folder that was prepared', () => {
    mkdirSync(scratch.at('src'), { mode: 0o700 });
    const modeOf = (path: string): number => statSync(path).mode & 0o7777;
    const target = createDestination(scratch.at('dst'), scratch.at('src'));
    assert.equal(modeOf(target.temporary), 0o700);
    target.open();
    assert.equal(modeOf(target.temporary), 0o700);
    chmodSync(scratch.at('src'), 0o751);
    target.open();
    assert.equal(modeOf(target.temporary), 0o751);
    mkdirSync(scratch.at('prepared'));
    chmodSync(scratch.at('prepared'), 0o2770);
    const onto = createDestination(scratch.at('prepared'), scratch.at('src'));
    onto.open();
    onto.commit();
    assert.equal(modeOf(scratch.at('prepared')), 0o2770);
  });

  it('a name as long as may be has room for the temporary one', () => {
    const name = 'n'.repeat(255);
    const target = createDestination(scratch.at(name), scratch.root);
    target.commit();
    assert.deepEqual(readdirSync(scratch.root), [name]);
  });

  const races: readonly (readonly [title: string, make: (path: string) => void])[] = [
    ['a folder that is not empty', (path) => writeAt(join(path, 'file'), 'mine')],
    ['a file', (path) => writeFileSync(path, 'mine')],
  ];
  for (const [title, make] of races) {
    it(`commit does not replace what came into being meanwhile: ${title}`, () => {
      const target = createDestination(scratch.at('dst'), scratch.root);
      make(scratch.at('dst'));
      assertThrows(() => target.commit(), { code: 'DESTINATION_EXISTS', path: '/dst' });
      target.discard();
      assert.deepEqual(readdirSync(scratch.root), ['dst']);
    });
  }

  it('is the place that links lead to', () => {
    mkdirSync(scratch.at('src'));
    mkdirSync(scratch.at('real'));
    symlinkSync('real', scratch.at('link'));
    assert.equal(checkDestination(scratch.at('src'), scratch.at('link', 'dst')), scratch.at('real', 'dst'));
    assert.equal(checkDestination(scratch.at('src'), scratch.at('link')), scratch.at('real'));
  });

  it('lies in a folder that may be written to, but not read', async function () {
    if (!isRoot) this.skip();
    buildRepository(scratch.at('src'));
    chmodSync(scratch.root, 0o777);
    mkdirSync(scratch.at('drop'));
    chmodSync(scratch.at('drop'), 0o733);
    const { status, stderr } = await runCommand(['--to', 'zstd', '--quiet', scratch.at('src'), scratch.at('drop', 'dst')], { uid: NOBODY });
    assert.equal(status, 0, stderr);
    assert.deepEqual(readdirSync(scratch.at('drop')), ['dst']);
  });
});

type Lists = Parameters<typeof fncacheLines>;

/** As much of a discovery and of results as the list is made of. */
function lines(listed: readonly string[], revlogs: readonly (readonly [name: string, listed: boolean, split: boolean])[]): string[] {
  const discovery = { listedNames: listed, revlogs: revlogs.map(([name, isListed]) => ({ name, listed: isListed })) };
  const results = revlogs.map(([, , split], id) => ({ id, split }));
  return fncacheLines(discovery as unknown as Lists[0], results as unknown as Lists[1]).sort();
}

describe('lines of the new fncache', () => {
  it('a revlog that is split now has a line for its data', () => {
    assert.deepEqual(lines(['data/a.i'], [['data/a.i', true, true]]), ['data/a.d', 'data/a.i']);
  });

  it('one that is inline now has none', () => {
    assert.deepEqual(lines(['data/a.d', 'data/a.i'], [['data/a.i', true, false]]), ['data/a.i']);
  });

  it('names are directory-encoded', () => {
    assert.deepEqual(lines([], [['data/x.d/y.i', true, true]]), ['data/x.d.hg/y.d', 'data/x.d.hg/y.i']);
  });

  it('changelog and manifest are in no list; tree manifests are', () => {
    const revlogs = [['00changelog.i', true, true], ['00manifest.i', true, true], ['meta/d/00manifest.i', true, false]] as const;
    assert.deepEqual(lines([], revlogs), ['meta/d/00manifest.i']);
  });

  it('what was not listed stays so, and what names something else stays', () => {
    assert.deepEqual(lines(['data/gone.i', 'odd line'], [['data/stray.i', false, true]]), ['data/gone.i', 'odd line']);
  });
});

describe('modes and folders of the new store', () => {
  const scratch = Scratch.use();
  const modeOf = (path: string): string => (statSync(path).mode & 0o7777).toString(8);

  it('as the umask gives them, where the store of the source is like that', () => {
    mkdirSync(scratch.at('store'));
    mkdirSync(scratch.at('fresh'));
    assert.deepEqual(modesFor(scratch.at('store'), scratch.at('fresh')), { file: undefined, folder: undefined });
  });

  it('a private repository stays private, and each folder keeps its own mode', async () => {
    const { hg, store } = buildRepository(scratch.at('src'));
    writeAt(join(hg, 'cache', 'tags2'), '');
    chmodSync(scratch.at('src'), 0o700);
    chmodSync(hg, 0o755);
    chmodSync(store, 0o2770);
    chmodSync(join(hg, 'cache'), 0o2775);
    await convert(scratch.at('src'), scratch.at('dst'));
    assert.deepEqual(
      ['', '.hg', '.hg/store', '.hg/cache'].map((name) => modeOf(scratch.at('dst', name))),
      ['700', '755', '2770', '2775'],
    );
  });

  it('made by root, it belongs to whom the source belongs to', async function () {
    if (!isRoot) this.skip();
    const { hg } = buildRepository(scratch.at('src'));
    writeAt(join(hg, 'hgrc'), '');
    chmodSync(join(hg, 'store'), 0o2770);
    for (const name of ['src', ...readdirSync(scratch.at('src'), { recursive: true, encoding: 'utf8' }).map((one) => join('src', one))]) {
      lchownSync(scratch.at(name), NOBODY, 5);
    }
    chmodSync(join(hg, 'store'), 0o2770);
    await convert(scratch.at('src'), scratch.at('dst'));
    for (const name of ['.', ...readdirSync(scratch.at('dst'), { recursive: true, encoding: 'utf8' })]) {
      const { uid, gid } = statSync(scratch.at('dst', name));
      assert.deepEqual([uid, gid], [NOBODY, 5], name);
    }
    assert.equal(modeOf(scratch.at('dst', '.hg', 'store')), '2770');
  });

  it('as the store of the source has them, where it is shared with a group', async () => {
    const { store } = buildRepository(scratch.at('src'), { files: ['a.txt', 'dir/b.txt', 'large.txt'], commits: 30, textBytes: 50_000, compress: rawChunk });
    chmodSync(store, 0o2775);
    writeAt(join(store, 'phaseroots'), '');
    chmodSync(join(store, 'phaseroots'), 0o600);
    await convert(scratch.at('src'), scratch.at('dst'));
    const made = (...names: string[]): string => modeOf(scratch.at('dst', '.hg', ...names));
    assert.deepEqual([made('store'), made('store', 'data'), made('store', 'data', 'dir')], ['2775', '2775', '2775']);
    const files = ['requires', 'store/requires', 'store/fncache', 'store/00changelog.i', 'store/data/dir/b.txt.i', 'store/data/large.txt.i', 'store/data/large.txt.d'];
    for (const name of files) assert.equal(made(name), '664', name);
    assert.equal(made('store', 'phaseroots'), '600', 'carried files keep their own');
  });

  it('an empty list is not written', async () => {
    const { store } = buildRepository(scratch.at('src'), { files: [] });
    rmSync(join(store, 'fncache'));
    await convert(scratch.at('src'), scratch.at('dst'));
    assert.deepEqual(readdirSync(scratch.at('dst', '.hg', 'store')).sort(), ['00changelog.i', '00manifest.i', 'requires']);
  });
});
