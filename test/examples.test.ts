import assert from 'node:assert/strict';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, it } from 'mocha';

import { listRevlogs, openRevlog } from '../src/index.js';
import { readBack } from './repository/support.js';
import { shell } from './support/commands.js';
import { PROJECT_ROOT } from './support/paths.js';
import { referenceTexts } from './support/reference-texts.js';
import { useTempFolder } from './support/temp-folder.js';

const EXAMPLE = join(PROJECT_ROOT, 'examples', 'repository');

const run = (line: string): string => {
  const { status, stdout, stderr } = shell(line);
  assert.equal(status, 0, stderr);
  return stdout + stderr;
};

/** Repositories, one inside of another and one of them damaged, and a folder that is none. */
function makeRepositories(folder: string): void {
  mkdirSync(join(folder, 'group/empty'), { recursive: true });
  cpSync(EXAMPLE, join(folder, 'one'), { recursive: true });
  cpSync(EXAMPLE, join(folder, 'group/two'), { recursive: true });
  cpSync(EXAMPLE, join(folder, 'one', '+inner'), { recursive: true });
  cpSync(EXAMPLE, join(folder, 'broken'), { recursive: true });
  const index = join(folder, 'broken/.hg/store/00changelog.i');
  writeFileSync(index, readFileSync(index).subarray(0, 100));
}

describe('examples', () => {
  const temporary = useTempFolder();

  it('has a test here for each script', () => {
    const scripts = readdirSync(join(PROJECT_ROOT, 'examples')).filter((name) => /\.(?:mjs|sh)$/.test(name));
    assert.deepEqual(scripts.sort(), ['changesets-per-user.mjs', 'compare-policies.mjs', 'count-markers.mjs', 'drop-file.mjs', 'largest-revisions.mjs', 'migrate.mjs', 'migrate.sh', 'recompress-revlog.mjs', 'redelta-revlog.mjs']);
  });

  const BUNDLE_OF_EXAMPLE = `node dist/bin/revconvert.js bundle --from-repo ${EXAMPLE} --no-lock`;

  it('changesets-per-user: every changeset is counted', async () => {
    const lines = run(`${BUNDLE_OF_EXAMPLE} --to gzip-v1 | node examples/changesets-per-user.mjs`).trimEnd().split('\n');
    const users = lines.map((line) => /^ *(\d+) (.+)$/.exec(line)).map((found) => [found?.[2] ?? '', Number(found?.[1])] as const);
    const expected = new Map<string, number>();
    for (const text of referenceTexts(await readBack(join(EXAMPLE, '.hg/store/00changelog.i')))) {
      const [, user = ''] = (text?.toString() ?? '').split('\n');
      expected.set(user, (expected.get(user) ?? 0) + 1);
    }
    assert.deepEqual(new Map(users), expected);
    const counts = users.map(([, changesets]) => changesets);
    assert.deepEqual(counts, [...counts].sort((a, b) => b - a));
  });

  it('drop-file: that file is gone, all else is there', () => {
    const groups = (bundle: string): string[] =>
      run(`node dist/bin/revconvert.js bundle --inspect --json ${bundle}`)
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as { record: string; kind?: string; name?: string; revisions?: number })
        .filter(({ record }) => record === 'group')
        .map(({ kind, name, revisions }) => `${kind ?? ''} ${name ?? ''} ${revisions ?? ''}`);
    run(`${BUNDLE_OF_EXAMPLE} ${temporary('all.hg')}`);
    const before = groups(temporary('all.hg'));
    const file = /^filelog (.+) \d+$/.exec(before.at(-1) ?? '')?.[1] ?? '';
    const said = run(`node examples/drop-file.mjs '${file}' < ${temporary('all.hg')} > ${temporary('some.hg')}`);
    assert.match(said, /is partial/);
    assert.deepEqual(groups(temporary('some.hg')), before.slice(0, -1));
    assert.match(run(`node examples/drop-file.mjs nothing < ${temporary('all.hg')} > ${temporary('same.hg')}`), /is not in the bundle/);
    assert.deepEqual(groups(temporary('same.hg')), before);
  });

  it('recompress-revlog: the revlog made has the same revisions, as zstd', () => {
    const source = join(EXAMPLE, '.hg/store/00manifest.i');
    assert.equal(run(`node examples/recompress-revlog.mjs ${source} ${temporary('m.i')} zstd 19`), `${temporary('m.i')}: zstd\n`);
    const [before, after] = [source, temporary('m.i')].map((indexFile) => {
      const reader = openRevlog({ indexFile, dataFile: indexFile.replace(/i$/, 'd') });
      const revisions = [...reader.batches()].flatMap((batch) => batch.revisions);
      reader.close();
      return revisions;
    });
    assert.deepEqual(after?.map(({ node }) => Buffer.from(node).toString('hex')), before?.map(({ node }) => Buffer.from(node).toString('hex')));
    assert.ok(after?.some(({ chunk }) => chunk[0] === 0x28));
    assert.ok(!after?.some(({ chunk }) => chunk[0] === 0x78));
  });

  it('redelta-revlog: the texts are the same, with deltas chosen anew', async () => {
    const source = join(EXAMPLE, '.hg/store/00manifest.i');
    assert.equal(run(`node examples/redelta-revlog.mjs ${source} ${temporary('m.i')} fastest-read manifest`), `${temporary('m.i')}: fastest-read\n`);
    const [before, after] = [await readBack(source), await readBack(temporary('m.i'))];
    assert.deepEqual(referenceTexts(after), referenceTexts(before));
    assert.notDeepEqual(after.map(({ deltaBase }) => deltaBase), before.map(({ deltaBase }) => deltaBase));
  });

  it('compare-policies: a line for each preset, and nothing left behind', () => {
    mkdirSync(temporary('tmp'));
    cpSync(EXAMPLE, temporary('copy'), { recursive: true });
    const output = run(`TMPDIR=${temporary('tmp')} node examples/compare-policies.mjs ${temporary('copy')}`);
    const lines = output.trimEnd().split('\n');
    assert.deepEqual(lines.map((line) => line.split(' ')[0]), ['mercurial', 'mercurial-3.7', 'smallest', 'fastest-read']);
    for (const line of lines) assert.match(line, /^\S+ +\d{5,} bytes {2}longest chain +\d+ {2}\d+\.\d s$/);
    assert.deepEqual(readdirSync(temporary('tmp')), []);
  });

  it('count-markers: counts every chunk once', () => {
    const output = run(`node examples/count-markers.mjs ${EXAMPLE}`);
    const counted = [...output.matchAll(/(\d+) chunks/g)].reduce((sum, match) => sum + Number(match[1]), 0);
    const revisions = listRevlogs(EXAMPLE).reduce((sum, files) => {
      const reader = openRevlog(files);
      reader.close();
      return sum + reader.index.length;
    }, 0);
    assert.equal(counted, revisions);
    assert.match(output, /^zlib /m);
  });

  it('largest-revisions: twenty, largest first', () => {
    const lines = run(`node examples/largest-revisions.mjs ${EXAMPLE}`).trim().split('\n');
    const sizes = lines.map((line) => Number(line.trim().split(/\s+/)[0]));
    assert.equal(sizes.length, 20);
    assert.deepEqual(sizes, [...sizes].sort((a, b) => b - a));
  });

  for (const [name, line] of [
    ['migrate.sh', (from: string, to: string) => `sh examples/migrate.sh ${from} ${to} --to zstd`],
    ['migrate.mjs', (from: string, to: string) => `node examples/migrate.mjs ${from} ${to} zstd`],
  ] as const) {
    it(`${name}: converts what it can, reports each as JSON, fails at the end where one failed`, () => {
      makeRepositories(temporary('from'));
      const { status, stdout, stderr } = shell(line(temporary('from'), temporary('made')));
      assert.equal(status, 1);
      assert.match(stderr, /3 converted, 0 with damage to report, 1 failed, 0 there already/);
      const reports = stdout.trim().split('\n').map((text) => JSON.parse(text) as { error?: { code: string } });
      assert.equal(reports.length, 4);
      assert.deepEqual(reports.flatMap(({ error }) => (error === undefined ? [] : [error.code])), ['DATA_TRUNCATED']);
      for (const made of ['one', 'one/+inner', 'group/two']) assert.ok(existsSync(join(temporary('made'), made, '.hg/requires')), made);
      assert.ok(!existsSync(join(temporary('made'), 'broken')));
      assert.match(shell(line(temporary('from'), temporary('made'))).stderr, /0 converted, 0 with damage to report, 1 failed, 3 there already/);
    });
  }
});
