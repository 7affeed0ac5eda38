/** `revconvert bundle` among other processes: readers that go away or do not read, writers that are slow, silent or never end, signals. */
import assert from 'node:assert/strict';
import type { ChildProcessByStdio } from 'node:child_process';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';

import { describe, it } from 'mocha';

import { Scratch } from '../repository/support.js';
import { hunk, i32, nodeOf, NULL, partHeader, revision } from '../support/bundle-builder.js';
import { assertTiny, body2, BUNDLE_KINDS, changegroupPart, otherPart, tinyOf, wrap } from '../support/bundle-kinds.js';
import { COMMAND } from '../support/commands.js';

const KINDS_2 = BUNDLE_KINDS.filter((kind) => kind.endsWith('v2'));

/** Bytes that no engine makes much smaller. */
const noise = (length: number): Buffer => {
  const bytes = Buffer.alloc(length);
  let state = 12345;
  for (let i = 0; i < length; i++) {
    state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff;
    bytes[i] = state >> 16;
  }
  return bytes;
};

const LARGE = body2(changegroupPart('02', 'whole'), otherPart('unknown', 1, noise(3 << 20)));

const INTERRUPTED = 'revconvert: CANCELLED: interrupted\nhint: nothing was left behind\n';

interface Ended {
  readonly status: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stderr: string;
}

type Child = ChildProcessByStdio<Writable, Readable, Readable>;

/** The command, with pipes for all of its streams. Its output is not read. */
function start(args: readonly string[], env: NodeJS.ProcessEnv = {}): { readonly child: Child; readonly ended: Promise<Ended> } {
  const child = spawn(process.execPath, [COMMAND, 'bundle', ...args], { stdio: ['pipe', 'pipe', 'pipe'], env: { ...process.env, ...env } });
  child.stdin.on('error', () => undefined);
  const said = buffer(child.stderr);
  const ended = once(child, 'exit').then(async ([status, signal]) => ({ status: status as number | null, signal: signal as NodeJS.Signals | null, stderr: (await said).toString() }));
  return { child, ended };
}

const LIMIT_MS = 15_000;

/** How it ended; fails, and ends it, where that takes longer than anything here may. */
async function endOf({ child, ended }: ReturnType<typeof start>): Promise<Ended> {
  const timer = setTimeout(() => {
    child.kill('SIGKILL');
  }, LIMIT_MS);
  const end = await ended;
  clearTimeout(timer);
  assert.notEqual(end.signal, 'SIGKILL', 'it hangs');
  return end;
}

/** Until something is the case. */
async function until(condition: () => boolean, what: string): Promise<void> {
  const end = Date.now() + LIMIT_MS;
  while (!condition()) {
    if (Date.now() > end) assert.fail(`${what}: not in time`);
    await delay(5);
  }
}

describe('a reader of a bundle that goes away', function () {
  this.timeout(60_000);
  const scratch = Scratch.use();

  /** Runs a pipe in a shell; gives the status of the command, and what all of them said on standard error. */
  function pipe(args: readonly string[], rest: string): { readonly status: number; readonly stderr: string } {
    const line = [process.execPath, COMMAND, 'bundle', ...args].map((word) => `'${word}'`).join(' ');
    const { stderr } = spawnSync('sh', ['-c', `{ ${line}; echo $? > status; } ${rest}`], { cwd: scratch.root, encoding: 'utf8', timeout: LIMIT_MS });
    return { status: Number(readFileSync(scratch.at('status'), 'utf8')), stderr };
  }

  for (const kind of KINDS_2) {
    for (const reader of ['head -c 100 > part', 'true', 'head -c 300000 > part']) {
      it(`--to ${kind} | ${reader}: status 141, no word`, () => {
        writeFileSync(scratch.at('in.hg'), wrap('none-v2', LARGE));
        assert.deepEqual(pipe(['--to', kind, 'in.hg'], `| ${reader}`), { status: 141, stderr: '' });
        if (reader.includes('100')) assert.equal(readFileSync(scratch.at('part')).length, 100);
      });
    }
  }

  for (const option of ['--all', '--json']) {
    it(`--inspect ${option} | head -n 1: no word`, () => {
      writeFileSync(scratch.at('in.hg'), wrap('none-v2', body2(...Array.from({ length: 20_000 }, (_, id) => otherPart('unknown', id, 'x')))));
      assert.deepEqual(pipe(['--inspect', option, 'in.hg'], '| head -n 1 > part'), { status: 141, stderr: '' });
    });
  }

  for (const kind of KINDS_2) {
    it(`${kind} from a pipe that stays open: it ends all the same`, async () => {
      const whole = wrap(kind, LARGE);
      const run = start(['--to', 'none-v2']);
      run.child.stdin.write(whole.subarray(0, whole.length - 10));
      await once(run.child.stdout, 'readable');
      run.child.stdout.destroy();
      assert.deepEqual(await endOf(run), { status: 141, signal: null, stderr: '' });
    });
  }

  it('of a FIFO: status 141', async function () {
    if (spawnSync('mkfifo', [scratch.at('to')]).status !== 0) this.skip();
    writeFileSync(scratch.at('in.hg'), wrap('none-v2', LARGE));
    const run = start(['--to', 'none-v2', scratch.at('in.hg'), scratch.at('to')]);
    assert.equal(spawnSync('head', ['-c', '10', scratch.at('to')]).stdout.length, 10);
    assert.deepEqual(await endOf(run), { status: 141, signal: null, stderr: '' });
  });
});

describe('input that does not end', function () {
  this.timeout(60_000);
  const scratch = Scratch.use();

  for (const kind of KINDS_2) {
    it(`${kind}: an error ends the command, though the pipe stays open`, async () => {
      const run = start(['-', scratch.at('out.hg')]);
      run.child.stdin.write(wrap(kind, body2(changegroupPart('02', 'whole'), partHeader('output', 1), i32(-9), Buffer.alloc(64))));
      const { status, stderr } = await endOf(run);
      assert.equal(status, 3, stderr);
      assert.match(stderr, /^revconvert: PART_MALFORMED: part output \(1\), offset \d+: .*\nhint: .*\n$/);
      assert.deepEqual(readdirSync(scratch.root), []);
    });
  }

  it('standard input that is closed is an empty one', () => {
    const { status, stderr } = spawnSync('sh', ['-c', `'${process.execPath}' '${COMMAND}' bundle <&-`], { encoding: 'utf8' });
    assert.equal(status, 3);
    assert.match(stderr, /^revconvert: NOT_A_BUNDLE: offset 0: there is nothing: the input is empty\nhint: /);
  });

  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    for (const kind of KINDS_2) {
      it(`${kind}, ended by ${signal}: status 130; the file that was there stays, and nothing else`, async () => {
        writeFileSync(scratch.at('out.hg'), 'old');
        const whole = wrap(kind, LARGE);
        const run = start(['--to', kind === 'bzip2-v2' ? 'bzip2-v2' : 'gzip-v2', '-', scratch.at('out.hg')]);
        run.child.stdin.write(whole.subarray(0, whole.length - 10));
        await until(() => readdirSync(scratch.root).length > 1, 'a temporary file');
        run.child.kill(signal);
        assert.deepEqual(await endOf(run), { status: 130, signal: null, stderr: INTERRUPTED });
        assert.deepEqual(readdirSync(scratch.root), ['out.hg']);
        assert.equal(readFileSync(scratch.at('out.hg'), 'latin1'), 'old');
      });
    }
  }

  for (const [what, args] of [['--inspect', ['--inspect']], ['--verify', ['--verify']], ['--to-repo', ['--to-repo', 'new']]] as const) {
    it(`${what}, ended by SIGINT: status 130, nothing is left`, async () => {
      const run = start(args.map((arg) => (arg === 'new' ? scratch.at(arg) : arg)));
      const whole = wrap('gzip-v2', LARGE);
      run.child.stdin.write(whole.subarray(0, whole.length - 10));
      await delay(400);
      run.child.kill('SIGINT');
      const { status, stderr } = await endOf(run);
      assert.equal(status, 130);
      assert.ok(stderr.replace(/^revconvert: note: .*\n/, '') === INTERRUPTED, stderr);
      assert.deepEqual(readdirSync(scratch.root), []);
    });
  }

  /** A changegroup whose changesets never end. */
  function* endless(): Generator<Buffer, never, void> {
    yield Buffer.concat([Buffer.from('HG20'), i32(0), partHeader('CHANGEGROUP', 0, [['version', '02']])]);
    const more = 'x'.repeat(1 << 20);
    for (let i = 0; ; i++) {
      const node = nodeOf(NULL, NULL, String(i));
      const chunk = revision('02', { node, link: node, delta: hunk(0, 0, `${i}${more}`) });
      yield Buffer.concat([i32(chunk.length), chunk]);
    }
  }

  it('one that needs a temporary file, ended by SIGTERM: that is gone too', async function () {
    if (process.platform !== 'linux') this.skip();
    mkdirSync(scratch.at('tmp'));
    const run = start(['--redelta', 'previous', '-', scratch.at('out.hg')], { TMPDIR: scratch.at('tmp') });
    const isSpooled = (): boolean =>
      run.child.pid !== undefined && run.child.exitCode === null && readdirSync(`/proc/${run.child.pid}/fd`).some((fd) => linkOf(`/proc/${run.child.pid}/fd/${fd}`).startsWith(scratch.at('tmp')));
    for (const piece of endless()) {
      if (!run.child.stdin.write(piece)) await Promise.race([once(run.child.stdin, 'drain'), run.ended]);
      assert.equal(run.child.exitCode, null);
      if (isSpooled()) break;
    }
    run.child.kill('SIGTERM');
    assert.deepEqual(await endOf(run), { status: 130, signal: null, stderr: INTERRUPTED });
    assert.deepEqual(readdirSync(scratch.root), ['tmp']);
    assert.deepEqual(readdirSync(scratch.at('tmp')), []);
  });
});

function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return ''; // it was closed meanwhile
  }
}

describe('readers and writers that wait', function () {
  this.timeout(60_000);
  const scratch = Scratch.use();

  for (const kind of KINDS_2) {
    it(`--to ${kind}, with a reader that does not read, ended by SIGINT: at once, status 130`, async () => {
      const run = start(['--to', kind]);
      run.child.stdin.end(wrap('none-v2', LARGE));
      await once(run.child.stdout, 'readable');
      await delay(200);
      run.child.kill('SIGINT');
      assert.deepEqual(await endOf(run), { status: 130, signal: null, stderr: INTERRUPTED });
    });

    it(`${kind}, both ends slow: it comes out whole`, async () => {
      const run = start(['--to', 'none-v2']);
      const made: Buffer[] = [];
      const feed = async (): Promise<void> => {
        const bytes = tinyOf(kind);
        for (let at = 0; at < bytes.length; at += 60) {
          run.child.stdin.write(bytes.subarray(at, at + 60));
          await delay(3);
        }
        run.child.stdin.end();
      };
      const read = async (): Promise<void> => {
        for await (const piece of run.child.stdout as AsyncIterable<Buffer>) {
          made.push(piece);
          await delay(20);
        }
      };
      const [end] = await Promise.all([endOf(run), feed(), read()]);
      assert.deepEqual(end, { status: 0, signal: null, stderr: '' });
      assertTiny(Buffer.concat(made), kind, 'none-v2');
    });
  }

  it('a large one, with a reader that takes a little at a time', async () => {
    const run = start(['--to', 'none-v2']);
    run.child.stdin.end(wrap('gzip-v2', LARGE));
    let length = 0;
    for await (const piece of run.child.stdout as AsyncIterable<Buffer>) {
      length += piece.length;
      await delay(1);
    }
    assert.deepEqual(await endOf(run), { status: 0, signal: null, stderr: '' });
    assert.ok(length > 3 << 20);
  });

  for (const [what, args] of [['read from', (fifo: string) => [fifo, '-']], ['written to', (fifo: string) => ['-', fifo]]] as const) {
    it(`a FIFO that is ${what}, and has nobody at its other end, ended by SIGINT: status 130`, async function () {
      const fifo = scratch.at('fifo');
      if (spawnSync('mkfifo', [fifo]).status !== 0) this.skip();
      const run = start(args(fifo));
      run.child.stdin.end(tinyOf('none-v2'));
      await delay(600);
      assert.equal(run.child.exitCode, null, 'it waits');
      run.child.kill('SIGINT');
      assert.deepEqual(await endOf(run), { status: 130, signal: null, stderr: INTERRUPTED });
    });
  }

  it('a FIFO that nobody writes to does not keep a mistake from being said', async function () {
    const fifo = scratch.at('fifo');
    if (spawnSync('mkfifo', [fifo]).status !== 0) this.skip();
    const { status, stderr } = await endOf(start(['--to', 'v9', fifo]));
    assert.equal(status, 2);
    assert.match(stderr, /^revconvert: BUNDLE_SPEC: /);
  });
});
