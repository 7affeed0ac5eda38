/** `revconvert bundle` as a person, or a script, runs it: mistakes, files and streams, bad input, JSON. What it makes is looked at elsewhere. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, linkSync, lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync, statSync, symlinkSync, writeFileSync } from 'node:fs';

import { describe, it } from 'mocha';

import type { BundleSummary, BundleVerification, ErrorCode, ErrorData, RepositoryOutcome } from '../../src/index.js';
import { isRoot, picture, Scratch } from '../repository/support.js';
import { partHeader, payload, tinyHistory } from '../support/bundle-builder.js';
import type { BundleKind } from '../support/bundle-kinds.js';
import { assertTiny, body2, BUNDLE_KINDS, changegroupOf, changegroupPart, otherPart, tinyOf, wrap } from '../support/bundle-kinds.js';
import { COMMAND, shell } from '../support/commands.js';
import { buildRepository } from '../support/repository-builder.js';
import { assertDone, assertRefused, runBundle } from '../support/run-bundle.js';

describe('help of revconvert bundle', () => {
  it('names every option, has examples, and says what its statuses mean', () => {
    const text = assertDone(runBundle(['--help'])).toString();
    const options = ['to', 'level', 'threads', 'drop-part', 'only-part', 'filter', 'redelta', 'max-window', 'inspect', 'all', 'verify', 'from-repo', 'rev-range', 'to-repo', 'stream', 'engine', 'json', 'quiet', 'jobs', 'no-lock', 'lock-timeout', 'check', 'preset', 'dict'];
    for (const option of options) assert.match(text, new RegExp(`--${option}\\b`), option);
    const words = ['none', 'gzip', 'bzip2', 'zstd', '-v1', '-v2', 'level=19', 'cg.version=03', 'packed1', 'stream=v2', 'phases=no', 'parent, previous, none', 'in the order', 'order given', '[default: 128]'];
    for (const word of words) assert.ok(text.replace(/\s+/g, ' ').includes(word), word);
    for (const status of ['0 done', '1 done', '2 wrong', '3 damaged', '4 the system', '130', '141']) assert.ok(text.replace(/\s+/g, ' ').includes(status), status);
    assert.match(text, /revconvert bundle --to gzip-v1 new\.hg old\.hg/);
  });
});

interface Mistake {
  readonly args: readonly string[];
  readonly code?: ErrorCode;
  readonly message: RegExp;
}

/** `in.hg` is a sound bundle, `repo` a repository, `folder` a folder; there is nothing else. */
const MISTAKES: readonly Mistake[] = [
  { args: ['in.hg', 'out.hg', 'more'], message: /only a bundle to read and one to write/ },
  { args: ['--inspect', 'in.hg', 'more'], message: /with --inspect only one bundle/ },
  { args: ['--verify', 'in.hg', 'more'], message: /with --verify only one bundle/ },
  { args: ['--from-repo', 'repo', 'out.hg', 'more'], message: /with --from-repo only one bundle/ },
  { args: ['--to-repo', 'new', 'in.hg', 'more'], message: /with --to-repo only one bundle/ },
  { args: ['', 'out.hg'], message: /name of a bundle is missing/ },
  { args: ['in.hg', ''], message: /name of a bundle is missing/ },
  { args: ['--frobnicate', 'in.hg', 'out.hg'], message: /unknown option: --frobnicate/ },
  { args: ['--dropPart', 'output', 'in.hg', 'out.hg'], message: /unknown option: --dropPart/ },
  { args: ['in.hg', 'out.hg', '--to'], message: /--to: a value is expected/ },
  { args: ['--inspect', '--verify', 'in.hg'], message: /--inspect and --verify do not go together/ },
  { args: ['--from-repo', 'repo', '--to-repo', 'new'], message: /--from-repo and --to-repo do not go together/ },
  { args: ['--inspect', '--from-repo', 'repo'], message: /--inspect and --from-repo do not go together/ },
  { args: ['--all', 'in.hg', 'out.hg'], message: /--all goes with --inspect/ },
  ...['--rev-range=0:1', '--stream', '--engine=zstd', '--no-lock', '--lock-timeout=5'].map((option) => ({ args: [option, 'in.hg', 'out.hg'], message: new RegExp(`${option.replace(/=.*/, '')} goes with --from-repo`) })),
  ...['--check=none', '--dict=auto', '--preset=smallest', '--no-generaldelta'].map((option) => ({ args: [option, 'in.hg', 'out.hg'], message: new RegExp(`${option.replace(/=.*/, '')} goes with --to-repo`) })),
  { args: ['--jobs', '2', 'in.hg', 'out.hg'], message: /--jobs goes with --from-repo or --to-repo/ },
  ...['--drop-part=x', '--only-part=x', '--filter=x', '--redelta=none', '--to=none-v2', '--level=3', '--threads=1'].flatMap((option) =>
    ['--inspect', '--verify'].map((mode) => ({ args: [mode, option, 'in.hg'], message: new RegExp(`${option.replace(/=.*/, '')} does not go with ${mode}`) })),
  ),
  { args: ['--from-repo', 'repo', '--max-window', '5', 'out.hg'], message: /--max-window does not go with --from-repo/ },
  { args: ['--from-repo', 'repo', '--check', 'none', 'out.hg'], message: /--check does not go with --from-repo/ },
  { args: ['--to-repo', 'new', '--threads', '1', 'in.hg'], message: /--threads does not go with --to-repo/ },
  { args: ['--to', 'v9', 'in.hg', 'out.hg'], code: 'BUNDLE_SPEC', message: /unknown type 'v9', expected one of v1, v2/ },
  { args: ['--to', '', 'in.hg', 'out.hg'], code: 'BUNDLE_SPEC', message: /unknown type ''/ },
  { args: ['--to', 'xz-v2', 'in.hg', 'out.hg'], code: 'BUNDLE_SPEC', message: /unknown compression 'xz', expected one of none, gzip, bzip2, zstd/ },
  { args: ['--to', 'zstd-v1', 'in.hg', 'out.hg'], code: 'BUNDLE_SPEC', message: /v1 bundles are compressed with none, gzip, bzip2, not with zstd/ },
  { args: ['--to', 'none-v2;cg.version=04', 'in.hg', 'out.hg'], code: 'BUNDLE_SPEC', message: /01, 02, 03 are written, found '04'/ },
  { args: ['--to', 'none-v1;cg.version=02', 'in.hg', 'out.hg'], code: 'BUNDLE_SPEC', message: /v1 bundles hold changegroups of version 01/ },
  { args: ['--to', 'none-v2;colour=red', 'in.hg', 'out.hg'], code: 'BUNDLE_SPEC', message: /'colour=red' is not known/ },
  { args: ['--to', 'none-v2;phases=perhaps', 'in.hg', 'out.hg'], code: 'BUNDLE_SPEC', message: /phases: yes or no is expected, found 'perhaps'/ },
  { args: ['--to', 'none-v2;phases', 'in.hg', 'out.hg'], code: 'BUNDLE_SPEC', message: /key=value, found 'phases'/ },
  { args: ['--to', 'gzip-v2;level=high', 'in.hg', 'out.hg'], code: 'BUNDLE_SPEC', message: /level: a whole number is expected/ },
  ...['streamv3-exp', 'none-streamv3-exp', 'none-v2;stream=v3-exp'].map((to): Mistake => ({ args: ['--to', to, 'in.hg', 'out.hg'], code: 'BUNDLE_SPEC', message: /version 3 are experimental in Mercurial, and not supported/ })),
  { args: ['--to', 'gzip-v2', '--level', '10', 'in.hg', 'out.hg'], code: 'LEVEL', message: /zlib.*from 0 to 9, found 10/ },
  { args: ['--to', 'gzip-v2;level=10', 'in.hg', 'out.hg'], code: 'LEVEL', message: /found 10/ },
  { args: ['--to', 'zstd-v2', '--level', '23', 'in.hg'], code: 'LEVEL', message: /zstd.*found 23/ },
  { args: ['--to', 'bzip2-v1', '--level', '0', 'in.hg'], code: 'LEVEL', message: /bzip2.*from 1 to 9, found 0/ },
  { args: ['--to', 'none-v2', '--level', '1', 'in.hg'], code: 'LEVEL', message: /none has no levels/ },
  { args: ['--level', '10', 'in.hg'], code: 'LEVEL', message: /zlib.*found 10/ },
  { args: ['--level', 'best', 'in.hg', 'out.hg'], message: /--level: a number is expected, found 'best'/ },
  { args: ['--level', '2.5', '--to', 'gzip-v2', 'in.hg', 'out.hg'], code: 'LEVEL', message: /found 2\.5/ },
  { args: ['--threads', '65', 'in.hg', 'out.hg'], message: /threads.*from 0 to 64.*found 65/ },
  { args: ['--threads=-1', 'in.hg', 'out.hg'], message: /threads.*found -1/ },
  { args: ['--threads', 'all', 'in.hg', 'out.hg'], message: /--threads: a number is expected/ },
  { args: ['--redelta', 'all', 'in.hg', 'out.hg'], message: /--redelta: one of parent, previous, none is expected, found 'all'/ },
  { args: ['--to-repo', 'new', '--redelta', 'previous', 'in.hg'], message: /redelta.*never.*found previous/ },
  { args: ['--to-repo', 'new', '--to', 'brotli', 'in.hg'], code: 'ENGINE_UNKNOWN', message: /brotli/ },
  { args: ['--to-repo', '', 'in.hg'], message: /--to-repo: the folder is missing/ },
  { args: ['--to-repo', 'repo', 'in.hg'], code: 'DESTINATION_EXISTS', message: /repo: / },
  { args: ['--to-repo', 'no/where', 'in.hg'], code: 'DESTINATION_PARENT', message: /no/ },
  { args: ['--from-repo', '', 'out.hg'], message: /repository is missing/ },
  { args: ['--from-repo', 'https://example.org/r', 'out.hg'], message: /is a URL: clone it first/ },
  { args: ['--from-repo', 'repo', '--rev-range', '5', 'out.hg'], message: /--rev-range: two revision numbers/ },
  { args: ['--from-repo', 'repo', '--rev-range', '1:0', 'out.hg'], message: /the smaller first.*found '1:0'/ },
  { args: ['--from-repo', 'repo', '--stream', '--rev-range', '0:1', 'out.hg'], message: /a range does not go with it/ },
  { args: ['--from-repo', 'repo', '--engine', 'zstd', 'out.hg'], message: /--engine goes with --stream/ },
  { args: ['--from-repo', 'repo', '--checksum', 'out.hg'], message: /--checksum goes with --engine/ },
  ...['0', '2049', '1.5', '-1'].map((mib) => ({ args: [`--max-window=${mib}`, 'in.hg', 'out.hg'], message: new RegExp(`--max-window: MiB from 1 to 2048 are expected, found ${mib.replace('.', '\\.')}`) })),
  { args: ['--max-window', '1g', 'in.hg', 'out.hg'], message: /--max-window: a number is expected/ },
  { args: ['--drop-part', 'a.b', 'in.hg', 'out.hg'], message: /type of a part is expected, like obsmarkers, found 'a\.b'/ },
  { args: ['--only-part', '', 'in.hg', 'out.hg'], message: /type of a part is expected/ },
  { args: ['--filter', '', 'in.hg', 'out.hg'], message: /--filter: the file is missing/ },
  { args: ['--filter', 'no.mjs', 'in.hg', 'out.hg'], code: 'FILTER_MODULE', message: /no\.mjs: cannot be loaded/ },
  { args: ['nowhere.hg', 'out.hg'], message: /: nowhere\.hg: there is no such file$/ },
  { args: ['in.hg/below', 'out.hg'], message: /: in\.hg\/below: there is no such file$/ },
  { args: ['folder', 'out.hg'], message: /: folder: a folder, where a bundle is expected \(--from-repo/ },
  { args: ['in.hg', 'folder'], message: /folder is a folder; a file is expected/ },
  { args: ['in.hg', 'no/where.hg'], code: 'DESTINATION_PARENT', message: /the folder of no\/where\.hg does not exist/ },
  { args: ['in.hg', 'in.hg/out.hg'], code: 'DESTINATION_PARENT', message: /the folder of in\.hg\/out\.hg does not exist/ },
];

/** Two changesets and their file, gzip-v2. */
const IN = tinyOf('gzip-v2');

describe('mistakes on the command line of revconvert bundle', () => {
  const scratch = Scratch.use();

  for (const { args, code = 'USAGE', message } of MISTAKES) {
    it(`${args.map((arg) => (arg === '' ? "''" : arg)).join(' ')}: ${code}`, () => {
      writeFileSync(scratch.at('in.hg'), IN);
      mkdirSync(scratch.at('folder'));
      if (args.includes('repo')) buildRepository(scratch.at('repo'));
      const before = picture(scratch.root);
      const run = runBundle(args, { cwd: scratch.root });
      assertRefused(run, { status: 2, code, message });
      assert.equal(run.stdout.length, 0);
      assert.deepEqual(picture(scratch.root), before);
    });
  }

  it('with --json the mistake is JSON, also where a bundle would go to standard output', () => {
    writeFileSync(scratch.at('in.hg'), IN);
    for (const args of [['--to', 'v9', '--json', 'in.hg', 'out.hg'], ['--json', 'in.hg'], ['--json', '-', '-'], ['--from-repo', 'repo', '--json']]) {
      const { status, stdout, stderr } = runBundle(args, { cwd: scratch.root });
      assert.deepEqual([status, stderr], [2, '']);
      const { error } = JSON.parse(stdout.toString()) as { error: ErrorData };
      assert.equal(error.code, args.includes('v9') ? 'BUNDLE_SPEC' : 'USAGE');
      if (!args.includes('v9')) assert.match(error.message, /standard output has the bundle; give a file/);
    }
  });
});

describe('files and streams', () => {
  const scratch = Scratch.use();
  const out = (): string => scratch.at('out.hg');
  /** Nothing but these is there. */
  const assertOnly = (...names: readonly string[]): void => assert.deepEqual(readdirSync(scratch.root).sort(), [...names].sort());

  for (const args of [[], ['-'], ['-', '-'], ['--', '-', '-']]) {
    it(`[${args.join(' ')}]: from standard input to standard output`, () => {
      assertTiny(assertDone(runBundle(['--to', 'none-v2', ...args], { input: IN })), 'gzip-v2', 'none-v2');
    });
  }

  for (const args of [['in.hg'], ['in.hg', '-'], ['./in.hg'], ['--', '-in.hg']]) {
    it(`[${args.join(' ')}]: from a file to standard output`, () => {
      writeFileSync(scratch.at(args.includes('--') ? '-in.hg' : 'in.hg'), IN);
      assertTiny(assertDone(runBundle(['--to', 'none-v2', ...args], { cwd: scratch.root })), 'gzip-v2', 'none-v2');
    });
  }

  it('from standard input to a file: it is said on standard output what it is', () => {
    const said = assertDone(runBundle(['--to', 'none-v2', '-', out()], { input: IN })).toString();
    assert.match(said, /^wrote .*out\.hg: none-v2, [\d.]+ kB from gzip-v2, \d+ bytes\n {2}parts: changegroup\n {2}2 changesets, 2 manifests, 2 revisions of 1 file\n$/);
    assertTiny(readFileSync(out()), 'gzip-v2', 'none-v2');
    assertOnly('out.hg');
  });

  it('--quiet: it is not said', () => {
    assert.equal(assertDone(runBundle(['--quiet', '--to', 'none-v2', '-', out()], { input: IN })).length, 0);
    assertTiny(readFileSync(out()), 'gzip-v2', 'none-v2');
  });

  it('from a file to itself', () => {
    writeFileSync(out(), IN);
    assertDone(runBundle(['--quiet', '--to', 'none-v2', out(), out()]));
    assertTiny(readFileSync(out()), 'gzip-v2', 'none-v2');
    assertOnly('out.hg');
  });

  it('a file that is there is replaced as a whole: its mode stays, and what is linked to it', () => {
    writeFileSync(out(), 'old');
    chmodSync(out(), 0o640);
    linkSync(out(), scratch.at('hard'));
    symlinkSync('out.hg', scratch.at('link'));
    assertDone(runBundle(['--quiet', '--to', 'none-v2', '-', scratch.at('link')], { input: IN }));
    assert.equal(readlinkSync(scratch.at('link')), 'out.hg');
    assert.equal(statSync(out()).mode & 0o777, 0o640);
    assertTiny(readFileSync(out()), 'gzip-v2', 'none-v2');
    assert.equal(readFileSync(scratch.at('hard'), 'latin1'), 'old', 'another name of the old file keeps it');
    assertOnly('out.hg', 'hard', 'link');
  });

  it('a name as long as names can be', () => {
    const name = `${'n'.repeat(252)}.hg`;
    assertDone(runBundle(['--quiet', '-', scratch.at(name)], { input: IN }));
    assertOnly(name);
  });

  for (const [what, prepare] of [
    ['a folder that may not be written to', () => chmodSync(scratch.root, 0o555)],
    ['a file that may not be written to, in a folder that may', () => {
      chmodSync(scratch.root, 0o777);
      writeFileSync(out(), 'old', { mode: 0o444 });
    }],
  ] as const) {
    it(`${what}: PERMISSION, status 4, by the name that was given`, function () {
      if (process.platform === 'win32') this.skip();
      prepare();
      const before = readdirSync(scratch.root);
      assertRefused(runBundle(['-', out()], { input: IN, uid: isRoot ? 65534 : undefined }), { status: 4, code: 'PERMISSION', message: /PERMISSION: \S*out\.hg: EACCES/ });
      assert.deepEqual(readdirSync(scratch.root), before);
    });
  }

  it('a file that may not be read: PERMISSION, status 4', () => {
    chmodSync(scratch.root, 0o777);
    writeFileSync(scratch.at('in.hg'), IN);
    chmodSync(scratch.at('in.hg'), 0);
    assertRefused(runBundle([scratch.at('in.hg'), out()], { uid: isRoot ? 65534 : undefined }), { status: 4, code: 'PERMISSION', message: /PERMISSION: \S*in\.hg: EACCES/ });
    assertOnly('in.hg');
  });

  it('/dev/null', () => {
    assert.match(assertDone(runBundle(['-', '/dev/null'], { input: IN })).toString(), /^wrote \/dev\/null: gzip-v2/);
    assert.ok(lstatSync('/dev/null').isCharacterDevice());
  });

  it('/dev/full: NO_SPACE, status 4, by name and as standard output', function () {
    if (!existsSync('/dev/full')) this.skip();
    assertRefused(runBundle(['-', '/dev/full'], { input: IN }), { status: 4, code: 'NO_SPACE', message: /: \/dev\/full: ENOSPC/ });
    writeFileSync(scratch.at('in.hg'), IN);
    const { status, stdout, stderr } = shell(`'${process.execPath}' '${COMMAND}' bundle '${scratch.at('in.hg')}' > /dev/full`);
    assertRefused({ status, stdout: Buffer.from(stdout), stderr }, { status: 4, code: 'NO_SPACE', message: /: standard output: ENOSPC/ });
  });

  for (const [what, target] of [['a file', 'out.hg'], ['standard output', '> out.hg']] as const) {
    it(`${what} with room for a part of it only: NO_SPACE, status 4`, function () {
      if (process.platform === 'win32') this.skip();
      // One piece, of which the system takes the first 4096 bytes without a word.
      const large = wrap('none-v2', body2(changegroupPart('02', 'whole'), otherPart('unknown', 1, Buffer.alloc(6000))));
      writeFileSync(scratch.at('in.hg'), large);
      const { status, stdout, stderr } = shell(`trap '' XFSZ; ulimit -f 8; '${process.execPath}' '${COMMAND}' bundle in.hg ${target}`, {}, scratch.root);
      assertRefused({ status, stdout: Buffer.from(stdout), stderr }, { status: 4, code: 'NO_SPACE', message: /EFBIG/ });
      if (target === 'out.hg') assertOnly('in.hg');
    });
  }

  it('standard output that is a file is written behind what is there', () => {
    writeFileSync(scratch.at('in.hg'), IN);
    const { status } = shell(`{ echo first; '${process.execPath}' '${COMMAND}' bundle --to none-v2 in.hg; echo last; } > out.hg`, {}, scratch.root);
    assert.equal(status, 0);
    const made = readFileSync(out());
    assert.deepEqual([made.toString('latin1', 0, 6), made.toString('latin1', made.length - 5)], ['first\n', 'last\n']);
    assertTiny(made.subarray(6, -5), 'gzip-v2', 'none-v2');
  });

  it('from a FIFO to a FIFO', function () {
    if (spawnSync('mkfifo', [scratch.at('from'), scratch.at('to')]).status !== 0) this.skip();
    writeFileSync(scratch.at('in.hg'), IN);
    const { status, stderr } = shell(`cat in.hg > from & cat to > out.hg & '${process.execPath}' '${COMMAND}' bundle --quiet --to none-v2 from to; s=$?; wait; exit $s`, {}, scratch.root);
    assert.deepEqual([status, stderr], [0, '']);
    assertTiny(readFileSync(out()), 'gzip-v2', 'none-v2');
    assert.ok(lstatSync(scratch.at('to')).isFIFO());
  });
});

interface Fault {
  readonly title: string;
  readonly bytes: Buffer;
  readonly code: ErrorCode;
  readonly message: RegExp;
}

const plain = tinyOf('none-v2');
const { name } = tinyHistory();
/** In the middle of the file's first revision. */
const inFile = plain.indexOf(`${name}\0\0`) + 60;

/** A bundle of this kind, with a byte of its compressed data changed: in the middle; of zstd, which has no checksum, the type of a block. */
function damaged(kind: BundleKind): Buffer {
  const bytes = wrap(kind, body2(changegroupPart('02', 'whole'), otherPart('unknown', 1, Buffer.from(Array.from({ length: 3000 }, (_, i) => (i * i * 7919) >> 3)))));
  // Magic, descriptor and window come before the first block.
  const at = kind === 'zstd-v2' ? bytes.indexOf('28b52ffd', 0, 'hex') + 6 : Math.floor(bytes.length / 2);
  bytes[at] = (bytes[at] ?? 0) ^ (kind === 'zstd-v2' ? 0x02 : 0x55);
  return bytes;
}

const FAULTS: readonly Fault[] = [
  { title: 'nothing', bytes: Buffer.alloc(0), code: 'NOT_A_BUNDLE', message: /there is nothing: the input is empty/ },
  { title: 'a page of HTML', bytes: Buffer.from('<!DOCTYPE html>\n<title>404 Not Found</title>\n'), code: 'NOT_A_BUNDLE', message: /it begins with "<!DOCTYPE html>\\n<title>404/ },
  { title: 'text that does something to a terminal', bytes: Buffer.from('\u001b[2J\u001b]0;x\u0007'), code: 'NOT_A_BUNDLE', message: /begins with "\\u001b\[2J/ },
  { title: 'a later kind of bundle', bytes: Buffer.from('HG30\0\0\0\0'), code: 'BUNDLE_VERSION', message: /unknown kind of bundle "HG30/ },
  { title: 'a bundle that is cut in its header', bytes: plain.subarray(0, 20), code: 'BUNDLE_TRUNCATED', message: /header of a part: \d+ bytes expected, 8 are there/ },
  { title: 'a bundle that is cut in a file', bytes: plain.subarray(0, inFile), code: 'BUNDLE_TRUNCATED', message: new RegExp(`part changegroup \\(0\\), group ${name.replace('.', '\\.')}, offset \\d+: .*bytes expected`) },
  { title: 'a bundle without its last byte', bytes: plain.subarray(0, -1), code: 'BUNDLE_TRUNCATED', message: /offset \d+: a part, or the end of the bundle: 4 bytes expected, 3 are there/ },
  { title: 'bytes behind the end', bytes: Buffer.concat([plain, Buffer.from('x')]), code: 'BUNDLE_TRAILING', message: new RegExp(`offset ${plain.length}: 1 bytes or more behind the end`) },
  { title: 'a changegroup of an unknown version', bytes: wrap('none-v2', body2(partHeader('CHANGEGROUP', 0, [['version', '99']]), payload(changegroupOf('02', 'whole')))), code: 'CHANGEGROUP_VERSION', message: /part changegroup \(0\).*"99"/ },
  ...BUNDLE_KINDS.filter((kind) => !kind.startsWith('none')).flatMap((kind): Fault[] => [
    { title: `${kind} whose data is cut`, bytes: tinyOf(kind).subarray(0, -3), code: 'BUNDLE_TRUNCATED', message: new RegExp(`the bundle ends at byte ${tinyOf(kind).length - 3}, within its`) },
    { title: `${kind} whose data is damaged`, bytes: damaged(kind), code: 'BUNDLE_COMPRESSION', message: /the \w+ data is damaged, at byte \d+ of the bundle or before/ },
    { title: `${kind} with bytes behind it`, bytes: Buffer.concat([tinyOf(kind), Buffer.from('xyz')]), code: 'BUNDLE_TRAILING', message: new RegExp(`data ends at byte ${tinyOf(kind).length} of the bundle`) },
  ]),
];

describe('input that is bad', () => {
  const scratch = Scratch.use();

  for (const { title, bytes, code, message } of FAULTS) {
    it(`${title}: ${code}, status 3; no file, or the one that was there before; nothing that passes for a bundle`, () => {
      const [input, output] = [scratch.at('in.hg'), scratch.at('out.hg')];
      writeFileSync(input, bytes);
      const line = assertRefused(runBundle(['--to', 'none-v2', input, output]), { status: 3, code, message });
      assert.ok(line.startsWith(`revconvert: ${code}: ${input}, `) || line.startsWith(`revconvert: ${code}: ${input}: `), line);
      assert.deepEqual(readdirSync(scratch.root), ['in.hg']);

      writeFileSync(output, 'old');
      const asJson = runBundle(['--json', '--to', 'gzip-v2', '-', output], { input: bytes });
      assert.deepEqual([asJson.status, asJson.stderr], [3, '']);
      const { error } = JSON.parse(asJson.stdout.toString()) as { error: ErrorData };
      assert.deepEqual([error.code, error.at.path], [code, undefined]);
      assert.equal(readFileSync(output, 'latin1'), 'old');
      assert.deepEqual(readdirSync(scratch.root), ['in.hg', 'out.hg']);

      const streamed = runBundle(['--to', 'none-v2'], { input: bytes });
      assertRefused(streamed, { status: 3, code });
      assertRefused(runBundle(['-', output], { input: streamed.stdout }), { status: 3, code: streamed.stdout.length === 0 ? 'NOT_A_BUNDLE' : 'BUNDLE_TRUNCATED' });
    });
  }
});

describe('JSON', () => {
  const scratch = Scratch.use();

  const json = (...args: readonly string[]): unknown => JSON.parse(assertDone(runBundle([...args, '--json'], { input: IN })).toString());

  it('of a bundle that was written: what came, and what went', () => {
    const { from, to } = json('--to', 'none-v1', '-', scratch.at('out.hg')) as BundleSummary;
    const both = { parts: ['changegroup'], revisions: { changelog: 2, manifest: 2, filelog: 2 }, files: 1 };
    assert.deepEqual(from, { container: 'HG20', compression: 'zlib', bytes: IN.length, ...both });
    assert.deepEqual(to, { container: 'HG10', compression: 'none', bytes: statSync(scratch.at('out.hg')).size, ...both });
  });

  it('--inspect: each line is a record', () => {
    const lines = assertDone(runBundle(['--inspect', '--json'], { input: IN })).toString().split('\n');
    assert.equal(lines.pop(), '');
    const records = lines.map((line) => JSON.parse(line) as { readonly record: string });
    assert.deepEqual([...new Set(records.map(({ record }) => record))], ['bundle', 'part', 'revision', 'group', 'part-end', 'total']);
  });

  it('--inspect of what is cut: records, then the error, each a line', () => {
    const { status, stdout, stderr } = runBundle(['--inspect', '--json'], { input: plain.subarray(0, inFile) });
    assert.deepEqual([status, stderr], [3, '']);
    const records = stdout.toString().trimEnd().split('\n').map((line) => JSON.parse(line) as { readonly record?: string; readonly error?: ErrorData });
    assert.equal(records.at(-1)?.error?.code, 'BUNDLE_TRUNCATED');
    assert.equal(records.filter(({ record }) => record === 'total').length, 0);
  });

  it('--verify', () => {
    const { sound, kinds } = json('--verify') as BundleVerification;
    assert.equal(sound, true);
    assert.deepEqual([kinds.changelog.checked, kinds.manifest.checked, kinds.filelog.checked], [2, 2, 2]);
  });

  it('--to-repo', () => {
    const outcome = json('--to-repo', scratch.at('new')) as RepositoryOutcome;
    assert.equal(outcome.from, 'changegroup');
    assert.ok(existsSync(scratch.at('new', '.hg', 'requires')));
  });
});
