/** What the tests of bundles made of repositories share. */
import assert from 'node:assert/strict';
import { createWriteStream, existsSync, rmSync } from 'node:fs';
import { pipeline } from 'node:stream/promises';

import { bundleRepository } from '../../src/bundles/from-repository/bundle-repository.js';
import type { BundleRepositoryOptions } from '../../src/bundles/from-repository/options.js';
import { parseBundleSpec } from '../../src/formats/bundle/spec.js';
import { writeBundleBytes } from '../../src/sinks/bundle/write-bundle.js';
import { callHg, type HgSession, runHgOk } from './hg-session.js';
import { Committer, sourceText } from './histories.js';
import { supportFile } from './paths.js';

/** Writes our bundle of a repository. */
export async function writeOurs(repository: string, bundle: string, spec: string, options: Partial<BundleRepositoryOptions> = {}): Promise<void> {
  await pipeline(writeBundleBytes(bundleRepository(repository, { spec: parseBundleSpec(spec), ...options })), createWriteStream(bundle));
}

/** What `hg debugbundle` says of the parts: their parameters, and the changesets, markers and phases in them. */
export function partsOf(hg: string, bundle: string, config: readonly string[]): string[] {
  const lines = runHgOk(hg, ['debugbundle', bundle], { config }).split('\n');
  // Mercurial 6.3 makes this part mandatory, 7.2 does not; and 6.3 leaves secret heads out.
  return lines.map((line) => line.replace(/^(hgtagsfnodes .*)True\)$/, '$1False)')).filter((line) => !line.endsWith(' secret'));
}

/**
 * What it lists of the changegroup: for each group its revisions, each as node, p1, p2 and the changeset.
 * @param bases whether what its delta is against, and its length, are among it
 */
export function groupsOf(hg: string, bundle: string, config: readonly string[], bases = false): ReadonlyMap<string, readonly string[]> {
  const groups = new Map<string, string[]>();
  let group: string[] = [];
  for (const line of runHgOk(hg, ['debugbundle', '--all', '--part-type', 'changegroup', bundle], { config }).split('\n')) {
    const text = line.trim();
    const columns = text.split(' ');
    const isRevision = columns.length >= 6 && columns.slice(0, 5).every((column) => /^[0-9a-f]{40}$/.test(column));
    if (isRevision) group.push((bases ? columns : columns.slice(0, 4)).join(' '));
    else if (/^\S+ -- \{/.test(text)) group = [];
    else groups.set(text, (group = []));
  }
  return groups;
}

/** Groups in any order: Mercurial writes those of folders as it meets them. */
export const sorted = (groups: ReadonlyMap<string, readonly string[]>): (readonly [string, readonly string[]])[] => [...groups].sort(([a], [b]) => (a < b ? -1 : 1));

/** Unbundles into a new repository, one after the other. */
export function unbundle(hg: string, repository: string, bundles: readonly string[], config: readonly string[]): void {
  rmSync(repository, { recursive: true, force: true });
  runHgOk(hg, ['init', repository], { config });
  for (const bundle of bundles) runHgOk(hg, ['unbundle', '--quiet', bundle], { cwd: repository, config });
}

/** Both hold the same history, and the same phases. */
export function checkSameRepositories(hg: string, expected: string, found: string, config: readonly string[]): void {
  const { output } = callHg(hg, ['samerepo', expected, found], { cwd: '/', config: [...config, `extensions.samerepo=${supportFile('same_repo.py')}`] });
  assert.match(output, /^same: /m, output);
}

/** Both hold the same changesets, with the same changes, whatever the order of revisions in files; and the second is sound. */
export function checkSameChanges(hg: string, expected: string, found: string, config: readonly string[]): void {
  const changes = (repository: string): string => runHgOk(hg, ['log', '--patch', '--debug', '--git'], { cwd: repository, config });
  assert.equal(changes(found), changes(expected));
  assert.equal(runHgOk(hg, ['verify', '--quiet'], { cwd: found, config }), '');
}

/** `hg bundle --all`; undefined where there is nothing to bundle, or it cannot be. */
export function writeTheirs(hg: string, repository: string, bundle: string, spec: string, config: readonly string[]): string | undefined {
  const { status, output } = callHg(hg, ['bundle', '--all', '--type', spec, bundle], { cwd: repository, config: ['experimental.changegroup3=yes', ...config] });
  if (status === 0 && existsSync(bundle)) return bundle;
  assert.match(output, /no changes found|does not support bundle version/);
  return undefined;
}

export const EVOLUTION = ['experimental.evolution=all'];

/**
 * Changesets that are hidden, and what they share with visible ones: amended messages (manifest and files stay), amended
 * files, a pruned head whose file comes back, a pruned one that a bookmark keeps, secret ones.
 */
export async function hiddenHistory(session: HgSession): Promise<void> {
  const work = new Committer(session);
  const amend = async (message: string): Promise<void> => {
    await work.hg('commit', '--amend', '--addremove', '--date', work.nextDate, '--message', message);
  };
  const prune = async (rev: string): Promise<void> => {
    const node = await work.hg('log', '--hidden', '--rev', rev, '--template', '{node}');
    await work.hg('debugobsolete', '--record-parents', node, '--date', '1500000000 0');
  };
  for (let round = 0; round < 3; round++) {
    work.write('src/a.c', sourceText(60, 1) + sourceText(round, 10 + round));
    work.write('src/lib/b.c', sourceText(50, 2) + sourceText(round, 20 + round));
    work.write('top.txt', `round ${round}\n`);
    await work.commit(`round ${round}`);
  }
  await work.hg('phase', '--public', '--rev', '1');
  work.write('src/a.c', sourceText(62, 1));
  work.write('new/only.txt', 'comes with what is amended\n');
  await work.commit('to be amended');
  await amend('amended message');
  work.write('src/lib/b.c', sourceText(55, 2));
  await amend('amended file');
  work.write('src/lib/b.c', sourceText(56, 2));
  work.write('src/a.c', sourceText(64, 1));
  await work.commit('behind it');
  await amend('behind it, amended');
  await work.hg('update', '--clean', '2');
  work.write('pruned/gone.txt', 'pruned\n');
  work.write('back/again.txt', 'pruned, and back again\n');
  await work.commit('pruned');
  await prune('.');
  await work.hg('update', '--clean', '2');
  work.write('back/again.txt', 'pruned, and back again\n');
  work.write('src/a.c', sourceText(70, 1));
  await work.commit('a file that a pruned one brought');
  work.write('kept.txt', 'kept by a bookmark\n');
  await work.commit('kept');
  await work.hg('bookmark', 'keeps');
  await prune('.');
  await work.hg('update', '--clean', '2');
  work.write('secret.txt', 'secret\n');
  await work.commit('secret', '--secret');
}

/** Numbers below a limit, the same for the same seed. */
function randomNumbers(seed: number): (limit: number) => number {
  let state = seed + 1;
  return (limit) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return Math.floor(state / 65_536) % limit;
  };
}

/** Some heads, some merges, files that come, go, are copied and return to what they were. */
export async function tangledHistory(session: HgSession, seed: number, commits = 24): Promise<void> {
  const random = randomNumbers(seed);
  const work = new Committer(session);
  for (let rev = 0; rev < commits; rev++) {
    if (rev > 0 && random(3) === 0) await work.hg('update', '--clean', String(random(rev)));
    const others = (await work.hg('log', '--rev', 'head() - .', '--template', '{rev} ')).trim().split(' ');
    const other = others[random(others.length)] ?? '';
    if (other !== '' && random(4) === 0) await session.call('merge', '--tool', ':local', '--rev', other);
    for (let i = 0; i <= random(3); i++) {
      const name = `${['', 'dir/', 'dir/sub/'][random(3)] ?? ''}file-${random(5)}`;
      work.write(name, sourceText(10 + random(6) * 10, random(3)) + sourceText(random(3), random(50)));
    }
    if (random(5) === 0) await session.call('copy', 'file-0', `copy-${rev}`);
    work.write('always', `${rev}\n`);
    await work.commit(`changeset ${rev}`);
  }
}
