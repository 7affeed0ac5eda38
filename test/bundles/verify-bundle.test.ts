import assert from 'node:assert/strict';

import { describe, it } from 'mocha';

import type { BundleVerification } from '../../src/bundles/verify/result.js';
import { verifyBundle } from '../../src/bundles/verify/verify-bundle.js';
import type { BundleItem, ChangegroupRevision, Group } from '../../src/formats/bundle/items.js';
import { hunk, nodeOf, NULL } from '../support/bundle-builder.js';
import type { MadeRevision } from '../support/changegroup-items.js';
import { bundleItems, changegroupPart, CHANGELOG, file, groupItems, makeRevisions, MANIFEST, portions } from '../support/changegroup-items.js';

const OUTSIDE = Buffer.alloc(20, 0xee);

/** Three changesets in a row. */
const CHANGESETS = makeRevisions([{ text: 'c0' }, { text: 'c1', p1: 0 }, { text: 'c2', p1: 1, base: 0, delta: hunk(1, 2, '2') }]);
const LINK = Buffer.from(CHANGESETS[0]?.node ?? NULL);

const linked = (made: readonly MadeRevision[]): ChangegroupRevision[] => makeRevisions(made.map((one) => ({ link: LINK, ...one })));

const verify = (...groups: readonly (readonly BundleItem[])[]): Promise<BundleVerification> =>
  verifyBundle(portions(bundleItems(changegroupPart('02'), groups.flat())), { spoolBytes: 10 });

const withFile = (made: readonly MadeRevision[], group: Group = file('a')): Promise<BundleVerification> =>
  verify(groupItems(CHANGELOG, CHANGESETS), groupItems(MANIFEST, linked([{ text: 'm' }])), groupItems(group, linked(made)));

const hexOf = (node: Uint8Array | undefined): string => Buffer.from(node ?? NULL).toString('hex');

const codesOf = ({ damage }: BundleVerification): string[] => damage.map(({ code }) => code);

describe('verification of a bundle', () => {
  it('finds nothing wrong where nothing is', async () => {
    const found = await withFile([{ text: 'abc' }, { text: 'abcd', p1: 0, base: 0, delta: hunk(3, 3, 'd') }, { text: 'xbc', p1: 0, base: 0 }, { text: 'xbcd', p1: 1, p2: 2, base: 1 }]);
    assert.deepEqual(found.damage, []);
    assert.equal(found.sound, true);
    assert.equal(found.changegroups, 1);
    const none = { unresolved: 0, unhashed: 0, failed: 0 };
    assert.deepEqual(found.kinds, {
      changelog: { groups: 1, revisions: 3, checked: 3, deltaBytes: 41, textBytes: 6, ...none },
      manifest: { groups: 1, revisions: 1, checked: 1, deltaBytes: 13, textBytes: 1, ...none },
      filelog: { groups: 1, revisions: 4, checked: 4, deltaBytes: 59, textBytes: 14, ...none },
    });
    assert.deepEqual([found.outsideBases, found.outsideParents, found.warnings], [0, 0, []]);
  });

  it('names the revision whose text is not what its node says, and counts what is built on it', async () => {
    const found = await withFile([{ text: 'abc' }, { text: 'abx', p1: 0, node: nodeOf(LINK, NULL, 'q') }, { text: 'abxy', p1: 0, base: 1 }, { text: 'fine', p1: 0, base: 0 }]);
    // The third replaces all: it is what its node says, whatever the second is.
    assert.equal(found.damages, 1);
    const broken = await withFile([
      { text: 'abc' },
      { text: 'abx', p1: 0, base: 0, delta: hunk(2, 3, 'z') },
      { text: 'abxy', p1: 0, base: 1, delta: hunk(3, 3, 'y') },
      { text: 'abxyz', p1: 0, base: 2, delta: hunk(4, 4, 'z') },
      { text: 'fine', p1: 0, base: 0 },
    ]);
    const [first, second] = linked([{ text: 'abc' }, { text: 'abx', p1: 0 }]);
    assert.deepEqual(
      broken.damage.map(({ code, message, at }) => ({ code, message, at })),
      [
        {
          code: 'NODE_MISMATCH',
          message: `parents and text hash to ${nodeOf(Buffer.from(first?.node ?? NULL), NULL, 'abz').toString('hex')}, the node is ${hexOf(second?.node)}; 2 revisions built on it fail with it`,
          at: { part: 'changegroup (0)', group: 'a', node: hexOf(second?.node), offset: 1001 },
        },
      ],
    );
    assert.equal(broken.kinds.filelog.failed, 3);
    assert.equal(broken.kinds.filelog.checked, 5);
    assert.equal(broken.sound, false);
  });

  it('says what is wrong with a delta', async () => {
    const found = await withFile([{ text: 'abc' }, { text: 'x', p1: 0, base: 0, delta: hunk(2, 4, 'x') }, { text: 'y', p1: 0, base: 1, delta: hunk(0, 1, 'y') }]);
    assert.deepEqual(codesOf(found), ['DELTA_MALFORMED']);
    assert.match(found.damage[0]?.message ?? '', /^hunk ends at 4, its base at 3 \(byte 0 of the delta\); one revision built on it fails with it$/);
    assert.equal(found.damage[0]?.at.offset, 1001);
    assert.equal(found.kinds.filelog.failed, 2);
    assert.equal(found.kinds.filelog.checked, 1);
  });

  for (const [flags, kind] of [[0x8000, 'censored'], [0x4000, 'ellipsis'], [0x2000, 'external']] as const) {
    it(`does not hash what its flags call ${kind}`, async () => {
      const found = await withFile([{ text: 'abc', flags, node: OUTSIDE }]);
      assert.deepEqual([found.damages, found.kinds.filelog.unhashed, found.kinds.filelog.checked], [0, 1, 0]);
      assert.deepEqual(found.unhashed, { censored: 0, ellipsis: 0, external: 0, [kind]: 1 });
    });
  }

  it('knows what was censored by its text, where there are no flags', async () => {
    const made: MadeRevision[] = [{ text: '\x01\ncensored: gone\n\x01\n', node: OUTSIDE }];
    const found = await withFile(made);
    assert.deepEqual([found.damages, found.unhashed.censored, found.kinds.filelog.checked], [0, 1, 0]);
    assert.deepEqual(codesOf(await verify(groupItems(CHANGELOG, CHANGESETS), groupItems(MANIFEST, linked(made)))), ['NODE_MISMATCH']);
  });

  const [c0, c1] = CHANGESETS;
  for (const [what, run, code, message] of [
    ['a delta base that is nowhere', () => withFile([{ text: 'a', base: OUTSIDE, delta: hunk(0, 0, 'a') }]), 'BASE_MISSING', /^its delta base e{40} is not in the bundle, which has every other ancestor$/],
    ['a delta base that comes later', () => withFile([{ text: 'a', base: nodeOf(NULL, NULL, 'b'), delta: hunk(0, 1, 'a') }, { text: 'b' }]), 'BASE_MISSING', /^its delta base [0-9a-f]{40} comes later in the group$/],
    ['a delta against itself', () => withFile([{ text: 'a', base: nodeOf(NULL, NULL, 'a'), delta: hunk(0, 1, 'a') }]), 'BASE_MISSING', /^its delta base is itself$/],
    ['a parent that is nowhere', () => withFile([{ text: 'a', p1: OUTSIDE }]), 'PARENT_MISSING', /^its first parent e{40} is not in the bundle/],
    ['a second parent that comes later', () => withFile([{ text: 'a', p2: nodeOf(NULL, NULL, 'b') }, { text: 'b' }]), 'PARENT_MISSING', /^its second parent [0-9a-f]{40} comes later in the group$/],
    ['two revisions of one node', () => withFile([{ text: 'a' }, { text: 'a' }]), 'DUPLICATE_NODE', /same node/],
    ['a changeset of a file that is not in the bundle', () => withFile([{ text: 'a', link: OUTSIDE }]), 'LINKREV', /^its changeset e{40} is not in the bundle$/],
    ['a changeset of a manifest that is not in the bundle', () => verify(groupItems(CHANGELOG, CHANGESETS), groupItems(MANIFEST, linked([{ text: 'm', link: OUTSIDE }]))), 'LINKREV', /^its changeset e{40} is not in the bundle$/],
    ['a changeset that names another', () => verify(groupItems(CHANGELOG, [c0, c1].flatMap((one) => (one === undefined ? [] : [{ ...one, linkNode: LINK }])))), 'LINKREV', /^a changeset names itself as its changeset, found/],
    ['a file without revisions', () => withFile([]), 'CHANGEGROUP_MALFORMED', /^the group of a file has no revisions/],
    ['two groups of one file', () => verify(groupItems(CHANGELOG, CHANGESETS), ...['b', 'b'].map((name) => groupItems(file(name), linked([{ text: 'x' }])))), 'CHANGEGROUP_MALFORMED', /^there was a group of this name before$/],
  ] as const) {
    it(`names ${what}`, async () => {
      const found = await run();
      assert.deepEqual(codesOf(found), [code]);
      assert.match(found.damage[0]?.message ?? '', message);
      assert.equal(found.damage[0]?.at.part, 'changegroup (0)');
      assert.equal(typeof found.damage[0].at.group, 'string');
    });
  }

  it('counts what an incremental bundle is built on', async () => {
    const changesets = makeRevisions([{ text: 'c', p1: OUTSIDE, base: OUTSIDE, delta: hunk(3, 3, 'x') }, { text: 'whole', p1: 0 }]);
    const link = Buffer.from(changesets[0]?.node ?? NULL);
    const found = await verify(
      groupItems(CHANGELOG, changesets),
      groupItems(file('a'), makeRevisions([{ text: 'a', p1: OUTSIDE, base: OUTSIDE, delta: hunk(3, 3, 'x'), link }, { text: 'b', p1: 0, base: 0, delta: hunk(9, 9, 'y'), link }])),
    );
    assert.deepEqual(found.damage, []);
    assert.deepEqual([found.outsideParents, found.outsideBases], [2, 2]);
    assert.deepEqual([found.kinds.changelog.unresolved, found.kinds.changelog.checked, found.kinds.filelog.unresolved], [1, 1, 2]);
  });

  it('tells of files that are not sorted, and of directories nothing', async () => {
    const found = await verify(
      groupItems(CHANGELOG, CHANGESETS),
      groupItems({ kind: 'manifest', name: 'b/' }, linked([{ text: 'm' }])),
      groupItems({ kind: 'manifest', name: 'a/' }, linked([{ text: 'm' }])),
      groupItems(file('b'), linked([{ text: 'x' }])),
      groupItems(file('a'), linked([{ text: 'y' }])),
    );
    assert.equal(found.sound, true);
    assert.equal(found.warnings.length, 1);
    assert.match(found.warnings[0] ?? '', /the group of a comes behind that of b/);
  });

  it('lists the first thousand damages, and counts all', async () => {
    const found = await withFile(Array.from({ length: 1500 }, (_, i) => ({ text: `${i}`, node: nodeOf(NULL, NULL, `wrong ${i}`) })));
    assert.equal(found.damages, 1500);
    assert.equal(found.damage.length, 1000);
    assert.equal(found.kinds.filelog.failed, 1500);
  });

  it('looks at two changegroups, and knows the changesets of both', async () => {
    const [one, two] = [makeRevisions([{ text: 'c0' }]), makeRevisions([{ text: 'c1' }])];
    const items = bundleItems(changegroupPart('02'), [
      ...groupItems(CHANGELOG, one),
      { type: 'part-end' },
      { type: 'part', part: { ...changegroupPart('02'), type: 'output', id: 1 }, interrupts: false },
      { type: 'data', bytes: Buffer.from('x') },
      { type: 'part-end' },
      { type: 'part', part: { ...changegroupPart('02'), id: 2 }, interrupts: false },
      ...groupItems(CHANGELOG, two),
      ...groupItems(file('a'), makeRevisions([{ text: 'f', link: Buffer.from(one[0]?.node ?? NULL) }])),
    ]);
    const found = await verifyBundle(portions(items));
    assert.deepEqual([found.damages, found.changegroups, found.kinds.changelog.checked], [0, 2, 2]);
  });

  it('stops when it is told to', async () => {
    const items = portions(bundleItems(changegroupPart('02'), groupItems(CHANGELOG, CHANGESETS)));
    const { signal } = ((): AbortController => {
      const controller = new AbortController();
      controller.abort();
      return controller;
    })();
    await assert.rejects(verifyBundle(items, { signal }), { code: 'CANCELLED' });
  });
});
