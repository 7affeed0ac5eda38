import assert from 'node:assert/strict';

import { describe, it } from 'mocha';

import { inspectBundle } from '../../src/bundles/inspect/inspect-bundle.js';
import type { InspectRecord } from '../../src/bundles/inspect/records.js';
import { createBundleRenderer, renderJsonRecord } from '../../src/cli/render-bundle.js';
import type { BundleItem } from '../../src/formats/bundle/items.js';
import type { PartHeader } from '../../src/formats/bundle/part-header.js';
import { readBundleItems } from '../../src/streams/bundle/read-bundle.js';
import { tinyBundle, tinyChangegroup, tinyChangegroup01, tinyHistory } from '../support/bundle-builder.js';
import { slices } from '../support/bundle-builder.js';
import { bundleItems, portions } from '../support/changegroup-items.js';
import { bookmark, branch, marker0, marker1, phaseHead, same } from '../support/payload-builder.js';

type Options = Parameters<typeof inspectBundle>[1];

async function inspect(items: AsyncIterable<readonly BundleItem[]>, options?: Options): Promise<InspectRecord[]> {
  const records: InspectRecord[] = [];
  for await (const portion of inspectBundle(items, options)) records.push(...portion);
  return records;
}

/** The records of a part with this payload, which comes in pieces. */
async function inspectPayload(type: string, payload: Buffer, pieceBytes: number, parameters: PartHeader['mandatoryParameters'] = []): Promise<InspectRecord[]> {
  const data: BundleItem[] = [];
  for (let at = 0; at < payload.length; at += pieceBytes) data.push({ type: 'data', bytes: payload.subarray(at, at + pieceBytes) });
  const part = { type, id: 7, mandatory: true, mandatoryParameters: parameters, advisoryParameters: [] };
  const records = await inspect(portions(bundleItems(part, data)), { revisions: 'all' });
  return records.filter(({ record }) => !['bundle', 'part', 'part-end', 'total'].includes(record));
}

const hex = (byte: number, width = 20): string => same(byte, width).toString('hex');

const MARKERS_1 = Buffer.concat([
  Buffer.from([1]),
  marker1({ predecessor: same(0xcc), successors: [same(2), same(1)], parents: [same(3), same(4)], flags: 1, seconds: 1234567.5, minutes: -330, metadata: [['user', 'x'], ['note', 'é']] }),
  marker1({ predecessor: same(0xaa), parents: [] }),
  marker1({ predecessor: same(0x11, 32), successors: [same(0x22, 32)], flags: 2 }),
]);

const MARKERS_0 = Buffer.concat([
  Buffer.from([0]),
  marker0(same(0xbb), [same(1)], 0, `date:12.5 3600\0user:me\0p1:${hex(0x44)}`),
  marker0(same(0xba), [], 0, 'user:a:b\0p0:'),
  marker0(same(0xb0), [], 3, ''),
]);

describe('payloads of parts', () => {
  for (const pieceBytes of [1, 7, 1000]) {
    for (const [type, payload, expected] of [
      ['phase-heads', Buffer.concat([phaseHead(0, same(1)), phaseHead(96, same(2))]), [{ record: 'phase-head', phase: 0, node: hex(1) }, { record: 'phase-head', phase: 96, node: hex(2) }]],
      ['bookmarks', Buffer.concat([bookmark('one', same(1)), bookmark('', same(2))]), [{ record: 'bookmark', name: 'one', node: hex(1) }, { record: 'bookmark', name: '', node: hex(2) }]],
      ['cache:rev-branch-cache', Buffer.concat([branch('default', [same(1), same(2)], [same(3)]), branch('x', [], [])]), [
        { record: 'branch', name: 'default', changesets: 3, closing: 1 },
        { record: 'branch', name: 'x', changesets: 0, closing: 0 },
      ]],
      ['hgtagsfnodes', Buffer.concat([same(1), same(2)]), [{ record: 'tags-fnode', changeset: hex(1), fileNode: hex(2) }]],
      ['obsmarkers', MARKERS_1, [
        { record: 'markers', version: 1, known: true },
        {
          record: 'marker',
          predecessor: hex(0xcc),
          successors: [hex(2), hex(1)],
          flags: 1,
          parents: [hex(3), hex(4)],
          seconds: 1234567.5,
          zone: -19800,
          metadata: [{ name: 'user', value: 'x' }, { name: 'note', value: 'é' }],
        },
        { record: 'marker', predecessor: hex(0xaa), successors: [], flags: 0, parents: [], seconds: 0, zone: 0, metadata: [] },
        { record: 'marker', predecessor: hex(0x11, 32), successors: [hex(0x22, 32)], flags: 2, parents: undefined, seconds: 0, zone: 0, metadata: [] },
      ]],
      ['obsmarkers', MARKERS_0, [
        { record: 'markers', version: 0, known: true },
        { record: 'marker', predecessor: hex(0xbb), successors: [hex(1)], flags: 0, parents: [hex(0x44)], seconds: 12.5, zone: 3600, metadata: [{ name: 'user', value: 'me' }] },
        { record: 'marker', predecessor: hex(0xba), successors: [], flags: 0, parents: [], seconds: 0, zone: 0, metadata: [{ name: 'user', value: 'a:b' }, { name: 'p0', value: '' }] },
        { record: 'marker', predecessor: hex(0xb0), successors: [], flags: 3, parents: undefined, seconds: 0, zone: 0, metadata: [] },
      ]],
      ['obsmarkers', Buffer.from('\x09whatever'), [{ record: 'markers', version: 9, known: false }]],
      ['output', Buffer.from('some text'), []],
    ] as const) {
      it(`${type} in pieces of ${pieceBytes}: ${expected.length} records`, async () => {
        assert.deepEqual(await inspectPayload(type, payload, pieceBytes), expected);
      });
    }
  }

  for (const [what, type, payload, message] of [
    ['a phase without its node', 'phase-heads', phaseHead(1, same(1)).subarray(0, 20), /^the payload ends 20 bytes behind the beginning of an entry/],
    ['a bookmark whose name is cut', 'bookmarks', bookmark('name', same(1)).subarray(0, 24), /^the payload ends 24 bytes behind/],
    ['a branch of more changesets than any has', 'cache:rev-branch-cache', Buffer.concat([Buffer.alloc(4), Buffer.alloc(8, 0xff)]), /^an entry cannot have 171798691812 bytes$/],
    ['a marker that is cut', 'obsmarkers', MARKERS_1.subarray(0, -3), /^the payload ends/],
    ['a marker shorter than its own length', 'obsmarkers', Buffer.from([1, 0, 0, 0, 3]), /^an entry cannot have 3 bytes$/],
    ['a marker too short for its head', 'obsmarkers', Buffer.from([1, 0, 0, 0, 5, 0]), /^a marker of 5 bytes is too short for its head$/],
    ['a marker too short for its successors', 'obsmarkers', Buffer.concat([Buffer.from([1]), lying(16, 9)]), /too short for 9 successors, 0 parents and 0 pieces/],
    ['a marker longer than what it holds', 'obsmarkers', Buffer.concat([Buffer.from([1]), lying(3, 40), Buffer.alloc(1)]), /^a marker of 40 bytes ends at 39$/],
    ['metadata without a name', 'obsmarkers', Buffer.concat([Buffer.from([0]), marker0(same(1), [], 0, 'user:a\0nothing')]), /^metadata of a marker is made of names and values, found "nothing"$/],
    ['a date that is none', 'obsmarkers', Buffer.concat([Buffer.from([0]), marker0(same(1), [], 0, 'date:today')]), /^the date of a marker is made of seconds and a time zone, found "today"$/],
  ] as const) {
    it(`names ${what}`, async () => {
      await assert.rejects(inspectPayload(type, payload, 9), (error: { code?: unknown; message: string; at: { part?: unknown } }) => {
        assert.equal(error.code, 'PART_MALFORMED');
        assert.match(error.message, message);
        assert.equal(error.at.part, `${type} (7)`);
        return true;
      });
    });
  }
});

/** A marker of 39 bytes with one byte changed. */
function lying(at: number, value: number): Buffer {
  const bytes = marker1({ predecessor: same(1) });
  bytes[at] = value;
  return bytes;
}

describe('a bundle looked at', () => {
  const { changesets, manifests, file } = tinyHistory();
  const [c0, c1] = changesets.map(({ node }) => node.toString('hex')) as [string, string];

  for (const [version, payload] of [['02', tinyChangegroup('02')], ['03', tinyChangegroup('03')]] as const) {
    it(`knows what a changegroup of version ${version} takes, to the byte`, async () => {
      const records = await inspect(readBundleItems(slices(tinyBundle(version), 50)), { bytesRead: () => 4711 });
      assert.deepEqual(
        records.map(({ record }) => record),
        ['bundle', 'part', 'group-start', 'group', 'group-start', 'group', 'group-start', 'group', 'part-end', 'total'],
      );
      const end = records.find((one) => one.record === 'part-end');
      assert.deepEqual(end, { record: 'part-end', part: 'changegroup', id: 0, bytes: payload.length });
      const total = records.at(-1);
      assert.ok(total?.record === 'total');
      assert.deepEqual([total.parts, total.bytes, total.storedBytes], [1, payload.length, 4711]);
      assert.deepEqual([total.kinds.changelog.revisions, total.kinds.manifest.revisions, total.kinds.filelog.revisions, total.kinds.filelog.groups], [2, 2, 2, 1]);
      assert.equal(total.kinds.manifest.deltaBytes, manifests.reduce((sum, { delta }) => sum + delta.length, 0));
    });
  }

  it('knows what HG10 takes, to the byte', async () => {
    const payload = tinyChangegroup01();
    const records = await inspect(readBundleItems(slices(Buffer.concat([Buffer.from('HG10UN'), payload]), 50)));
    assert.equal(records.find((one) => one.record === 'part-end')?.bytes, payload.length);
  });

  it('gives revisions as far as they are wanted', async () => {
    const count = async (revisions: 'none' | 'changesets' | 'all'): Promise<number> =>
      (await inspect(readBundleItems(slices(tinyBundle(), 1000)), { revisions })).filter(({ record }) => record === 'revision').length;
    assert.deepEqual([await count('none'), await count('changesets'), await count('all')], [0, 2, 6]);
    const records = await inspect(readBundleItems(slices(tinyBundle(), 1000)), { revisions: 'all' });
    const last = records.filter((one) => one.record === 'revision').at(-1);
    const [f0, f1] = file.map(({ node }) => node.toString('hex'));
    assert.ok(last !== undefined);
    assert.deepEqual(last, { record: 'revision', kind: 'filelog', name: 'a.txt', node: f1, p1: f0, p2: '0'.repeat(40), linkNode: c1, base: f0, flags: 0, deltaBytes: 16, offset: last.offset });
    assert.equal(tinyBundle().subarray(last.offset + 4, last.offset + 24).toString('hex'), f1);
  });

  it('is rendered as Mercurial does', async () => {
    const render = createBundleRenderer(false);
    const records = await inspect(readBundleItems(slices(tinyBundle(), 1000)), { revisions: 'changesets' });
    assert.equal(records.map(render).join(''), `Stream params: {}\nchangegroup -- {nbchanges: 2, version: 02} (mandatory: True)\n    ${c0}\n    ${c1}\n`);
  });

  it('is rendered without more of what is sorted than can be held', () => {
    const render = createBundleRenderer(false, 2);
    const part = { record: 'part', part: 'phase-heads', id: 1, mandatory: true, mandatoryParameters: [], advisoryParameters: [], interrupts: false } as const;
    const heads = [1, 0, 1, 0].map((phase) => ({ record: 'phase-head', phase, node: hex(phase) }) as const);
    const lines = [part, ...heads, { record: 'part-end', part: 'phase-heads', id: 1, bytes: 96 } as const].map(render).join('');
    assert.equal(lines, `${hex(0)} public\n${hex(1)} draft\n... and 2 more, which --json prints\n`);
  });

  it('is a line of JSON for each record, with names that can be shown', async () => {
    const records = await inspectPayload('bookmarks', bookmark('\xc3\xa9\x1b[', same(1)), 100);
    assert.deepEqual(records.map(renderJsonRecord), [`{"record":"bookmark","name":"é\\\\u{1b}[","node":"${hex(1)}"}`]);
    assert.equal(renderJsonRecord({ record: 'group-start', kind: 'changelog', name: '' }), undefined);
  });
});
