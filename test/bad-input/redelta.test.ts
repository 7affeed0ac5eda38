/** A text that is damaged, or not what its node says, is never given a new delta as if it were right. */
import assert from 'node:assert/strict';

import { describe, it } from 'mocha';

import type { ConvertOptions, ErrorCode } from '../../src/index.js';
import { assertFails, convert, int32, picture, readBack, Scratch } from '../repository/support.js';
import { referenceTexts } from '../support/reference-texts.js';
import type { BuiltRepository } from '../support/repository-builder.js';
import { buildRepository, hunk, rawChunk } from '../support/repository-builder.js';
import { setChunk, setField, setRevision } from './support.js';

const INLINE = 'data/a.txt.i';
const SPLIT = 'data/split.txt.i';

interface WrongText {
  readonly title: string;
  readonly name: string;
  readonly rev: number;
  readonly code: ErrorCode;
  readonly damage: (repository: BuiltRepository) => void;
}

const WRONG_TEXTS: readonly WrongText[] = [
  { title: 'a byte of a node, inline', name: INLINE, rev: 1, code: 'NODE_MISMATCH', damage: setField(INLINE, 1, 'node', Buffer.of(0x5a, 0xa5)) },
  { title: 'a byte of a node, split', name: SPLIT, rev: 2, code: 'NODE_MISMATCH', damage: setField(SPLIT, 2, 'node', Buffer.of(0x5a, 0xa5)) },
  { title: 'a byte of a node in the manifest', name: '00manifest.i', rev: 1, code: 'NODE_MISMATCH', damage: setField('00manifest.i', 1, 'node', Buffer.of(0x5a, 0xa5)) },
  { title: 'a byte of a node in the changelog', name: '00changelog.i', rev: 3, code: 'NODE_MISMATCH', damage: setField('00changelog.i', 3, 'node', Buffer.of(0x5a, 0xa5)) },
  { title: 'another parent', name: SPLIT, rev: 3, code: 'NODE_MISMATCH', damage: setField(SPLIT, 3, 'p1', int32(0)) },
  {
    title: 'another delta, which is sound',
    name: SPLIT,
    rev: 1,
    code: 'NODE_MISMATCH',
    damage: setRevision(SPLIT, 1, ({ rawSize }) => ({ chunk: rawChunk(hunk(0, rawSize, Buffer.alloc(rawSize, 'z'))) })),
  },
  { title: 'a chunk that is no stream', name: SPLIT, rev: 0, code: 'CHUNK_DAMAGED', damage: setChunk(SPLIT, 0, 30, Buffer.alloc(20, 0xff)) },
  { title: 'a chunk of no engine', name: INLINE, rev: 2, code: 'CHUNK_MARKER', damage: setChunk(INLINE, 2, 0, Buffer.of(0x12)) },
];

const REDELTA: ConvertOptions = { redelta: 'all', to: 'zstd' };

describe('new deltas of damaged texts', function () {
  this.timeout(60_000);
  const scratch = Scratch.use();
  const target = (name: string): string => scratch.at('dst', '.hg', 'store', name);

  for (const { title, name, rev, code, damage } of WRONG_TEXTS) {
    it(`${title}: stops with ${code} and the place, in every mode`, async () => {
      const repository = buildRepository(scratch.at('src'));
      damage(repository);
      const before = picture(scratch.root);
      for (const redelta of ['parent', 'multibase', 'all', 'fulladd'] as const) {
        const offset = repository.revlog(name).chunkAt(rev);
        await assertFails(convert(scratch.at('src'), scratch.at('dst'), { ...REDELTA, redelta }), { code, path: name, rev, offset });
        assert.deepEqual(picture(scratch.root), before);
      }
    });

    it(`${title}: with --keep-going it keeps its delta, and so does what is built on it`, async () => {
      const repository = buildRepository(scratch.at('src'), { commits: 6 });
      damage(repository);
      const { warnings } = await convert(scratch.at('src'), scratch.at('dst'), { ...REDELTA, keepGoing: true });
      assert.deepEqual([warnings[0]?.code, warnings[0]?.at], [code, { path: name, rev, offset: repository.revlog(name).chunkAt(rev) }]);
      const [from, to] = [await readBack(repository.inStore(name), true), await readBack(target(name), true)];
      const [texts, made] = [referenceTexts(from), referenceTexts(to)];
      const spoilt = new Set([rev]);
      for (const revision of from) if (spoilt.has(revision.deltaBase)) spoilt.add(revision.rev);
      for (const revision of from) {
        const stored = to[revision.rev];
        if (!spoilt.has(revision.rev)) assert.deepEqual(made[revision.rev], texts[revision.rev], `rev ${revision.rev}`);
        else assert.deepEqual([stored?.deltaBase, stored?.delta], [revision.deltaBase, revision.delta], `rev ${revision.rev}`);
        if (revision.damaged) assert.deepEqual(stored?.chunk, revision.chunk);
      }
      for (const stored of to) if (!spoilt.has(stored.rev)) assert.ok(!spoilt.has(stored.deltaBase), `rev ${stored.rev} was built on rev ${stored.deltaBase}`);
    });
  }

  it('--check none computes deltas without looking at nodes, and still stops at what cannot be resolved', async () => {
    setField(SPLIT, 2, 'node', Buffer.of(0x5a, 0xa5))(buildRepository(scratch.at('src')));
    await convert(scratch.at('src'), scratch.at('dst'), { ...REDELTA, check: 'none' });
    const damaged = buildRepository(scratch.at('damaged'));
    setChunk(SPLIT, 0, 30, Buffer.alloc(20, 0xff))(damaged);
    const place = { path: SPLIT, rev: 0, offset: damaged.revlog(SPLIT).chunkAt(0) };
    await assertFails(convert(scratch.at('damaged'), scratch.at('dst-2'), { ...REDELTA, check: 'none' }), { code: 'CHUNK_DAMAGED', ...place });
  });

  for (const [title, value] of [['itself by way of a later one', 3], ['a later one', 2]] as const) {
    it(`a base that is ${title}: DELTA_BASE, and no loop`, async () => {
      setField(SPLIT, 1, 'base', int32(value))(buildRepository(scratch.at('src')));
      await assertFails(convert(scratch.at('src'), scratch.at('dst'), REDELTA), { code: 'DELTA_BASE', path: SPLIT, rev: 1 });
    });
  }
});
