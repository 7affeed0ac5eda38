/**
 * Every layout a repository can have, each built by real Mercurial in an empty folder.
 * The interop tests convert all of them; the ones that must be refused say with which code.
 */
import { appendFileSync, chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import type { ErrorCode } from '../../src/errors.js';
import { callHg, type HgSession, runHgOk, withHg } from './hg-session.js';
import { Committer, commonHistory, noise, smallHistory, sourceText, splitHistory } from './histories.js';
import { supportFile } from './paths.js';

/** The checks of after-conversion.ts, by name. */
export type CheckName = 'partialBundle' | 'streamBundle' | 'commitAndUndo' | 'upgradeFindsNothing';

/** One layout: how it is made, and what may be asked of it afterwards. */
export interface Layout {
  readonly name: string;
  /** Builds the repository at `folder`, which does not exist yet. */
  readonly build: (hg: string, folder: string) => Promise<void>;
  /** Whether `hg verify` of the source ends with status 0 and no warning. */
  readonly verifyClean: boolean;
  /** Configuration that every later `hg` command on it needs. */
  readonly config?: readonly string[];
  /** The first Mercurial that can build it. */
  readonly minVersion?: readonly [number, number];
  /** Checks that Mercurial itself cannot pass with such a repository, and why. */
  readonly without?: Readonly<Partial<Record<CheckName, string>>>;
  /** The code of the error, where a conversion must be refused. */
  readonly expectRefusal?: ErrorCode;
}

/** What is committed to a fresh repository. */
export type History = (session: HgSession) => Promise<void>;

const ZLIB = 'format.revlog-compression=zlib';
const ZSTD = 'format.revlog-compression=zstd';
const UNSTABLE = 'enable-unstable-format-and-corrupt-my-data';

const init = (hg: string, folder: string, config: readonly string[]): void => {
  runHgOk(hg, ['init', folder], { config });
};

/** `hg init` with a configuration, then a history with the same configuration. */
export const made =
  (config: readonly string[], history: History = (session) => commonHistory(session)): Layout['build'] =>
  async (hg, folder) => {
    init(hg, folder, config);
    await withHg(hg, folder, config, history);
  };

const layout = (name: string, build: Layout['build'], more: Partial<Layout> = {}): Layout => ({
  name,
  build,
  verifyClean: true,
  ...more,
});

const requiresFile = (folder: string, where: 'wc' | 'store'): string =>
  join(folder, where === 'wc' ? '.hg/requires' : '.hg/store/requires');

const addRequirement = (folder: string, name: string): void => {
  const shareSafe = requiresFile(folder, 'store');
  appendFileSync(existsSync(shareSafe) ? shareSafe : requiresFile(folder, 'wc'), `${name}\n`);
};

/** Version 0 is what Mercurial writes when the requirement `revlogv1` is absent; no configuration asks for it. */
export const version0 =
  (config: readonly string[], history: History = (session) => commonHistory(session)): Layout['build'] =>
  async (hg, folder) => {
    const all = [ZLIB, 'format.use-share-safe=no', 'format.usegeneraldelta=no', 'format.sparse-revlog=no', ...config];
    init(hg, folder, all);
    const file = requiresFile(folder, 'wc');
    const kept = readFileSync(file, 'utf8').split('\n').filter((line) => line !== 'revlogv1' && line !== '');
    writeFileSync(file, kept.map((line) => `${line}\n`).join(''));
    await withHg(hg, folder, all, history);
  };

const CENSOR = 'extensions.censor=';

export const censored: Layout['build'] = async (hg, folder) => {
  const config = [ZLIB, CENSOR];
  init(hg, folder, config);
  await withHg(hg, folder, config, async (session) => {
    const work = new Committer(session);
    for (let round = 0; round < 6; round++) {
      work.write('secret.txt', `the password is round ${round}\n${sourceText(30, 1)}`);
      work.write('Other.txt', sourceText(40 + round, 2));
      work.write('merged.bin', noise(2000 + round, 3));
      await work.commit(`round ${round}`);
    }
    await work.hg('censor', '--rev', '2', '--tombstone', 'a password', 'secret.txt');
    await work.hg('censor', '--rev', '4', '--tombstone', '', 'secret.txt');
    await work.hg('censor', '--rev', '1', '--tombstone', 'more than the file held before. '.repeat(100), 'merged.bin');
    await work.hg('update', '--clean', '3');
    work.write('Other.txt', 'another head\n');
    await work.commit('another head');
  });
};

const LFS = ['extensions.lfs=', 'lfs.track=size(">1000")', 'lfs.url=null://'];

const withLfs: Layout['build'] = async (hg, folder) => {
  const config = [ZLIB, ...LFS];
  init(hg, folder, config);
  await withHg(hg, folder, config, async (session) => {
    const work = new Committer(session);
    for (let round = 0; round < 4; round++) {
      work.write('big file.BIN', noise(3000 + round * 100, 1));
      work.write('small.txt', `round ${round}\n`);
      work.write('grows.txt', sourceText(10 + round * 15, 2));
      await work.commit(`round ${round}`);
    }
    await work.hg('rename', 'big file.BIN', 'renamed.BIN');
    await work.commit('rename what is stored outside');
    await work.hg('update', '--clean', '2');
    work.write('small.txt', 'another head\n');
    await work.commit('another head');
  });
};

const LARGEFILES = ['extensions.largefiles='];

const withLargefiles: Layout['build'] = async (hg, folder) => {
  const config = [ZLIB, ...LARGEFILES];
  init(hg, folder, config);
  await withHg(hg, folder, config, async (session) => {
    const work = new Committer(session);
    work.write('Movie.bin', noise(5000, 1));
    work.write('plain.txt', 'an ordinary file\n');
    await work.hg('add', '--large', 'Movie.bin');
    await work.commit('a large file');
    for (let round = 0; round < 3; round++) {
      work.write('Movie.bin', noise(5000, 2 + round));
      await work.commit(`round ${round}`);
    }
    await work.hg('update', '--clean', '1');
    work.write('plain.txt', 'another head\n');
    await work.commit('another head');
  });
};

const EVOLUTION = ['experimental.evolution=all', 'experimental.evolution.bundle-obsmarker=yes'];

const obsolete: Layout['build'] = async (hg, folder) => {
  const config = [ZLIB, ...EVOLUTION];
  init(hg, folder, config);
  await withHg(hg, folder, config, async (session) => {
    await smallHistory(session);
    const work = new Committer(session);
    work.write('notes.txt', 'amended\n');
    await work.hg('commit', '--amend', '--date', work.nextDate, '--message', 'amended once');
    await work.hg('commit', '--amend', '--date', work.nextDate, '--message', 'amended twice', '--user', 'Another <a@example.com>');
    await work.hg('update', '--clean', '4');
    work.write('src/a.c', 'pruned later\n');
    await work.commit('pruned later');
    const node = await work.hg('log', '--rev', '.', '--template', '{node}');
    await work.hg('update', '--clean', '.^');
    await work.hg('debugobsolete', '--record-parents', node, '--date', '1500000000 0');
    await work.hg('debugobsolete', 'a'.repeat(40), 'b'.repeat(40), '--date', '1500000000 0');
  });
};

/** Changesets in the internal phase come from a shelf, those in the archived phase from a soft strip. */
const internalPhase: Layout['build'] = async (hg, folder) => {
  const config = [ZLIB, 'format.use-internal-phase=yes', 'extensions.shelve=', 'shelve.store=internal'];
  init(hg, folder, config);
  await withHg(hg, folder, config, async (session) => {
    await smallHistory(session);
    new Committer(session).write('notes.txt', 'put on a shelf\n');
    await session.run('shelve', '--name', 'for later');
  });
};

const archivedPhase: Layout['build'] = async (hg, folder) => {
  const config = [ZLIB, 'format.exp-archived-phase=yes', 'extensions.strip='];
  init(hg, folder, config);
  await withHg(hg, folder, config, async (session) => {
    await smallHistory(session);
    await session.run('strip', '--soft', '--rev', '6');
  });
};

const SPARSE = ['extensions.sparse='];

const withSparse: Layout['build'] = async (hg, folder) => {
  await made([ZLIB, ...SPARSE])(hg, folder);
  runHgOk(hg, ['debugsparse', '--include', 'src'], { cwd: folder, config: SPARSE });
};

const NARROW = ['extensions.narrow='];

/** A narrow clone comes over a wire: a script stands in for ssh. `ellipses` cuts the history too. */
const narrow =
  (ellipses: boolean): Layout['build'] =>
  async (hg, folder) => {
    const source = `${folder}.source`;
    const config = [ZLIB, ...NARROW, 'experimental.changegroup3=yes'];
    await made(config)(hg, source);
    writeFileSync(`${folder}.rc`, `[extensions]\nnarrow =\n[experimental]\nchangegroup3 = yes\nnarrowservebrokenellipses = ${String(ellipses)}\n`);
    writeFileSync(`${folder}.ssh`, '#!/bin/sh\nshift\nexec sh -c "$*"\n');
    chmodSync(`${folder}.ssh`, 0o755);
    const depth = ellipses ? ['--depth', '4'] : [];
    runHgOk(hg, ['clone', '--narrow', '--include', 'path:src', '--include', 'path:x.i', ...depth, `ssh://user@local/${source}`, folder], {
      config: [...config, `ui.ssh=${folder}.ssh`, `ui.remotecmd=${hg}`],
      env: { HGRCPATH: `${folder}.rc` },
    });
  };

const mixed: Layout['build'] = async (hg, folder) => {
  await made([ZLIB], smallHistory)(hg, folder);
  addRequirement(folder, 'revlog-compression-zstd');
  await withHg(hg, folder, [], async (session) => {
    const work = new Committer(session);
    for (let round = 0; round < 5; round++) {
      work.write('src/a.c', sourceText(100, 50 + round));
      work.write('later.txt', sourceText(60 + round, 60));
      await session.run('commit', '--addremove', '--date', `${1_600_000_000 + round} 0`, '--message', `with zstd ${round}`);
    }
  });
};

/** Changesets without a single file: the changelog is there and no manifest is. */
const noManifest: History = async (session) => {
  const work = new Committer(session);
  for (const branch of ['one', 'two', 'three']) {
    await work.hg('branch', branch);
    await work.commit(`start ${branch}`);
  }
  await work.hg('update', '0');
  await work.hg('branch', 'four');
  await work.commit('start four');
};

/** A strip leaves bundles, and an empty index where the only revisions of a file were taken away. */
const stripped: Layout['build'] = async (hg, folder) => {
  const config = [ZLIB, 'extensions.strip='];
  init(hg, folder, config);
  await withHg(hg, folder, config, async (session) => {
    await smallHistory(session);
    const work = new Committer(session);
    work.write('short-lived.txt', 'gone soon\n');
    work.write('short-lived.bin', noise(140_000, 1));
    await session.run('commit', '--addremove', '--date', '1600000000 0', '--message', 'to be stripped');
    await session.run('strip', '--rev', 'tip');
  });
};

/** Mercurial is killed inside a transaction, which leaves its journal (and its locks). */
const abandoned: Layout['build'] = async (hg, folder) => {
  await made([ZLIB], smallHistory)(hg, folder);
  appendFileSync(join(folder, 'notes.txt'), 'never committed\n');
  const killed = callHg(hg, ['commit', '--message', 'never finished'], {
    cwd: folder,
    config: ['hooks.pretxncommit=kill -9 $PPID'],
  });
  if (killed.status === 0) throw new Error('the commit was to be killed, but it ended well');
};

const share =
  (config: readonly string[], ...args: readonly string[]): Layout['build'] =>
  async (hg, folder) => {
    const source = `${folder}.source`;
    mkdirSync(dirname(folder), { recursive: true });
    await made([ZLIB, ...config], smallHistory)(hg, source);
    runHgOk(hg, ['share', ...args, source, folder], { config: ['extensions.share=', ...config] });
  };

const then =
  (build: Layout['build'], change: (folder: string) => void): Layout['build'] =>
  async (hg, folder) => {
    await build(hg, folder);
    change(folder);
  };

const NO_UPGRADE = { upgradeFindsNothing: 'debugupgraderepo refuses this requirement' };
const NO_RECEIVER = {
  partialBundle: 'the receiver is no narrow clone and lacks the files outside',
  streamBundle: 'the receiver is no narrow clone and lacks the files outside',
};
const NODEMAP = ['storage.revlog.persistent-nodemap.slow-path=allow'];
const FILEINDEX = ['storage.fileindex.slow-path=allow'];
const DIRSTATE2 = ['storage.dirstate-v2.slow-path=allow'];
const CHANGELOG_DELTAS = [`extensions.changelogdeltas=${supportFile('changelog_deltas.py')}`];

/** All layouts. */
export const LAYOUTS: readonly Layout[] = [
  layout('zlib', made([ZLIB])),
  layout('zstd', made([ZSTD])),
  layout('none', made(['format.revlog-compression=none'])),
  layout('zlib level 1', made([ZLIB, 'storage.revlog.zlib.level=1'], smallHistory)),
  layout('zstd level 19', made([ZSTD, 'storage.revlog.zstd.level=19'], smallHistory)),
  layout('mixed zlib and zstd', mixed),
  layout('split changelog, manifest and filelog', made([ZLIB], splitHistory)),
  layout('changelog with deltas', made([ZLIB, ...CHANGELOG_DELTAS], smallHistory)),
  layout('no share-safe', made([ZLIB, 'format.use-share-safe=no'])),
  layout('no generaldelta', made([ZLIB, 'format.usegeneraldelta=no', 'format.sparse-revlog=no'])),
  layout('generaldelta without sparse-revlog', made([ZLIB, 'format.sparse-revlog=no'])),
  layout('no dotencode', made([ZLIB, 'format.dotencode=no'])),
  layout('no fncache', made([ZLIB, 'format.usefncache=no'])),
  layout('no store', made([ZLIB, 'format.usestore=no'])),
  layout('version 0 without store', version0(['format.usestore=no'])),
  layout('version 0 with store', version0([])),
  layout('tree manifests', made([ZLIB, 'experimental.treemanifest=yes']), { without: NO_UPGRADE }),
  layout('censored', censored, { config: [CENSOR], verifyClean: false }),
  layout('lfs', withLfs, { config: LFS }),
  layout('largefiles', withLargefiles, { config: LARGEFILES }),
  layout('obsolescence markers', obsolete, { config: EVOLUTION }),
  layout('persistent nodemap', made([ZLIB, 'format.use-persistent-nodemap=yes', ...NODEMAP], splitHistory), { config: NODEMAP }),
  layout('bookmarks in the store', made([ZLIB, 'format.bookmarks-in-store=yes']), { without: NO_UPGRADE }),
  layout('dirstate-v2', made([ZLIB, 'format.use-dirstate-v2=yes', ...DIRSTATE2]), { config: DIRSTATE2 }),
  layout('dirstate tracked hint', made([ZLIB, 'format.use-dirstate-tracked-hint=yes'], smallHistory)),
  layout('internal phase', internalPhase, { without: NO_UPGRADE }),
  layout('archived phase', archivedPhase, { without: NO_UPGRADE }),
  layout('sparse', withSparse, { config: SPARSE, verifyClean: false, without: NO_UPGRADE }),
  layout('narrow', narrow(false), { config: NARROW, without: NO_RECEIVER }),
  layout('narrow with ellipses', narrow(true), { config: NARROW, verifyClean: false, without: NO_RECEIVER }),
  layout('empty', made([ZLIB], () => Promise.resolve())),
  layout('no manifest', made([ZLIB], noManifest)),
  layout('stripped', stripped),
  layout('delta-info', made([ZLIB, 'format.use-delta-info-flags=yes']), { minVersion: [7, 2] }),
  layout('fileindex', made([ZLIB, 'format.use-fileindex-v1=yes', ...FILEINDEX]), { minVersion: [7, 2], config: FILEINDEX }),
  // what is refused
  layout('share', share(['format.use-share-safe=no']), { expectRefusal: 'SHARED_REPOSITORY' }),
  layout('share of a share-safe repository', share([]), { expectRefusal: 'SHARED_REPOSITORY' }),
  layout('relative share', share([], '--relative'), { expectRefusal: 'SHARED_REPOSITORY' }),
  layout('abandoned transaction', abandoned, { expectRefusal: 'ABANDONED_TRANSACTION', verifyClean: false }),
  layout('interrupted upgrade', then(made([ZLIB], smallHistory), (folder) => addRequirement(folder, 'upgradeinprogress')), {
    expectRefusal: 'INTERRUPTED_UPGRADE',
    verifyClean: false,
  }),
  layout('unknown requirement', then(made([ZLIB], smallHistory), (folder) => addRequirement(folder, 'exp-made-up.1')), {
    expectRefusal: 'UNKNOWN_REQUIREMENT',
    verifyClean: false,
  }),
  layout('revlog version 2', made([`experimental.revlogv2=${UNSTABLE}`, ...FILEINDEX], smallHistory), { expectRefusal: 'UNKNOWN_REQUIREMENT' }),
  layout('changelog version 2', made([`format.exp-use-changelog-v2=${UNSTABLE}`], smallHistory), { expectRefusal: 'UNKNOWN_REQUIREMENT' }),
];
