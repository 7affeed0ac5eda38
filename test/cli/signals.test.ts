/** The command among other processes: interrupted, at a terminal, with a reader that goes away. */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, lstatSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

import { before, describe, it } from 'mocha';

import { assertGone, COMMAND, runCommand, Scratch } from '../repository/support.js';
import { buildRepository, rawChunk, type RepositoryOptions } from '../support/repository-builder.js';
import { copyProject } from './without-engines.js';

/** Takes many seconds at the highest level: long enough to be interrupted in the middle. */
const SLOW: RepositoryOptions = { files: ['split.txt'], commits: 60, textBytes: 250_000, compress: rawChunk };
const MODEST: RepositoryOptions = { files: ['split.txt'], commits: 30, textBytes: 60_000, compress: rawChunk };

describe('interrupted', function () {
  this.timeout(60_000);
  const scratch = Scratch.use();

  const temporaryFolders = (): string[] => readdirSync(scratch.root).filter((name) => name.includes('.revconvert-'));

  /** Starts a conversion, and sends a signal once its temporary folder has a store. */
  async function interrupt(signal: NodeJS.Signals, args: readonly string[]): Promise<{ status: number | null; stderr: string }> {
    const child = spawn(process.execPath, [COMMAND, ...args, scratch.at('src'), scratch.at('dst')], { stdio: ['ignore', 'ignore', 'pipe'] });
    let stderr = '';
    child.stderr.on('data', (bytes: Buffer) => (stderr += bytes.toString()));
    const ended = new Promise<number | null>((resolve) => child.once('close', (status) => resolve(status)));
    while (child.exitCode === null && !temporaryFolders().some((name) => existsSync(scratch.at(name, '.hg', 'store')))) await delay(5);
    child.kill(signal);
    return { status: await ended, stderr };
  }

  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    for (const jobs of ['1', '2']) {
      it(`by ${signal} in the middle, --jobs ${jobs}: status 130, nothing is left`, async () => {
        buildRepository(scratch.at('src'), SLOW);
        const { status, stderr } = await interrupt(signal, ['--to', 'zstd', '--level', '22', '--jobs', jobs]);
        assert.equal(status, 130, stderr);
        assert.equal(stderr, 'revconvert: CANCELLED: interrupted\nhint: nothing was left behind\n');
        assert.deepEqual(readdirSync(scratch.root), ['src']);
        for (const lock of ['wlock', 'store/lock']) assertGone(scratch.at('src', '.hg', lock));
      });
    }
  }

  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    it(`by ${signal} while it waits for a lock: status 130, nothing is left`, async () => {
      buildRepository(scratch.at('src'));
      symlinkSync('elsewhere:1', scratch.at('src', '.hg', 'store', 'lock'));
      let sent = false;
      const { status, stderr } = await runCommand(['--to', 'zstd', scratch.at('src'), scratch.at('dst')], {
        onStderr: (text, kill) => {
          if (!sent && text.includes('waiting for')) kill(signal);
          sent = true;
        },
      });
      assert.equal(status, 130, stderr);
      assert.match(stderr, /^revconvert: waiting for .*\nrevconvert: CANCELLED: interrupted\n/);
      assert.deepEqual(readdirSync(scratch.root), ['src']);
      assertGone(scratch.at('src', '.hg', 'wlock'));
      assert.ok(lstatSync(scratch.at('src', '.hg', 'store', 'lock')).isSymbolicLink(), 'the lock of somebody else stays');
    });
  }
});

describe('at a terminal', function () {
  this.timeout(60_000);
  const scratch = Scratch.use();
  before(function () {
    if (spawnSync('script', ['--version']).status !== 0) this.skip();
  });

  /** Runs the command with a terminal for all of its streams; gives what the terminal got. */
  function atTerminal(args: readonly string[]): { readonly status: number | null; readonly shown: string } {
    const line = [process.execPath, COMMAND, ...args].map((word) => `'${word}'`).join(' ');
    const { status, stdout } = spawnSync('script', ['--quiet', '--return', '--command', line, '/dev/null'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
    return { status, shown: stdout };
  }

  it('a progress bar is shown: revlogs and bytes done, rate, time left', () => {
    buildRepository(scratch.at('src'), MODEST);
    const { status, shown } = atTerminal(['--to', 'zstd', scratch.at('src'), scratch.at('dst')]);
    assert.equal(status, 0, shown);
    assert.match(shown, /\d+ % \| \d\/3 revlogs \| [\d.]+ \w+ of [\d.]+ MB \| [\d.]+ \w+\/s \| [\d.]+ s left/);
    assert.ok(shown.includes('zlib -> zstd'), 'the summary follows');
  });

  for (const option of ['--quiet', '--json']) {
    it(`${option}: none is shown`, () => {
      buildRepository(scratch.at('src'), MODEST);
      const { status, shown } = atTerminal(['--to', 'zstd', option, scratch.at('src'), scratch.at('dst')]);
      assert.equal(status, 0, shown);
      assert.doesNotMatch(shown, / % \|/);
    });
  }

  it('an error comes after the bar is gone, and the cursor is back', () => {
    const { status, shown } = atTerminal(['--to', 'zstd', scratch.at('src'), scratch.at('dst')]);
    assert.equal(status, 3);
    assert.match(shown, /revconvert: NOT_A_REPOSITORY: /);
  });
});

describe('a reader that goes away', function () {
  this.timeout(60_000);
  const scratch = Scratch.use();

  /** Runs a pipe in a shell; gives the status of its first command, and what all of them said on standard error. */
  function pipe(args: readonly string[], rest: string): { readonly status: number; readonly stderr: string } {
    const line = [process.execPath, COMMAND, ...args].map((word) => `'${word}'`).join(' ');
    const { stderr } = spawnSync('sh', ['-c', `{ ${line}; echo $? > '${scratch.at('status')}'; } ${rest}`], { encoding: 'utf8' });
    return { status: Number(readFileSync(scratch.at('status'), 'utf8')), stderr };
  }

  it('--help | head -c 1: no crash', () => {
    assert.deepEqual(pipe(['--help'], '| head -c 1'), { status: 0, stderr: '' });
  });

  it('of the result: the conversion is done all the same', () => {
    buildRepository(scratch.at('src'));
    assert.deepEqual(pipe(['--to', 'zstd', '--json', scratch.at('src'), scratch.at('dst')], '| true'), { status: 0, stderr: '' });
    assert.ok(existsSync(scratch.at('dst', '.hg', 'requires')));
  });

  it('of the messages: the status stays what it is', () => {
    assert.deepEqual(pipe(['--to', 'zstd', scratch.at('src'), scratch.at('dst')], '2>&1 >/dev/null | true'), { status: 3, stderr: '' });
  });

  it('of the messages, in the middle: nothing is left', () => {
    buildRepository(scratch.at('src'));
    symlinkSync('elsewhere:1', scratch.at('src', '.hg', 'store', 'lock'));
    const { status } = pipe(['--to', 'zstd', '--lock-timeout', '2', scratch.at('src'), scratch.at('dst')], '2>&1 >/dev/null | true');
    assert.equal(status, 4);
    assertGone(scratch.at('src', '.hg', 'wlock'));
  });

  it('a result that cannot be written is an error, without a stack trace', function () {
    if (!existsSync('/dev/full')) this.skip();
    const { status, stderr } = pipe(['--help'], '> /dev/full');
    assert.equal(status, 4, stderr);
    assert.match(stderr, /^revconvert: .*ENOSPC.*\n$/);
  });
});

describe('engines that are not installed', () => {
  const scratch = Scratch.use();

  it('a missing engine is an error before anything is written, and says what to install and what there is', () => {
    buildRepository(scratch.at('src'));
    const command = copyProject(scratch.at('project'), ['lz4-napi']);
    const { status, stderr } = spawnSync(process.execPath, [command, '--to', 'lz4', scratch.at('src'), scratch.at('dst')], { encoding: 'utf8' });
    assert.equal(status, 2, stderr);
    assert.match(stderr, /^revconvert: ENGINE_MISSING: .*install lz4-napi; engines available: none, zlib, zstd\nhint: /);
    assert.equal(existsSync(scratch.at('dst')), false);
  });
});
