/** `verifyRepository`: silent on what is sound, and each fault once, with its code and place, on what is not. */
import assert from 'node:assert/strict';
import { appendFileSync, symlinkSync, truncateSync } from 'node:fs';
import { join } from 'node:path';

import { describe, it } from 'mocha';

import type { VerifyReport } from '../../src/index.js';
import { verifyRepository } from '../../src/index.js';
import { FIELDS, setChunk, setField } from '../bad-input/support.js';
import type { FixtureName } from '../support/fixtures.js';
import { FIXTURES, useFixtures } from '../support/fixtures.js';
import { buildDamage, HISTORY_DAMAGES, LEGAL_ODDITIES } from '../support/history-damages.js';
import type { BuiltRepository } from '../support/repository-builder.js';
import { buildRepository, rawChunk } from '../support/repository-builder.js';
import { failureOf, int32, patch, picture, Scratch, uint48 } from './support.js';

/** Faults as `CODE path rev`, warnings with `warning ` in front. */
export function saidOf({ damage, warnings }: VerifyReport): string[] {
  const place = ({ code, at }: VerifyReport['damage'][number]): string => [code, at.path ?? '', ...(at.rev === undefined ? [] : [at.rev])].join(' ');
  return [...damage.map(place), ...warnings.map((warning) => `warning ${place(warning)}`)];
}

const verify = (path: string, jobs = 1): Promise<VerifyReport> => verifyRepository(path, { jobs });

describe('verify: what is sound', () => {
  const unpack = useFixtures();
  const scratch = Scratch.use();
  const UNHASHED: Partial<Record<FixtureName, number>> = { censored: 3 };

  for (const name of Object.keys(FIXTURES) as FixtureName[]) {
    it(`${name}: nothing to say, and nothing is written`, async () => {
      const path = unpack(name);
      const before = picture(path);
      const report = await verify(path);
      assert.deepEqual(saidOf(report), []);
      assert.ok(report.changesets > 0 && report.manifests > 0 && report.fileRevisions >= report.files && report.files > 0);
      assert.deepEqual(report.unhashed, { censored: UNHASHED[name] ?? 0, ellipsis: 0, external: 0 });
      assert.deepEqual(picture(path), before);
    });
  }

  for (const odd of LEGAL_ODDITIES) {
    it(odd.title, async () => {
      buildDamage(scratch.at('src'), odd);
      assert.deepEqual(saidOf(await verify(scratch.at('src'))), []);
    });
  }

  it('counts what it looked at', async () => {
    buildRepository(scratch.at('src'), { commits: 5, files: ['a.txt', 'b.txt', 'split.txt'] });
    const { changesets, manifests, files, fileRevisions, unchecked, jobs } = await verify(scratch.at('src'));
    assert.deepEqual([changesets, manifests, files, fileRevisions, unchecked, jobs], [5, 5, 3, 15, 0, 1]);
  });
});

describe('verify: a history that disagrees with itself', () => {
  const scratch = Scratch.use();
  for (const damage of HISTORY_DAMAGES) {
    it(`${damage.title}: ${damage.expected.join(', ')}`, async () => {
      buildDamage(scratch.at('src'), damage);
      assert.deepEqual(saidOf(await verify(scratch.at('src'))), damage.expected);
    });
  }
});

interface ByteDamage {
  readonly title: string;
  readonly damage: (repository: BuiltRepository) => void;
  readonly expected: readonly string[];
  /** Of the first fault. */
  readonly offset?: (repository: BuiltRepository) => number;
  readonly message?: RegExp;
}

const CHUNK = 'data/split.txt.i';
const atChunk =
  (rev: number) =>
  (repository: BuiltRepository): number =>
    repository.revlog(CHUNK).chunkAt(rev);

const BYTES: readonly ByteDamage[] = [
  { title: 'a chunk', damage: setChunk(CHUNK, 0, 4, Buffer.of(0, 0xff)), expected: [`CHUNK_DAMAGED ${CHUNK} 0`], offset: atChunk(0), message: /; 3 revisions built on it, up to rev 3, fail with it$/ },
  { title: 'the last chunk', damage: setChunk(CHUNK, 3, 4, Buffer.of(0, 0xff)), expected: [`CHUNK_DAMAGED ${CHUNK} 3`], offset: atChunk(3), message: /set$/ },
  { title: 'data that ends too early', damage: ({ inStore, revlog }) => truncateSync(inStore('data/split.txt.d'), revlog(CHUNK).chunkAt(2) + 1), expected: [`DATA_TRUNCATED ${CHUNK} 2`], message: /; rev 3, which is built on it, fails with it$/ },
  { title: 'bytes behind the data', damage: ({ inStore }) => appendFileSync(inStore('data/split.txt.d'), 'xxx'), expected: [`DATA_TRAILING ${CHUNK}`], message: /3 bytes/ },
  { title: 'an offset far away', damage: setField(CHUNK, 1, 'offset', uint48(1 << 20)), expected: [`INDEX_ENTRY ${CHUNK} 1`], message: /the next one begins at \d+$/ },
  { title: 'an offset in the chunk before', damage: setField(CHUNK, 2, 'offset', uint48(1)), expected: [`INDEX_ENTRY ${CHUNK} 2`] },
  { title: 'a chunk that reaches into the next', damage: setField(CHUNK, 1, 'chunkLength', int32(1 << 20)), expected: [`INDEX_ENTRY ${CHUNK} 1`] },
  { title: 'a chunk of a negative length', damage: setField(CHUNK, 1, 'chunkLength', int32(-1)), expected: [`INDEX_ENTRY ${CHUNK} 1`] },
  { title: 'two faults in one revlog', damage: (repository) => [0, 3].forEach((rev) => setField(CHUNK, rev, 'p2', int32(99))(repository)), expected: [`INDEX_ENTRY ${CHUNK} 0`, `INDEX_ENTRY ${CHUNK} 3`] },
  { title: 'a chunk of the changelog', damage: setChunk('00changelog.i', 2, 4, Buffer.of(0, 0xff)), expected: ['CHUNK_DAMAGED 00changelog.i 2'] },
  { title: 'a chunk of the manifest', damage: setChunk('00manifest.i', 1, 4, Buffer.of(0, 0xff)), expected: ['CHUNK_DAMAGED 00manifest.i 1'] },
  { title: 'a link where the store ends', damage: ({ inStore }) => symlinkSync('nowhere', inStore('data/gone.txt.i')), expected: ['warning STORE_DISORDER data/gone.txt.i'] },
];

describe('verify: damaged bytes', () => {
  const scratch = Scratch.use();
  for (const { title, damage, expected, offset, message } of BYTES) {
    it(`${title}: ${expected.join(', ')}`, async () => {
      const repository = buildRepository(scratch.at('src'));
      damage(repository);
      const report = await verify(scratch.at('src'));
      assert.deepEqual(saidOf(report), expected);
      if (offset !== undefined) assert.equal(report.damage[0]?.at.offset, offset(repository));
      if (message !== undefined) assert.match(report.damage[0]?.message ?? '', message);
    });
  }

  it('a delta of a manifest that does not end where a line does', async () => {
    const { revlog, inStore } = buildRepository(scratch.at('src'), { compress: rawChunk });
    const at = revlog('00manifest.i').chunkAt(1);
    // The hunk replaces everything but the last byte, and brings everything but it.
    const [, second] = revlog('00manifest.i').revisions;
    const size = second?.rawSize ?? 0;
    const chunk = Buffer.from(second?.chunk ?? []);
    chunk.writeInt32BE(size - 1, 4);
    chunk.writeInt32BE(size - 1, 8);
    patch(inStore('00manifest.i'), at, chunk.subarray(0, chunk.length));
    patch(inStore('00manifest.i'), revlog('00manifest.i').entryAt(1) + FIELDS.chunkLength, int32(chunk.length));
    assert.deepEqual(saidOf(await verify(scratch.at('src'))), ['DELTA_MALFORMED 00manifest.i 1']);
  });
});

describe('verify: in several threads', () => {
  const scratch = Scratch.use();

  it('finds the same, whatever their number', async function () {
    this.timeout(60_000);
    const repository = buildRepository(scratch.at('src'), { commits: 40, files: ['a.txt', 'split.txt', 'split-too.txt'], textBytes: 60_000 });
    setChunk('data/split.txt.i', 20, 4, Buffer.of(0, 0xff))(repository);
    setChunk('00manifest.i', 9, 4, Buffer.of(0, 0xff))(repository);
    const [one, two] = [await verify(scratch.at('src')), await verify(scratch.at('src'), 2)];
    assert.equal(two.jobs, 2);
    assert.deepEqual(saidOf(one), ['CHUNK_DAMAGED 00manifest.i 9', 'CHUNK_DAMAGED data/split.txt.i 20']);
    assert.deepEqual({ ...two, jobs: 1, milliseconds: 0 }, { ...one, milliseconds: 0 });
  });

  it('stops when it is told to, and lets go of its locks', async () => {
    const { hg } = buildRepository(scratch.at('src'), { commits: 40, textBytes: 60_000 });
    const controller = new AbortController();
    const error = await failureOf(verifyRepository(scratch.at('src'), { jobs: 2, signal: controller.signal, onProgress: () => controller.abort() }));
    assert.equal(error.code, 'CANCELLED');
    assert.ok(!Object.keys(picture(hg)).some((name) => name.endsWith('lock')));
  });
});

describe('verify: what cannot be looked at', () => {
  const scratch = Scratch.use();

  it('a folder that is no repository', async () => {
    assert.equal((await failureOf(verify(scratch.at('nothing')))).code, 'NOT_A_REPOSITORY');
  });

  it('a transaction that was not finished', async () => {
    const { inStore } = buildRepository(scratch.at('src'));
    appendFileSync(inStore('journal'), '');
    assert.equal((await failureOf(verify(scratch.at('src')))).code, 'ABANDONED_TRANSACTION');
  });

  it('a repository that is locked', async () => {
    const { hg } = buildRepository(scratch.at('src'));
    symlinkSync('elsewhere:1', join(hg, 'wlock'));
    assert.equal((await failureOf(verifyRepository(scratch.at('src'), { jobs: 1, lockTimeout: 0 }))).code, 'LOCKED');
    assert.deepEqual(saidOf(await verifyRepository(scratch.at('src'), { jobs: 1, lock: false })), []);
  });
});
