/** `revconvert verify` as a person, or a script, runs it. */
import assert from 'node:assert/strict';
import { appendFileSync } from 'node:fs';

import { describe, it } from 'mocha';

import type { VerifyReport } from '../../src/index.js';
import { setChunk } from '../bad-input/support.js';
import { runCommand, Scratch } from '../repository/support.js';
import { buildRepository } from '../support/repository-builder.js';

describe('revconvert verify', () => {
  const scratch = Scratch.use();

  /** Two faults and a warning. */
  function buildDamaged(): void {
    const repository = buildRepository(scratch.at('src'));
    setChunk('data/a.txt.i', 0, 4, Buffer.of(0, 0xff))(repository);
    setChunk('00manifest.i', 3, 4, Buffer.of(0, 0xff))(repository);
    appendFileSync(repository.inStore('fncache'), 'data/gone.txt.i\n');
  }

  it('a sound repository: status 0, and what was looked at', async () => {
    buildRepository(scratch.at('src'));
    const { status, stdout, stderr } = await runCommand(['verify', scratch.at('src')]);
    assert.equal(status, 0, stderr);
    assert.equal(stderr, '');
    const [first, , checked, time, ...rest] = stdout.split('\n');
    assert.equal(first, `${scratch.at('src')}: sound`);
    assert.equal(checked, 'checked       4 changesets, 4 manifests, 8 revisions of 2 files');
    assert.match(time ?? '', /^time {10}\d+\.\d s, 1 thread$/);
    assert.deepEqual(rest, ['']);
  });

  it('damage: status 3, each fault on a line with its place and its code, then the rest', async () => {
    buildDamaged();
    const { status, stdout, stderr } = await runCommand(['verify', '--jobs', '1', scratch.at('src')]);
    assert.equal(status, 3);
    assert.equal(stderr, '');
    const lines = stdout.split('\n');
    assert.match(lines[0] ?? '', /^00manifest\.i, rev 3, offset \d+: not a valid zlib chunk: .* \(CHUNK_DAMAGED\)$/);
    assert.match(lines[1] ?? '', /^data\/a\.txt\.i, rev 0, offset 64: not a valid zlib chunk: .*; 3 revisions built on it, up to rev 3, fail with it \(CHUNK_DAMAGED\)$/);
    assert.equal(lines[2], 'warning: data/gone.txt.i: listed in the store and missing (REVLOG_MISSING)');
    assert.equal(lines[3], `${scratch.at('src')}: 2 faults, 1 warning`);
    assert.ok(lines.includes('not compared  2 revisions, since the changesets or manifests that belong to them are damaged'), stdout);
  });

  it('warnings alone: status 1', async () => {
    const { inStore } = buildRepository(scratch.at('src'));
    appendFileSync(inStore('fncache'), 'data/gone.txt.i\n');
    const { status, stdout } = await runCommand(['verify', '--quiet', scratch.at('src')]);
    assert.equal(status, 1);
    assert.equal(stdout, 'warning: data/gone.txt.i: listed in the store and missing (REVLOG_MISSING)\n');
  });

  it('--quiet: the faults, and nothing where there are none', async () => {
    buildDamaged();
    const damaged = await runCommand(['verify', '--quiet', scratch.at('src')]);
    assert.deepEqual([damaged.status, damaged.stdout.split('\n').length], [3, 4]);
    buildRepository(scratch.at('sound'));
    assert.deepEqual(await runCommand(['verify', '--quiet', scratch.at('sound')]), { status: 0, signal: null, stdout: '', stderr: '' });
  });

  it('--json: the report, and nothing else', async () => {
    buildDamaged();
    const { status, stdout, stderr } = await runCommand(['verify', '--json', '--no-lock', scratch.at('src')]);
    assert.deepEqual([status, stderr], [3, '']);
    const report = JSON.parse(stdout) as VerifyReport;
    assert.equal(stdout, `${JSON.stringify(report)}\n`, 'one line');
    assert.deepEqual(report.damage.map(({ code, at }) => [code, at.path, at.rev]), [
      ['CHUNK_DAMAGED', '00manifest.i', 3],
      ['CHUNK_DAMAGED', 'data/a.txt.i', 0],
    ]);
    assert.deepEqual([report.repository, report.changesets, report.warnings.length], [scratch.at('src'), 4, 1]);
  });

  it('names that act on a terminal are shown without doing so', async () => {
    const { inStore } = buildRepository(scratch.at('src'));
    appendFileSync(inStore('fncache'), 'data/gone\u001b[2J.i\n');
    const { stdout } = await runCommand(['verify', scratch.at('src')]);
    assert.ok(!stdout.includes('\u001b'), JSON.stringify(stdout));
  });

  const MISTAKES: readonly (readonly [title: string, args: readonly string[], message: RegExp])[] = [
    ['no repository', [], /the repository is missing/],
    ['two repositories', ['a', 'b'], /only a repository is expected/],
    ['an option of conversions', ['--to', 'zstd', 'a'], /unknown option: --to/],
    ['jobs that are no number', ['--jobs', 'many', 'a'], /--jobs: a number is expected/],
    ['no threads', ['--jobs', '0', 'a'], /jobs must be a whole number/],
  ];
  for (const [title, args, message] of MISTAKES) {
    it(`a wrong command line: ${title}`, async () => {
      const { status, stderr } = await runCommand(['verify', ...args]);
      assert.equal(status, 2, stderr);
      assert.match(stderr, /^revconvert: USAGE: /);
      assert.match(stderr, message);
    });
  }

  it('a folder that is no repository: status 3, as an error', async () => {
    const { status, stdout, stderr } = await runCommand(['verify', scratch.at('nothing')]);
    assert.deepEqual([status, stdout], [3, '']);
    assert.match(stderr, /^revconvert: NOT_A_REPOSITORY: /);
  });

  it('--help of the command, and of the whole', async () => {
    const own = await runCommand(['verify', '--help']);
    for (const word of ['verify [options] <repository>', '--jobs', '--no-lock', '--lock-timeout', '--json', '--quiet']) assert.ok(own.stdout.includes(word), word);
    assert.match((await runCommand(['--help'])).stdout, /^ *revconvert verify +<repository> +check every revision/m);
  });
});
