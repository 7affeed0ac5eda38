/** --keep-going: what is damaged is carried over byte for byte and listed, and all the rest is converted. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, rmSync, truncateSync } from 'node:fs';
import { join } from 'node:path';

import { describe, it } from 'mocha';

import type { ErrorCode } from '../../src/index.js';
import { assertFails, convert, int32, meaningOf, patch, picture, readBack, runCommand, Scratch } from '../repository/support.js';
import type { BuiltRepository, RepositoryOptions } from '../support/repository-builder.js';
import { buildRepository, rawChunk } from '../support/repository-builder.js';
import { setChunk, setField, truncate } from './support.js';

const INLINE = 'data/a.txt.i';
const SPLIT = 'data/split.txt.i';
const DATA = 'data/split.txt.d';
const LARGE: RepositoryOptions = { files: ['split.txt', 'a.txt'], commits: 30, textBytes: 80_000, compress: rawChunk };

/** One revision is damaged: it keeps its chunk, and the others are converted. */
interface DamagedRevision {
  readonly title: string;
  readonly name: string;
  readonly rev: number;
  readonly code: ErrorCode;
  readonly damage: (repository: BuiltRepository) => void;
  readonly build?: RepositoryOptions;
}

const DAMAGED_REVISIONS: readonly DamagedRevision[] = [
  { title: 'inline', name: INLINE, rev: 2, code: 'CHUNK_DAMAGED', damage: setChunk(INLINE, 2, 30, Buffer.alloc(20, 0xff)) },
  { title: 'split', name: SPLIT, rev: 0, code: 'CHUNK_DAMAGED', damage: setChunk(SPLIT, 0, 30, Buffer.alloc(20, 0xff)) },
  { title: 'an unknown marker', name: SPLIT, rev: 3, code: 'CHUNK_MARKER', damage: setChunk(SPLIT, 3, 0, Buffer.of(0x12)) },
  { title: 'a wrong size', name: SPLIT, rev: 1, code: 'CHUNK_SIZE', damage: setField(SPLIT, 1, 'rawSize', int32(4000)) },
  { title: 'the changelog', name: '00changelog.i', rev: 1, code: 'CHUNK_MARKER', damage: setChunk('00changelog.i', 1, 0, Buffer.of(0x12)) },
  { title: 'larger than a MiB', name: SPLIT, rev: 27, code: 'CHUNK_MARKER', damage: setChunk(SPLIT, 27, 0, Buffer.of(0x12)), build: LARGE },
  { title: 'version 0', name: SPLIT, rev: 2, code: 'CHUNK_MARKER', damage: setChunk(SPLIT, 2, 0, Buffer.of(0x12)), build: { layout: 'version 0 in a store' } },
];

describe('--keep-going', function () {
  this.timeout(60_000);
  const scratch = Scratch.use();
  const target = (name: string): string => scratch.at('dst', '.hg', 'store', name);

  describe('a damaged revision keeps its chunk and its marker', () => {
    for (const { title, name, rev, code, damage, build } of DAMAGED_REVISIONS) {
      it(`${title}: ${code}`, async () => {
        const repository = buildRepository(scratch.at('src'), build);
        damage(repository);
        const before = picture(scratch.at('src'));
        const summary = await convert(scratch.at('src'), scratch.at('dst'), { keepGoing: true, jobs: 2 });
        const place = { path: name, rev, offset: repository.revlog(name).chunkAt(rev) };
        assert.deepEqual(summary.warnings.map((warning) => [warning.code, warning.at]), [[code, place]]);
        const from = await readBack(repository.inStore(name), true);
        const to = await readBack(target(name), true);
        assert.deepEqual(to[rev]?.chunk, from[rev]?.chunk);
        assert.deepEqual(to.map(({ damaged }) => damaged), from.map(({ damaged }) => damaged));
        const sound = (revisions: typeof to): typeof to => revisions.filter((revision) => revision.rev !== rev);
        assert.deepEqual(meaningOf(sound(to)), meaningOf(sound(from)));
        for (const { chunk } of sound(to)) assert.ok([0x28, 0x75, 0x00].includes(chunk[0] ?? 0), 'zstd, or raw where that is no larger');
        assert.deepEqual(picture(scratch.at('src')), before);
        await convert(scratch.at('src'), scratch.at('dst-1'), { keepGoing: true, jobs: 1 });
        assert.deepEqual(picture(scratch.at('dst-1')), picture(scratch.at('dst')));
      });
    }
  });

  it('several damaged revisions are all listed', async () => {
    const repository = buildRepository(scratch.at('src'));
    for (const rev of [1, 3]) setChunk(INLINE, rev, 0, Buffer.of(0x12))(repository);
    setChunk('00manifest.i', 2, 0, Buffer.of(0xff))(repository);
    const { warnings } = await convert(scratch.at('src'), scratch.at('dst'), { keepGoing: true });
    assert.deepEqual(warnings.map(({ at }) => `${at.path ?? ''} ${at.rev ?? ''}`).sort(), ['00manifest.i 2', `${INLINE} 1`, `${INLINE} 3`]);
  });

  for (const [title, build, rev] of [['small', {}, 3], ['larger than a MiB', LARGE, 29]] as const) {
    it(`a .d that ends too early, ${title}: the bytes that are there are carried`, async () => {
      const repository = buildRepository(scratch.at('src'), build);
      const at = repository.revlog(SPLIT).chunkAt(rev);
      truncateSync(repository.inStore(DATA), at + 10);
      const { warnings } = await convert(scratch.at('src'), scratch.at('dst'), { keepGoing: true, jobs: 2 });
      assert.deepEqual(warnings.map((warning) => [warning.code, warning.at]), [['DATA_TRUNCATED', { path: SPLIT, rev, offset: at }]]);
      const to = await readBack(target(SPLIT), true);
      assert.deepEqual(Buffer.from(to[rev]?.chunk ?? []), readFileSync(repository.inStore(DATA)).subarray(at));
      assert.deepEqual(to.filter(({ damaged }) => damaged).map((revision) => revision.rev), [rev]);
    });
  }

  it('a .d that lacks several chunks: each of their revisions is listed', async () => {
    const repository = buildRepository(scratch.at('src'));
    truncateSync(repository.inStore(DATA), repository.revlog(SPLIT).chunkAt(1) + 1);
    const { warnings } = await convert(scratch.at('src'), scratch.at('dst'), { keepGoing: true });
    assert.deepEqual(warnings.map(({ code, at }) => [code, at.rev]).sort(), [1, 2, 3].map((rev) => ['DATA_TRUNCATED', rev]));
  });

  const wholes: readonly (readonly [title: string, name: string, code: ErrorCode, damage: (repository: BuiltRepository) => void])[] = [
    ['an index cut in an entry', SPLIT, 'INDEX_TRUNCATED', truncate(SPLIT, () => 100)],
    ['an inline index cut in an entry', INLINE, 'INDEX_TRUNCATED', truncate(INLINE, () => 20)],
    ['a delta base after its revision', SPLIT, 'DELTA_BASE', setField(SPLIT, 1, 'base', int32(2))],
    ['a negative length', SPLIT, 'INDEX_ENTRY', setField(SPLIT, 1, 'chunkLength', int32(-1))],
    ['a docket', SPLIT, 'REVLOG_VERSION', ({ inStore }) => patch(inStore(SPLIT), 0, int32(0xdead))],
    ['an unknown flag', INLINE, 'REVLOG_FLAGS', ({ inStore }) => patch(inStore(INLINE), 0, int32(0x00130001))],
  ];
  describe('a damaged index: the whole revlog is carried byte for byte', () => {
    for (const [title, name, code, damage] of wholes) {
      it(`${title}: ${code}`, async () => {
        const repository = buildRepository(scratch.at('src'));
        damage(repository);
        const { warnings, kinds } = await convert(scratch.at('src'), scratch.at('dst'), { keepGoing: true });
        assert.deepEqual(warnings.map((warning) => [warning.code, warning.at.path]), [[code, name]]);
        assert.match(warnings[0]?.message ?? '', /carried byte for byte/);
        const own = name === SPLIT ? [SPLIT, DATA] : [INLINE];
        for (const file of own) assert.deepEqual(readFileSync(target(file)), readFileSync(repository.inStore(file)));
        const listed = readFileSync(target('fncache'), 'utf8').split('\n').slice(0, -1).sort();
        assert.deepEqual(listed, name === SPLIT ? [INLINE, DATA, SPLIT] : [INLINE, SPLIT]);
        assert.equal(kinds.filelog.revisions, 4, 'the other file is converted');
      });
    }
  });

  it('a .d that is missing: the index is carried, and the list follows', async () => {
    const repository = buildRepository(scratch.at('src'));
    rmSync(repository.inStore(DATA));
    const { warnings } = await convert(scratch.at('src'), scratch.at('dst'), { keepGoing: true });
    assert.deepEqual(warnings.map(({ code, at }) => `${code} ${at.path ?? ''}`), [`REVLOG_MISSING ${DATA}`, `DATA_MISSING ${DATA}`]);
    assert.deepEqual(readFileSync(target(SPLIT)), readFileSync(repository.inStore(SPLIT)));
    assert.deepEqual(readFileSync(target('fncache'), 'utf8').split('\n').slice(0, -1), [INLINE, SPLIT]);
  });

  it('nothing damaged: the same bytes as without it', async () => {
    buildRepository(scratch.at('src'));
    await convert(scratch.at('src'), scratch.at('dst'));
    await convert(scratch.at('src'), scratch.at('dst-2'), { keepGoing: true });
    assert.deepEqual(picture(scratch.at('dst-2')), picture(scratch.at('dst')));
  });

  it('what is wrong with the repository as a whole is refused all the same', async () => {
    const { store } = buildRepository(scratch.at('src'));
    truncateSync(join(store, 'fncache'), 5);
    await assertFails(convert(scratch.at('src'), scratch.at('dst'), { keepGoing: true }), { code: 'FNCACHE_CORRUPT', path: '/fncache', offset: 5 });
    assert.deepEqual(readdirSync(scratch.root), ['src']);
  });

  it('the command lists it, and ends with status 1', async () => {
    const repository = buildRepository(scratch.at('src'));
    setChunk(INLINE, 2, 0, Buffer.of(0x12))(repository);
    const at = repository.revlog(INLINE).chunkAt(2);
    const { status, stdout, stderr } = await runCommand(['--to', 'zstd', '--keep-going', scratch.at('src'), scratch.at('dst')]);
    assert.equal(status, 1);
    assert.equal(stderr, `revconvert: warning: CHUNK_MARKER: ${INLINE}, rev 2, offset ${at}: unknown compression type 12\n`);
    assert.match(stdout, /zlib -> zstd/);
    const json = await runCommand(['--to', 'zstd', '--keep-going', '--json', scratch.at('src'), scratch.at('dst-2')]);
    assert.equal(json.status, 1);
    assert.equal(json.stderr, '');
    assert.deepEqual((JSON.parse(json.stdout) as { warnings: { code: string }[] }).warnings.map(({ code }) => code), ['CHUNK_MARKER']);
  });
});
