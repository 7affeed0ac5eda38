import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, it } from 'mocha';

import type { ConvertOptions, Revision, RevisionBatch } from '../src/index.js';
import { convertRepository, decompress, listRevlogs, readRevlog } from '../src/index.js';
import type { FixtureName } from './support/fixtures.js';
import { FIXTURES, useFixtures } from './support/fixtures.js';
import { isNodeRight, referenceTexts } from './support/reference-texts.js';
import { useTempFolder } from './support/temp-folder.js';

interface Resolved {
  readonly fields: string;
  readonly text: Buffer;
  /** The node is the SHA-1 of the parents and the text. */
  readonly sound: boolean;
}

/** Bits that say how a revision is stored, not what it is. */
const DELTA_FLAGS = 0x07c0;

/** Every revision of every revlog, its text resolved and its node computed anew. */
async function resolveAll(repository: string): Promise<Map<string, Resolved[]>> {
  const all = new Map<string, Resolved[]>();
  for (const files of listRevlogs(repository)) {
    const revisions: Revision[] = [];
    const stream = readRevlog(files).pipe(decompress());
    for await (const batch of stream) revisions.push(...(batch as RevisionBatch).revisions);
    const texts = referenceTexts(revisions);
    const resolved = revisions.map((revision, rev): Resolved => {
      const text = texts[rev] ?? assert.fail(`${files.path}, rev ${rev} cannot be resolved`);
      const fields = [rev, Buffer.from(revision.node).toString('hex'), revision.p1, revision.p2, revision.linkRev, revision.flags & ~DELTA_FLAGS].join(' ');
      return { fields, text, sound: isNodeRight(revisions, rev, text) };
    });
    all.set(files.path, resolved);
  }
  return all;
}

const REDELTAS: readonly ConvertOptions[] = [
  { redelta: 'all' },
  { redelta: 'parent' },
  { redelta: 'fulladd', policy: { preset: 'smallest' } },
  { redelta: 'all', policy: { preset: 'fastest-read', maxChainLength: 2 } },
  { redelta: 'multibase', policy: { deltas: false, changelog: { deltas: true } } },
];

describe('the fixtures, without Mercurial', () => {
  const unpack = useFixtures();
  const temporary = useTempFolder();

  for (const name of Object.keys(FIXTURES) as FixtureName[]) {
    it(`${name}: every text resolves to its node, before and after zstd, lz4 and zlib`, async () => {
      const source = unpack(name);
      const before = await resolveAll(source);
      let revisions = 0;
      for (const [path, list] of before) {
        revisions += list.length;
        for (const { sound, fields } of list) assert.ok(sound, `${path} ${fields}`);
      }
      assert.ok(revisions > 5);
      let from = source;
      for (const to of ['zstd', 'lz4', 'zlib'] as const) {
        const target = temporary(to);
        const summary = await convertRepository(from, target, { to, jobs: 1 });
        assert.deepEqual(summary.warnings, []);
        assert.equal(summary.revisions, revisions);
        assert.deepEqual(await resolveAll(target), before, to);
        from = target;
      }
    });
  }

  for (const name of Object.keys(FIXTURES) as FixtureName[]) {
    it(`${name}: every text resolves to its node with new deltas`, async () => {
      const source = unpack(name);
      const before = await resolveAll(source);
      for (const [i, options] of REDELTAS.entries()) {
        const target = temporary(`redelta-${i}`);
        const summary = await convertRepository(source, target, { jobs: 1, ...options });
        assert.deepEqual(summary.warnings, []);
        assert.deepEqual(await resolveAll(target), before, JSON.stringify(options));
      }
    });
  }

  it('default-zlib: rollback data is left behind, everything else is carried byte for byte', async () => {
    const source = unpack('default-zlib');
    assert.ok(existsSync(join(source, '.hg/store/undo')));
    const summary = await convertRepository(source, temporary('made'), { to: 'zstd', jobs: 1 });
    assert.ok(!existsSync(temporary('made/.hg/store/undo')));
    assert.ok(summary.dropped.some(({ name }) => name === 'store/undo'));
    for (const name of ['dirstate', 'bookmarks', 'store/phaseroots']) {
      if (!existsSync(join(source, '.hg', name))) continue;
      assert.deepEqual(readFileSync(temporary(join('made/.hg', name))), readFileSync(join(source, '.hg', name)), name);
    }
  });
});
