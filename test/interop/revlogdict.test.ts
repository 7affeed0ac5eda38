/** contrib/hg/revlogdict.py: Mercurial with repositories whose chunks are compressed with dictionaries, and its peers without it. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { appendFileSync, copyFileSync, cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { after, type Context, describe, it } from 'mocha';

import { addDictionaries, countFrames, dictionariesIn, dictionariesUsed, recompressAll, requirements, WITH_DICTIONARIES, withServer, writeScript } from '../support/dictionary-repository.js';
import { callHg, type HgCallOptions, runHgOk, withHg } from '../support/hg-session.js';
import { type Mercurial, requireMercurials } from '../support/mercurial.js';
import { PROJECT_ROOT, supportFile } from '../support/paths.js';
import { useTempFolder } from '../support/temp-folder.js';

const REQUIREMENT = 'exp-revlog-zstd-dictionary.1';
const FOLDER = '.hg/store/revlog-dictionaries';
const ALL_COMPRESSED = ['changelog 1', 'filelog 3', 'manifest 2'];
/** Bundles that every Mercurial reads which can write them. */
const BUNDLE_TYPES = ['none-v1', 'gzip-v2', 'none-v2'];
const NEW_BUNDLE_TYPES = ['none-v2;cg.version=03', 'none-v2;cg.version=04;cg.delta-compression=none,zlib,zstd'];
const STREAMED = /abort: a repository with zstd dictionaries cannot be streamed\n/;

const NOT_STREAMED = 'warning: stream clone requested but server has them disabled\n';

const isNew = (version: string): boolean => Number(version.split('.')[0]) >= 7;

/** Those of the Mercurials at hand that can do what only the newer ones do; skips the test where there are none. */
function requireNew(context: Context): Mercurial[] {
  const found = requireMercurials(context).filter(({ version }) => isNew(version));
  return found.length > 0 ? found : context.skip();
}

describe('the Mercurial extension for dictionaries', function () {
  this.timeout(120_000);
  const temporary = useTempFolder();
  const prepared = mkdtempSync(join(tmpdir(), 'revconvert-test-'));
  after(() => rmSync(prepared, { recursive: true, force: true }));

  /** Runs a command with the extension. */
  const withExtension = (hg: string, cwd: string, args: readonly string[], config: readonly string[] = []): string =>
    runHgOk(hg, args, { cwd, config: [...WITH_DICTIONARIES, ...config] });

  /** Runs a command that must fail. @returns what it said */
  function failing(hg: string, args: readonly string[], options: HgCallOptions): string {
    const { status, output } = callHg(hg, args, options);
    assert.notEqual(status, 0, `hg ${args.join(' ')} should fail\n${output}`);
    return output;
  }

  /** A history as Mercurial stores it: `plain`; the same with two sets of dictionaries under the same IDs: `first` and `second`. */
  function copyOf(name: 'plain' | 'first' | 'second', { hg, version }: Mercurial, to: string): string {
    const folder = join(prepared, version);
    if (!existsSync(folder)) {
      mkdirSync(folder);
      // A copy: Mercurial writes caches into what it reads.
      cpSync(join(PROJECT_ROOT, 'examples', 'repository'), join(folder, 'example'), { recursive: true });
      runHgOk(hg, ['clone', '--quiet', '--pull', '--noupdate', join(folder, 'example'), join(folder, 'plain')]);
      for (const [one, seed] of [['first', 1], ['second', 2]] as const) {
        cpSync(join(folder, 'plain'), join(folder, one), { recursive: true });
        addDictionaries(hg, join(folder, one), { seed });
        recompressAll(hg, join(folder, one));
      }
    }
    const copy = temporary(`${to}-${version}`);
    cpSync(join(folder, name), copy, { recursive: true });
    return copy;
  }

  /** Both are stored alike but for compression: the same revlogs, revisions, texts, phases. */
  function assertSameStore(hg: string, one: string, other: string): void {
    const output = runHgOk(hg, ['samerepo', one, other], { config: [...WITH_DICTIONARIES, `extensions.samerepo=${supportFile('same_repo.py')}`] });
    assert.match(output, /^same: /m);
  }

  /** Both have the same changesets, and the second is whole. Its texts are those that its nodes say, and so those of the first. */
  function assertSame(hg: string, one: string, other: string, config: readonly string[] = WITH_DICTIONARIES): void {
    assert.equal(runHgOk(hg, ['verify', '--quiet'], { cwd: other, config }), '');
    const [expected, found] = [one, other].map((cwd) => withExtension(hg, cwd, ['log', '-T', '{node}\n']));
    assert.equal(found, expected);
  }

  /** Mercurial has it without the extension, and no frame in it needs a dictionary. */
  function assertPlain(hg: string, repository: string, source: string): void {
    assert.deepEqual(dictionariesUsed(repository), [0]);
    assert.ok(!requirements(repository).includes(REQUIREMENT));
    assert.ok(!existsSync(join(repository, FOLDER)));
    assertSame(hg, source, repository, []);
  }

  const commit = (hg: string, repository: string, text: string, file = 'notes.txt', more: readonly string[] = []): string => {
    appendFileSync(join(repository, file), `${text}\n`);
    return withExtension(hg, repository, ['commit', '--addremove', '--quiet', '--message', text, ...more]);
  };

  it('is needed: Mercurial without it refuses', function () {
    for (const mercurial of requireMercurials(this)) {
      const output = failing(mercurial.hg, ['log'], { cwd: copyOf('first', mercurial, 'repository') });
      assert.match(output, new RegExp(`^abort: repository requires features unknown to this Mercurial: ${REQUIREMENT}\\n`));
    }
  });

  it('does nothing to other repositories', function () {
    for (const mercurial of requireMercurials(this)) {
      const { hg } = mercurial;
      const repository = copyOf('plain', mercurial, 'repository');
      commit(hg, repository, 'one more');
      recompressAll(hg, repository);
      runHgOk(hg, ['verify', '--quiet'], { cwd: repository });
      assert.deepEqual(dictionariesUsed(repository), [0]);
      withExtension(hg, repository, ['bundle', '--quiet', '--all', '--type', 'none-v2;stream=v2', temporary('stream.hg')]);
    }
  });

  it('compresses every kind of revlog with the dictionary for it', function () {
    for (const mercurial of requireMercurials(this)) {
      const { hg } = mercurial;
      const plain = copyOf('plain', mercurial, 'plain');
      const repository = copyOf('first', mercurial, 'repository');
      const frames = countFrames(repository);
      assert.deepEqual(Object.keys(frames).sort(), ALL_COMPRESSED);
      assertSameStore(hg, plain, repository);
      assert.equal(withExtension(hg, repository, ['verify', '--quiet']), '');

      commit(hg, repository, 'a change of some length, so that each of its chunks can be compressed');
      assert.equal(countFrames(repository)['changelog 1'], (frames['changelog 1'] ?? 0) + 1);
    }
  });

  it('takes the dictionary for a suffix, or none, and the level from the configuration', function () {
    for (const mercurial of requireMercurials(this)) {
      const { hg } = mercurial;
      const repository = copyOf('plain', mercurial, 'repository');
      addDictionaries(hg, repository, { first: 200, suffixes: { '.h': 0, '.c': 200 } });
      const size = (level: number): number => {
        recompressAll(hg, repository, [`storage.revlog.zstd.level=${level}`]);
        return readdirSync(join(repository, '.hg/store/data/src')).reduce((sum, name) => sum + readFileSync(join(repository, '.hg/store/data/src', name)).length, 0);
      };
      const fast = size(1);
      assert.ok(size(19) < fast);
      assert.deepEqual(Object.keys(countFrames(repository, '.h.i')), ['filelog 0']);
      assert.deepEqual(Object.keys(countFrames(repository, '.c.i')), ['filelog 200']);
      assert.deepEqual(dictionariesUsed(repository), [0, 200, 201, 202]);
      assert.equal(withExtension(hg, repository, ['verify', '--quiet']), '');
    }
  });

  it('serves manifests of trees', function () {
    for (const mercurial of requireMercurials(this)) {
      const { hg } = mercurial;
      const trees = temporary(`trees-${mercurial.version}`);
      const config = ['experimental.treemanifest=yes'];
      runHgOk(hg, ['init', trees], { config });
      runHgOk(hg, ['pull', '--quiet', copyOf('plain', mercurial, 'plain')], { cwd: trees });
      addDictionaries(hg, trees);
      mkdirSync(join(trees, 'folder'));
      for (const line of ['one', 'two', 'three']) commit(hg, trees, `line ${line} of a file in a folder`, 'folder/file.txt');
      assert.ok((countFrames(trees, 'meta/folder/00manifest.i')['manifest 2'] ?? 0) > 0);
      assert.equal(withExtension(hg, trees, ['verify', '--quiet']), '');
      const clone = temporary(`clone-${mercurial.version}`);
      withExtension(hg, trees, ['clone', '--quiet', '--pull', '.', clone], config);
      assertPlain(hg, clone, trees);
    }
  });

  it('amends, strips, unbundles, rolls back and recovers; backups are ordinary bundles', function () {
    for (const mercurial of requireMercurials(this)) {
      const { hg, version } = mercurial;
      const repository = copyOf('first', mercurial, 'repository');
      const plain = copyOf('plain', mercurial, 'plain');
      const config = ['extensions.strip=', 'ui.rollback=yes'];
      for (const text of ['one', 'two', 'three']) commit(hg, repository, `change ${text} of three which are going to be stripped`);
      commit(hg, repository, 'amended with another line', 'notes.txt', ['--amend']);
      withExtension(hg, repository, ['strip', '--quiet', '--rev', '-3:'], config);
      assertSame(hg, plain, repository);

      const backups = join(repository, '.hg/strip-backup');
      for (const name of readdirSync(backups)) assert.deepEqual(dictionariesIn(readFileSync(join(backups, name))), []);
      const backup = join(backups, readdirSync(backups).find((name) => name.endsWith('-backup.hg')) ?? '');
      assert.equal(withExtension(hg, repository, ['log', '-R', backup, '-r', 'tip', '-T', '{desc}']), 'amended with another line');
      for (const one of [plain, repository]) {
        runHgOk(hg, ['unbundle', '--quiet', backup], { cwd: one, config: one === plain ? [] : WITH_DICTIONARIES });
      }
      assertSame(hg, plain, repository);

      withExtension(hg, repository, ['update', '--quiet', '--clean', 'tip']);
      commit(hg, repository, 'a change that is rolled back');
      withExtension(hg, repository, ['rollback', '--quiet'], config);
      withExtension(hg, repository, ['revert', '--quiet', '--all', '--no-backup']);
      appendFileSync(join(repository, 'notes.txt'), 'a line for the commit that is killed\n');
      failing(hg, ['commit', '-m', 'killed'], { cwd: repository, config: [...WITH_DICTIONARIES, 'hooks.pretxncommit.kill=kill -9 $PPID'] });
      assert.match(failing(hg, ['commit', '-m', 'refused'], { cwd: repository, config: WITH_DICTIONARIES }), /abandoned transaction found/);
      withExtension(hg, repository, ['recover', '--verify']);
      assertSame(hg, plain, repository);
      assert.deepEqual(Object.keys(countFrames(repository)).sort(), ALL_COMPRESSED, version);
    }
  });

  it('makes ordinary bundles of every type, and no streamed ones', function () {
    for (const mercurial of requireMercurials(this)) {
      const { hg, version } = mercurial;
      const repository = copyOf('first', mercurial, 'repository');
      const bundle = temporary('all.hg');
      for (const type of [...BUNDLE_TYPES, ...(isNew(version) ? NEW_BUNDLE_TYPES : [])]) {
        withExtension(hg, repository, ['bundle', '--quiet', '--all', '--type', type, bundle]);
        assert.deepEqual(dictionariesIn(readFileSync(bundle)), [], type);
        const unbundled = temporary('unbundled');
        runHgOk(hg, ['init', unbundled]);
        runHgOk(hg, ['unbundle', '--quiet', bundle], { cwd: unbundled });
        assertPlain(hg, unbundled, repository);
        rmSync(unbundled, { recursive: true });
        rmSync(bundle);
      }
      const streamed = [['debugcreatestreamclonebundle', bundle], ['bundle', '--all', '--type', 'none-v2;stream=v2', bundle]];
      if (isNew(version)) streamed.push(['bundle', '--all', '--type', 'none-v2;stream=v3-exp', bundle]);
      for (const args of streamed) {
        assert.match(failing(hg, args, { cwd: repository, config: WITH_DICTIONARIES }), STREAMED);
        assert.ok(!existsSync(bundle));
      }
    }
  });

  it('takes chunks that a peer sends as it stores them', function () {
    for (const mercurial of requireNew(this)) {
      const { hg } = mercurial;
      const plain = copyOf('plain', mercurial, 'plain');
      const bundle = temporary('stored.hg');
      runHgOk(hg, ['bundle', '--quiet', '--base', '30', '--rev', 'tip', '--type', 'none-v2;cg.version=04;cg.delta-compression=zstd', bundle], { cwd: plain });
      assert.deepEqual(dictionariesIn(readFileSync(bundle)), [0]);
      const repository = temporary('repository');
      runHgOk(hg, ['clone', '--quiet', '--noupdate', '--rev', '30', plain, repository]);
      addDictionaries(hg, repository);
      recompressAll(hg, repository);
      withExtension(hg, repository, ['unbundle', '--quiet', bundle]);
      assert.deepEqual(dictionariesUsed(repository), [0, 1, 2, 3]);
      assertSame(hg, plain, repository);
    }
  });

  it('keeps dictionaries in a local clone and a share, not in a pulled clone', function () {
    for (const mercurial of requireMercurials(this)) {
      const { hg, version } = mercurial;
      const repository = copyOf('first', mercurial, 'repository');
      const at = (name: string): string => temporary(`${name}-${version}`);
      const config = ['extensions.share='];
      withExtension(hg, repository, ['clone', '--quiet', '.', at('clone')]);
      withExtension(hg, repository, ['share', '--quiet', '.', at('share')], config);
      withExtension(hg, repository, ['clone', '--quiet', '--pull', '.', at('pulled')]);
      withExtension(hg, repository, ['clone', '--quiet', '--pull', '--stream', '.', at('unstreamed')]);
      for (const name of ['pulled', 'unstreamed']) assertPlain(hg, at(name), repository);
      for (const name of ['clone', 'share']) {
        commit(hg, at(name), `a change made in the ${name} of the repository`);
        assert.equal(withExtension(hg, at(name), ['verify', '--quiet']), '');
      }
      const changesets = countFrames(repository)['changelog 1'] ?? 0;
      assert.equal(countFrames(at('clone'))['changelog 1'], changesets);
      withExtension(hg, at('share'), ['unshare'], config);
      assert.equal(countFrames(at('share'))['changelog 1'], changesets);
      assert.equal(withExtension(hg, at('share'), ['verify', '--quiet']), '');
    }
  });

  it('keeps apart two repositories with other dictionaries under the same IDs that one process works on', function () {
    for (const mercurial of requireMercurials(this)) {
      const { hg } = mercurial;
      const [first, second] = (['first', 'second'] as const).map((name) => copyOf(name, mercurial, name));
      assert.ok(first !== undefined && second !== undefined);
      assert.notDeepEqual(readFileSync(join(first, FOLDER, '1.zdict')), readFileSync(join(second, FOLDER, '1.zdict')));
      withExtension(hg, second, ['update', '--quiet']);
      for (const number of [1, 2, 3]) commit(hg, second, `change ${number} of three which only the second has`, 'README');
      const united = withExtension(hg, first, ['log', '--patch', '-R', `union:${first}+${second}`]);
      assert.equal(united, withExtension(hg, second, ['log', '--patch']));
      withExtension(hg, first, ['pull', '--quiet', second]);
      assertSame(hg, second, first);
      assert.deepEqual(Object.keys(countFrames(first)).sort(), ALL_COMPRESSED);
    }
  });

  it('serves two repositories with other dictionaries under the same IDs by one process, and one that takes the place of another', async function () {
    for (const mercurial of requireMercurials(this)) {
      const [first, second] = (['first', 'second'] as const).map((name) => copyOf(name, mercurial, name));
      assert.ok(first !== undefined && second !== undefined);
      commit(mercurial.hg, second, 'what only the second has');
      await withServer(mercurial.hg, temporary(), (url) => {
        for (const { hg, version } of requireMercurials(this)) {
          const clones: [string, string, string][] = [['first', first, '--stream'], ['second', second, '--pull']];
          for (const [name, source, option] of clones) {
            const clone = temporary(`clone-of-${name}-${mercurial.version}${option}-by-${version}`);
            const said = runHgOk(hg, ['clone', '--quiet', '--noupdate', option, `${url}${name}-${mercurial.version}`, clone]);
            assert.equal(said, option === '--stream' ? NOT_STREAMED : '');
            assertPlain(mercurial.hg, clone, source);
          }
        }
        const aside = `${first}-aside`;
        for (const [from, to] of [[first, aside], [second, first], [aside, second]] as const) renameSync(from, to);
        for (const { hg, version } of requireMercurials(this)) {
          const clone = temporary(`clone-after-${mercurial.version}-by-${version}`);
          runHgOk(hg, ['clone', '--quiet', `${url}first-${mercurial.version}`, clone]);
          assertPlain(mercurial.hg, clone, first);
          appendFileSync(join(clone, 'notes.txt'), `a change that is pushed by Mercurial ${version}\n`);
          runHgOk(hg, ['commit', '--quiet', '--addremove', '-m', `pushed by Mercurial ${version}`], { cwd: clone });
          runHgOk(hg, ['push', '--quiet'], { cwd: clone });
        }
      });
      assert.equal(withExtension(mercurial.hg, first, ['verify', '--quiet']), '');
      assert.match(withExtension(mercurial.hg, first, ['log', '-r', 'tip', '-T', '{desc}']), /^pushed by Mercurial/);
    }
  });

  it('reads a store anew that takes the place of another while a command server runs', async function () {
    for (const mercurial of requireMercurials(this)) {
      const repository = copyOf('first', mercurial, 'repository');
      const other = copyOf('second', mercurial, 'other');
      await withHg(mercurial.hg, repository, WITH_DICTIONARIES, async (session) => {
        const before = await session.run('log', '--patch');
        for (const [from, to] of [['repository', 'aside'], ['other', 'repository']] as const) {
          renameSync(temporary(`${from}-${mercurial.version}/.hg/store`), temporary(`${to}-${mercurial.version}.store`));
        }
        renameSync(`${other}.store`.replace('other', 'repository'), join(repository, '.hg/store'));
        assert.equal(await session.run('log', '--patch'), before);
      });
    }
  });

  it('serves by ssh, and pushes by it', function () {
    for (const mercurial of requireMercurials(this)) {
      const served = copyOf('first', mercurial, 'served');
      const settings = temporary('server.hgrc');
      writeFileSync(settings, WITH_DICTIONARIES.map((item) => item.replace('.', ']\n').replace(/^/, '[')).join('\n'));
      const remote = writeScript(temporary(`hg-${mercurial.version}`), `HGRCPATH='${settings}' exec '${mercurial.hg}' "$@"`);
      const config = [`ui.ssh=${writeScript(temporary('ssh'), 'unset PYTHONHOME PYTHONPATH; exec sh -c "$2"')}`, `ui.remotecmd=${remote}`];
      for (const { hg, version } of requireMercurials(this)) {
        const clone = temporary(`clone-by-${version}`);
        runHgOk(hg, ['clone', '--quiet', '--stream', `ssh://host/${served}`, clone], { config });
        assertPlain(mercurial.hg, clone, served);
        appendFileSync(join(clone, 'notes.txt'), `a change that is pushed by Mercurial ${version}\n`);
        runHgOk(hg, ['commit', '--quiet', '--addremove', '-m', 'pushed'], { cwd: clone });
        runHgOk(hg, ['push', '--quiet'], { cwd: clone, config });
        assertSame(mercurial.hg, served, clone);
        rmSync(clone, { recursive: true });
      }
      const target = temporary(`target-${mercurial.version}`);
      runHgOk(mercurial.hg, ['init', target]);
      withExtension(mercurial.hg, served, ['push', '--quiet', target]);
      assertPlain(mercurial.hg, target, served);
    }
  });

  it('keeps the dictionaries when the store is made anew, and leaves them when asked to', function () {
    for (const mercurial of requireMercurials(this)) {
      const { hg, version } = mercurial;
      const plain = copyOf('plain', mercurial, 'plain');
      const cases = [
        ['kept', [], true],
        ['kept, with another dirstate', ['format.use-dirstate-v2=yes', 'storage.dirstate-v2.slow-path=allow'], true],
        ['left', ['revlogdict.keep=no'], false],
        ['left for zlib', ['format.revlog-compression=zlib'], false],
      ] as const;
      for (const [title, config, kept] of cases) {
        for (const optimize of [[], ['--optimize', 're-delta-all']]) {
          const repository = copyOf('first', mercurial, 'repository');
          withExtension(hg, repository, ['debugupgraderepo', '--run', ...optimize], config);
          assert.equal(requirements(repository).includes(REQUIREMENT), kept, title);
          assert.equal(existsSync(join(repository, FOLDER, 'index.json')), kept, title);
          const engines = config.some((item) => item.endsWith('zlib')) ? [] : [0];
          assert.deepEqual(dictionariesUsed(repository), kept ? [1, 2, 3] : engines, title);
          const slow = ['storage.dirstate-v2.slow-path=allow'];
          assert.equal(runHgOk(hg, ['verify', '--quiet'], { cwd: repository, config: kept ? [...WITH_DICTIONARIES, ...slow] : slow }), '', title);
          if (!title.includes('dirstate')) assertSameStore(hg, plain, repository);
          rmSync(repository, { recursive: true });
        }
      }
      const repository = copyOf('first', mercurial, 'repository');
      withExtension(hg, repository, ['debugupgraderepo', '--run', '--quiet', '--optimize', 're-delta-all', '--manifest']);
      assert.deepEqual(Object.keys(countFrames(repository)).sort(), ALL_COMPRESSED, version);
      assert.match(withExtension(hg, repository, ['debugupgraderepo']), new RegExp(`preserved: .*${REQUIREMENT}`));
    }
  });

  const rewriteListing = (folder: string, change: (text: string) => string): void =>
    writeFileSync(join(folder, 'index.json'), change(readFileSync(join(folder, 'index.json'), 'utf8')));
  const hashOf = (file: string): string => createHash('sha256').update(readFileSync(file)).digest('hex');
  const zdict = (number: number): string => `zstd dictionary ${number}: revlog-dictionaries/${number}\\.zdict`;
  const DAMAGES: readonly (readonly [title: string, damage: (folder: string) => void, message: string])[] = [
    ['a dictionary is missing', (folder) => rmSync(join(folder, '2.zdict')), `${zdict(2)} is missing`],
    ['a dictionary is cut short', (folder) => truncateSync(join(folder, '1.zdict'), 100), `${zdict(1)} is damaged: 100 bytes, expected \\d+`],
    ['a dictionary is changed', (folder) => {
      const bytes = readFileSync(join(folder, '3.zdict'));
      bytes.writeUInt8(bytes.readUInt8(4000) ^ 1, 4000);
      writeFileSync(join(folder, '3.zdict'), bytes);
    }, `${zdict(3)} is damaged: SHA-256 differs from that in revlog-dictionaries/index\\.json`],
    ['a dictionary has another ID', (folder) => {
      const listed = hashOf(join(folder, '2.zdict'));
      copyFileSync(join(folder, '3.zdict'), join(folder, '2.zdict'));
      rewriteListing(folder, (text) => text.replace(listed, hashOf(join(folder, '3.zdict'))));
    }, `${zdict(2)} is damaged: it says that it is dictionary 3`],
    ['a dictionary is not listed', (folder) => rewriteListing(folder, (text) => text.replace('"id": 2', '"id": 9').replace('"manifest": 2', '"manifest": 9')),
      'zstd dictionary 2 is not listed in revlog-dictionaries/index\\.json'],
    ['index.json chooses what is not listed', (folder) => rewriteListing(folder, (text) => text.replace('"manifest": 2', '"manifest": 9')),
      'revlog-dictionaries/index\\.json: dictionary 9 is to be written but is not listed'],
    ['index.json has another version', (folder) => rewriteListing(folder, (text) => text.replace('"version": 1', '"version": 2')),
      'revlog-dictionaries/index\\.json: unknown version 2'],
    ['index.json is no JSON', (folder) => rewriteListing(folder, (text) => text.slice(0, -1)), 'revlog-dictionaries/index\\.json: .*'],
    ['index.json is nested too deeply', (folder) => rewriteListing(folder, () => `${'['.repeat(200_000)}${']'.repeat(200_000)}`), 'revlog-dictionaries/index\\.json: .*'],
    ['index.json is missing', (folder) => rmSync(join(folder, 'index.json')), 'revlog-dictionaries/index\\.json: the file is missing or empty'],
  ];

  for (const [title, damage, message] of DAMAGES) {
    it(`stops and names the file where ${title}`, function () {
      for (const mercurial of requireMercurials(this)) {
        const repository = copyOf('first', mercurial, 'repository');
        damage(join(repository, FOLDER));
        const options = { cwd: repository, config: WITH_DICTIONARIES };
        assert.match(failing(mercurial.hg, ['log', '--patch'], options), new RegExp(`^abort: ${message}\n`, 'm'));
        assert.match(failing(mercurial.hg, ['verify'], options), new RegExp(message));
      }
    });
  }

  it('stops where Mercurial has no zstd module', function () {
    for (const mercurial of requireNew(this)) {
      const options = { cwd: copyOf('first', mercurial, 'repository'), config: WITH_DICTIONARIES, env: { HGZSTDPOLICY: 'none' } };
      assert.match(failing(mercurial.hg, ['log'], options), /^abort: repository has zstd dictionaries, but no zstd module\n/);
    }
  });
});
