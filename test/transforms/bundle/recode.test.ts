import assert from 'node:assert/strict';

import { describe, it } from 'mocha';

import type { WrittenVersion } from '../../../src/formats/bundle/changegroup-version.js';
import type { BundleItem, ChangegroupRevision, Group } from '../../../src/formats/bundle/items.js';
import type { PartHeader } from '../../../src/formats/bundle/part-header.js';
import { createRecodeStage } from '../../../src/transforms/bundle/recode.js';
import { hunk, NULL } from '../../support/bundle-builder.js';
import type { MadeRevision } from '../../support/changegroup-items.js';
import { bundleItems, changegroupPart, CHANGELOG, file, groupItems, makeRevisions, readTexts, revisionsOf, runStage } from '../../support/changegroup-items.js';

const run = (from: string | PartHeader, to: WrittenVersion, group: Group, made: readonly MadeRevision[]): BundleItem[] =>
  runStage(createRecodeStage(to, { spoolBytes: 50 }), bundleItems(typeof from === 'string' ? changegroupPart(from) : from, groupItems(group, makeRevisions(made))));

const partOf = (items: readonly BundleItem[]): PartHeader | undefined => items.find((item) => item.type === 'part')?.part;

const hexOf = (revision: ChangegroupRevision | undefined): string => Buffer.from(revision?.node ?? '').toString('hex');

describe('another version of a changegroup', () => {
  const made: MadeRevision[] = [{ text: 'a\n' }, { text: 'a\nb\n', p1: 0, base: 0 }, { text: 'c\n', p1: 0, base: 0 }, { text: 'd\n', p1: 1, p2: 2 }];

  for (const [from, to] of [['01', '02'], ['01', '03'], ['02', '03'], ['03', '02'], ['04', '03'], ['05', '02']] as const) {
    it(`${from} to ${to}: deltas stay`, () => {
      const after = run(from, to, file('a'), made);
      assert.deepEqual(revisionsOf(after, file('a')), makeRevisions(made));
      assert.deepEqual(partOf(after)?.mandatoryParameters, [{ name: 'version', value: to }]);
    });
  }

  it('to 01: each delta is against the revision before', () => {
    const after = revisionsOf(run('02', '01', file('a'), made), file('a'));
    const before = makeRevisions(made);
    assert.deepEqual(after.map(({ base }) => Buffer.from(base)), [NULL, ...before.slice(0, -1).map(({ node }) => node)]);
    assert.deepEqual(readTexts(after), readTexts(before));
  });

  it('to 01: the first is against its first parent, from wherever that is', () => {
    const outside = Buffer.alloc(20, 0xee);
    const incremental: MadeRevision[] = [{ text: 'a', p1: outside, base: outside, delta: hunk(3, 3, 'x') }, { text: 'b', p1: 0, base: 0, delta: hunk(3, 3, 'y') }];
    assert.deepEqual(revisionsOf(run('02', '01', file('a'), incremental), file('a')), makeRevisions(incremental));
  });

  it('to 01: the first is against its first parent where that is null, and another is not', () => {
    const outside = Buffer.alloc(20, 0xee);
    const after: MadeRevision[] = [{ text: '\x01\n\x01\na', p2: outside }];
    assert.deepEqual(revisionsOf(run('02', '01', file('a'), after), file('a')), makeRevisions(after));
  });

  it('to 01: names the revision whose text is not known', () => {
    const outside = Buffer.alloc(20, 0xee);
    const incremental: MadeRevision[] = [{ text: 'a' }, { text: 'b', p1: outside, base: outside, delta: hunk(3, 3, 'y') }];
    const [, wanting] = makeRevisions(incremental);
    assert.throws(() => run('02', '01', file('dir/a'), incremental), {
      code: 'BASE_MISSING',
      at: { part: 'changegroup (0)', group: 'dir/a', node: hexOf(wanting), offset: 1001 },
    });
  });

  for (const to of ['01', '02'] as const) {
    for (const [flags, names] of [[0x4000, 'ellipsis'], [0x2000, 'stored elsewhere'], [0x2001, 'stored elsewhere, 0x0001']] as const) {
      it(`to ${to}: flags ${flags.toString(16)} are refused`, () => {
        const flagged: MadeRevision[] = [{ text: 'a' }, { text: 'b', flags }];
        assert.throws(() => run('03', to, file('a'), flagged), {
          code: 'BUNDLE_HOLDS',
          message: `flags (${names}), which changegroups of version ${to} have no room for: version 03 has`,
          at: { part: 'changegroup (0)', group: 'a', node: hexOf(makeRevisions(flagged)[1]), offset: 1001 },
        });
      });
    }

    it(`to ${to}: tree manifests are refused, by their groups and by what the part says`, () => {
      const directory: Group = { kind: 'manifest', name: 'dir/' };
      assert.throws(() => run('03', to, directory, [{ text: 'a' }]), { code: 'BUNDLE_HOLDS', at: { part: 'changegroup (0)', group: 'manifest dir/' } });
      const part = changegroupPart('03', [{ name: 'treemanifest', value: '1' }]);
      assert.throws(() => run(part, to, CHANGELOG, [{ text: 'a' }]), { code: 'BUNDLE_HOLDS', at: { part: 'changegroup (0)' } });
    });

    it(`to ${to}: a revision that was censored is told by its text`, () => {
      const tombstone = '\x01\ncensored: gone\n\x01\n';
      const censored: MadeRevision[] = [{ text: 'a\n' }, { text: tombstone, p1: 0, flags: 0x8000 }];
      const after = revisionsOf(run('03', to, file('a'), censored), file('a'));
      assert.deepEqual(after.map(({ flags }) => flags), [0, 0]);
      // Everything is exchanged: otherwise Mercurial does not see it.
      assert.deepEqual(after[1]?.delta, hunk(0, to === '01' ? 2 : 0, tombstone));
    });
  }

  it('to 01: a revision behind one that was censored is refused', () => {
    for (const flags of [0x8000, 0]) {
      const censored: MadeRevision[] = [{ text: 'a\n' }, { text: '\x01\ncensored: gone\n\x01\n', p1: 0, flags }, { text: 'b\n', p1: 1 }];
      assert.throws(() => run('03', '01', file('a'), censored), {
        code: 'BUNDLE_HOLDS',
        message: /which was censored, and Mercurial applies no delta to that/,
        at: { part: 'changegroup (0)', group: 'a', node: hexOf(makeRevisions(censored)[2]), offset: 1002 },
      });
    }
  });

  it('to 02: a revision that was censored, and takes over from another, is refused', () => {
    const censored: MadeRevision[] = [{ text: 'abc' }, { text: 'abcd', p1: 0, base: 0, flags: 0x8000, delta: hunk(3, 3, 'd') }];
    assert.throws(() => run('03', '02', file('a'), censored), { code: 'BUNDLE_HOLDS', at: { offset: 1001, group: 'a', part: 'changegroup (0)', node: hexOf(makeRevisions(censored)[1]) } });
  });

  it('from 04: flags that tell of deltas and metadata go, and parents are put back', () => {
    const newer: MadeRevision[] = [
      { text: 'a', flags: 0x0400 },
      { text: '\x01\ncopy: x\n\x01\nb', p1: 0, flags: 0x0b80 },
      { text: 'c', p1: 0, p2: 1, flags: 0x0880 },
      { text: '\x01\nd', flags: 0x0800 },
      { text: 'e', p1: 0, flags: 0x83c0 },
    ];
    const [n0, n1, n2, n3, n4] = makeRevisions(newer);
    const after = revisionsOf(run('04', '03', file('a'), newer), file('a'));
    assert.deepEqual(after, [{ ...n0, flags: 0 }, { ...n1, flags: 0, p1: NULL, p2: n0?.node }, { ...n2, flags: 0 }, { ...n3, flags: 0 }, { ...n4, flags: 0x8000 }]);
    assert.deepEqual(revisionsOf(run('04', '01', file('a'), newer.slice(0, 2)), file('a'))[1]?.p1, NULL);
  });

  it('from 03: the same bits stay, whatever they mean there', () => {
    const odd: MadeRevision[] = [{ text: 'a' }, { text: 'b', p1: 0, flags: 0x0800 }];
    assert.deepEqual(revisionsOf(run('03', '03', file('a'), odd), file('a')), makeRevisions(odd));
  });

  for (const to of ['01', '02', '03'] as const) {
    it(`from 05 to ${to}: sidedata is refused`, () => {
      const aside: MadeRevision[] = [{ text: 'a' }, { text: 'b', sidedata: Buffer.from('x') }];
      assert.throws(() => run('05', to, CHANGELOG, aside), { code: 'BUNDLE_HOLDS', message: /sidedata/, at: { group: 'changelog', offset: 1001, part: 'changegroup (0)', node: hexOf(makeRevisions(aside)[1]) } });
    });
  }

  it('the part says its version, and no longer how its deltas are compressed', () => {
    const part: PartHeader = {
      ...changegroupPart('04', [{ name: 'nbchanges', value: '7' }, { name: 'delta-compression', value: 'zstd' }]),
      mandatoryParameters: [{ name: 'targetphase', value: '2' }, { name: 'version', value: '04' }],
    };
    const after = partOf(run(part, '03', CHANGELOG, []));
    assert.deepEqual(after?.mandatoryParameters, [{ name: 'targetphase', value: '2' }, { name: 'version', value: '03' }]);
    assert.deepEqual(after.advisoryParameters, [{ name: 'nbchanges', value: '7' }]);
    const silent = partOf(run({ ...changegroupPart('01'), mandatoryParameters: [] }, '02', CHANGELOG, []));
    assert.deepEqual(silent?.mandatoryParameters, [{ name: 'version', value: '02' }]);
  });

  it('tree manifests pass to 03', () => {
    const directory: Group = { kind: 'manifest', name: 'dir/' };
    assert.equal(revisionsOf(run('04', '03', directory, [{ text: 'a' }]), directory).length, 1);
  });
});
