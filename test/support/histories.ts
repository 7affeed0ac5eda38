/**
 * Histories that the layouts share, committed by real Mercurial with fixed names, dates and contents.
 * Between them they hold what a store can hold: every kind of file name, copies, merges, modes, phases, splits.
 */
import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import type { HgSession } from './hg-session.js';

const FIRST_DATE = 1_500_000_000;
const HOUR = 3600;

/** Bytes that look random and are the same in every run. No engine makes them smaller. */
export function noise(length: number, seed: number): Buffer {
  const bytes = Buffer.alloc(length);
  let state = (seed * 2_654_435_761 + 1) >>> 0;
  for (let at = 0; at < length; at++) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    bytes[at] = state >>> 11;
  }
  return bytes;
}

/** Letters and digits that look random: five bits each. */
export const noiseName = (length: number, seed: number): string =>
  Array.from(noise(length, seed), (byte) => (byte & 31).toString(32)).join('');

/** Text that compresses like source code does. */
export function sourceText(lines: number, seed: number): string {
  const random = noise(lines * 2, seed);
  const words = ['count', 'index', 'buffer', 'offset', 'length', 'parent', 'result', 'state'];
  return Array.from({ length: lines }, (_, line) => {
    const a = random[line * 2] ?? 0;
    const b = random[line * 2 + 1] ?? 0;
    return `  ${words[a & 7] ?? ''}_${line} = ${words[b & 7] ?? ''} + ${a * b};\n`;
  }).join('');
}

/** A working copy and the command server that commits it. */
export class Committer {
  #commits = 0;

  constructor(readonly session: HgSession) {}

  get nextDate(): string {
    return `${FIRST_DATE + this.#commits * HOUR} 0`;
  }

  /** A name in bytes is used as it is; a name in text is UTF-8. */
  write(name: string | Buffer, content: string | Uint8Array): void {
    if (typeof name === 'string') mkdirSync(dirname(join(this.session.folder, name)), { recursive: true });
    const path = Buffer.concat([Buffer.from(`${this.session.folder}/`), Buffer.from(name)]);
    writeFileSync(path, content);
  }

  remove(name: string): void {
    rmSync(join(this.session.folder, name));
  }

  async hg(...args: readonly string[]): Promise<string> {
    return this.session.run(...args);
  }

  /** Commits everything in the working copy, new and missing files too, as the next hour's work. */
  async commit(message: string, ...args: readonly string[]): Promise<void> {
    await this.hg('commit', '--addremove', '--date', this.nextDate, '--message', message, ...args);
    this.#commits++;
  }

  /** A command that makes one changeset by itself and takes `--date` and `--message`. */
  async committing(message: string, ...args: readonly string[]): Promise<void> {
    await this.hg(...args, '--date', this.nextDate, '--message', message);
    this.#commits++;
  }
}

/** Names that each store encoding treats in its own way. */
const NAMES: readonly (string | Buffer)[] = [
  'Docs/Read Me.txt',
  'UPPER_lower.TXT',
  'tilde~file',
  'aux.txt',
  'com1',
  'lib/prn/con.c',
  'x.i/inside.txt',
  'y.d/inside.txt',
  'z.hg/inside.txt',
  'x.i/y.d/z.hg/deep.i',
  '00changelog.d',
  '00manifest.i',
  'undo',
  'undo.backup.x',
  'journal',
  'requires',
  'fncache',
  '.hidden',
  '.dots/.inner',
  ' leading space',
  'ends with a dot.',
  'ends with a space ',
  'quote"colon:star*',
  'tab\there',
  'caf\u00e9/\u4e2d\u6587.txt',
  Buffer.from('latin-1-caf\u00e9.txt', 'latin1'),
  `${'long-lower-case-name-'.repeat(6)}end.txt`,
  `${'LongDir/'.repeat(11)}sub/aux/SomeFileName_With_Caps.txt`,
  `deep/${'d/'.repeat(40)}leaf.txt`,
];

const isAscii = (name: string | Buffer): boolean => Buffer.from(name).every((byte) => byte < 0x80);

const contentOf = (name: string | Buffer): string => `the file called ${name.toString('latin1').length}\n${sourceText(6, name.length)}`;

/** What to leave out of the common history, for repositories that are to be small or to lie on any file system. */
export interface HistoryOptions {
  /** The file that is too large to stay inline. @default true */
  readonly large?: boolean;
  /** Names of bytes that are no ASCII. @default true */
  readonly anyBytes?: boolean;
}

/**
 * About thirty changesets: two open heads, a merge with a conflict, a closed named branch, a rename, a copy,
 * modes, a symbolic link, a removal, tags, bookmarks, and public, draft and secret phases.
 * `large.bin` is split into `.i` and `.d`; `README.md` has a revision equal to its parent (an empty delta).
 */
export async function commonHistory(session: HgSession, options: HistoryOptions = {}): Promise<void> {
  const { large = true, anyBytes = true } = options;
  const work = new Committer(session);
  await firstFiles(work, anyBytes ? NAMES : NAMES.filter(isAscii));
  await renamesAndModes(work, large ? 140_000 : 2000);
  await mergeWithConflict(work);
  await closedBranch(work);
  await twoHeads(work);
  await labels(work);
}

async function firstFiles(work: Committer, names: typeof NAMES): Promise<void> {
  for (const name of names) work.write(name, contentOf(name));
  work.write('README.md', `# A project\n\n${sourceText(40, 1)}`);
  work.write('src/Main.c', sourceText(120, 2));
  work.write('src/lib/strings.c', sourceText(200, 3));
  work.write('empty', '');
  work.write('binary.dat', noise(3000, 4));
  work.write('looks-like-metadata', '\x01\nnot: metadata\n\x01\nbut a file that begins like it\n');
  work.write('tiny', 'x');
  await work.commit('add the first files');
  for (let round = 1; round <= 3; round++) {
    work.write('src/Main.c', sourceText(120 + round, 2) + sourceText(round, 20 + round));
    work.write('looks-like-metadata', `\x01\nround ${round}\n`);
    if (round === 2) work.write('empty', 'no longer empty\n');
    if (round === 3) work.write('empty', '');
    for (const name of names.slice(round * 4, round * 4 + 12)) work.write(name, `${contentOf(name)}round ${round}\n`);
    await work.commit(`round ${round}\n\nA longer description.\nWith lines: ${noiseName(40, round)}`);
  }
}

async function renamesAndModes(work: Committer, largeBytes: number): Promise<void> {
  await work.hg('rename', 'src/Main.c', 'src/program.c');
  await work.commit('rename the program');
  await work.hg('copy', 'README.md', 'docs/copy-of-readme.md');
  await work.commit('copy the readme as it is');
  await work.hg('copy', 'src/lib/strings.c', 'src/lib/more-strings.c');
  work.write('src/lib/more-strings.c', sourceText(210, 3));
  await work.commit('copy and change in one');
  work.write('large.bin', noise(largeBytes, 5));
  await work.commit('a file too large to stay inline');
  const larger = noise(largeBytes + 500, 5);
  larger.fill(7, 600, 700);
  work.write('large.bin', larger);
  work.write('binary.dat', noise(3300, 4));
  await work.commit('change the large file');
  chmodSync(join(work.session.folder, 'src/program.c'), 0o755);
  symlinkSync('README.md', join(work.session.folder, 'link'));
  await work.commit('a mode and a symbolic link');
  work.remove('Docs/Read Me.txt');
  await work.commit('remove a file');
  await work.committing('', 'tag', 'v1.0');
}

async function mergeWithConflict(work: Committer): Promise<void> {
  await work.hg('update', '--clean', '5');
  for (let round = 1; round <= 3; round++) {
    work.write('README.md', `# A side project ${round}\n\n${sourceText(40, 1)}`);
    work.write(`side/file-${round}.txt`, sourceText(10, 30 + round));
    await work.commit(`side work ${round}`);
  }
  await work.hg('update', '--clean', 'v1.0');
  work.write('README.md', `# The main project\n\n${sourceText(41, 1)}`);
  await work.commit('change the readme on this side too');
  await work.hg('merge', '--tool', ':local', '14');
  await work.commit('merge, keeping our readme');
}

async function closedBranch(work: Committer): Promise<void> {
  await work.hg('branch', 'stable');
  work.write('src/lib/strings.c', sourceText(190, 3));
  await work.commit('start the stable branch');
  work.write('src/lib/strings.c', sourceText(195, 3));
  await work.commit('a fix');
  await work.commit('close the branch', '--close-branch');
  await work.hg('update', '--clean', '16');
}

async function twoHeads(work: Committer): Promise<void> {
  for (let round = 1; round <= 6; round++) {
    work.write('src/program.c', sourceText(120 + round * 3, 2) + sourceText(round, 40 + round));
    work.write(`new/file ${round}.txt`, sourceText(5, 50 + round));
    await work.commit(`more work ${round}`);
  }
  await work.hg('update', '--clean', '22');
  for (let round = 1; round <= 3; round++) {
    work.write('src/lib/strings.c', sourceText(200 + round, 3));
    await work.commit(`another head ${round}`);
  }
}

async function labels(work: Committer): Promise<void> {
  await work.hg('phase', '--public', '18');
  await work.hg('phase', '--force', '--secret', '27');
  await work.hg('bookmark', '--rev', '5', 'old place');
  await work.hg('bookmark', '--rev', '25', 'caf\u00e9');
  await work.hg('tag', '--local', '--rev', '3', 'only-here');
  await work.hg('update', '--clean', '25');
  work.write('.hg/hgrc', '[ui]\nusername = Somebody <somebody@example.com>\n');
  work.write('not tracked.tmp', 'left in the working copy\n');
}

/** Four rounds over many files, so that the changelog, the manifest and one filelog are split into `.i` and `.d`. */
export async function splitHistory(session: HgSession): Promise<void> {
  const work = new Committer(session);
  const names = Array.from({ length: 320 }, (_, file) => `${noiseName(2, file + 9)}/${noiseName(100, file + 1000)}`);
  for (let round = 1; round <= 5; round++) {
    for (const [file, name] of names.entries()) work.write(name, `file ${file}, round ${round}\n`);
    work.write('large.bin', noise(50_000, round));
    await work.commit(`round ${round}\n${noiseName(60_000, round + 5000)}`);
  }
  await work.hg('update', '--clean', '2');
  work.write('another', 'head\n');
  await work.commit('another head');
}

/** A handful of changesets with two heads, for layouts where the storage matters and not the content. */
export async function smallHistory(session: HgSession): Promise<void> {
  const work = new Committer(session);
  for (let round = 1; round <= 5; round++) {
    work.write('src/a.c', sourceText(100, 1) + sourceText(round, 10 + round));
    work.write('src/lib/B.c', sourceText(80, 2) + sourceText(round, 20 + round));
    work.write('notes.txt', `round ${round}\n`);
    await work.commit(`round ${round}`);
  }
  await work.hg('update', '--clean', '2');
  for (let round = 1; round <= 2; round++) {
    work.write('src/a.c', sourceText(100 + round, 1));
    await work.commit(`another head ${round}`);
  }
}

/** Those that change again and again. */
const HOT_LINES = 80;

/** Three branches in which the same lines are rewritten, and merges: chains grow too long, and snapshots of several depths come about. */
export async function churnHistory(session: HgSession): Promise<void> {
  const work = new Committer(session);
  const lines = sourceText(400, 1).split('\n');
  let round = 0;
  const commit = async (): Promise<void> => {
    round++;
    for (let i = 0; i < 60; i++) lines[noise(2, round * 100 + i).readUInt16BE() % HOT_LINES] = `${noise(12, round * 1000 + i).toString('hex')} in round ${round}`;
    work.write('churn.txt', lines.join('\n'));
    work.write(`other/file-${round % 12}.txt`, sourceText(round, round));
    await work.commit(`round ${round}`);
  };
  for (let i = 0; i < 5; i++) await commit();
  const heads: string[] = [];
  for (let branch = 0; branch < 3; branch++) {
    await work.hg('update', '--clean', '4');
    for (let i = 0; i < 45; i++) await commit();
    heads.push(await work.hg('log', '--rev', '.', '--template', '{node}'));
  }
  for (const head of heads.slice(0, 2)) {
    await work.hg('merge', '--tool', ':local', '--rev', head);
    for (let i = 0; i < 8; i++) await commit();
  }
}
