/** What is decided by the header of a part: versions, what a specification wants, what is counted. */
import assert from 'node:assert/strict';

import { describe, it } from 'mocha';

import { countItems } from '../../src/bundles/count-items.js';
import { recodeParts } from '../../src/bundles/recode-parts.js';
import { partsOfSpec } from '../../src/bundles/spec-parts.js';
import { targetVersion, versionOf } from '../../src/bundles/target-version.js';
import type { WrittenVersion } from '../../src/formats/bundle/changegroup-version.js';
import type { Container } from '../../src/formats/bundle/items.js';
import { parseBundleSpec } from '../../src/index.js';
import { bundleItems, changegroupPart, CHANGELOG, file, groupItems, makeRevisions, MANIFEST, revisionsOf, runStage } from '../support/changegroup-items.js';
import { items, part, words } from '../support/part-items.js';

describe('the version of a changegroup', () => {
  for (const [word, version] of [['CHANGEGROUP', '01'], ['CHANGEGROUP=01', '01'], ['changegroup=03', '03'], ['CHANGEGROUP=77', '77']] as const) {
    it(`of ${word} is ${version}`, () => {
      assert.equal(versionOf(part(word)), version);
    });
  }

  const cases: readonly (readonly [own: string, source: Container, spec: string | undefined, target: WrittenVersion | undefined])[] = [
    ['01', 'HG10', undefined, '01'],
    ['01', 'HG10', 'gzip-v1', '01'],
    ['01', 'HG10', 'none-v2', '02'],
    ['01', 'HG10', 'none-v2;cg.version=01', '01'],
    ['01', 'HG10', 'none-v2;cg.version=03', '03'],
    ['01', 'HG20', undefined, '01'],
    ['01', 'HG20', 'none-v2', '01'],
    ['02', 'HG20', undefined, '02'],
    ['02', 'HG20', 'none-v1', '01'],
    ['02', 'HG20', 'zstd-v2', '02'],
    ['02', 'HG20', 'none-v3', '03'],
    ['03', 'HG20', undefined, '03'],
    ['03', 'HG20', 'zstd-v2', '03'],
    ['03', 'HG20', 'zstd-v2;cg.version=02', '02'],
    ['04', 'HG20', 'zstd-v2;cg.version=03', '03'],
    ['05', 'HG20', 'none-v1', '01'],
    ['04', 'HG20', undefined, undefined],
    ['04', 'HG20', 'zstd-v2', undefined],
    ['05', 'HG20', 'zstd-v2', undefined],
  ];
  for (const [own, source, spec, target] of cases) {
    it(`${own} in ${source}, to ${spec ?? 'the same'}: ${target ?? 'refused, with the way out'}`, () => {
      const find = (): string => targetVersion(part(`CHANGEGROUP=${own}`), spec === undefined ? undefined : parseBundleSpec(spec), source);
      if (target !== undefined) assert.equal(find(), target);
      else assert.throws(find, { code: 'BUNDLE_HOLDS', message: `changegroups of version ${own} are read, not written: give --to with cg.version=03`, at: { part: 'changegroup (0)' } });
    });
  }
});

describe('recodeParts', () => {
  const flagged = makeRevisions([{ text: 'a' }, { text: 'b', p1: 0, flags: 0x8000 }]);

  it('makes changegroups of another version, and says so in their header', () => {
    const made = runStage(recodeParts(() => '02'), bundleItems(changegroupPart('03'), groupItems(file('a'), flagged.map((one) => ({ ...one })))));
    assert.equal(words(made), '(CHANGEGROUP=02 g r ) end');
    assert.deepEqual(revisionsOf(made, file('a')).map(({ flags }) => flags), [0, 0]);
  });

  it('leaves those that have the version, chunks that nobody looked at included, and all other parts', () => {
    const before = items('(CHANGEGROUP=02 g r ) (other x !(CHANGEGROUP=02 g r ) y ) end');
    assert.deepEqual(runStage(recodeParts(() => '02'), before), before);
  });

  it('asks for each part by itself', () => {
    const asked: (string | undefined)[] = [];
    const stage = recodeParts((header) => {
      asked.push(versionOf(header));
      return '03';
    });
    const one = (version: string) => bundleItems(changegroupPart(version), groupItems(CHANGELOG, makeRevisions([{ text: version }]))).slice(1, -1);
    const made = runStage(stage, [...one('02'), ...one('03'), ...one('02'), ...items('(other x ) end').slice(1)]);
    assert.deepEqual(asked, ['02', '03', '02']);
    assert.equal(words(made), '(CHANGEGROUP=03 g r ) (CHANGEGROUP=03 g r ) (CHANGEGROUP=03 g r ) (other x ) end');
    stage.close?.();
  });
});

describe('what a specification says of parts', () => {
  const ALL = '(CHANGEGROUP=02 g ) (hgtagsfnodes a ) (cache:rev-branch-cache b ) (OBSMARKERS c ) (PHASE-HEADS d ) end';
  const cases: readonly (readonly [parameters: string, after: string])[] = [
    ['', ALL],
    ['phases=yes;obsolescence=yes;tagsfnodescache=yes;revbranchcache=yes', ALL],
    ['phases=no', ALL.replace('(PHASE-HEADS d ) ', '')],
    ['obsolescence=no', ALL.replace('(OBSMARKERS c ) ', '')],
    ['tagsfnodescache=no', ALL.replace('(hgtagsfnodes a ) ', '')],
    ['revbranchcache=no', ALL.replace('(cache:rev-branch-cache b ) ', '')],
    ['phases=no;obsolescence=no;tagsfnodescache=no;revbranchcache=no', '(CHANGEGROUP=02 g ) end'],
    ['obsolescence-mandatory=no', ALL.replace('OBSMARKERS', 'obsmarkers')],
    ['obsolescence-mandatory=yes', ALL],
  ];
  for (const [parameters, after] of cases) {
    it(`'${parameters}'`, () => {
      const told: string[] = [];
      const stages = partsOfSpec(parseBundleSpec(['none-v2', ...parameters.split(';').filter((one) => one !== '')].join(';')), (notice) => told.push(notice));
      let made = items(ALL);
      for (const stage of stages) made = runStage(stage, made);
      assert.equal(words(made), after);
      assert.deepEqual(told, []);
    });
  }

  for (const [before, notices] of [['(CHANGEGROUP=02 g ) end', 1], ['(CHANGEGROUP=02 g ) (PHASE-HEADS d ) end', 0], ['(STREAM2 x ) end', 0], ['end', 0]] as const) {
    it(`phases=yes of '${before}': ${notices === 0 ? 'nothing' : 'a notice'}`, () => {
      const told: string[] = [];
      const [stage] = partsOfSpec(parseBundleSpec('none-v2;phases=yes'), (notice) => told.push(notice));
      assert.ok(stage !== undefined);
      assert.equal(words(runStage(stage, items(before))), before);
      assert.equal(told.length, notices);
    });
  }
});

describe('countItems', () => {
  it('counts revisions, as records or as chunks, groups of files, and parts', () => {
    const { stage, counts } = countItems();
    assert.deepEqual(counts(), { container: undefined, compression: undefined, parts: [], revisions: { changelog: 0, manifest: 0, filelog: 0 }, files: 0 });
    const two = makeRevisions([{ text: 'a' }, { text: 'b' }]);
    const before = [
      ...bundleItems(changegroupPart('02'), [
        ...groupItems(CHANGELOG, two),
        ...groupItems(MANIFEST, makeRevisions([{ text: 'm' }])),
        ...groupItems({ kind: 'manifest', name: 'dir/' }, two),
        ...groupItems(file('a'), two),
        { type: 'group', group: file('b') },
        { type: 'chunks', group: file('b'), version: '02', bytes: [], revisions: 5 },
      ] as const).slice(0, -1),
      ...items('(other x ) (OUTPUT ) end').slice(1),
    ];
    assert.deepEqual(runStage(stage, before), before);
    assert.deepEqual(counts(), { container: 'HG20', compression: 'none', parts: ['changegroup', 'other', 'output'], revisions: { changelog: 2, manifest: 3, filelog: 7 }, files: 2 });
  });
});
