import assert from 'node:assert/strict';

import { describe, it } from 'mocha';

import type { Group } from '../../../src/formats/bundle/items.js';
import type { RedeltaMode } from '../../../src/transforms/bundle/redelta.js';
import { createRedeltaStage } from '../../../src/transforms/bundle/redelta.js';
import { hunk, NULL } from '../../support/bundle-builder.js';
import type { MadeRevision } from '../../support/changegroup-items.js';
import { bundleItems, changegroupPart, CHANGELOG, file, groupItems, makeRevisions, MANIFEST, readTexts, revisionsOf, runStage } from '../../support/changegroup-items.js';

const OUTSIDE = Buffer.alloc(20, 0xee);

/** Two branches and their merge, with deltas against what is neither parent nor previous. */
const BRANCHES: readonly MadeRevision[] = [
  { text: 'a\nb\nc\n' },
  { text: 'a\nb\nc\nd\n', p1: 0, base: 0 },
  { text: 'x\nb\nc\n', p1: 0, base: 1 },
  { text: 'x\nb\nc\nd\n', p1: 1, p2: 2 },
  // Look for metadata: the first parent is null.
  { text: '\x01\ncopy: q\n\x01\nb\n', p2: 3, base: 1 },
  { text: '', p1: 4, base: 0 },
];

/** For each mode the places of the bases; -1: the empty text. */
const BASES: Readonly<Record<RedeltaMode, readonly number[]>> = {
  parent: [-1, 0, 0, 1, 3, 4],
  previous: [-1, 0, 1, 2, 3, 4],
  none: [-1, -1, -1, -1, -1, -1],
};

const run = (mode: RedeltaMode, group: Group, made: readonly MadeRevision[]): ReturnType<typeof revisionsOf> =>
  revisionsOf(runStage(createRedeltaStage(mode, { spoolBytes: 100, cacheBytes: 10 }), bundleItems(changegroupPart('02'), groupItems(group, makeRevisions(made)))), group);

describe('redelta of a changegroup', () => {
  for (const [mode, bases] of Object.entries(BASES) as [RedeltaMode, readonly number[]][]) {
    for (const group of [CHANGELOG, MANIFEST, file('a')]) {
      it(`${mode}: ${group.kind}`, () => {
        const before = makeRevisions(BRANCHES);
        const after = run(mode, group, BRANCHES);
        assert.deepEqual(readTexts(after), readTexts(before));
        const untouched = mode === 'none' && group.kind !== 'changelog';
        assert.deepEqual(
          after.map(({ base }) => before.findIndex(({ node }) => Buffer.from(node).equals(base))),
          untouched ? before.map(({ base }) => before.findIndex(({ node }) => Buffer.from(node).equals(base))) : bases,
        );
        for (const [i, revision] of after.entries()) {
          const { base, delta } = revision;
          assert.deepEqual(revision, { ...before[i], base, delta });
        }
      });
    }
  }

  it('keeps a delta that has the right base already', () => {
    const delta = hunk(0, 2, 'a\n');
    const [, after] = run('parent', file('a'), [{ text: 'a\nb\n' }, { text: 'a\nb\n', p1: 0, base: 0, flags: 1, delta }]);
    assert.deepEqual(after?.delta, delta);
  });

  it('writes an empty text against nothing as one hunk, as Mercurial does', () => {
    const [after] = run('none', CHANGELOG, [{ text: '', delta: Buffer.alloc(0), base: 0 }]);
    assert.deepEqual(after?.delta, Buffer.alloc(0));
    const [, second] = run('none', CHANGELOG, [{ text: 'a' }, { text: '', p1: 0, base: 0 }]);
    assert.deepEqual(second?.delta, hunk(0, 0, ''));
  });

  it('exchanges whole lines in manifests', () => {
    const [one, other] = ['a\0' + '1'.repeat(40) + '\n', 'a\0' + '2'.repeat(40) + '\n'];
    const [, , after] = run('parent', MANIFEST, [{ text: one }, { text: 'z\0' + '3'.repeat(40) + '\n' }, { text: other, p1: 0, base: 1 }]);
    assert.deepEqual(after?.delta, hunk(0, one.length, other));
  });

  it('keeps whole what was censored, and what would be built on it', () => {
    const tombstone = '\x01\ncensored: gone\n\x01\n';
    for (const mode of ['parent', 'previous'] as const) {
      for (const flags of [0x8000, 0]) {
        const made: MadeRevision[] = [{ text: 'a\nb\n' }, { text: tombstone, p1: 0, flags, base: 0 }, { text: 'a\nb\nc\n', p1: 1, base: 0 }, { text: 'a\nb\nc\nd\n', p1: 2, base: 0 }];
        const [, censored, child, grandchild] = run(mode, file('a'), made);
        // Where nothing has to be made anew, nothing is looked at.
        if (flags !== 0) assert.deepEqual([Buffer.from(censored?.base ?? ''), censored?.delta], [NULL, hunk(0, 0, tombstone)]);
        assert.deepEqual([Buffer.from(child?.base ?? ''), child?.delta], [NULL, hunk(0, 0, 'a\nb\nc\n')]);
        assert.deepEqual(grandchild?.delta, hunk(6, 6, 'd\n'));
      }
    }
  });

  it('makes anew a delta that takes over from a revision that was censored', () => {
    const made: MadeRevision[] = [{ text: 'abc', flags: 0x8000 }, { text: 'abcd', p1: 0, base: 0, delta: hunk(3, 3, 'd') }];
    const [, child] = run('parent', file('a'), made);
    assert.deepEqual([Buffer.from(child?.base ?? ''), child?.delta], [NULL, hunk(0, 0, 'abcd')]);
  });

  it('keeps what is built on revisions from outside of the bundle where it need not be made anew', () => {
    const made: MadeRevision[] = [{ text: 'a', p1: OUTSIDE, base: OUTSIDE, delta: hunk(1, 2, 'a') }, { text: 'b', p1: 0, base: 0, delta: hunk(5, 5, 'b') }];
    for (const mode of ['parent', 'previous'] as const) assert.deepEqual(run(mode, file('a'), made), makeRevisions(made));
  });

  for (const [what, made, node] of [
    ['the base', [{ text: 'a', p1: OUTSIDE, base: OUTSIDE, delta: hunk(1, 2, 'a') }, { text: 'b', p2: 0, base: 0, delta: hunk(5, 5, 'b') }, { text: 'c', p1: 0, base: 1, delta: hunk(0, 1, 'c') }], 2],
    ['the parent', [{ text: 'a' }, { text: 'b', p1: OUTSIDE, base: 0 }], 1],
  ] as const satisfies readonly (readonly [string, readonly MadeRevision[], number])[]) {
    it(`names the revision where ${what} is not in the bundle`, () => {
      const expected = Buffer.from(makeRevisions(made)[node]?.node ?? '').toString('hex');
      assert.throws(() => run('parent', file('dir/a'), made), { code: 'BASE_MISSING', at: { part: 'changegroup (0)', group: 'dir/a', node: expected, offset: 1000 + node } });
    });
  }

  it('says which delta is malformed', () => {
    const made: MadeRevision[] = [{ text: 'abc' }, { text: 'x', p1: 0, base: 0, delta: hunk(2, 4, 'x') }, { text: 'y', p1: 0, base: 1, delta: hunk(0, 1, 'y') }];
    assert.throws(() => run('parent', file('a'), made), { code: 'DELTA_MALFORMED', message: /hunk ends at 4, its base at 3/ });
  });

  it('lets other parts pass, also in the middle of a changegroup', () => {
    const stage = createRedeltaStage('parent');
    const revisions = makeRevisions(BRANCHES);
    const items = bundleItems(changegroupPart('02'), [
      ...groupItems(CHANGELOG, revisions.slice(0, 2)),
      { type: 'part', part: { ...changegroupPart('02'), type: 'output', id: 1 }, interrupts: true },
      { type: 'data', bytes: Buffer.from('said') },
      { type: 'part-end' },
      { type: 'revisions', group: CHANGELOG, revisions: revisions.slice(2) },
    ]);
    const after = runStage(stage, items);
    assert.deepEqual(after.map(({ type }) => type), items.map(({ type }) => type));
    assert.deepEqual(readTexts(revisionsOf(after, CHANGELOG)), readTexts(makeRevisions(BRANCHES)));
  });

  it('wants records', () => {
    const stage = createRedeltaStage('parent');
    const items = bundleItems(changegroupPart('02'), [{ type: 'group', group: CHANGELOG }, { type: 'chunks', group: CHANGELOG, version: '02', bytes: [], revisions: 0 }]);
    assert.throws(() => runStage(stage, items), { code: 'INTERNAL' });
  });
});
