/**
 * What is asked of a repository after a conversion, by Mercurial itself. `hg verify` misses a good deal:
 * a bundle of a subset reads manifest deltas as lines, a stream bundle believes fncache, and a rollback
 * believes a journal that was written for other files.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { callHg, type HgCallOptions, type HgResult, runHgOk } from './hg-session.js';
import { supportFile } from './paths.js';

/** Engines that Mercurial reads. */
export type HgEngine = 'zlib' | 'zstd' | 'none';

/** A conversion that is done, and how to look at it. */
export interface Converted {
  readonly hg: string;
  readonly source: string;
  readonly destination: string;
  /** An empty folder for what a check needs to write. */
  readonly scratch: string;
  /** Configuration that the repository needs, such as its extensions. */
  readonly config?: readonly string[];
  /** Whether one head is pulled, too, where a bundle of it is made. */
  readonly pulls?: boolean;
  /** Whether `hg verify` has nothing to say about the source. */
  readonly verifyClean: boolean;
}

const SAME_REPO = `extensions.samerepo=${supportFile('same_repo.py')}`;

const at = (converted: Converted, cwd: string, ...config: readonly string[]): HgCallOptions => ({
  cwd,
  config: [...(converted.config ?? []), ...config],
});

const NOT_CLEAN = /warning|damaged|integrity error|orphan|not in fncache|off by/i;

function expectClean(what: string, converted: Converted, status: number, output: string): void {
  if (!converted.verifyClean) return;
  if (status !== 0 || NOT_CLEAN.test(output)) throw new Error(`${what}: hg verify is not clean (status ${status})\n${output}`);
}

const verifiedSources = new Map<string, HgResult>();

/** `hg verify` of a source, which does not change while its layout is tested. */
function verifySource(converted: Converted): HgResult {
  const known = verifiedSources.get(converted.source);
  const result = known ?? callHg(converted.hg, ['verify'], at(converted, converted.source));
  verifiedSources.set(converted.source, result);
  return result;
}

/** `hg verify` says of the destination what it says of the source; where the source is clean, nothing bad. */
export function checkVerify(converted: Converted): void {
  const before = verifySource(converted);
  const after = callHg(converted.hg, ['verify'], at(converted, converted.destination));
  expectClean('the destination', converted, after.status, after.output);
  const said = before.output.replace('repository uses revlog format 0\n', '');
  if (after.status !== before.status || after.output !== said) {
    throw new Error(`hg verify says something else of the destination.\nsource: ${before.output}\ndestination: ${after.output}`);
  }
}

/** Mercurial reads the same history from both: see same_repo.py. */
export function checkSameHistory(converted: Converted, destination: string = converted.destination): void {
  const { status, output } = callHg(converted.hg, ['samerepo', converted.source, destination], at(converted, '/', SAME_REPO));
  if (status !== 0 || !/^same: /m.test(output)) throw new Error(`the histories differ\n${output}`);
}

const requirementsOf = (folder: string): string[] =>
  ['.hg/requires', '.hg/store/requires']
    .map((name) => join(folder, name))
    .filter((path) => existsSync(path))
    .flatMap((path) => readFileSync(path, 'utf8').split('\n').filter((line) => line !== ''));

const ENGINE_REQUIREMENT: Readonly<Record<HgEngine, string | undefined>> = {
  zlib: undefined,
  zstd: 'revlog-compression-zstd',
  none: 'exp-compression-none',
};

/** Chunk markers that `hg debugrevlog` must not find once everything is stored by an engine. */
const FOREIGN_CHUNKS: Readonly<Record<HgEngine, RegExp>> = {
  zlib: /^ +0x28/m,
  zstd: /^ +0x78/m,
  none: /^ +0x(28|78)/m,
};

/** The requirement is the engine's alone, and no chunk of the changelog or manifest is left of another engine. */
export function checkEngine(converted: Converted, engine: HgEngine): void {
  const found = requirementsOf(converted.destination).filter((line) => line.includes('compression'));
  const wanted = ENGINE_REQUIREMENT[engine];
  const expected = wanted === undefined ? [] : [wanted];
  if (found.join() !== expected.join()) throw new Error(`compression requirements are [${found.join()}], not [${expected.join()}]`);
  for (const revlog of ['--changelog', '--manifest']) {
    const { output } = callHg(converted.hg, ['debugrevlog', revlog], at(converted, converted.destination));
    if (FOREIGN_CHUNKS[engine].test(output)) throw new Error(`chunks of another engine are left: debugrevlog ${revlog}\n${output}`);
  }
}

/** Requirements whose flags a changegroup of version 2 cannot carry. */
const NEEDS_CHANGEGROUP3 = /^(treemanifest|lfs|narrowhg-experimental|internal-phase.*|exp-archived-phase)$/;

const changegroupVersion = (folder: string): string =>
  requirementsOf(folder).some((line) => NEEDS_CHANGEGROUP3.test(line)) ? '03' : '02';

/**
 * A bundle of one head, from revision 0 on, while another head is there: reads the manifest deltas line by line.
 * It is then applied to a clone that has revision 0 only. The same by pulling, where that is asked for.
 */
export function checkPartialBundle(converted: Converted): void {
  const { hg, destination, scratch } = converted;
  const options = at(converted, destination, 'experimental.changegroup3=yes');
  const heads = runHgOk(hg, ['log', '--rev', 'head() and descendants(0) - 0', '--template', '{rev}\n'], options).split('\n');
  const head = heads[0];
  if (head === undefined || head === '') return;
  const bundle = join(scratch, 'partial.hg');
  runHgOk(hg, ['bundle', '--base', '0', '--rev', head, '--type', `none-v2;cg.version=${changegroupVersion(destination)}`, bundle], options);
  runHgOk(hg, ['debugbundle', '--all', bundle], options);
  const receiver = join(scratch, 'receiver');
  runHgOk(hg, ['clone', '--pull', '--noupdate', '--rev', '0', destination, receiver], options);
  runHgOk(hg, ['unbundle', bundle], { ...options, cwd: receiver });
  const { status, output } = callHg(hg, ['verify'], { ...options, cwd: receiver });
  expectClean('the receiver of a partial bundle', converted, status, output);
  if (converted.pulls !== true) return;
  const puller = join(scratch, 'puller');
  runHgOk(hg, ['clone', '--pull', '--noupdate', '--rev', '0', destination, puller], options);
  checkPull(converted, head, puller, options);
}

/** A pull of one head, while another is there, into a clone of revision 0; then of all the rest. */
function checkPull({ hg, destination, ...converted }: Converted, head: string, receiver: string, options: HgCallOptions): void {
  for (const args of [['pull', '--rev', head, destination], ['pull', destination]]) {
    runHgOk(hg, args, { ...options, cwd: receiver });
    const { status, output } = callHg(hg, ['verify'], { ...options, cwd: receiver });
    expectClean(`the receiver of hg ${args.join(' ')}`, { hg, destination, ...converted }, status, output);
  }
}

/** A stream bundle of everything, applied to an empty repository: takes the files that fncache lists as they are. */
export function checkStreamBundle(converted: Converted): void {
  const { hg, destination, scratch } = converted;
  const options = at(converted, destination, 'server.uncompressedallowsecret=yes', 'experimental.changegroup3=yes');
  const count = runHgOk(hg, ['log', '--hidden', '--rev', 'all()', '--template', '.'], options).length;
  if (count === 0) return;
  const bundle = join(scratch, 'stream.hg');
  runHgOk(hg, ['bundle', '--all', '--type', `none-v2;stream=v2;cg.version=${changegroupVersion(destination)}`, bundle], options);
  const receiver = join(scratch, 'streamed');
  runHgOk(hg, ['init', receiver], options);
  runHgOk(hg, ['unbundle', bundle], { ...options, cwd: receiver });
  const { status, output } = callHg(hg, ['verify'], { ...options, cwd: receiver });
  expectClean('the receiver of a stream bundle', converted, status, output);
  const received = runHgOk(hg, ['log', '--hidden', '--rev', 'all()', '--template', '.'], { ...options, cwd: receiver }).length;
  if (received !== count) throw new Error(`a stream bundle carried ${received} changesets, not ${count}`);
}

/**
 * On a copy: there is nothing to roll back at first; then a commit, `hg rollback`, a commit, `hg strip`.
 * After each way back the history is the source's again.
 */
export function checkCommitAndUndo(converted: Converted): void {
  const { hg, destination, scratch } = converted;
  const copy = join(scratch, 'copy');
  copyFolder(destination, copy);
  const options = at(converted, copy, 'extensions.strip=', 'ui.rollback=yes');
  const early = callHg(hg, ['rollback'], options);
  if (early.status === 0) throw new Error(`there was something to roll back after a conversion\n${early.output}`);
  runHgOk(hg, ['update', '--clean', '.'], options);
  const verify = (when: string): void => {
    const { status, output } = callHg(hg, ['verify'], options);
    expectClean(when, converted, status, output);
  };
  for (const back of [['rollback'], ['strip', '--no-backup', 'tip']]) {
    mkdirSync(join(copy, 'src'), { recursive: true });
    writeFileSync(join(copy, 'src', 'after-conversion.txt'), 'a new file\n');
    runHgOk(hg, ['commit', '--addremove', '--message', 'after the conversion'], options);
    verify('after a commit');
    runHgOk(hg, back, options);
    verify(`after hg ${back.join(' ')}`);
    checkSameHistory(converted, copy);
  }
}

/** `hg debugupgraderepo` with the engine as the format of new repositories finds no compression to change. */
export function checkUpgradeFindsNothing(converted: Converted, engine: HgEngine): void {
  const options = at(converted, converted.destination, `format.revlog-compression=${engine}`);
  const output = runHgOk(converted.hg, ['debugupgraderepo'], options);
  const changes = output.split('\n').filter((line) => /^ +(added|removed):/.test(line) && line.includes('compression'));
  if (changes.length > 0) throw new Error(`debugupgraderepo would change the compression\n${output}`);
}

/** Bytes of the revlogs of a store. */
export const storeBytes = (folder: string): number =>
  listFiles(join(folder, '.hg', 'store'))
    .filter((name) => /\.[id]$/.test(name))
    .reduce((sum, name) => sum + lstatSync(join(folder, '.hg', 'store', name)).size, 0);

/** Copies a repository, and lets Mercurial make all its deltas anew, with zstd. */
export function upgradeByMercurial(hg: string, source: string, upgraded: string): void {
  copyFolder(source, upgraded);
  runHgOk(hg, ['-R', upgraded, '--config', 'format.revlog-compression=zstd', 'debugupgraderepo', '--run', '--no-backup', '--optimize', 're-delta-all']);
}

/** Under the rules of Mercurial a store is no larger than what Mercurial itself made with all deltas anew: 1 % of grace. */
export function checkNoLarger(made: string, upgraded: string): void {
  const [own, theirs] = [storeBytes(made), storeBytes(upgraded)];
  if (own > theirs * 1.01) throw new Error(`${made}: ${own} bytes, where Mercurial needs ${theirs}`);
}

/** Files of `.hg` that no conversion changes. */
const CARRIED_BESIDE_STORE =
  /^(bookmarks|branch|localtags|hgrc|last-message\.txt|dirstate(\.[0-9a-f]{8})?|dirstate-tracked-hint|sparse|narrowspec.*|(largefiles|strip-backup|shelved)\/.*)$/;

/** Files of the store that no conversion changes; where there is no `store`, they lie in `.hg`. */
const CARRIED_IN_STORE = /^(phaseroots|obsstore|bookmarks|narrowspec.*|lfs\/.*)$/;

/** What must not be in a fresh conversion, in `.hg` or in its store. */
const NEVER = /^(store\/)?(undo|undo\..*|journal|journal\..*|lock|wlock|data-s(\/.*)?|00changelog\.i\.[as])$/;

/** Where a file of the source must be found again, or undefined where it may be rewritten or left out. */
function carriedTo(name: string, hasStore: boolean): string | undefined {
  if (CARRIED_BESIDE_STORE.test(name)) return name;
  const inStore = hasStore ? /^store\/(.*)$/.exec(name)?.[1] : name;
  return inStore !== undefined && CARRIED_IN_STORE.test(inStore) ? `store/${inStore}` : undefined;
}

/** Files that mean something are there byte for byte; journals, undo files and locks are not. */
export function checkCarriedFiles(converted: Converted): void {
  const from = join(converted.source, '.hg');
  const to = join(converted.destination, '.hg');
  const forbidden = listFiles(to).filter((name) => NEVER.test(name));
  if (forbidden.length > 0) throw new Error(`must not be in a conversion: ${forbidden.join(', ')}`);
  const hasStore = existsSync(join(from, 'store'));
  for (const name of listFiles(from)) {
    const other = carriedTo(name, hasStore);
    if (other === undefined) continue;
    if (!existsSync(join(to, other))) throw new Error(`.hg/${name} was not carried to .hg/${other}`);
    if (!readFileSync(join(from, name)).equals(readFileSync(join(to, other)))) throw new Error(`.hg/${name} has changed`);
  }
}

/** Every file in a folder with its mode and a digest of its content. */
export const contents = (folder: string): string => describeFiles(folder, () => '');

/** The same with the times of change: equal before and after, nothing was touched. */
export const fingerprint = (folder: string): string => describeFiles(folder, (mtimeMs) => ` ${mtimeMs}`);

const describeFiles = (folder: string, time: (mtimeMs: number) => string): string =>
  listFiles(folder)
    .map((name) => {
      const path = Buffer.from(join(folder, name), 'latin1');
      const info = lstatSync(path);
      const content = info.isSymbolicLink() ? readlinkSync(path) : readFileSync(path);
      const digest = createHash('sha1').update(content).digest('hex');
      return `${digest} ${info.mode.toString(8)}${time(info.mtimeMs)} ${name}`;
    })
    .join('\n');

/** The files below a folder, symbolic links too, in order; names are bytes read as Latin-1. */
export function listFiles(folder: string, under = ''): string[] {
  const found = readdirSync(Buffer.from(join(folder, under), 'latin1'), { withFileTypes: true, encoding: 'buffer' });
  return found
    .flatMap((entry) => {
      const name = join(under, entry.name.toString('latin1'));
      return entry.isDirectory() ? listFiles(folder, name) : [name];
    })
    .sort();
}

/** Copies a folder with its links, modes and times, whatever bytes its names hold. */
export function copyFolder(from: string, to: string): void {
  const { status, stderr } = spawnSync('cp', ['-a', from, to], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`cp -a ${from} ${to}: ${stderr}`);
}

/** Empties a scratch folder between checks. */
export function emptyFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
}
