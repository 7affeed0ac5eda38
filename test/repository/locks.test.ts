/** Mercurial's own locks on the source: taken, waited for, broken where their holder is dead, always given back. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, lstatSync, mkdirSync, readdirSync, readlinkSync, rmSync, statSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';

import { describe, it } from 'mocha';

import { lockRepository, ownHolder } from '../../src/repository/locks.js';
import { openRepository } from '../../src/repository/open.js';
import type { BuiltRepository, LayoutName } from '../support/repository-builder.js';
import { buildRepository } from '../support/repository-builder.js';
import { assertFails, convert, isRoot, NOBODY, picture, runCommand, Scratch } from './support.js';

/** Who we are, said without the code under test. */
const OWN_HOST = `${hostname()}/${statSync('/proc/self/ns/pid').ino.toString(16)}`;

/** A process that has run and is gone. */
const deadPid = (): number => spawnSync('true').pid;

const linkAt = (path: string): string | undefined => (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ? readlinkSync(path) : undefined);

describe('locks', () => {
  const scratch = Scratch.use();
  const wlock = (): string => scratch.at('src', '.hg', 'wlock');
  const lock = (): string => scratch.at('src', '.hg', 'store', 'lock');
  const build = (layout: LayoutName = 'share-safe'): BuiltRepository => buildRepository(scratch.at('src'), { layout });
  const take = (timeoutSeconds = 0): ReturnType<typeof lockRepository> => lockRepository(openRepository(scratch.at('src')), { timeoutSeconds });

  it('the holder is host, PID namespace and PID, as Mercurial writes it', () => {
    assert.deepEqual(ownHolder(), { host: OWN_HOST, pid: process.pid });
  });

  it('both are symbolic links with the holder as their target, and gone when released', async () => {
    build();
    const held = await take();
    assert.equal(held.unlocked, undefined);
    for (const path of [wlock(), lock()]) assert.equal(linkAt(path), `${OWN_HOST}:${process.pid}`);
    held.release();
    held.release();
    for (const path of [wlock(), lock()]) assert.equal(linkAt(path), undefined);
  });

  it('without a store the lock of the store lies in .hg', async () => {
    const { hg } = build('no store');
    const held = await take();
    assert.deepEqual(readdirSync(hg).filter((name) => name.endsWith('lock')), ['lock', 'wlock']);
    held.release();
  });

  it('they are held during a conversion, and given back after it', async () => {
    build();
    const seen: (string | undefined)[] = [];
    await convert(scratch.at('src'), scratch.at('dst'), { onProgress: () => seen.push(linkAt(wlock()), linkAt(lock())) });
    assert.ok(seen.length > 0);
    assert.deepEqual([...new Set(seen)], [`${OWN_HOST}:${process.pid}`]);
    for (const path of [wlock(), lock()]) assert.equal(linkAt(path), undefined);
  });

  it('they are given back after a failure', async () => {
    const { inStore } = build();
    writeFileSync(inStore('data/a.txt.i'), 'x');
    await assertFails(convert(scratch.at('src'), scratch.at('dst')), { code: 'INDEX_TRUNCATED', path: 'data/a.txt.i', rev: 0 });
    for (const path of [wlock(), lock()]) assert.equal(linkAt(path), undefined);
  });

  const held: readonly (readonly [title: string, holder: string])[] = [
    ['another host', 'elsewhere/effffffc:1'],
    ['this host, another PID namespace', `${hostname()}/1:1`],
    ['this host, without a PID namespace', `${hostname()}:1`],
    ['a process that lives', `${OWN_HOST}:${process.ppid}`],
    ['a text that is no holder', 'nobody knows'],
    ['a PID of 0', `${OWN_HOST}:0`],
  ];
  for (const [title, holder] of held) {
    it(`held by ${title}: LOCKED after the timeout, and not broken`, async () => {
      build();
      symlinkSync(holder, lock());
      const before = picture(scratch.root);
      await assertFails(convert(scratch.at('src'), scratch.at('dst'), { lockTimeout: 0 }), { code: 'LOCKED', path: '/.hg/store/lock', message: new RegExp(holder) });
      assert.deepEqual(picture(scratch.root), before);
    });
  }

  it('a held wlock: LOCKED; the command ends with status 4', async () => {
    build();
    symlinkSync('elsewhere:1', wlock());
    const { status, stderr } = await runCommand(['--to', 'zstd', '--lock-timeout', '0', scratch.at('src'), scratch.at('dst')]);
    assert.equal(status, 4);
    const [notice, error] = stderr.split('\n');
    assert.equal(notice, `revconvert: waiting for ${wlock()}, held by elsewhere:1`);
    assert.equal(error, `revconvert: LOCKED: ${wlock()}: timed out waiting for the lock held by elsewhere:1`);
  });

  it('the lock of a dead process is broken, by way of .break', async () => {
    build();
    for (const path of [wlock(), lock()]) symlinkSync(`${OWN_HOST}:${deadPid()}`, path);
    const held = await take();
    assert.equal(held.unlocked, undefined);
    assert.equal(linkAt(wlock()), `${OWN_HOST}:${process.pid}`);
    assert.deepEqual(readdirSync(scratch.at('src', '.hg')).filter((name) => name.endsWith('.break')), []);
    held.release();
  });

  it('the lock of a dead process is left alone while somebody else breaks it', async () => {
    build();
    const stale = `${OWN_HOST}:${deadPid()}`;
    symlinkSync(stale, lock());
    symlinkSync('elsewhere:2', `${lock()}.break`);
    await assert.rejects(take(), { code: 'LOCKED' });
    assert.equal(linkAt(lock()), stale);
    assert.equal(linkAt(`${lock()}.break`), 'elsewhere:2');
  });

  it('a lock that is a file: the same', async () => {
    build();
    writeFileSync(lock(), 'elsewhere:1\n');
    await assert.rejects(take(), { code: 'LOCKED', message: /elsewhere:1$/ });
    writeFileSync(lock(), `${OWN_HOST}:${deadPid()}\n`);
    const held = await take();
    assert.equal(linkAt(lock()), `${OWN_HOST}:${process.pid}`);
    held.release();
  });

  it('a lock that is a folder is an error, not an endless loop', async () => {
    build();
    mkdirSync(lock());
    await assertFails(take(600), { code: 'SYSTEM', path: '/store/lock', message: /regular file/ });
    assert.equal(linkAt(wlock()), undefined);
  });

  it('a live lock is waited for, said once, and taken when it is free', async () => {
    build();
    symlinkSync('elsewhere:1', lock());
    const notices: string[] = [];
    const summary = await convert(scratch.at('src'), scratch.at('dst'), {
      lockTimeout: 60,
      onNotice: (notice) => {
        notices.push(notice);
        unlinkSync(lock());
      },
    });
    assert.deepEqual(notices, [`waiting for ${lock()}, held by elsewhere:1`]);
    assert.equal(summary.unlocked, undefined);
  });

  it('an abort ends the waiting, and the lock taken first is given back', async () => {
    build();
    symlinkSync('elsewhere:1', lock());
    const controller = new AbortController();
    const running = convert(scratch.at('src'), scratch.at('dst'), { signal: controller.signal, onNotice: () => controller.abort() });
    await assertFails(running, { code: 'CANCELLED' });
    assert.equal(linkAt(wlock()), undefined);
    assert.equal(linkAt(lock()), 'elsewhere:1');
    assert.equal(existsSync(scratch.at('dst')), false);
  });

  it('what was written before the lock was free is what is converted', async () => {
    const { inStore } = build();
    symlinkSync('elsewhere:1', lock());
    const running = convert(scratch.at('src'), scratch.at('dst'), {
      onNotice: () => {
        writeFileSync(inStore('journal'), '');
        unlinkSync(lock());
      },
    });
    await assertFails(running, { code: 'ABANDONED_TRANSACTION', path: '/store/journal' });
  });

  it('a folder that may not be written to is read without locks, and says why', async function () {
    if (!isRoot) this.skip();
    build();
    for (const folder of ['.hg', '.hg/store']) chmodSync(scratch.at('src', folder), 0o755);
    chmodSync(scratch.root, 0o777);
    const { status, stderr } = await runCommand(['--quiet', '--to', 'zstd', scratch.at('src'), scratch.at('dst')], { uid: NOBODY });
    assert.equal(status, 0);
    assert.match(stderr, /^revconvert: note: read without the source's lock \(.*wlock: EACCES\)/m);
    assert.match(stderr, /^revconvert: note: the new repository belongs to 65534:\d+, the source to 0:\d+$/m);
  });

  it('a source that is read-only to all is converted, and the result can be written to', async function () {
    if (!isRoot) this.skip();
    build();
    for (const folder of ['.hg/store/data', '.hg/store', '.hg']) chmodSync(scratch.at('src', folder), 0o555);
    chmodSync(scratch.root, 0o777);
    const { status, stderr } = await runCommand(['--to', 'zstd', scratch.at('src'), scratch.at('dst')], { uid: NOBODY });
    assert.equal(status, 0, stderr);
    for (const folder of ['.hg', '.hg/store', '.hg/store/data']) assert.equal(statSync(scratch.at('dst', folder)).mode & 0o700, 0o700, folder);
  });

  it('a lock that somebody else broke and took is not given back', async () => {
    build();
    let done = false;
    await convert(scratch.at('src'), scratch.at('dst'), {
      onProgress: () => {
        if (!done) unlinkSync(lock());
        if (!done) symlinkSync('elsewhere:1', lock());
        done = true;
      },
    });
    assert.equal(linkAt(lock()), 'elsewhere:1');
    assert.equal(linkAt(wlock()), undefined);
  });

  it('where only the lock of the store cannot be taken, the other is given back', async function () {
    if (!isRoot) this.skip();
    const { hg } = build();
    chmodSync(hg, 0o777);
    chmodSync(scratch.root, 0o777);
    const { status, stdout } = await runCommand(['--to', 'zstd', '--json', scratch.at('src'), scratch.at('dst')], { uid: NOBODY });
    assert.equal(status, 0);
    assert.match((JSON.parse(stdout) as { unlocked: string }).unlocked, /store\/lock: EACCES$/);
    assert.equal(linkAt(wlock()), undefined);
  });

  it('--no-lock: locks of others are not looked at, and none is taken', async () => {
    build();
    symlinkSync('elsewhere:1', lock());
    let taken: string | undefined;
    const { unlocked } = await convert(scratch.at('src'), scratch.at('dst'), { lock: false, onProgress: () => (taken = linkAt(wlock())) });
    assert.equal(unlocked, '--no-lock');
    assert.equal(taken, undefined);
    assert.equal(linkAt(lock()), 'elsewhere:1');
  });

  const changes: readonly (readonly [title: string, change: (repository: BuiltRepository) => void, path: string])[] = [
    ['grows', ({ inStore }) => writeFileSync(inStore('data/split.txt.d'), 'more', { flag: 'a' }), 'data/split.txt.d'],
    ['goes', ({ inStore }) => rmSync(inStore('data/a.txt.i')), 'data/a.txt.i'],
    ['is another file of the same size', ({ inStore, revlog }) => {
      rmSync(inStore('00changelog.i'));
      writeFileSync(inStore('00changelog.i'), revlog('00changelog.i').index);
    }, '00changelog.i'],
  ];
  for (const [title, change, path] of changes) {
    it(`without locks, a source of which a file ${title} meanwhile: SOURCE_CHANGED, and nothing is left`, async () => {
      const repository = build();
      let changed = false;
      const running = convert(scratch.at('src'), scratch.at('dst'), {
        lock: false,
        onProgress: () => {
          if (!changed) change(repository);
          changed = true;
        },
      });
      await assertFails(running, { code: 'SOURCE_CHANGED', path });
      assert.deepEqual(readdirSync(scratch.root), ['src']);
    });
  }

  it('a dry run takes no lock, and waits for none', async () => {
    const { hg } = build();
    symlinkSync('elsewhere:1', lock());
    const before = picture(hg);
    const { status } = await runCommand(['--to', 'zstd', '--dry-run', scratch.at('src')]);
    assert.equal(status, 0);
    assert.deepEqual(picture(hg), before);
  });

  it('a fresh destination is not locked', async () => {
    build();
    await convert(scratch.at('src'), scratch.at('dst'));
    for (const name of ['wlock', 'lock', join('store', 'lock')]) assert.equal(lstatSync(scratch.at('dst', '.hg', name), { throwIfNoEntry: false }), undefined);
  });
});
