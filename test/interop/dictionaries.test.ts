/** Stores with dictionaries that revconvert writes and reads, and real Mercurial with the extension and without it. */
import assert from 'node:assert/strict';
import { appendFileSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { after, type Context, describe, it } from 'mocha';

import { convertRepository, verifyRepository } from '../../src/index.js';
import { codeText, putDictionaries, requireZstd, trainByProgram } from '../support/dictionary-files.js';
import { countFrames, dictionariesUsed, requirements, WITH_DICTIONARIES, withServer } from '../support/dictionary-repository.js';
import { callHg, configArguments, runHgOk, withHg } from '../support/hg-session.js';
import { Committer } from '../support/histories.js';
import { type Mercurial, requireMercurials } from '../support/mercurial.js';
import { PROJECT_ROOT, supportFile } from '../support/paths.js';
import { useTempFolder } from '../support/temp-folder.js';

const REQUIREMENT = 'exp-revlog-zstd-dictionary.1';
const FOLDER = '.hg/store/revlog-dictionaries';
const SAME_REPO = `extensions.samerepo=${supportFile('same_repo.py')}`;
const DATA = join(PROJECT_ROOT, '..', 'shared', 'data');

/** Suffixes and none, in ASCII and not: on each the extension and revconvert must agree. */
const NAMES: readonly (string | Buffer)[] = [
  'plain.c',
  'lib.d/Makefile',
  '.hidden',
  '.hidden.c',
  'ends.',
  'a.b c',
  'grüße.c',
  'src/файл.c',
  'suffix.ё',
  '文件.文',
  Buffer.from('latin\xe9.c', 'latin1'),
  Buffer.from('latin.\xe9', 'latin1'),
  'UPPER.C',
  'two.tar.gz',
  'x.i/in.d',
];

describe('dictionaries and Mercurial', function () {
  this.timeout(120_000);
  const temporary = useTempFolder();
  const prepared = mkdtempSync(join(tmpdir(), 'revconvert-test-'));
  after(() => rmSync(prepared, { recursive: true, force: true }));

  const withExtension = (hg: string, cwd: string, args: readonly string[], config: readonly string[] = []): string =>
    runHgOk(hg, args, { cwd, config: [...WITH_DICTIONARIES, ...config] });

  function assertSame(hg: string, one: string, other: string): void {
    assert.match(runHgOk(hg, ['samerepo', one, other], { config: [...WITH_DICTIONARIES, SAME_REPO] }), /^same: /m);
  }

  /** A history of many small changes, pulled by a Mercurial: `plain`; and what revconvert makes of it: `dict`. */
  async function copyOf(name: 'plain' | 'dict', { hg, version }: Mercurial): Promise<string> {
    const folder = join(prepared, version);
    if (!existsSync(folder)) {
      mkdirSync(folder);
      const plain = join(folder, 'plain');
      runHgOk(hg, ['init', ...configArguments(['format.revlog-compression=zlib']), plain]);
      await withHg(hg, plain, [], async (session) => {
        const committer = new Committer(session);
        for (let i = 0; i < 60; i++) {
          for (const file of ['lib/a.c', 'b.c', `more/${i % 20}.c`, 'notes.txt']) committer.write(file, Buffer.concat([codeText(i, 20), codeText(i * 7 + file.length, 20)]));
          await committer.commit(`change number ${i} of the files of a library in C, and of its notes`);
        }
      });
      await convertRepository(plain, join(folder, 'dict'), { to: 'zstd', dictionaries: 'auto', dictionarySize: 1024 });
    }
    const copy = temporary(`${name}-${version}`);
    cpSync(join(folder, name), copy, { recursive: true });
    return copy;
  }

  const ready = (context: Context): Mercurial[] => {
    requireZstd(context);
    return requireMercurials(context);
  };

  const change = (repository: string, name: string, seed: number): void => appendFileSync(join(repository, name), codeText(seed, 12));

  it('stock Mercurial refuses such a store, in its own words', async function () {
    for (const mercurial of ready(this)) {
      const dict = await copyOf('dict', mercurial);
      const { status, output } = callHg(mercurial.hg, ['log'], { cwd: dict });
      assert.equal(status, 255);
      assert.match(output, new RegExp(`^abort: repository requires features unknown to this Mercurial: ${REQUIREMENT}\n`));
    }
  });

  it('Mercurial with the extension verifies it, commits, and is cloned and pulled from without; revconvert reads what it wrote', async function () {
    for (const mercurial of ready(this)) {
      const { hg, version } = mercurial;
      const [plain, dict] = [await copyOf('plain', mercurial), await copyOf('dict', mercurial)];
      assert.ok(dictionariesUsed(dict).length >= 3, JSON.stringify(countFrames(dict)));
      assert.equal(withExtension(hg, dict, ['verify', '--quiet']), '');
      assertSame(hg, plain, dict);

      const frames = countFrames(dict);
      withExtension(hg, dict, ['update', '--quiet', 'tip']);
      for (let i = 0; i < 3; i++) {
        change(dict, 'b.c', 900 + i);
        withExtension(hg, dict, ['commit', '--quiet', '-m', `a change by Mercurial with the extension, number ${i}`]);
      }
      for (const [key, count] of Object.entries(countFrames(dict))) assert.ok(count >= (frames[key] ?? 0), key);
      assert.ok((countFrames(dict)['changelog 0'] ?? 0) === (frames['changelog 0'] ?? 0), 'new changesets use the dictionary');

      const clone = temporary(`clone-${version}`);
      await withServer(hg, temporary(), (url) => {
        runHgOk(hg, ['clone', '--quiet', '--noupdate', `${url}dict-${version}`, clone]);
      });
      runHgOk(hg, ['verify', '--quiet'], { cwd: clone });
      assert.ok(!requirements(clone).includes(REQUIREMENT));
      withExtension(hg, plain, ['pull', '--quiet', dict]);
      runHgOk(hg, ['verify', '--quiet'], { cwd: plain });

      assert.deepEqual((await verifyRepository(dict)).damage, []);
      for (const to of ['zlib', 'zstd', 'none'] as const) {
        const back = temporary(`${to}-${version}`);
        await convertRepository(dict, back, { to });
        assert.equal(runHgOk(hg, ['verify', '--quiet'], { cwd: back }), '', to);
        assert.ok(!requirements(back).includes(REQUIREMENT) && !existsSync(join(back, FOLDER)));
        assertSame(hg, dict, back);
      }
      await convertRepository(dict, temporary(`kept-${version}`));
      assertSame(hg, dict, temporary(`kept-${version}`));
    }
  });

  for (const dictionaries of ['refresh', 'add'] as const) {
    it(`${dictionaries}: the extension reads old frames and new ones, and writes with the new dictionaries`, async function () {
      for (const mercurial of ready(this)) {
        const { hg, version } = mercurial;
        const [plain, dict] = [await copyOf('plain', mercurial), await copyOf('dict', mercurial)];
        const zstd = temporary(`zstd-${version}`);
        await convertRepository(dict, zstd, { to: 'zstd', dictionaries: { files: { manifest: join(dict, FOLDER, '1.zdict') } } });
        const made = temporary(`made-${version}`);
        const { dictionaries: summary } = await convertRepository(zstd, made, { dictionaries });
        assert.ok(summary.added.length > 0, JSON.stringify(summary));
        assert.equal(withExtension(hg, made, ['verify', '--quiet']), '');
        assertSame(hg, plain, made);
        const write = (JSON.parse(readFileSync(join(made, FOLDER, 'index.json'), 'utf8')) as { write: Record<string, number> }).write;
        const before = countFrames(made);
        withExtension(hg, made, ['update', '--quiet', 'tip']);
        change(made, 'b.c', 77);
        withExtension(hg, made, ['commit', '--quiet', '-m', 'a change of some length by Mercurial, with the new dictionaries']);
        const key = `filelog ${write['filelog'] ?? 0}`;
        assert.equal(countFrames(made)[key], (before[key] ?? 0) + 1);
        assert.equal(withExtension(hg, made, ['verify', '--quiet']), '');
        assert.deepEqual((await verifyRepository(made)).damage, []);
      }
    });
  }

  it('revconvert and the extension agree which dictionary a file is compressed with, whatever its name', async function () {
    for (const { hg, version } of ready(this)) {
      const source = temporary(`names-${version}`);
      runHgOk(hg, ['init', ...configArguments(['format.revlog-compression=zstd']), source]);
      const commitAll = (folder: string, config: readonly string[], from: number, to: number): Promise<void> =>
        withHg(hg, folder, config, async (session) => {
          const committer = new Committer(session);
          for (let i = from; i < to; i++) {
            for (const [k, name] of NAMES.entries()) committer.write(name, codeText(i * 100 + k, 30));
            await committer.commit(`change ${i}`);
          }
        });
      await commitAll(source, [], 0, 2);
      // The rules are another program's: revconvert keeps them, and the extension goes by them.
      const write = { filelog: 1, suffixes: { '.c': 2, '.C': 3, '.gz': 4, '.': 5, '.b c': 6, '.d': 7, '.ё': 8, '.é': 8, '.tar.gz': 8, '.hidden': 8, '.i': 8 } };
      putDictionaries(join(source, '.hg', 'store'), Array.from({ length: 8 }, (_, i) => ({ id: i + 1, bytes: trainByProgram({ id: i + 1 }), kind: 'filelog' })), write);
      appendFileSync(join(source, '.hg/store/requires'), `${REQUIREMENT}\n`);
      const byRevconvert = temporary(`made-${version}`);
      await convertRepository(source, byRevconvert);
      assert.equal(withExtension(hg, byRevconvert, ['verify', '--quiet']), '');
      withExtension(hg, byRevconvert, ['update', '--quiet', 'tip']);
      await commitAll(byRevconvert, WITH_DICTIONARIES, 2, 4);
      assert.equal(withExtension(hg, byRevconvert, ['verify', '--quiet']), '');

      // Each filelog has two revisions by one and two by the other.
      const counted = countFrames(byRevconvert);
      assert.deepEqual(Object.keys(counted).filter((key) => key.startsWith('filelog')).sort(), ['filelog 1', 'filelog 2', 'filelog 3', 'filelog 4', 'filelog 5', 'filelog 6', 'filelog 7']);
      for (const key of ['filelog 3', 'filelog 4', 'filelog 5', 'filelog 6', 'filelog 7']) assert.equal(counted[key], 4, key);
      assert.equal(counted['filelog 2'], 4 * 5, 'five names end in .c');
      assert.equal(counted['filelog 1'], 4 * (NAMES.length - 10));

      const again = temporary(`again-${version}`);
      await convertRepository(byRevconvert, again);
      assert.deepEqual(countFrames(again), counted);
      await convertRepository(byRevconvert, temporary(`back-${version}`), { to: 'zstd' });
      runHgOk(hg, ['verify', '--quiet'], { cwd: temporary(`back-${version}`) });
      assertSame(hg, byRevconvert, temporary(`back-${version}`));
    }
  });

  it('tree manifests', async function () {
    for (const mercurial of ready(this)) {
      const { hg, version } = mercurial;
      const trees = temporary(`trees-${version}`);
      runHgOk(hg, ['init', trees], { config: ['experimental.treemanifest=yes'] });
      runHgOk(hg, ['pull', '--quiet', await copyOf('plain', mercurial)], { cwd: trees });
      for (const [name, options] of [['dict', {}], ['redelta', { redelta: 'all' }]] as const) {
        const made = temporary(`${name}-trees-${version}`);
        await convertRepository(trees, made, { to: 'zstd', dictionaries: 'auto', dictionarySize: 512, ...options });
        assert.ok(requirements(made).includes(REQUIREMENT));
        assert.equal(withExtension(hg, made, ['verify', '--quiet']), '');
        assertSame(hg, trees, made);
      }
    }
  });

  for (const name of ['small.hg', 'small-cyrillic.hg', 'small-han.hg']) {
    it(`${name}: a real history, with dictionaries, there and back`, async function () {
      const bundle = join(DATA, name);
      const [mercurial] = ready(this);
      if (!existsSync(bundle) || mercurial === undefined) {
        process.stderr.write(`      skipped: no ${name} beside the project\n`);
        this.skip();
      }
      const { hg } = mercurial;
      const source = temporary('source');
      runHgOk(hg, ['init', ...configArguments(['format.revlog-compression=zlib']), source]);
      runHgOk(hg, ['-R', source, 'unbundle', '--quiet', bundle]);
      const plain = await convertRepository(source, temporary('plain'), { to: 'zstd' });
      // New deltas take long: of one history.
      for (const [place, options] of [['dict', {}], ...(name === 'small.hg' ? [['redelta', { redelta: 'parent' }] as const] : [])] as const) {
        const made = await convertRepository(source, temporary(place), { to: 'zstd', dictionaries: 'auto', ...options });
        assert.ok(made.bytesAfter + made.dictionaries.bytes < plain.bytesAfter);
        assertSame(hg, source, temporary(place));
        assert.equal(withExtension(hg, temporary(place), ['verify', '--quiet']), '');
      }
      await convertRepository(temporary('dict'), temporary('back'), { to: 'zlib' });
      assertSame(hg, source, temporary('back'));
    });
  }
});
