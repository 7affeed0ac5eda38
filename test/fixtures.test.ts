import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, it } from 'mocha';

import type { Revision, RevisionBatch } from '../src/index.js';
import { convertRepository, decompress, FULL_TEXT, listRevlogs, NULL_BASE, readRevlog } from '../src/index.js';
import type { FixtureName } from './support/fixtures.js';
import { FIXTURES, useFixtures } from './support/fixtures.js';
import { useTempFolder } from './support/temp-folder.js';

/** Hunks onto a text, as plainly as can be. */
function apply(base: Buffer, delta: Buffer): Buffer {
  const parts: Buffer[] = [];
  let copied = 0;
  for (let at = 0; at < delta.length; ) {
    const [start, end, length] = [delta.readInt32BE(at), delta.readInt32BE(at + 4), delta.readInt32BE(at + 8)];
    parts.push(base.subarray(copied, start), delta.subarray(at + 12, at + 12 + length));
    copied = end;
    at += 12 + length;
  }
  return Buffer.concat([...parts, base.subarray(copied)]);
}

const CENSORED = 0x8000;
const NULL_NODE = Buffer.alloc(20);

interface Resolved {
  readonly fields: string;
  readonly text: Buffer;
  /** The node is the SHA-1 of the parents and the text. */
  readonly sound: boolean;
}

/** Every revision of every revlog, its text resolved and its node computed anew. */
async function resolveAll(repository: string): Promise<Map<string, Resolved[]>> {
  const all = new Map<string, Resolved[]>();
  for (const files of listRevlogs(repository)) {
    const resolved: Resolved[] = [];
    const nodes: Buffer[] = [];
    const take = (revision: Revision): void => {
      const delta = Buffer.from(revision.delta ?? assert.fail(`rev ${revision.rev} was not decompressed`));
      const base = revision.deltaBase === NULL_BASE ? Buffer.alloc(0) : resolved[revision.deltaBase]?.text;
      const text = revision.deltaBase === FULL_TEXT ? delta : apply(base ?? assert.fail(`rev ${revision.rev} has no base`), delta);
      const parents = [revision.p1, revision.p2].map((parent) => (parent < 0 ? NULL_NODE : (nodes[parent] ?? NULL_NODE))).sort((a, b) => Buffer.compare(a, b));
      const hash = createHash('sha1').update(Buffer.concat([...parents, text])).digest();
      const node = Buffer.from(revision.node);
      nodes.push(node);
      const fields = [revision.rev, node.toString('hex'), revision.p1, revision.p2, revision.linkRev, revision.flags].join(' ');
      resolved.push({ fields, text, sound: hash.equals(node) || (revision.flags & CENSORED) !== 0 });
    };
    const stream = readRevlog(files).pipe(decompress());
    for await (const batch of stream) (batch as RevisionBatch).revisions.forEach(take);
    all.set(files.path, resolved);
  }
  return all;
}

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
