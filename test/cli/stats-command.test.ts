/** `revconvert stats` as a person, or a script, runs it. */
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';

import { describe, it } from 'mocha';

import type { ErrorCode, ErrorData, StoreStats } from '../../src/index.js';
import { runCommand, Scratch } from '../repository/support.js';
import { PROJECT_ROOT } from '../support/paths.js';
import { buildRepository, rawChunk } from '../support/repository-builder.js';

const EXAMPLE = join(PROJECT_ROOT, 'examples', 'repository');

/** What the command prints of the example, from the line with this beginning to the next empty line. */
function tableOf(stdout: string, beginning: string): string[] {
  const lines = stdout.split('\n');
  const from = lines.findIndex((line) => line.startsWith(beginning));
  assert.ok(from >= 0, `${beginning} in ${stdout}`);
  const rest = lines.slice(from);
  const to = rest.findIndex((line) => line.trim() === '');
  return (to < 0 ? rest : rest.slice(0, to)).map((line) => line.replace(/ {2,}/g, ' | '));
}

describe('revconvert stats', () => {
  const scratch = Scratch.use();

  it('prints tables: sizes, deltas, chunks, and the largest revlogs', async () => {
    const { status, stdout, stderr } = await runCommand(['stats', EXAMPLE]);
    assert.deepEqual([status, stderr], [0, '']);
    assert.deepEqual(stdout.split('\n').slice(0, 7).map((line) => line.replace(/ {2,}/g, ' | ')), [
      EXAMPLE,
      '',
      ' | revlogs | revisions | on disk | chunks | texts | ratio',
      'changelog | 1 | 60 | 11.4 kB | 7.58 kB | 8.88 kB | 1.17',
      'manifests | 1 | 60 | 9.17 kB | 5.33 kB | 145 kB | 27.2',
      'filelogs | 74 | 99 | 168 kB | 161 kB | 1.06 MB | 6.56',
      'total | 76 | 219 | 188 kB | 174 kB | 1.21 MB | 6.96',
    ]);
    assert.equal(tableOf(stdout, '           full texts').at(-1), 'total | 61.6 % | 0 | 38.4 % | 0.0 % | 8.1 | 38 | 57');
    assert.deepEqual(tableOf(stdout, 'chunks').slice(1), ['raw (NUL) | 29 | 13.2 % | 1.88 kB | 1.1 %', 'raw (u) | 1 | 0.5 % | 46 bytes | 0.0 %', 'zlib | 189 | 86.3 % | 172 kB | 98.9 %']);
    assert.deepEqual(tableOf(stdout, 'largest revlogs').slice(1, 3), ['00changelog.i | 60 | 11.4 kB | 8.88 kB | 1.17 | 0', '00manifest.i | 60 | 9.17 kB | 145 kB | 27.2 | 57']);
    assert.equal(tableOf(stdout, 'largest revlogs').length, 6);
  });

  it('--top says how many revlogs to list', async () => {
    const two = await runCommand(['stats', '--top', '2', EXAMPLE]);
    assert.equal(tableOf(two.stdout, 'largest revlogs').length, 3);
    const none = await runCommand(['stats', '--top', '0', EXAMPLE]);
    assert.doesNotMatch(none.stdout, /largest/);
  });

  it('--detail adds every figure: of each kind, of all, of the largest revlogs', async () => {
    const { status, stdout } = await runCommand(['stats', '--detail', '--top', '1', EXAMPLE]);
    assert.equal(status, 0);
    const titles = stdout.split('\n\n').map((part) => part.split('\n', 1)[0] ?? '').filter((line) => /^[a-z0-9]/.test(line));
    assert.deepEqual(titles.map((title) => title.replace(/ {2,}.*/, '')), ['chunks', 'largest revlogs', 'changelog', 'manifests', 'filelogs', 'total', '00changelog.i (version 1, inline)']);
    assert.match(stdout, /^ {2}chain length: average 29\.0, 90 % up to 51, longest 57$/m);
    assert.match(stdout, /^ {2}previous, which is p1 +58 +98\.3 %$/m);
  });

  it('-c, -m and --file ask for one revlog', async () => {
    const cases: readonly (readonly [args: readonly string[], title: string, revisions: string])[] = [
      [['-c'], '00changelog.i (version 1, inline)', '60 revisions, 11.4 kB on disk'],
      [['--changelog'], '00changelog.i (version 1, inline)', '60 revisions, 11.4 kB on disk'],
      [['-m'], '00manifest.i (version 1, inline, generaldelta)', '60 revisions, 9.17 kB on disk'],
      [['--manifest'], '00manifest.i (version 1, inline, generaldelta)', '60 revisions, 9.17 kB on disk'],
      [['--file', 'src/matrix.c'], 'data/src/matrix.c.i (version 1, inline, generaldelta)', '4 revisions, 6.76 kB on disk'],
    ];
    for (const [args, title, revisions] of cases) {
      const { status, stdout } = await runCommand(['stats', ...args, EXAMPLE]);
      assert.equal(status, 0);
      assert.deepEqual(stdout.split('\n').slice(0, 4), [EXAMPLE, '', title, `  1 revlog, ${revisions}`]);
    }
  });

  it('--json prints one object with everything', async () => {
    const { status, stdout, stderr } = await runCommand(['stats', '--json', '--top', '1', EXAMPLE]);
    assert.deepEqual([status, stderr, stdout.split('\n').length], [0, '', 2]);
    const stats = JSON.parse(stdout) as StoreStats;
    assert.deepEqual(Object.keys(stats), ['repository', 'total', 'kinds', 'largest', 'errors']);
    assert.deepEqual(Object.keys(stats.kinds), ['changelog', 'manifest', 'filelog']);
    assert.equal(stats.repository, EXAMPLE);
    const { manifest } = stats.kinds;
    assert.deepEqual(Object.keys(manifest), [
      ...['revlogs', 'revisions', 'merges', 'fileBytes', 'storedBytes', 'rawBytes', 'ratio', 'emptyTexts', 'emptyDeltas', 'fullTexts', 'snapshots', 'deltas', 'texts'],
      ...['chains', 'markers', 'bases'],
    ]);
    assert.deepEqual([manifest.revisions, manifest.merges, manifest.fullTexts.count, manifest.deltas.count, manifest.snapshots], [60, 1, 1, 59, []]);
    assert.deepEqual(manifest.bases, { previousP1: 58, previousP2: 0, previousOther: 0, p1: 1, p2: 0, snapshot: 0, other: 0 });
    assert.deepEqual(manifest.markers.map(({ byte, name, count }) => [byte, name, count]), [[0x00, 'raw (NUL)', 26], [0x78, 'zlib', 34]]);
    assert.deepEqual(stats.largest.map(({ path, kind, header }) => [path, kind, header.version, header.inline]), [['00changelog.i', 'changelog', 1, true]]);
    assert.deepEqual(stats.errors, []);
  });

  it('says what is damaged on standard error, prints the rest, and ends with status 3', async () => {
    const { inStore } = buildRepository(scratch.at('src'), { compress: rawChunk });
    rmSync(inStore('data/split.txt.d'));
    const { status, stdout, stderr } = await runCommand(['stats', scratch.at('src')]);
    assert.equal(status, 3);
    assert.match(stdout, /^filelogs +1 +4 /m);
    assert.match(stderr, /^revconvert: DATA_MISSING: data\/split\.txt\.d: the data file is missing; .*\nhint: these revlogs are in none of the figures; run `revconvert verify` on the repository\n$/);
    const json = await runCommand(['stats', '--json', scratch.at('src')]);
    assert.deepEqual([json.status, json.stderr], [3, '']);
    assert.deepEqual((JSON.parse(json.stdout) as StoreStats).errors.map(({ code }) => code), ['DATA_MISSING']);
    const one = await runCommand(['stats', '--file', 'split.txt', scratch.at('src')]);
    assert.equal(one.status, 3);
    assert.equal(one.stdout, `${scratch.at('src')}\n\nno figures\n`);
  });

  it('says that nothing was committed yet', async () => {
    const { inStore } = buildRepository(scratch.at('src'), { files: [] });
    rmSync(inStore('00changelog.i'));
    const { status, stdout } = await runCommand(['stats', '-c', scratch.at('src')]);
    assert.deepEqual([status, stdout], [0, `${scratch.at('src')}\n\nno such revlog: nothing was committed yet\n`]);
  });

  it('shows names without what acts on a terminal', async () => {
    buildRepository(scratch.at('s\u001b[31mrc'));
    const { status, stdout } = await runCommand(['stats', scratch.at('s\u001b[31mrc')]);
    assert.equal(status, 0);
    assert.match(stdout, /s\\u\{1b\}\[31mrc\n/);
  });

  const mistakes: readonly (readonly [title: string, args: readonly string[], message: RegExp, code?: ErrorCode])[] = [
    ['no repository', [], /the repository is missing/],
    ['two repositories', ['src', 'src'], /only a repository is expected/],
    ['a URL', ['https://example.com/repo'], /is a URL/],
    ['two revlogs', ['-c', '-m', 'src'], /only one of --changelog, --manifest and --file/],
    ['a file that is not there', ['--file', 'nowhere.txt', 'src'], /no file 'nowhere\.txt'/],
    ['a number that is none', ['--top', 'all', 'src'], /--top: a number is expected, found 'all'/],
    ['half a number', ['--top', '1.5', 'src'], /top must be a whole number.*found 1\.5/],
    ['an option of the conversion', ['--level', '3', 'src'], /level/],
  ];
  for (const [title, args, message, code = 'USAGE'] of mistakes) {
    it(`${title}: ${code}, status 2, and a hint`, async () => {
      buildRepository(scratch.at('src'));
      const { status, stdout, stderr } = await runCommand(['stats', ...args.map((arg) => (arg === 'src' ? scratch.at('src') : arg))]);
      assert.deepEqual([status, stdout], [2, '']);
      assert.match(stderr, new RegExp(`^revconvert: ${code}: .*\nhint: .*\n$`));
      assert.match(stderr, message);
    });
  }

  it('an error is JSON with --json', async () => {
    const { status, stdout, stderr } = await runCommand(['stats', '--json', scratch.at('nowhere')]);
    assert.deepEqual([status, stderr], [3, '']);
    const { error } = JSON.parse(stdout) as { error: ErrorData };
    assert.equal(error.code, 'NOT_A_REPOSITORY');
  });

  it('has help of its own, and stands in that of the whole', async () => {
    const own = await runCommand(['stats', '--help']);
    assert.equal(own.status, 0);
    for (const word of ['stats [options] <repository>', '--detail', '--top', '-c, --changelog', '-m, --manifest', '--file', '--json', 'Exit status:']) assert.ok(own.stdout.includes(word), word);
    assert.match((await runCommand(['--help'])).stdout, /revconvert stats +<repository> +say what a store is made of/);
  });
});
