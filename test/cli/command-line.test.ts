/** The command as a person, or a script, runs it: help, mistakes, plans, results. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, it } from 'mocha';

import { resolvePolicy } from '../../src/delta/policy-input.js';
import type { ConversionPlan, ConversionSummary, ErrorCode, ErrorData } from '../../src/index.js';
import { picture, runCommand, Scratch } from '../repository/support.js';
import { PROJECT_ROOT } from '../support/paths.js';
import { buildRepository, writeAt } from '../support/repository-builder.js';

describe('help and version', () => {
  it('--help says what it is for, every option, examples and exit statuses', async () => {
    const { status, stdout, stderr } = await runCommand(['--help']);
    assert.equal(status, 0);
    assert.equal(stderr, '');
    const expected = ['<src> <dst>', '--to', '--level', '--changelog-level', '--manifest-level', '--filelog-level', '--checksum', '--jobs', '--check', '--dry-run', '--json', '--quiet'];
    for (const word of [...expected, '--keep-going', '--lock-timeout', '--no-lock', '--no-generaldelta', '--redelta', '--preset', '--policy', '--delta', '--changelog-deltas', 'Examples:', 'Exit status:']) {
      assert.ok(stdout.includes(word), word);
    }
    assert.match(stdout, /revconvert --to zstd src dst/);
    for (const line of stdout.split('\n')) assert.ok(line.length <= 200, line);
  });

  it('--help wins over whatever else is given', async () => {
    assert.equal((await runCommand(['--help', '--to', 'zstd', 'a', 'b'])).status, 0);
  });

  it('--version is that of the package', async () => {
    const { version } = JSON.parse(readFileSync(join(PROJECT_ROOT, 'package.json'), 'utf8')) as { version: string };
    assert.deepEqual(await runCommand(['--version']), { status: 0, signal: null, stdout: `${version}\n`, stderr: '' });
  });
});

interface Mistake {
  /** What `policy.json` holds, where there is one. */
  readonly file?: string;
  readonly title: string;
  readonly args: readonly string[];
  readonly code?: ErrorCode;
  readonly message: RegExp;
}

/** Names on a command line that stand for places of the test. */
const PLACES = ['src', 'dst', 'policy.json'];

/** `src` is a sound repository, and `dst` does not exist. */
const MISTAKES: readonly Mistake[] = [
  { title: 'nothing at all', args: [], message: /source repository is missing/ },
  { title: 'no destination', args: ['src'], message: /destination is missing/ },
  { title: 'an empty source', args: ['', 'dst'], message: /source repository is missing/ },
  { title: 'an empty destination', args: ['src', ''], message: /destination is missing/ },
  { title: 'three places', args: ['src', 'dst', 'more'], message: /only a source and a destination/ },
  { title: 'an unknown option', args: ['--frobnicate', 'src', 'dst'], message: /frobnicate/ },
  { title: 'an option misspelt', args: ['--keepgoing', 'src', 'dst'], message: /keepgoing/ },
  { title: 'an option without its value', args: ['src', 'dst', '--to'], message: /to/ },
  { title: 'an unknown engine', args: ['--to', 'brotli', 'src', 'dst'], code: 'ENGINE_UNKNOWN', message: /brotli.*none, zlib, zstd, lz4/ },
  { title: 'a level out of range', args: ['--to', 'zstd', '--level', '23', 'src', 'dst'], code: 'LEVEL', message: /zstd.*22, found 23/ },
  { title: 'a negative level', args: ['--to', 'zlib', '--level=-1', 'src', 'dst'], code: 'LEVEL', message: /zlib.*found -1/ },
  { title: 'half a level', args: ['--to', 'zlib', '--level', '2.5', 'src', 'dst'], code: 'LEVEL', message: /found 2\.5/ },
  { title: 'a level of one kind out of range', args: ['--to', 'zlib', '--manifest-level', '10', 'src', 'dst'], code: 'LEVEL', message: /found 10/ },
  { title: 'a level for an engine without', args: ['--to', 'none', '--level', '1', 'src', 'dst'], code: 'LEVEL', message: /none has no levels/ },
  { title: 'a level that the source\'s engine has not', args: ['--level', '19', 'src', 'dst'], code: 'LEVEL', message: /zlib.*found 19/ },
  { title: 'a level that is no number', args: ['--level', 'best', 'src', 'dst'], message: /--level: a number is expected, found 'best'/ },
  { title: 'a level with something behind it', args: ['--level', '3x', 'src', 'dst'], message: /--level: a number is expected, found '3x'/ },
  { title: 'a level in other notation', args: ['--filelog-level', '0x3', 'src', 'dst'], message: /--filelog-level: a number is expected, found '0x3'/ },
  { title: 'no threads', args: ['--jobs', '0', 'src', 'dst'], message: /jobs must be a whole number from 1 to 256, found 0/ },
  { title: 'too many threads', args: ['--jobs', '257', 'src', 'dst'], message: /jobs.*found 257/ },
  { title: 'threads that are no number', args: ['--jobs', 'all', 'src', 'dst'], message: /--jobs: a number is expected, found 'all'/ },
  { title: 'a negative timeout', args: ['--lock-timeout=-5', 'src', 'dst'], message: /lock-timeout.*found -5/ },
  { title: 'a check that there is not', args: ['--check', 'full', 'src', 'dst'], message: /check.*full/ },
  { title: 'deltas in no known way', args: ['--redelta', 'always', 'src', 'dst'], message: /redelta.*never.*fulladd.*always/ },
  { title: 'a checksum without zstd', args: ['--to', 'zlib', '--checksum', 'src', 'dst'], message: /--checksum/ },
  { title: 'generaldelta declined where it is', args: ['--to', 'zstd', '--no-generaldelta', 'src', 'dst'], message: /--no-generaldelta/ },
];

const ALL = ['--redelta', 'all', 'src', 'dst'];

const POLICY_MISTAKES: readonly Mistake[] = [
  { title: 'a policy file that is not there', args: ['--policy', 'policy.json', ...ALL], code: 'POLICY', message: /policy\.json: there is no such file/ },
  { title: 'a policy file without a name', args: ['--policy', '', ...ALL], message: /--policy: the file is missing/ },
  { title: 'a policy file that is a folder', args: ['--policy', 'src', ...ALL], code: 'POLICY', message: /src: not a regular file/ },
  { title: 'a policy file that is no JSON', args: ['--policy', 'policy.json', ...ALL], file: '{\n"sparse": yes}', code: 'POLICY', message: /policy\.json: not JSON: line 2, column 11: / },
  { title: 'a policy file with an unknown key', args: ['--policy', 'policy.json', ...ALL], file: '{"manifest": {"maxChainLenght": 3}}', code: 'POLICY', message: /policy\.json: manifest\.maxChainLenght: .* did you mean manifest\.maxChainLength\?/ },
  { title: 'a policy file with a wrong type', args: ['--policy', 'policy.json', ...ALL], file: '{"filelog": {"sparse": "no"}}', code: 'POLICY', message: /policy\.json: filelog\.sparse must be true or false, found "no"/ },
  { title: 'a policy file with a contradiction', args: ['--policy', 'policy.json', ...ALL], file: '{"sparse": true, "generaldelta": false}', code: 'POLICY', message: /policy\.json: sparse: true, generaldelta: false: / },
  { title: 'a policy file, and all deltas kept', args: ['--policy', 'policy.json', 'src', 'dst'], file: '{}', message: /a policy .* has no effect without --redelta/ },
  { title: 'a preset, and all deltas kept', args: ['--redelta', 'never', '--preset', 'smallest', 'src', 'dst'], message: /a policy .* has no effect without --redelta/ },
  { title: 'a single value, and all deltas kept', args: ['--delta', 'sparse=false', 'src', 'dst'], message: /a policy .* has no effect without --redelta/ },
  { title: 'changelog deltas, and all deltas kept', args: ['--changelog-deltas', 'src', 'dst'], message: /a policy .* has no effect without --redelta/ },
  { title: 'a preset that there is not', args: ['--preset', 'smalest', ...ALL], code: 'POLICY', message: /preset must be .* did you mean smallest\?/ },
  { title: 'a single value without its key', args: ['--delta', '5', ...ALL], message: /--delta: \[KIND\.\]KEY=VALUE is expected, found '5'/ },
  { title: 'a single value that is empty', args: ['--delta', 'sparse=', ...ALL], message: /--delta: .*found 'sparse='/ },
  { title: 'a single value for a kind itself', args: ['--delta', 'filelog=5', ...ALL], message: /--delta: .*found 'filelog=5'/ },
  { title: 'a single value for an unknown key', args: ['--delta', 'filelog.parent=one', ...ALL], code: 'POLICY', message: /filelog\.parent: .* did you mean filelog\.parents\?/ },
  { title: 'a single value for an unknown kind', args: ['--delta', 'manifst.sparse=true', ...ALL], code: 'POLICY', message: /manifst\.sparse: .* did you mean manifest\?/ },
  { title: 'a single value for a name of every object', args: ['--delta', '__proto__=true', ...ALL], code: 'POLICY', message: /__proto__: there is no such key/ },
  { title: 'a single value of a wrong type', args: ['--delta', 'sparse=none', ...ALL], code: 'POLICY', message: /sparse must be true or false, found "none"/ },
  { title: 'a single value out of range', args: ['--delta', 'maxChainLength=0', ...ALL], code: 'POLICY', message: /maxChainLength must be a whole number, 1 or more.*, found 0/ },
  { title: 'single values that contradict each other', args: ['--delta', 'generaldelta=false', '--delta', 'parents=both', ...ALL], code: 'POLICY', message: /parents: "both", generaldelta: false: / },
  { title: 'snapshots without generaldelta', args: ['--no-generaldelta', '--delta', 'sparse=true', ...ALL], code: 'POLICY', message: /sparse: true, generaldelta: false: / },
];

describe('mistakes on the command line', () => {
  const scratch = Scratch.use();
  for (const { title, args, code = 'USAGE', message, file } of [...MISTAKES, ...POLICY_MISTAKES]) {
    it(`${title}: ${code}, status 2, one line and a hint, nothing written`, async () => {
      buildRepository(scratch.at('src'));
      if (file !== undefined) writeAt(scratch.at('policy.json'), file);
      const before = picture(scratch.root);
      const { status, stdout, stderr } = await runCommand(args.map((arg) => (PLACES.includes(arg) ? scratch.at(arg) : arg)));
      assert.equal(status, 2, stderr);
      assert.equal(stdout, '');
      const [line = '', hint = '', ...rest] = stderr.split('\n');
      assert.ok(line.startsWith(`revconvert: ${code}: `), stderr);
      assert.match(line, message);
      assert.match(hint, /^hint: /);
      assert.deepEqual(rest, ['']);
      assert.deepEqual(picture(scratch.root), before);
    });
  }

  it('with --json the mistake is JSON', async () => {
    const { status, stdout, stderr } = await runCommand(['--json', '--frobnicate']);
    assert.equal(status, 2);
    assert.equal(stderr, '');
    const { error } = JSON.parse(stdout) as { error: ErrorData };
    assert.equal(error.code, 'USAGE');
    assert.deepEqual(error.at, {});
  });
});

describe('--dry-run', () => {
  const scratch = Scratch.use();

  it('prints the plan, and writes nothing', async () => {
    const { hg } = buildRepository(scratch.at('src'), { layout: 'fncache without dotencode', requirements: ['lz4revlog'] });
    writeAt(join(hg, 'hgrc'), '');
    writeAt(join(hg, 'odd'), '');
    writeAt(join(hg, 'undo.desc'), '');
    const before = picture(scratch.root);
    const { status, stdout, stderr } = await runCommand(['--to', 'zstd', '--dry-run', scratch.at('src'), scratch.at('dst')]);
    assert.equal(status, 0, stderr);
    assert.equal(stderr, '');
    assert.match(stdout, /lz4 -> zstd \(level 3\) \(a plan; nothing was written\)/);
    for (const row of [/^changelog +1 /m, /^manifests +1 /m, /^filelogs +2 /m]) assert.match(stdout, row);
    assert.match(stdout, /added: +revlog-compression-zstd$/m);
    assert.match(stdout, /removed: +lz4revlog$/m);
    assert.match(stdout, /kept: +fncache, generaldelta, revlogv1, store$/m);
    for (const name of ['hgrc', 'odd', 'undo.desc']) assert.ok(stdout.includes(`  ${name}: `), name);
    assert.deepEqual(picture(scratch.root), before);
  });

  it('needs no destination', async () => {
    buildRepository(scratch.at('src'));
    assert.equal((await runCommand(['--dry-run', scratch.at('src')])).status, 0);
  });

  it('says what the real run would refuse', async () => {
    buildRepository(scratch.at('src'));
    const { status, stderr } = await runCommand(['--dry-run', scratch.at('src'), scratch.at('src')]);
    assert.equal(status, 2);
    assert.match(stderr, /^revconvert: DESTINATION_OVERLAPS: /);
  });

  it('with --json the plan is JSON', async () => {
    buildRepository(scratch.at('src'));
    const { status, stdout } = await runCommand(['--to', 'zstd', '--dry-run', '--json', scratch.at('src')]);
    assert.equal(status, 0);
    const { plan, files } = JSON.parse(stdout) as { plan: ConversionPlan & { requirements: { all: string[] } }; files: { name: string; action: string }[] };
    assert.deepEqual([plan.from, plan.to, plan.kinds.filelog.revlogs], ['zlib', 'zstd', 2]);
    assert.ok(plan.requirements.all.includes('revlog-compression-zstd'));
    assert.ok(files.some(({ name, action }) => name === 'store/data' && action === 'rewrite'));
  });

  it('names are text in JSON, not bytes', async () => {
    const { hg } = buildRepository(scratch.at('src'));
    writeAt(join(hg, 'größe'), '');
    const { stdout } = await runCommand(['--dry-run', '--json', scratch.at('src')]);
    const { files } = JSON.parse(stdout) as { files: { name: string; targetName: string }[] };
    assert.ok(files.some(({ name, targetName }) => name === 'größe' && targetName === 'größe'));
  });

  it('names that act on a terminal are shown without doing so', async () => {
    const { hg, inStore } = buildRepository(scratch.at('src'));
    writeAt(join(hg, 'odd\u001b]0;name'), '');
    writeAt(inStore('data/stray\u001b[2J.txt'), '');
    writeAt(inStore('fncache'), 'data/a.txt.i\ndata/gone\u001b[2J.i\n');
    const { stdout } = await runCommand(['--dry-run', scratch.at('src')]);
    assert.ok(!stdout.includes('\u001b'), JSON.stringify(stdout));
    for (const name of ['odd', 'stray', 'gone']) assert.ok(stdout.includes(name), name);
  });
});

describe('how deltas are chosen', () => {
  const scratch = Scratch.use();

  const plan = async (...args: readonly string[]): Promise<ConversionPlan> => {
    const { status, stdout, stderr } = await runCommand(['--dry-run', '--json', ...args, scratch.at('src')]);
    assert.equal(status, 0, stderr);
    return (JSON.parse(stdout) as { plan: ConversionPlan }).plan;
  };

  it('a preset, then the policy file, then single values, wherever they stand', async () => {
    buildRepository(scratch.at('src'));
    writeAt(scratch.at('policy.json'), '{"preset": "smallest", "maxChainLength": 50, "manifest": {"maxChainLength": 60, "groupSize": 7}}');
    const { redelta, policy } = await plan('--delta', 'filelog.maxSpanRatio=none', '--delta=maxChainLength=70', '--preset', 'fastest-read', '--redelta', 'all', '--policy', scratch.at('policy.json'), '--delta', 'filelog.parents=none');
    assert.equal(redelta, 'all');
    assert.deepEqual(policy, JSON.parse(JSON.stringify(resolvePolicy({ preset: 'fastest-read', maxChainLength: 70, manifest: { groupSize: 7 }, filelog: { maxSpanRatio: null, parents: 'none' } }))));
  });

  it('the policy of a plan is a policy file', async () => {
    buildRepository(scratch.at('src'));
    const { policy } = await plan('--redelta', 'parent', '--preset', 'smallest', '--delta', 'generaldelta=false');
    writeAt(scratch.at('policy.json'), JSON.stringify(policy));
    assert.deepEqual((await plan('--redelta', 'parent', '--policy', scratch.at('policy.json'))).policy, policy);
  });

  it('changelog deltas; generaldelta declined over a policy file', async () => {
    buildRepository(scratch.at('src'));
    writeAt(scratch.at('policy.json'), '{"sparse": true}');
    const { policy, requirements } = await plan('--redelta', 'fulladd', '--changelog-deltas', '--no-generaldelta', '--policy', scratch.at('policy.json'));
    assert.deepEqual(policy, resolvePolicy({ changelog: { deltas: true }, generaldelta: false }));
    assert.deepEqual(requirements.removed, ['generaldelta', 'sparserevlog']);
  });

  it('all deltas kept: no policy', async () => {
    buildRepository(scratch.at('src'));
    const { redelta, policy } = await plan();
    assert.deepEqual([redelta, policy], ['never', undefined]);
  });

  it('a value twice, other options twice: the last counts', async () => {
    buildRepository(scratch.at('src'));
    const twice = await plan('--to', 'lz4', '--delta', 'groupSize=5', '--redelta', 'never', '--check', 'full', '--check', 'none', '--redelta', 'all', '--delta', 'groupSize=6', '--to', 'none', '--json');
    assert.deepEqual([twice.to, twice.redelta, twice.policy?.filelog.groupSize], ['none', 'all', 6]);
  });

  it('the plan says it for a person', async () => {
    buildRepository(scratch.at('src'));
    const { stdout } = await runCommand(['--dry-run', '--redelta', 'all', '--delta', 'filelog.maxChainLength=5', scratch.at('src')]);
    assert.match(stdout, /^changelog .*level 6, no deltas$/m);
    assert.match(stdout, /^manifests .*level 6, redelta all \(mercurial\)$/m);
    assert.match(stdout, /^filelogs .*level 6, redelta all \(mercurial, maxChainLength 5\)$/m);
    assert.match((await runCommand(['--dry-run', scratch.at('src')])).stdout, /^filelogs .*level 6, deltas kept$/m);
  });
});

describe('results', () => {
  const scratch = Scratch.use();

  it('a summary for a person, on standard output', async () => {
    const { hg } = buildRepository(scratch.at('src'));
    writeAt(join(hg, 'odd'), '');
    writeAt(join(hg, 'hgrc'), 'text');
    const { status, stdout, stderr } = await runCommand(['--to', 'zstd', '--level', '19', '--changelog-level', '3', scratch.at('src'), scratch.at('dst')]);
    assert.equal(status, 0, stderr);
    assert.equal(stderr, '', 'no progress bar where standard error is no terminal');
    assert.match(stdout, /zlib -> zstd \(levels: changelog 3, manifest 19, filelog 19\)/);
    assert.match(stdout, /^total +4 +16 /m);
    assert.match(stdout, /every chunk was decoded again and compared/);
    assert.match(stdout, /added: revlog-compression-zstd; removed: none/);
    assert.match(stdout, /^carried +2 other files, 4 bytes/m);
    assert.match(stdout, /no rule for these; carried as they are:\n {2}odd$/m);
  });

  it('--quiet says nothing', async () => {
    buildRepository(scratch.at('src'));
    assert.deepEqual(await runCommand(['--quiet', '--to', 'zstd', scratch.at('src'), scratch.at('dst')]), { status: 0, signal: null, stdout: '', stderr: '' });
  });

  it('--quiet does not hide an error', async () => {
    const { status, stderr } = await runCommand(['--quiet', scratch.at('src'), scratch.at('dst')]);
    assert.equal(status, 3);
    assert.match(stderr, /^revconvert: NOT_A_REPOSITORY: /);
  });

  it('--json: the summary, and nothing else', async () => {
    buildRepository(scratch.at('src'));
    const { status, stdout, stderr } = await runCommand(['--json', '--to', 'none', '--check', 'none', '--jobs', '2', scratch.at('src'), scratch.at('dst')]);
    assert.equal(status, 0);
    assert.equal(stderr, '');
    const summary = JSON.parse(stdout) as ConversionSummary;
    assert.equal(stdout, `${JSON.stringify(summary)}\n`, 'one line');
    assert.deepEqual([summary.source, summary.destination, summary.to, summary.checked], [scratch.at('src'), scratch.at('dst'), 'none', 'none']);
    assert.deepEqual([summary.warnings, summary.dropped, summary.unknownFiles], [[], [], []]);
  });

  it('places whose names begin with a dash come after --', async () => {
    buildRepository(scratch.at('-src'));
    const { status, stderr } = await runCommand(['--to', 'zstd', '--quiet', '--', scratch.at('-src'), scratch.at('-dst')]);
    assert.equal(status, 0, stderr);
  });

  it('an error whose path acts on a terminal is shown without doing so', async () => {
    const { stderr } = await runCommand([scratch.at('src\u001b[2J'), scratch.at('dst')]);
    assert.ok(!stderr.includes('\u001b'), JSON.stringify(stderr));
    assert.match(stderr, /NOT_A_REPOSITORY/);
  });
});
