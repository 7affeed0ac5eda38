/** What becomes of each file of a repository: the table by examples, and what a scan makes of a whole tree. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, lstatSync, mkdirSync, readFileSync, readlinkSync, renameSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';

import { describe, it } from 'mocha';

import type { FileAction, FileRule } from '../../src/repository/file-rules.js';
import { FILE_RULES, findRule } from '../../src/repository/file-rules.js';
import { openRepository } from '../../src/repository/open.js';
import { scanFiles } from '../../src/repository/scan-files.js';
import type { LayoutName } from '../support/repository-builder.js';
import { buildRepository, writeAt } from '../support/repository-builder.js';
import { assertFails, convert, picture, Scratch } from './support.js';

type Examples = readonly (readonly [names: readonly string[], action: FileRule['action'] | undefined])[];

const IN_STORE: Examples = [
  [['requires', 'fncache'], 'regenerate'],
  [['00changelog.i', '00changelog.d', '00manifest.i', '00manifest.d', 'data/', 'dh/', 'meta/'], 'rewrite'],
  [['phaseroots', 'obsstore', 'bookmarks', 'narrowspec', 'narrowspec.dirstate', 'server-shapes', 'lfs/'], 'carry'],
  [['fileindex', 'fileindex-list.0badc0de', 'fileindex-meta.0badc0de', 'fileindex-tree.0badc0de'], 'carry'],
  [['00changelog.n', '00changelog-0badc0de.nd', '00manifest.n', '00manifest-0badc0de.nd'], 'carry'],
  [['undo', 'undo.phaseroots', 'undo.backupfiles', 'undo.backup.00changelog.i.bck', 'undo.backup.fncache', 'journal.backupfiles'], 'drop'],
  [['00changelog.i.s', '00manifest.i.s', 'data-s/'], 'drop'],
  [['lock', 'lock.break'], 'ignore'],
  // Names are looked at whole: what only looks like one of these has no rule.
  [['undone', 'my-undo', 'requires.old', 'fncache2', '00changelog.i.bak', 'x00changelog.i', 'data', 'lfs', 'lock2'], undefined],
];

const BELOW_HG: Examples = [
  [['requires', '00changelog.i'], 'regenerate'],
  [['store/', 'cache/', 'wcache/'], 'enter'],
  [['wlock', 'lock', 'wlock.break'], 'ignore'],
  [['undo', 'undo.dirstate', 'undo.backup.dirstate', 'undo.bookmarks', 'journal.dirstate', 'upgrade.0badc0de/', 'upgradebackup.0badc0de/'], 'drop'],
  [['dirstate', 'dirstate.0badc0de', 'dirstate-tracked-hint', 'branch', 'bookmarks', 'bookmarks.current', 'localtags'], 'carry'],
  [['hgrc', 'hgrc-not-shared', 'sparse', 'last-message.txt', 'shelvedstate', 'rebasestate', 'histedit-state', 'graftstate'], 'carry'],
  [['merge/', 'shelved/', 'shelve-backup/', 'strip-backup/', 'patches/', 'patches-old/', 'largefiles/'], 'carry'],
  [['cache/branch2-served', 'cache/rbc-revs-v1', 'cache/tags2-visible', 'cache/hgtagsfnodes1', 'wcache/manifestfulltextcache'], 'carry'],
  [['wcache/checkisexec', 'wcache/checklink', 'cache/checknoexec', 'wcache/checklink-target'], 'drop'],
  [['data/', 'phaseroots', 'my-notes', 'store', 'dirstate2'], undefined],
];

function testExamples(place: FileRule['place'], examples: Examples): void {
  for (const [names, action] of examples) {
    for (const name of names) it(`${name}: ${action ?? 'no rule'}`, () => assert.equal(findRule(place, name)?.action, action));
  }
}

/** Decisions of a scan, by name. */
function decisionsOf(root: string): Map<string, FileAction> {
  return new Map(scanFiles(openRepository(root)).map(({ name, action }) => [name, action]));
}

describe('file rules', () => {
  describe('below the store', () => testExamples('store', IN_STORE));
  describe('below .hg', () => testExamples('hg', BELOW_HG));
  it('every rule says why', () => {
    for (const { why, pattern } of FILE_RULES) assert.notEqual(why, '', String(pattern));
  });
});

describe('scanning a repository', () => {
  const scratch = Scratch.use();

  it('the store and caches are looked into, other folders stand for what is in them', () => {
    const { store, hg } = buildRepository(scratch.at('src'));
    writeAt(join(hg, 'cache', 'tags2'), '');
    writeAt(join(hg, 'strip-backup', 'undo'), '');
    writeAt(join(store, 'lfs', 'objects', '0a', 'lock'), '');
    const decisions = decisionsOf(scratch.at('src'));
    assert.equal(decisions.get('cache/tags2'), 'carry');
    assert.equal(decisions.get('strip-backup'), 'carry');
    assert.equal(decisions.get('store/lfs'), 'carry');
    assert.equal(decisions.get('store/data'), 'rewrite');
    assert.deepEqual([...decisions.keys()].filter((name) => name.includes('objects') || name === 'store' || name.endsWith('/undo')), []);
  });

  it('tracked files with the names of store files are revlogs like others: rules go by place', async () => {
    // As they lie below data: `_`, upper case and the like are not in them, so that they need no encoding.
    const files = ['undo', '00changelog.i', '00changelog.d', 'fncache', 'lock', 'journal', 'undo.backup.fncache', 'requires', 'data.s', 'x.i', 'x.d'];
    buildRepository(scratch.at('src'), { files });
    const { dropped, warnings, unknownFiles, kinds } = await convert(scratch.at('src'), scratch.at('dst'));
    assert.deepEqual([dropped, warnings, unknownFiles], [[], [], []]);
    assert.equal(kinds.filelog.revlogs, files.length);
    for (const file of files) assert.ok(existsSync(scratch.at('dst', '.hg', 'store', 'data', `${file}.i`)), file);
  });

  it('what no rule knows is carried and named', async () => {
    const { store, hg } = buildRepository(scratch.at('src'));
    writeAt(join(store, 'extension-data'), 'a');
    writeAt(join(hg, 'odd', 'deep', 'file'), 'b');
    const { unknownFiles } = await convert(scratch.at('src'), scratch.at('dst'));
    assert.deepEqual([...unknownFiles].sort(), ['odd', 'store/extension-data']);
    assert.ok(existsSync(scratch.at('dst', '.hg', 'odd', 'deep', 'file')));
    assert.ok(existsSync(scratch.at('dst', '.hg', 'store', 'extension-data')));
  });

  it('FIFOs are left out and named; links are carried as links', async () => {
    const { hg } = buildRepository(scratch.at('src'));
    writeAt(join(hg, 'largefiles', 'blob'), '');
    for (const name of ['pipe', 'largefiles/pipe']) assert.equal(spawnSync('mkfifo', [join(hg, name)]).status, 0);
    symlinkSync('/nowhere/at/all', join(hg, 'hgrc'));
    symlinkSync('blob', join(hg, 'largefiles', 'other'));
    const { dropped } = await convert(scratch.at('src'), scratch.at('dst'));
    assert.deepEqual(dropped.map(({ name, why }) => `${name}: ${why}`).sort(), ['largefiles/pipe: neither file, folder nor link', 'pipe: neither file, folder nor link']);
    assert.equal(readlinkSync(scratch.at('dst', '.hg', 'hgrc')), '/nowhere/at/all');
    assert.equal(readlinkSync(scratch.at('dst', '.hg', 'largefiles', 'other')), 'blob');
  });

  for (const linked of ['store', 'store/data']) {
    it(`.hg/${linked} may be a link: what it leads to is converted`, async () => {
      const { hg } = buildRepository(scratch.at('src'));
      await convert(scratch.at('src'), scratch.at('plain'));
      renameSync(join(hg, linked), scratch.at('elsewhere'));
      symlinkSync(scratch.at('elsewhere'), join(hg, linked));
      const { warnings, unknownFiles } = await convert(scratch.at('src'), scratch.at('dst'));
      assert.deepEqual([warnings, unknownFiles], [[], []]);
      assert.deepEqual(picture(scratch.at('dst')), picture(scratch.at('plain')));
    });
  }

  it('what a link leads to is carried, not the link: a relative one would lead nowhere', async () => {
    const { store } = buildRepository(scratch.at('src'));
    writeAt(scratch.at('disk2', 'lfs', 'objects', 'aa', 'blob'), 'large');
    writeAt(scratch.at('disk2', 'phaseroots'), '1 00\n');
    symlinkSync('../../../disk2/lfs', join(store, 'lfs'));
    symlinkSync('../../../disk2/phaseroots', join(store, 'phaseroots'));
    mkdirSync(scratch.at('deep'));
    const { unknownFiles } = await convert(scratch.at('src'), scratch.at('deep', 'dst'));
    assert.deepEqual(unknownFiles, []);
    const made = (...names: string[]): string => scratch.at('deep', 'dst', '.hg', 'store', ...names);
    assert.equal(readFileSync(made('lfs', 'objects', 'aa', 'blob'), 'utf8'), 'large');
    assert.equal(readFileSync(made('phaseroots'), 'utf8'), '1 00\n');
    for (const name of ['lfs', 'phaseroots']) assert.equal(lstatSync(made(name)).isSymbolicLink(), false, name);
  });

  it('a link to a folder among the revlogs is refused: old and new store would share it', async () => {
    const { store } = buildRepository(scratch.at('src'));
    mkdirSync(scratch.at('elsewhere'));
    symlinkSync(scratch.at('elsewhere'), join(store, 'data', 'linked'));
    await assertFails(convert(scratch.at('src'), scratch.at('dst')), { code: 'STORE_DISORDER', path: '/store/data/linked' });
  });

  it('a socket is left out and named', async () => {
    const { hg } = buildRepository(scratch.at('src'));
    const { createServer } = await import('node:net');
    const server = createServer().listen(join(hg, 'socket'));
    await new Promise((resolve) => server.once('listening', resolve));
    try {
      const { dropped } = await convert(scratch.at('src'), scratch.at('dst'));
      assert.deepEqual(dropped.map(({ name }) => name), ['socket']);
    } finally {
      server.close();
    }
  });

  it('names that act on a terminal are shown without doing so', async () => {
    const { hg } = buildRepository(scratch.at('src'));
    writeAt(join(hg, 'odd\u001b[31mname\n'), '');
    const { unknownFiles } = await convert(scratch.at('src'), scratch.at('dst'));
    assert.deepEqual(unknownFiles, ['odd\\u{1b}[31mname\\u{a}']);
    assert.ok(existsSync(scratch.at('dst', '.hg', 'odd\u001b[31mname\n')));
  });

  it('names that are no UTF-8 are carried byte for byte', async () => {
    const { hg } = buildRepository(scratch.at('src'));
    const name = Buffer.from([0x6f, 0xff, 0xfe]);
    writeAt(join(hg, 'strip-backup', 'x'), '');
    const { writeFileSync } = await import('node:fs');
    writeFileSync(Buffer.concat([Buffer.from(`${hg}/strip-backup/`), name]), 'bytes');
    await convert(scratch.at('src'), scratch.at('dst'));
    assert.ok(existsSync(Buffer.concat([Buffer.from(`${scratch.at('dst', '.hg', 'strip-backup')}/`), name])));
  });

  const moved: readonly (readonly [name: string, to: string, requirement?: string])[] = [
    ['phaseroots', 'store/phaseroots'],
    ['obsstore', 'store/obsstore'],
    ['bookmarks', 'bookmarks'],
    ['bookmarks', 'store/bookmarks', 'bookmarksinstore'],
    ['dirstate', 'dirstate'],
    ['hgrc', 'hgrc'],
    ['cache/tags2', 'cache/tags2'],
    ['odd', 'odd'],
  ];
  for (const [name, to, requirement] of moved) {
    it(`a repository without a store, ${requirement ?? 'as it is'}: ${name} goes to ${to}`, async () => {
      const layout: LayoutName = 'no store';
      const { hg } = buildRepository(scratch.at('src'), { layout, ...(requirement === undefined ? {} : { requirements: [requirement] }) });
      writeAt(join(hg, name), '');
      await convert(scratch.at('src'), scratch.at('dst'));
      assert.ok(lstatSync(scratch.at('dst', '.hg', to)).isFile());
    });
  }

  it('locks, working files and what lies beside .hg are not copied', async () => {
    const { hg, root } = buildRepository(scratch.at('src'));
    writeAt(join(root, 'a.txt'), 'working copy');
    symlinkSync('elsewhere:1', join(hg, 'wlock.break'));
    await convert(scratch.at('src'), scratch.at('dst'));
    assert.equal(existsSync(scratch.at('dst', 'a.txt')), false);
    assert.deepEqual(
      ['wlock', 'wlock.break', 'store/lock'].filter((name) => lstatSync(scratch.at('dst', '.hg', name), { throwIfNoEntry: false }) !== undefined),
      [],
    );
  });
});
