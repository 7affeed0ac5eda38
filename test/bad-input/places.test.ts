/** Sources and destinations that cannot be used: refused before anything is written, or cleaned up after. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { beforeEach, describe, it } from 'mocha';

import { assertFails, convert, isRoot, NOBODY, picture, runCommand, Scratch } from '../repository/support.js';
import { buildRepository, rawChunk } from '../support/repository-builder.js';
import { assertJsonError, assertOneLine, assertRefused } from './support.js';

function testSources(scratch: Scratch): void {
  it('a folder that does not exist', () => assertRefused(scratch, { code: 'NOT_A_REPOSITORY', path: '/src', message: /no such folder/ }));

  it('a folder without .hg', () => {
    mkdirSync(scratch.at('src'));
    return assertRefused(scratch, { code: 'NOT_A_REPOSITORY', path: '/src/.hg', message: /no such folder/ });
  });

  it('a file', () => {
    writeFileSync(scratch.at('src'), 'text');
    return assertRefused(scratch, { code: 'NOT_A_REPOSITORY', path: '/src', message: /not a folder/ });
  });

  it('a folder whose .hg is a file', () => {
    mkdirSync(scratch.at('src'));
    writeFileSync(scratch.at('src', '.hg'), 'gitdir: elsewhere');
    return assertRefused(scratch, { code: 'NOT_A_REPOSITORY', path: '/src/.hg', message: /not a folder/ });
  });

  it('requirements that are a folder', () => {
    mkdirSync(scratch.at('src', '.hg', 'requires'), { recursive: true });
    return assertRefused(scratch, { code: 'SYSTEM', path: '/src/.hg/requires', message: /regular file/ });
  });

  it('requirements with an empty line', () => {
    buildRepository(scratch.at('src'));
    writeFileSync(scratch.at('src', '.hg', 'requires'), 'share-safe\n\nstore\n');
    return assertRefused(scratch, { code: 'REQUIRES_CORRUPT', path: '.hg/requires', message: /line 2/ });
  });

  it('share-safe without requirements in the store', () => {
    const { store } = buildRepository(scratch.at('src'));
    rmSync(join(store, 'requires'));
    return assertRefused(scratch, { code: 'REQUIRES_CORRUPT', path: '.hg/store/requires' });
  });

  it('an fncache that was cut', () => {
    const { store } = buildRepository(scratch.at('src'));
    writeFileSync(join(store, 'fncache'), 'data/a.txt.i\ndata/split.tx');
    return assertRefused(scratch, { code: 'FNCACHE_CORRUPT', path: '.hg/store/fncache', offset: 26 });
  });

  it('an fncache with an empty line', () => {
    const { store } = buildRepository(scratch.at('src'));
    writeFileSync(join(store, 'fncache'), 'data/a.txt.i\n\ndata/split.txt.i\n');
    return assertRefused(scratch, { code: 'FNCACHE_CORRUPT', path: '.hg/store/fncache' });
  });

  it('a FIFO in the place of a revlog does not block for ever', () => {
    const repository = buildRepository(scratch.at('src'));
    rmSync(repository.inStore('00manifest.i'));
    assert.equal(spawnSync('mkfifo', [repository.inStore('00manifest.i')]).status, 0);
    return assertRefused(scratch, { code: 'SYSTEM', path: '00manifest.i', message: /regular file/ });
  });
}

function testDestinations(scratch: Scratch): void {
  it('exists and is not empty', async () => {
    buildRepository(scratch.at('src'));
    mkdirSync(scratch.at('dst'));
    writeFileSync(scratch.at('dst', 'file'), 'mine');
    await assertRefused(scratch, { code: 'DESTINATION_EXISTS', path: '/dst', message: /not empty/ });
  });

  it('is a file', async () => {
    buildRepository(scratch.at('src'));
    writeFileSync(scratch.at('dst'), 'mine');
    await assertRefused(scratch, { code: 'DESTINATION_EXISTS', path: '/dst', message: /no folder/ });
  });

  it('is a link to a folder that is not empty', async () => {
    buildRepository(scratch.at('src'));
    mkdirSync(scratch.at('elsewhere', 'full'), { recursive: true });
    symlinkSync(scratch.at('elsewhere'), scratch.at('dst'));
    await assertRefused(scratch, { code: 'DESTINATION_EXISTS', path: '/elsewhere' });
  });

  it('is a link to nothing', async () => {
    buildRepository(scratch.at('src'));
    symlinkSync(scratch.at('nothing'), scratch.at('dst'));
    await assertRefused(scratch, { code: 'DESTINATION_EXISTS', path: '/dst' });
  });

  it('lies in a folder that does not exist', async () => {
    buildRepository(scratch.at('src'));
    const before = picture(scratch.root);
    await assertFails(convert(scratch.at('src'), scratch.at('no', 'dst')), { code: 'DESTINATION_PARENT', path: '/no' });
    assert.deepEqual(picture(scratch.root), before);
  });

  it('lies in a file', async () => {
    buildRepository(scratch.at('src'));
    writeFileSync(scratch.at('file'), '');
    await assertFails(convert(scratch.at('src'), scratch.at('file', 'dst')), { code: 'DESTINATION_PARENT', path: '/file' });
  });

  it('an empty folder is fine', async () => {
    buildRepository(scratch.at('src'));
    mkdirSync(scratch.at('dst'));
    await convert(scratch.at('src'), scratch.at('dst'));
    assert.deepEqual(readdirSync(scratch.root).sort(), ['dst', 'src']);
    assert.deepEqual(readdirSync(scratch.at('dst')), ['.hg']);
  });

  it('a link to an empty folder is fine, and stays a link', async () => {
    buildRepository(scratch.at('src'));
    mkdirSync(scratch.at('elsewhere'));
    symlinkSync(scratch.at('elsewhere'), scratch.at('dst'));
    await convert(scratch.at('src'), scratch.at('dst'));
    assert.deepEqual(readdirSync(scratch.at('elsewhere')), ['.hg']);
    assert.equal(picture(scratch.root)['dst'], `link to ${scratch.at('elsewhere')}`);
  });
}

interface Overlap {
  readonly title: string;
  /** Below the scratch folder. */
  readonly from: string;
  readonly to: string;
  readonly link?: readonly [name: string, target: string];
}

const OVERLAPS: readonly Overlap[] = [
  { title: 'the same folder', from: 'src', to: 'src' },
  { title: 'the same folder, spelt otherwise', from: 'src', to: 'other/../src/.' },
  { title: 'the destination inside the source', from: 'src', to: 'src/dst' },
  { title: 'the destination inside .hg', from: 'src', to: 'src/.hg/dst' },
  { title: 'the source inside the destination', from: 'src', to: '.' },
  { title: 'the same folder by a link to the source', from: 'link', to: 'src', link: ['link', 'src'] },
  { title: 'the same folder by a link to the destination', from: 'src', to: 'link', link: ['link', 'src'] },
  { title: 'inside, by a link on the way', from: 'src', to: 'link/dst', link: ['link', 'src/inner'] },
  { title: 'around it, by a link', from: 'src', to: 'link', link: ['link', '.'] },
];

function testOverlaps(scratch: Scratch): void {
  for (const { title, from, to, link } of OVERLAPS) {
    it(`${title}: DESTINATION_OVERLAPS`, async () => {
      buildRepository(scratch.at('src'));
      mkdirSync(scratch.at('src', 'inner'));
      mkdirSync(scratch.at('other'));
      if (link !== undefined) symlinkSync(scratch.at(link[1]), scratch.at(link[0]));
      const before = picture(scratch.root);
      const expected = { code: 'DESTINATION_OVERLAPS', path: '' } as const;
      await assertFails(convert(scratch.at(from), `${scratch.root}/${to}`), expected);
      assertOneLine(await runCommand(['--to', 'zstd', scratch.at(from), `${scratch.root}/${to}`]), expected);
      assert.deepEqual(picture(scratch.root), before);
    });
  }

  it('a name that only begins alike is another folder', async () => {
    buildRepository(scratch.at('src'));
    await convert(scratch.at('src'), scratch.at('src-2'));
    assert.deepEqual(readdirSync(scratch.root).sort(), ['src', 'src-2']);
  });
}

/** Runs the command as a user that owns nothing, and compares what it says. */
async function assertDenied(scratch: Scratch, path: string, to = scratch.at('dst')): Promise<void> {
  const before = picture(scratch.root);
  const expected = { code: 'PERMISSION', path } as const;
  const args = ['--to', 'zstd', scratch.at('src'), to];
  assertOneLine(await runCommand(args, { uid: NOBODY }), expected);
  assertJsonError(await runCommand(['--json', ...args], { uid: NOBODY }), expected);
  assert.deepEqual(picture(scratch.root), before);
}

function testPermissions(scratch: Scratch): void {
  beforeEach(function () {
    // Root may read everything: only as root can another user be tried.
    if (!isRoot) this.skip();
    chmodSync(scratch.root, 0o777);
  });

  it('requirements that may not be read', () => {
    const { hg } = buildRepository(scratch.at('src'));
    chmodSync(join(hg, 'requires'), 0o600);
    return assertDenied(scratch, '.hg/requires');
  });

  it('a .hg that may not be entered', () => {
    const { hg } = buildRepository(scratch.at('src'));
    chmodSync(hg, 0o600);
    return assertDenied(scratch, '.hg/requires');
  });

  it('a revlog that may not be read', () => {
    const repository = buildRepository(scratch.at('src'));
    chmodSync(repository.inStore('data/a.txt.i'), 0);
    return assertDenied(scratch, 'data/a.txt.i');
  });

  it('a data file that may not be read', () => {
    const repository = buildRepository(scratch.at('src'));
    chmodSync(repository.inStore('data/split.txt.d'), 0);
    return assertDenied(scratch, 'data/split.txt.d');
  });

  it('a folder of the store that may not be listed', () => {
    const repository = buildRepository(scratch.at('src'));
    chmodSync(repository.inStore('data'), 0o700);
    return assertDenied(scratch, '/store/data');
  });

  it('a carried file that may not be read', () => {
    const { store } = buildRepository(scratch.at('src'));
    writeFileSync(join(store, 'phaseroots'), '');
    chmodSync(join(store, 'phaseroots'), 0);
    return assertDenied(scratch, '/store/phaseroots');
  });

  it('a folder in which the destination may not be made', () => {
    buildRepository(scratch.at('src'));
    mkdirSync(scratch.at('closed'));
    return assertDenied(scratch, '', scratch.at('closed', 'dst'));
  });

  it('a source that may be read only is converted without locks, and the summary says so', async () => {
    buildRepository(scratch.at('src'));
    const { status, stdout, stderr } = await runCommand(['--to', 'zstd', '--json', scratch.at('src'), scratch.at('dst')], { uid: NOBODY });
    assert.equal(status, 0, stdout + stderr);
    assert.match((JSON.parse(stdout) as { unlocked: string }).unlocked, /wlock: EACCES/);
  });

  it('a lock that may not be read is an error, not an endless loop', async () => {
    const { store } = buildRepository(scratch.at('src'));
    chmodSync(scratch.at('src', '.hg'), 0o777);
    chmodSync(store, 0o777);
    writeFileSync(join(store, 'lock'), 'elsewhere:1');
    chmodSync(join(store, 'lock'), 0);
    await assertDenied(scratch, '/store/lock');
  });
}

/** Mounts a small file system; undefined where that cannot be done. */
function mountSmall(folder: string, kilobytes: number): (() => void) | undefined {
  mkdirSync(folder);
  const mounted = isRoot && spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${kilobytes}k`, 'tmpfs', folder]).status === 0;
  if (mounted) return () => spawnSync('umount', [folder]);
  rmSync(folder, { recursive: true });
  return undefined;
}

function testFullDisk(scratch: Scratch): void {
  for (const { title, commits, textBytes } of [
    { title: 'small revlogs', commits: 3, textBytes: 30_000 },
    { title: 'a revlog larger than a MiB', commits: 30, textBytes: 100_000 },
  ]) {
    it(`${title}: NO_SPACE, and nothing is left`, async function () {
      const full = scratch.at('full');
      const unmount = mountSmall(full, 128);
      if (unmount === undefined) {
        process.stderr.write('      skipped: a small file system cannot be mounted here\n');
        this.skip();
      }
      try {
        buildRepository(scratch.at('src'), { commits, textBytes, compress: rawChunk });
        for (const jobs of [1, 2]) {
          await assertFails(convert(scratch.at('src'), join(full, 'dst'), { to: 'none', jobs }), { code: 'NO_SPACE', path: '' });
          assert.deepEqual(readdirSync(full), []);
          assertJsonError(await runCommand(['--to', 'none', '--json', '--jobs', String(jobs), scratch.at('src'), join(full, 'dst')]), { code: 'NO_SPACE', path: '' });
        }
        assertOneLine(await runCommand(['--to', 'none', scratch.at('src'), join(full, 'dst')]), { code: 'NO_SPACE', path: '' });
        assert.deepEqual(readdirSync(full), []);
      } finally {
        unmount();
      }
    });
  }

  it('a carried file that does not fit: NO_SPACE, and nothing is left', async function () {
    const full = scratch.at('full');
    const unmount = mountSmall(full, 128);
    if (unmount === undefined) this.skip();
    try {
      const { store } = buildRepository(scratch.at('src'));
      mkdirSync(join(store, 'lfs'));
      writeFileSync(join(store, 'lfs', 'blob'), Buffer.alloc(1 << 20, 'x'));
      await assertFails(convert(scratch.at('src'), join(full, 'dst')), { code: 'NO_SPACE', path: '/lfs/blob' });
      assert.deepEqual(readdirSync(full), []);
    } finally {
      unmount();
    }
  });
}

describe('bad input: places', function () {
  this.timeout(60_000);
  const scratch = Scratch.use();
  describe('sources', () => testSources(scratch));
  describe('destinations', () => testDestinations(scratch));
  describe('destinations that overlap with the source', () => testOverlaps(scratch));
  describe('no permission', () => testPermissions(scratch));
  describe('a full disk', () => testFullDisk(scratch));
});
