/** `revconvert dict` as a person, or a script, runs it. */
import assert from 'node:assert/strict';
import { readdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs';

import { describe, it } from 'mocha';

import type { DictionaryInspection, DictionaryReport, ErrorData, EvaluationReport, ExportReport, TrainReport } from '../../src/index.js';
import { picture, runCommand, Scratch } from '../repository/support.js';
import { buildDictionaryStore, DICTIONARY_FOLDER, dictionaryFile, frameWith } from '../support/dictionary-store.js';
import { buildRepository, rawChunk, sampleText } from '../support/repository-builder.js';
import { requireZstd, trainWithProgram } from '../support/zstd-program.js';

const VERBS = ['train', 'list', 'inspect', 'export', 'evaluate'];

/** The lines of a table, its columns parted by bars. */
const cells = (stdout: string): string[] => stdout.trimEnd().split('\n').map((line) => line.replace(/ {2,}/g, ' | '));

describe('revconvert dict', () => {
  const scratch = Scratch.use();
  const dict = (...args: readonly string[]): ReturnType<typeof runCommand> => runCommand(['dict', ...args]);

  it('lists its commands, each of which has help of its own', async () => {
    const { status, stdout } = await dict('--help');
    assert.equal(status, 0);
    for (const verb of VERBS) {
      assert.match(stdout, new RegExp(`^ *revconvert dict ${verb} +<`, 'm'));
      const own = await dict(verb, '--help');
      assert.equal(own.status, 0);
      for (const words of [`revconvert dict ${verb} [options] <`, '--json', 'Exit status:']) assert.ok(own.stdout.includes(words), `${verb}: ${words}`);
    }
    assert.match((await runCommand(['--help'])).stdout, /revconvert dict +<command> +train, list/);
  });

  const mistakes: readonly (readonly [title: string, args: readonly string[], message: RegExp])[] = [
    ['no command', [], /one of train, list, inspect, export, evaluate is expected after dict/],
    ['a command that there is not', ['remove', 'src'], /one of train, list/],
    ['no repository', ['list'], /the repository is missing/],
    ['two repositories', ['list', 'a', 'b'], /only a repository is expected/],
    ['an option of another command', ['list', '--sizes', '16', 'src'], /unknown option: --sizes/],
    ['no folder to train into', ['train', 'src'], /the folder for the dictionaries is missing/],
    ['a size that is no number', ['train', '--dict-size', 'large', 'src', 'dicts'], /--dict-size: a number is expected/],
    ['no dictionary', ['inspect'], /the dictionary is missing/],
    ['an ID that is no number', ['inspect', 'src', 'one'], /the ID of a dictionary is expected, found 'one'/],
    ['no folder to export to', ['export', 'src'], /the folder for the dictionaries is missing/],
    ['an ID among several that is no number', ['export', 'src', 'dicts', '1', '-2'], /2/],
    ['sizes that are no numbers', ['evaluate', '--sizes', '16,big', 'src'], /--sizes: a whole number is expected, found 'big'/],
    ['a kind that there is not', ['evaluate', '--kind', 'all', 'src'], /--kind: one of "changelog", "manifest", "filelog" is expected/],
  ];
  for (const [title, args, message] of mistakes) {
    it(`${title}: status 2, and a hint`, async () => {
      buildRepository(scratch.at('src'));
      const { status, stdout, stderr } = await dict(...args.map((arg) => (arg === 'src' ? scratch.at('src') : arg)));
      assert.deepEqual([status, stdout], [2, '']);
      assert.match(stderr, /^revconvert: USAGE: .*\nhint: .*\n$/);
      assert.match(stderr, message);
    });
  }

  it('an error is JSON with --json', async () => {
    for (const args of [['list', 'nowhere'], ['train', 'nowhere', 'dicts'], ['export', 'nowhere', 'dicts'], ['evaluate', 'nowhere'], ['inspect', 'nowhere', '1']]) {
      const { status, stdout, stderr } = await dict(...args.map((arg) => (arg === 'nowhere' ? scratch.at(arg) : arg)), '--json');
      assert.deepEqual([status, stderr], [3, '']);
      assert.equal((JSON.parse(stdout) as { error: ErrorData }).error.code, 'NOT_A_REPOSITORY');
    }
  });
});

describe('revconvert dict list', () => {
  const scratch = Scratch.use();

  /** 4 changesets and 4 manifests by dictionary 1, 4 revisions of a file without. */
  const build = (): void => {
    let chunk = 0;
    const compress = (data: Buffer): Buffer => (chunk++ % 12 < 8 ? frameWith(1, data.subarray(0, 10)) : rawChunk(data.subarray(0, 10)));
    buildDictionaryStore(scratch.at('src'), { compress, files: ['a.txt'], dictionaries: [{ id: 1, kind: 'any' }, { id: 2, kind: 'filelog' }], write: { changelog: 1, manifest: 1, suffixes: { '.c': 2 } } });
  };

  it('prints a table: what each is for, and who uses it', async () => {
    build();
    const { status, stdout, stderr } = await runCommand(['dict', 'list', scratch.at('src')]);
    assert.deepEqual([status, stderr], [0, '']);
    const json = await runCommand(['dict', 'list', '--json', scratch.at('src')]);
    const { dictionaries, without } = JSON.parse(json.stdout) as DictionaryReport;
    const [first] = dictionaries;
    assert.deepEqual(cells(stdout), [
      scratch.at('src'),
      '',
      'ID | kind | new chunks | size | used by | bytes',
      `1 | any | changelog, manifest | 300 bytes | ${first?.used.chunks ?? ''} | ${first?.used.bytes ?? ''} bytes`,
      '2 | filelog | .c | 300 bytes | 0 | 0 bytes',
      `none | filelog | ${without.chunks} | ${without.bytes} bytes`,
    ]);
    assert.equal((first?.used.chunks ?? 0) + without.chunks, 12);
  });

  it('says that there are none, with status 0', async () => {
    buildRepository(scratch.at('src'));
    const { status, stdout, stderr } = await runCommand(['dict', 'list', scratch.at('src')]);
    assert.deepEqual([status, stdout, stderr], [0, `${scratch.at('src')}\n\nno dictionaries\n`, '']);
  });

  it('marks what is missing or damaged, and ends with status 3', async () => {
    build();
    rmSync(dictionaryFile(scratch.at('src'), 1));
    truncateSync(dictionaryFile(scratch.at('src'), 2), 50);
    const { status, stdout, stderr } = await runCommand(['dict', 'list', scratch.at('src')]);
    assert.equal(status, 3);
    assert.match(stdout, /^1 +any .* DICTIONARY_MISSING$/m);
    assert.match(stdout, /^2 +filelog .* DICTIONARY_DAMAGED$/m);
    assert.match(stderr, /^revconvert: DICTIONARY_MISSING: .*1\.zdict: .*\nrevconvert: DICTIONARY_DAMAGED: .*2\.zdict: .*\nhint: .*\nhint: .*\n$/);
    const json = await runCommand(['dict', 'list', '--json', scratch.at('src')]);
    assert.deepEqual([json.status, json.stderr], [3, '']);
    assert.deepEqual((JSON.parse(json.stdout) as DictionaryReport).dictionaries.map(({ error }) => error?.code), ['DICTIONARY_MISSING', 'DICTIONARY_DAMAGED']);
  });

  it('marks what chunks name and the store does not list, and ends with status 3', async () => {
    buildDictionaryStore(scratch.at('src'), { compress: (data) => frameWith(3, data), dictionaries: [{ id: 1, kind: 'any' }] });
    const { status, stdout, stderr } = await runCommand(['dict', 'list', scratch.at('src')]);
    assert.equal(status, 3);
    assert.match(stdout, /^3 +not listed +16 /m);
    assert.match(stderr, /^revconvert: DICTIONARY_MISSING: chunks name dictionary 3, which the store does not list$/m);
  });

  it('ends with an error, status 3, where index.json lies', async () => {
    build();
    writeFileSync(scratch.at('src', '.hg', 'store', DICTIONARY_FOLDER, 'index.json'), '{"version":2}');
    const { status, stdout, stderr } = await runCommand(['dict', 'list', scratch.at('src')]);
    assert.deepEqual([status, stdout], [3, '']);
    assert.match(stderr, /^revconvert: DICTIONARY_INDEX: .*index\.json: version 1 is expected, found 2\n/);
  });
});

describe('revconvert dict train, inspect, export', () => {
  const scratch = Scratch.use();

  it('train writes files, says what they gain, and how to use them, which works', async function () {
    requireZstd(this);
    buildRepository(scratch.at('src'), { commits: 300, files: ['a.txt'], textBytes: 200, compress: rawChunk });
    const before = picture(scratch.at('src'));
    const { status, stdout, stderr } = await runCommand(['dict', 'train', scratch.at('src'), scratch.at('dicts')]);
    assert.deepEqual([status, stderr], [0, '']);
    assert.deepEqual(picture(scratch.at('src')), before);
    assert.match(stdout, / +bytes +samples +estimated gain$/m);
    for (const file of readdirSync(scratch.at('dicts'))) assert.match(stdout, new RegExp(`^${file.replace('.zdict', '')} +[\\d.]+ (?:bytes|kB) +\\d+ +[\\d.]+ kB$`, 'm'));
    const option = /^to use them: --dict (\S+)$/m.exec(stdout)?.[1] ?? '';
    const json = await runCommand(['dict', 'train', '--json', '--dict-size', '1024', '--dict-samples', '100', '--level', '19', scratch.at('src'), scratch.at('other')]);
    const report = JSON.parse(json.stdout) as TrainReport;
    assert.ok(report.trained.every(({ bytes, samples }) => bytes <= 1024 && samples <= 100));
    for (const [name, dictionaries] of [['one', option], ['two', report.option ?? '']] as const) {
      const done = await runCommand(['--to', 'zstd', '--dict', dictionaries, scratch.at('src'), scratch.at(name)]);
      assert.deepEqual([done.status, done.stderr], [0, '']);
      assert.match((await runCommand(['dict', 'list', scratch.at(name)])).stdout, /^\d +changelog +changelog /m);
      assert.equal((await runCommand(['verify', scratch.at(name)])).status, 0);
    }
  });

  it('train says why there are none, writes nothing, and ends with status 1', async function () {
    requireZstd(this);
    buildRepository(scratch.at('src'));
    const { status, stdout, stderr } = await runCommand(['dict', 'train', scratch.at('src'), scratch.at('dicts')]);
    assert.deepEqual([status, stderr], [1, '']);
    assert.match(stdout, /no dictionary is worth its bytes; nothing was written\nnone for \w+: /);
    assert.deepEqual(readdirSync(scratch.root), ['src']);
  });

  it('inspect shows one: a file, or one of a store; nothing in it acts on the terminal', async function () {
    requireZstd(this);
    const samples = Array.from({ length: 100 }, (_, i) => Buffer.concat([sampleText(`${i % 20}`, 300), Buffer.from('\u001b[31mred\n\ttab\n')]));
    const content = trainWithProgram(samples, 5);
    writeFileSync(scratch.at('d.zdict'), content);
    buildDictionaryStore(scratch.at('src'), { dictionaries: [{ id: 5, kind: 'any', content }] });
    for (const args of [[scratch.at('d.zdict')], [scratch.at('src'), '5']]) {
      const { status, stdout, stderr } = await runCommand(['dict', 'inspect', ...args]);
      assert.deepEqual([status, stderr], [0, '']);
      assert.match(stdout, /d(?:ict)?: zstd takes it\n\nID +5\nbytes +[\d,]+\nSHA-256 +[0-9a-f]{64}\ncontent +[\d,]+ bytes, from byte \d+ on\nits end:\n {2}/);
      assert.ok(!stdout.includes('\u001b'));
      const json = JSON.parse((await runCommand(['dict', 'inspect', '--json', ...args])).stdout) as DictionaryInspection;
      assert.deepEqual([json.id, json.bytes, json.end.slice(-20)], [5, content.length, content.subarray(-20).toString()]);
    }
  });

  it('export writes those of a store, and says where', async () => {
    buildDictionaryStore(scratch.at('src'), { dictionaries: [{ id: 1, kind: 'any' }, { id: 2, kind: 'any' }] });
    const { status, stdout, stderr } = await runCommand(['dict', 'export', scratch.at('src'), scratch.at('dicts')]);
    assert.deepEqual([status, stdout, stderr], [0, `${scratch.at('src')} -> ${scratch.at('dicts')}: 2 dictionaries, 600 bytes\n`, '']);
    const json = await runCommand(['dict', 'export', '--json', scratch.at('src'), scratch.at('one'), '2']);
    assert.deepEqual((JSON.parse(json.stdout) as ExportReport).dictionaries.map(({ id }) => id), [2]);
    truncateSync(dictionaryFile(scratch.at('src'), 1), 50);
    const damaged = await runCommand(['dict', 'export', scratch.at('src'), scratch.at('none')]);
    assert.deepEqual([damaged.status, damaged.stdout], [3, '']);
    assert.match(damaged.stderr, /^revconvert: DICTIONARY_DAMAGED: /);
    assert.deepEqual(readdirSync(scratch.root).sort(), ['dicts', 'one', 'src']);
  });
});

describe('revconvert dict evaluate', () => {
  const scratch = Scratch.use();
  const QUICK = ['--sizes', '1,2', '--levels', '1,3'];

  it('prints a table for each kind, and the same as JSON', async function () {
    requireZstd(this);
    buildRepository(scratch.at('src'), { commits: 200, files: ['a.txt'], textBytes: 300, compress: rawChunk });
    const { status, stdout, stderr } = await runCommand(['dict', 'evaluate', ...QUICK, scratch.at('src')]);
    assert.deepEqual([status, stderr], [0, '']);
    const parts = stdout.trimEnd().split('\n\n');
    assert.deepEqual([parts.length, parts[0]], [4, scratch.at('src')]);
    for (const part of parts.slice(1)) {
      const [title, headings, ...rows] = cells(part);
      assert.match(title ?? '', /^(?:changelog|manifests|filelogs): 200 chunks, [\d.]+ kB; 200 of them measured, [\d.]+ kB decompressed$/);
      assert.equal(headings, 'dictionary | level | bytes | with its own | change | in MB/s | out MB/s | pays from');
      assert.deepEqual(rows.map((row) => row.split(' | ').slice(0, 2).join(' ')), ['none 1', 'none 3', '1 KiB 1', '1 KiB 3', '2 KiB 1', '2 KiB 3']);
    }
    const json = await runCommand(['dict', 'evaluate', '--json', '--kind', 'manifest', ...QUICK, scratch.at('src')]);
    const { kinds } = JSON.parse(json.stdout) as EvaluationReport;
    assert.deepEqual(kinds.map(({ kind, dictionaries }) => [kind, dictionaries.map(({ size }) => size)]), [['manifest', [1024, 2048]]]);
  });
});
