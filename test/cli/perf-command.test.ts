/** `revconvert perf` as a person, or a script, runs it. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import { describe, it } from 'mocha';

import type { ErrorData, PerfReport } from '../../src/index.js';
import { COMMAND, patch, picture, runCommand, Scratch } from '../repository/support.js';
import { buildRepository } from '../support/repository-builder.js';

const QUICK = ['--runs', '3', '--seconds', '0.01'];
const TITLES = ['index', 'chunks', 'chunks, in batches', 'texts forward', 'texts in reverse', 'last of the longest chain'];

/** Whether a process has a file of that name open. */
function hasOpen(pid: number | undefined, name: string): boolean {
  const folder = `/proc/${pid ?? ''}/fd`;
  const targetOf = (link: string): string => {
    try {
      return readlinkSync(join(folder, link));
    } catch {
      return '';
    }
  };
  return existsSync(folder) && readdirSync(folder).some((link) => targetOf(link).endsWith(`/${name}`));
}

describe('revconvert perf', () => {
  const scratch = Scratch.use();
  const perf = (...args: readonly string[]): ReturnType<typeof runCommand> => runCommand(['perf', ...QUICK, ...args]);

  it('prints a table for the changelog, the manifest and the largest filelog', async () => {
    buildRepository(scratch.at('src'));
    const before = picture(scratch.root);
    const { status, stdout, stderr } = await perf(scratch.at('src'));
    assert.deepEqual([status, stderr], [0, '']);
    for (const [path, deltas] of [['00changelog.i', '3 deltas'], ['00manifest.i', '1 delta'], ['data/split.txt.i', '1 delta']] as const) {
      assert.match(stdout, new RegExp(`^${path}: 4 revisions, .*, longest chain ${deltas}$`, 'm'));
    }
    for (const title of TITLES) {
      const rows = stdout.split('\n').filter((line) => line.startsWith(`${title}  `));
      assert.equal(rows.length, 3, title);
      for (const row of rows) assert.match(row, /^\D+ [14] +[\d.]+ (?:bytes|kB) +[\d.,]+ (?:us|ms) +[\d.,]+ (?:us|ms) +[\d.,]+ +[\d.,]+ +\d+(?: \(cold\))?$/);
    }
    assert.deepEqual(picture(scratch.root), before);
  });

  it('says what is not as usual: every N-th text, nodes checked', async () => {
    buildRepository(scratch.at('src'), { commits: 9 });
    const { stdout } = await perf('-m', '--every', '4', '--check-nodes', scratch.at('src'));
    assert.match(stdout, /^texts forward, every 4, checked +3 /m);
    assert.match(stdout, /^texts in reverse, every 4, checked +3 /m);
    assert.match(stdout, /^last of the longest chain, checked +1 /m);
    assert.match(stdout, /^chunks +9 /m);
    assert.doesNotMatch(stdout, /changelog|data\//);
  });

  it('--against: two stores side by side, with the ratio', async () => {
    buildRepository(scratch.at('a'));
    buildRepository(scratch.at('b'), { layout: 'store without fncache' });
    const { status, stdout } = await perf('-c', scratch.at('a'), '--against', scratch.at('b'));
    assert.equal(status, 0);
    assert.ok(stdout.startsWith(`A: ${scratch.at('a')}\nB: ${scratch.at('b')}\n\n00changelog.i\n  A: 4 revisions`), stdout);
    assert.match(stdout, /^ +A best +B best +A median +B median +B\/A +runs$/m);
    for (const title of TITLES) {
      assert.match(stdout, new RegExp(`^${title}(?: +[\\d.,]+ (?:us|ms)){4} +\\d+\\.\\d\\d +\\d+(?: \\(cold\\))?$`, 'm'));
    }
  });

  it('--json: all samples of all stores, on one line', async () => {
    buildRepository(scratch.at('a'));
    buildRepository(scratch.at('b'));
    const { status, stdout, stderr } = await perf('--json', '--file', 'a.txt', '--against', scratch.at('b'), scratch.at('a'));
    assert.deepEqual([status, stderr], [0, '']);
    const report = JSON.parse(stdout) as PerfReport;
    assert.equal(stdout, `${JSON.stringify(report)}\n`);
    assert.deepEqual([report.every, report.checkNodes, report.stores.map(({ repository }) => repository)], [1, false, [scratch.at('a'), scratch.at('b')]]);
    for (const [i, { revlogs }] of report.stores.entries()) {
      const [revlog, ...others] = revlogs;
      assert.deepEqual([revlog?.path, revlog?.kind, revlog?.revisions, revlog?.longestChain, others], ['data/a.txt.i', 'filelog', 4, { rev: 3, deltas: 1 }, []]);
      assert.deepEqual(revlog?.benchmarks.map(({ name }) => name), TITLES);
      for (const result of revlog.benchmarks) {
        assert.equal(typeof result.ratio, i === 0 ? 'undefined' : 'number');
        assert.ok(result.milliseconds.every((one) => one > 0) && result.milliseconds.length > 0);
      }
    }
  });

  const MISTAKES: readonly (readonly [title: string, args: readonly string[], message: RegExp])[] = [
    ['no repository', [], /the repository is missing/],
    ['two of them', ['src', 'src'], /only one repository/],
    ['an unknown option', ['--level', '3', 'src'], /level/],
    ['an empty other repository', ['src', '--against', ''], /other repository is missing/],
    ['a URL', ['https://example.org/hg'], /is a URL/],
    ['too few runs', ['--runs', '2', 'src'], /runs must be a whole number from 3/],
    ['runs that are no number', ['--runs', 'many', 'src'], /--runs: a number is expected/],
    ['half a step', ['--every', '1.5', 'src'], /every must be a whole number/],
    ['no time', ['--seconds', '0', 'src'], /seconds must be/],
    ['a file that is not there', ['--file', 'gone.txt', 'src'], /no file gone\.txt/],
  ];
  for (const [title, args, message] of MISTAKES) {
    it(`${title}: status 2`, async () => {
      buildRepository(scratch.at('src'));
      const { status, stdout, stderr } = await runCommand(['perf', ...args.map((arg) => (arg === 'src' ? scratch.at(arg) : arg))]);
      assert.deepEqual([status, stdout], [2, ''], stderr);
      assert.ok(stderr.startsWith('revconvert: USAGE: '), stderr);
      assert.match(stderr, message);
    });
  }

  it('a damaged chunk: status 3, with its place; as JSON too', async () => {
    const { inStore, revlog } = buildRepository(scratch.at('src'));
    patch(inStore('00manifest.i'), revlog('00manifest.i').chunkAt(1), Buffer.from('x damaged'));
    const { status, stdout, stderr } = await perf(scratch.at('src'));
    assert.deepEqual([status, stdout], [3, '']);
    assert.match(stderr, /^revconvert: CHUNK_DAMAGED: 00manifest\.i, rev 1, offset \d+: /);
    const asJson = await perf('--json', scratch.at('src'));
    assert.equal(asJson.status, 3);
    const { error } = JSON.parse(asJson.stdout) as { error: ErrorData };
    assert.deepEqual([error.code, error.at.path, error.at.rev], ['CHUNK_DAMAGED', '00manifest.i', 1]);
  });

  it('no repository at that place: status 3', async () => {
    const { status, stderr } = await perf(scratch.root);
    assert.equal(status, 3);
    assert.match(stderr, /^revconvert: NOT_A_REPOSITORY: /);
  });

  it('is interrupted by a signal: status 130', async function () {
    if (!existsSync('/proc/self/fd')) this.skip();
    buildRepository(scratch.at('src'));
    const child = spawn(process.execPath, [COMMAND, 'perf', '--runs', '10000', '--seconds', '600', scratch.at('src')], { stdio: ['ignore', 'ignore', 'pipe'] });
    let stderr = '';
    child.stderr.on('data', (bytes: Buffer) => (stderr += bytes.toString()));
    const ended = new Promise<number | null>((resolve) => child.once('close', (code) => resolve(code)));
    while (child.exitCode === null && !hasOpen(child.pid, '00changelog.i')) await delay(5);
    child.kill('SIGINT');
    assert.equal(await ended, 130, stderr);
    assert.match(stderr, /^revconvert: CANCELLED: interrupted\n/);
  });

  it('--help names its options; the help of the whole names it', async () => {
    const { stdout } = await runCommand(['perf', '--help']);
    for (const word of ['--changelog', '--manifest', '--file', '--against', '--every', '--check-nodes', '--runs', '--seconds', '--json']) assert.ok(stdout.includes(word), word);
    assert.match((await runCommand(['--help'])).stdout, /^ *revconvert perf /m);
  });
});
