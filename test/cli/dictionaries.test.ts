/** The command with dictionaries: every command on such a store, what it says, and what is left of runs that fail. */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import { after, before, describe, it } from 'mocha';

import type { ConversionSummary } from '../../src/index.js';
import { assertJsonError, assertOneLine } from '../bad-input/support.js';
import { assertPlain, assertSoundWithDictionaries, dictionariesAt, dictionaryFolder } from '../repository/dictionaries/support.js';
import { assertGone, COMMAND, convert, patch, picture, runCommand, Scratch } from '../repository/support.js';
import { fakeZstd, requireZstd } from '../support/dictionary-files.js';
import { buildRepository } from '../support/repository-builder.js';
import { copyProject } from './without-engines.js';

describe('the command with dictionaries', function () {
  this.timeout(60_000);
  const scratch = Scratch.use();
  const prepared = mkdtempSync(join(tmpdir(), 'revconvert-test-'));
  before(async function () {
    requireZstd(this);
    buildRepository(join(prepared, 'src'), { commits: 150, files: ['a.c', 'lib/b.c', 'split.py', 'notes.txt'], textBytes: 500 });
    await convert(join(prepared, 'src'), join(prepared, 'dict'), { dictionaries: 'auto' });
  });
  after(() => rmSync(prepared, { recursive: true, force: true }));

  const source = (name = 'src'): string => {
    cpSync(join(prepared, name), scratch.at(name), { recursive: true });
    return scratch.at(name);
  };
  /** Where samples lie in these tests. */
  const temporary = (): { TMPDIR: string } => {
    mkdirSync(scratch.at('tmp'), { recursive: true });
    return { TMPDIR: scratch.at('tmp') };
  };
  const assertClean = (...names: readonly string[]): void => {
    assert.deepEqual(readdirSync(scratch.at('tmp')), [], 'samples were left');
    assert.deepEqual(readdirSync(scratch.root).filter((name) => name !== 'tmp' && name !== 'bin').sort(), names);
  };

  it('--dict auto: says what was trained; --json has it all', async () => {
    source();
    const { status, stdout, stderr } = await runCommand(['--to', 'zstd', '--dict', 'auto', scratch.at('src'), scratch.at('dst')], { env: temporary() });
    assert.deepEqual([status, stderr], [0, '']);
    assert.match(stdout, /^dictionaries {2}filelog \(ID 1, \d\.\d+ kB, of \d+ samples\), manifest \(ID 2, .*\), changelog \(ID 3, .*\); 900 chunks use one$/m);
    assert.match(stdout, /^requirements {2}added: exp-revlog-zstd-dictionary\.1, /m);
    assertClean('dst', 'src');
    const json = await runCommand(['--to', 'zstd', '--dict', 'auto', '--json', scratch.at('src'), scratch.at('json')]);
    const { dictionaries } = JSON.parse(json.stdout) as ConversionSummary;
    assert.deepEqual(Object.keys(dictionaries).sort(), ['added', 'bytes', 'bytesBefore', 'choice', 'revlogsWithout', 'used', 'without']);
    assert.deepEqual(Object.keys(dictionaries.added[0] ?? {}).sort(), ['bytes', 'gain', 'id', 'names', 'samples']);
    assert.deepEqual(Object.keys(dictionaries.used[0] ?? {}).sort(), ['bytes', 'chunks', 'id']);
    assert.deepEqual(picture(scratch.at('json')), picture(join(prepared, 'dict')));
    assert.deepEqual(picture(scratch.at('dst')), picture(join(prepared, 'dict')));
  });

  it('--dict auto: says who does without, and why', async () => {
    buildRepository(scratch.at('src'));
    const { status, stdout } = await runCommand(['--to', 'zstd', '--dict', 'auto', scratch.at('src'), scratch.at('dst')]);
    assert.equal(status, 0);
    assert.match(stdout, /^dictionaries {2}no new ones; 0 bytes in all; 0 chunks use one$/m);
    for (const kind of ['changelog', 'manifest', 'filelog']) assert.match(stdout, new RegExp(`^ {14}none for ${kind}: its chunks take too little room$`, 'm'));
    await assertPlain(scratch.at('dst'));
  });

  it('--dict-size and --dict-samples', async () => {
    source();
    const { status } = await runCommand(['--to', 'zstd', '--dict', 'auto', '--dict-size', '512', '--dict-samples', '40', scratch.at('src'), scratch.at('dst')]);
    assert.equal(status, 0);
    await assertSoundWithDictionaries(scratch.at('dst'));
    for (const { bytes } of dictionariesAt(scratch.at('dst')).values()) assert.ok(bytes.length <= 512);
  });

  it('--dict FILE, KIND=FILE, from:REPO, without a zstd program', async () => {
    const [first, second] = [...dictionariesAt(join(prepared, 'dict')).values()];
    writeFileSync(scratch.at('one'), first?.bytes ?? '');
    writeFileSync(scratch.at('two'), second?.bytes ?? '');
    source();
    source('dict');
    for (const [dict, ids] of [[scratch.at('one'), [1]], [`filelog=${scratch.at('one')},manifest=${scratch.at('two')}`, [1, 2]], [`from:${scratch.at('dict')}`, [1, 2, 3]]] as const) {
      const { status, stderr } = await runCommand(['--to', 'zstd', '--dict', dict, scratch.at('src'), scratch.at('dst')], { env: { PATH: '' } });
      assert.equal(status, 0, stderr);
      await assertSoundWithDictionaries(scratch.at('dst'));
      assert.deepEqual([...dictionariesAt(scratch.at('dst')).keys()].sort(), ids);
      rmSync(scratch.at('dst'), { recursive: true });
    }
  });

  for (const dict of ['auto', 'refresh', 'add']) {
    it(`--dict ${dict} without a zstd program: status 2, what to install, nothing is left`, async () => {
      source();
      for (const redelta of dict === 'auto' ? [[], ['--redelta', 'all']] : [[]]) {
        for (const jobs of ['1', '2']) {
          const args = ['--to', 'zstd', '--dict', dict, '--jobs', jobs, ...redelta, scratch.at('src'), scratch.at('dst')];
          assertOneLine(await runCommand(args, { env: { ...temporary(), PATH: '' } }), { code: 'ZSTD_PROGRAM', message: /is not there/ });
          assertClean('src');
        }
      }
    });
  }

  it('--dry-run: says what will be done, and writes nothing; --json has the choice', async () => {
    source();
    source('dict');
    const before_ = picture(scratch.root);
    for (const [args, words] of [
      [['--to', 'zstd', '--dict', 'auto', scratch.at('src')], /^dictionaries {2}new ones, to be trained/m],
      [['--dict', 'refresh', scratch.at('dict')], /^dictionaries {2}new ones, .*beside those of the source/m],
      [['--dict', 'add', scratch.at('dict')], /all chunks stay as they are/],
      [[scratch.at('dict')], /^dictionaries {2}those of the source$/m],
      [['--dict', `from:${scratch.at('dict')}`, '--to', 'zstd', scratch.at('src')], /^dictionaries {2}those of \//m],
    ] as const) {
      const { status, stdout, stderr } = await runCommand(['--dry-run', ...args]);
      assert.equal(status, 0, stderr);
      assert.match(stdout, words);
    }
    const { stdout } = await runCommand(['--dry-run', '--json', scratch.at('dict')]);
    assert.equal((JSON.parse(stdout) as { plan: { dictionaries: string } }).plan.dictionaries, 'keep');
    assert.deepEqual(picture(scratch.root), before_);
  });

  for (const [args, message] of [
    [['--dict', 'auto'], /only zstd has dictionaries/],
    [['--to', 'zlib', '--dict', 'auto'], /only zstd has dictionaries/],
    [['--to', 'zstd', '--dict', ''], /--dict/],
    [['--to', 'zstd', '--dict', '.tar.gz=x'], /'\.tar\.gz'/],
    [['--to', 'zstd', '--dict', 'all=x,all=y'], /all is given twice/],
    [['--to', 'zstd', '--dict-size', '4096'], /no effect/],
    [['--to', 'zstd', '--dict', 'auto', '--dict-size', '1k'], /dict-size/],
    [['--to', 'zstd', '--dict', 'auto', '--dict-size', '255'], /256 to 16777216/],
    [['--to', 'zstd', '--dict', 'auto', '--dict-samples', '1'], /16 to 100000/],
    [['--to', 'zstd', '--dict', 'refresh', '--redelta', 'all'], /use --dict auto/],
  ] as const) {
    it(`${args.join(' ')} is wrong: status 2`, async () => {
      source();
      const { status, stderr } = await runCommand([...args, scratch.at('src'), scratch.at('dst')]);
      assert.equal(status, 2, stderr);
      assert.match(stderr, message);
      assert.deepEqual(readdirSync(scratch.root), ['src']);
    });
  }

  it('a file of a dictionary that is none: status 2, with the file', async () => {
    source();
    for (const [name, bytes] of [['missing', undefined], ['text', 'text'.repeat(100)]] as const) {
      if (bytes !== undefined) writeFileSync(scratch.at(name), bytes);
      assertOneLine(await runCommand(['--to', 'zstd', '--dict', scratch.at(name), scratch.at('src'), scratch.at('dst')]), { code: 'DICTIONARY', path: scratch.at(name) });
      assert.ok(!existsSync(scratch.at('dst')));
    }
  });

  describe('every command reads such a store', () => {
    it('verify, stats, perf, alone and beside another', async () => {
      source('dict');
      source();
      await convert(scratch.at('src'), scratch.at('again'), { dictionaries: 'auto', dictionarySize: 600 });
      for (const jobs of ['1', '2']) {
        const { status, stdout } = await runCommand(['verify', '--jobs', jobs, scratch.at('dict')]);
        assert.equal(status, 0, stdout);
        assert.match(stdout, /sound/);
      }
      const stats = await runCommand(['stats', '--json', scratch.at('dict')]);
      const plain = await runCommand(['stats', '--json', scratch.at('src')]);
      const textBytes = ({ stdout }: { stdout: string }): unknown => /"textBytes":\d+|"texts":\{[^}]*\}/.exec(stdout)?.[0];
      assert.equal(stats.status, 0, stats.stderr);
      assert.deepEqual(textBytes(stats), textBytes(plain));
      for (const args of [['-c'], ['-m', '--against', scratch.at('again')], ['-m', '--against', scratch.at('src')]]) {
        const { status, stderr } = await runCommand(['perf', '--runs', '3', ...args, scratch.at('dict')]);
        assert.equal(status, 0, stderr);
      }
    });

    it('a store of version 0 sizes is counted through its dictionaries too', async () => {
      buildRepository(scratch.at('src'), { layout: 'version 0 in a store', commits: 60 });
      await convert(scratch.at('src'), scratch.at('dict'), { dictionaries: 'auto', dictionarySize: 256 });
      assert.equal((await runCommand(['stats', scratch.at('dict')])).status, 0);
      assert.equal((await runCommand(['verify', scratch.at('dict')])).status, 0);
    });

    for (const [title, damage, code, path] of [
      ['is missing', (folder: string) => rmSync(join(folder, '1.zdict')), 'DICTIONARY_MISSING', '1.zdict'],
      ['is damaged', (folder: string) => patch(join(folder, '1.zdict'), 900, Buffer.from('xx')), 'DICTIONARY_DAMAGED', '1.zdict'],
      ['is listed by an index that lies', (folder: string) => writeFileSync(join(folder, 'index.json'), readFileSync(join(folder, 'index.json'), 'utf8').replace('"version": 1', '"version": 2')), 'DICTIONARY_INDEX', 'index.json'],
    ] as const) {
      it(`a dictionary that ${title}: status 3, with the file`, async () => {
        damage(dictionaryFolder(source('dict')));
        for (const args of [['verify'], ['perf', '-c'], []]) {
          const target = args.length === 0 ? [scratch.at('dst')] : [];
          assertOneLine(await runCommand([...args, scratch.at('dict'), ...target]), { code, path });
          assertJsonError(await runCommand([...args, '--json', scratch.at('dict'), ...target]), { code, path });
        }
        assert.deepEqual(readdirSync(scratch.root), ['dict']);
      });
    }

    it('where zstd-napi is not installed: ENGINE_MISSING, which says what to install', () => {
      source('dict');
      source();
      const command = copyProject(scratch.at('project'), ['zstd-napi']);
      for (const args of [[scratch.at('dict'), scratch.at('dst')], ['--to', 'zlib', scratch.at('dict'), scratch.at('dst')], ['verify', scratch.at('dict')], ['--to', 'zstd', '--dict', 'auto', scratch.at('src'), scratch.at('dst')]]) {
        const { status, stderr } = spawnSync(process.execPath, [command, ...args], { encoding: 'utf8' });
        assert.equal(status, 2, stderr);
        assert.match(stderr, /^revconvert: ENGINE_MISSING: .*zstd-napi/);
        assert.ok(!existsSync(scratch.at('dst')));
      }
      assert.deepEqual(readdirSync(scratch.root).sort(), ['dict', 'project', 'src']);
    });
  });

  describe('interrupted while dictionaries are trained', () => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      for (const jobs of ['1', '2']) {
        it(`by ${signal}, --jobs ${jobs}: status 130, the program is gone, nothing is left`, async () => {
          source();
          const PATH = fakeZstd(scratch.at('bin'), `echo $$ >> ${scratch.at('bin', 'pids')}; exec sleep 60`);
          const child = spawn(process.execPath, [COMMAND, '--to', 'zstd', '--dict', 'auto', '--jobs', jobs, scratch.at('src'), scratch.at('dst')], { env: { ...process.env, ...temporary(), PATH }, stdio: ['ignore', 'ignore', 'pipe'] });
          let stderr = '';
          child.stderr.on('data', (bytes: Buffer) => (stderr += bytes.toString()));
          const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
          const pids = (): string[] => (existsSync(scratch.at('bin', 'pids')) ? readFileSync(scratch.at('bin', 'pids'), 'utf8').split('\n').slice(0, -1) : []);
          while (child.exitCode === null && pids().length < Number(jobs)) await delay(5);
          child.kill(signal);
          assert.equal(await ended, 130, stderr);
          assert.equal(stderr, 'revconvert: CANCELLED: interrupted\nhint: nothing was left behind\n');
          for (const pid of pids()) assert.throws(() => process.kill(Number(pid), 0), { code: 'ESRCH' });
          assertClean('src');
          for (const lock of ['wlock', 'store/lock']) assertGone(scratch.at('src', '.hg', lock));
        });
      }
    }

    it('one program that fails stops the others', async () => {
      source();
      const env = { ...temporary(), PATH: fakeZstd(scratch.at('bin'), `if mkdir ${scratch.at('bin', 'first')} 2>/dev/null; then while [ ! -e ${scratch.at('bin', 'second')} ]; do sleep 0.02; done; echo broken >&2; exit 9; fi; : > ${scratch.at('bin', 'second')}; exec sleep 60`) };
      const { status, stderr } = await runCommand(['--to', 'zstd', '--dict', 'auto', '--jobs', '2', scratch.at('src'), scratch.at('dst')], { env });
      assert.equal(status, 2, stderr);
      assert.match(stderr, /^revconvert: ZSTD_PROGRAM: zstd --train failed with status 9: broken\n/);
      assertClean('src');
    });

    it('a program that makes a dictionary of rubbish is told from a damaged store', async () => {
      source();
      const env = { ...temporary(), PATH: fakeZstd(scratch.at('bin'), 'printf "\\067\\244\\060\\354\\001\\000\\000\\000" > "$7"; head -c 1000 /dev/zero | tr "\\000" "\\377" >> "$7"') };
      assertOneLine(await runCommand(['--to', 'zstd', '--dict', 'auto', scratch.at('src'), scratch.at('dst')], { env }), { code: 'ZSTD_PROGRAM' });
      assertClean('src');
    });
  });
});
