import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { inflateSync } from 'node:zlib';

import { describe, it } from 'mocha';

import { RevconvertError } from '../../../src/errors.js';
import type { BundleItem } from '../../../src/formats/bundle/items.js';
import type { PartHeader } from '../../../src/formats/bundle/part-header.js';
import { writeBundle, writeBundleBytes } from '../../../src/sinks/bundle/write-bundle.js';
import { readBundle, readBundleItems } from '../../../src/streams/bundle/read-bundle.js';
import { bundle2, i32, partHeader, payload, slices, tinyBundle, tinyChangegroup, tinyChangegroup01 } from '../../support/bundle-builder.js';

async function* portions(items: readonly BundleItem[]): AsyncGenerator<readonly BundleItem[], void, void> {
  await Promise.resolve();
  yield items;
}

const write = (items: readonly BundleItem[]): Promise<Buffer> => buffer(writeBundleBytes(portions(items)));

const changegroupPart = (version: string): PartHeader => ({ type: 'changegroup', id: 0, mandatory: true, mandatoryParameters: [{ name: 'version', value: version }], advisoryParameters: [] });

const START = { type: 'bundle', container: 'HG20', compression: 'none', parameters: [] } as const;

const large = Buffer.from(Array.from({ length: 100_000 }, (_, i) => (i * 31) & 255));

/** Uncompressed bundles whose payloads are framed as Mercurial frames them: they must come out as they went in. */
const bundles: readonly (readonly [what: string, bytes: Buffer])[] = [
  ['a bundle 2', tinyBundle('02')],
  ['a changegroup of version 03', tinyBundle('03')],
  ['HG10', Buffer.concat([Buffer.from('HG10UN'), tinyChangegroup01()])],
  ['a stream clone', Buffer.concat([Buffer.from('HGS1UN'), large])],
  ['no parts at all', bundle2()],
  ['parts without payload, and with parameters', bundle2(partHeader('replycaps', 5, [['a', 'b']], [['c', '']]), i32(0), partHeader('OUTPUT', 0x7fffffff), payload(Buffer.from('x')))],
  ['stream parameters', Buffer.concat([Buffer.from('HG20'), i32(11), Buffer.from('a=b%20c%3Bd'), i32(0)])],
  ['frames of many sizes', bundle2(partHeader('obsmarkers', 1), payload(large, 1), partHeader('output', 2), payload(large, 99_999))],
  ['a large frame', bundle2(partHeader('obsmarkers', 1), payload(large, 100_000))],
];

describe('writeBundleBytes', () => {
  for (const [what, bytes] of bundles) {
    for (const records of [true, false]) {
      it(`writes ${what} as it was read, revisions ${records ? 'as records' : 'untouched'}`, async () => {
        assert.deepEqual(await buffer(writeBundleBytes(readBundleItems(slices(bytes, 13), { records }))), bytes);
      });
    }
  }

  it('cuts a changegroup into frames of 32,768 bytes, as Mercurial does', async () => {
    const text = Buffer.alloc(200_000, 'a');
    const revision = { node: Buffer.alloc(20, 1), p1: Buffer.alloc(20), p2: Buffer.alloc(20), base: Buffer.alloc(20), linkNode: Buffer.alloc(20, 1), flags: 0, delta: text, offset: -1 };
    const group = { kind: 'changelog', name: '' } as const;
    const bytes = await write([START, { type: 'part', part: changegroupPart('02'), interrupts: false }, { type: 'group', group }, { type: 'revisions', group, revisions: [revision] }, { type: 'part-end' }, { type: 'end' }]);
    const header = partHeader('CHANGEGROUP', 0, [['version', '02']]);
    const chunk = Buffer.concat([i32(104 + text.length), revision.node, revision.p1, revision.p2, revision.base, revision.linkNode, text]);
    assert.deepEqual(bytes, bundle2(header, payload(Buffer.concat([chunk, i32(0), i32(0), i32(0)]))));
  });

  it('writes the groups that each changegroup has where none came', async () => {
    for (const [version, empties] of [['01', 3], ['02', 3], ['03', 4]] as const) {
      const bytes = await write([START, { type: 'part', part: changegroupPart(version), interrupts: false }, { type: 'part-end' }, { type: 'end' }]);
      assert.deepEqual(bytes, bundle2(partHeader('CHANGEGROUP', 0, [['version', version]]), payload(Buffer.alloc(4 * empties))), version);
    }
  });

  it('puts a part that interrupts in the middle of the other', async () => {
    const part = { type: 'obsmarkers', id: 1, mandatory: false, mandatoryParameters: [], advisoryParameters: [] };
    const other = { ...part, type: 'output', id: 2 };
    const bytes = await write([
      START,
      { type: 'part', part, interrupts: false },
      { type: 'data', bytes: Buffer.from('ab') },
      { type: 'part', part: other, interrupts: true },
      { type: 'data', bytes: Buffer.from('x') },
      { type: 'part-end' },
      { type: 'data', bytes: Buffer.from('cd') },
      { type: 'part-end' },
      { type: 'end' },
    ]);
    const inner = Buffer.concat([i32(-1), partHeader('output', 2), payload(Buffer.from('x'))]);
    assert.deepEqual(bytes, bundle2(partHeader('obsmarkers', 1), i32(2), Buffer.from('ab'), inner, i32(2), Buffer.from('cd'), i32(0)));
  });

  it('names the compression, and compresses all behind the parameters', async () => {
    const items: BundleItem[] = [];
    for await (const portion of readBundleItems(slices(tinyBundle(), 1000))) items.push(...portion);
    const [, ...rest] = items;
    const bytes = await write([{ ...START, compression: 'zlib', parameters: [{ name: 'x', value: 'y' }] }, ...rest]);
    const head = Buffer.concat([Buffer.from('HG20'), i32(18), Buffer.from('Compression=GZ x=y')]);
    assert.deepEqual(bytes.subarray(0, head.length), head);
    assert.deepEqual(inflateSync(bytes.subarray(head.length)), tinyBundle().subarray(8));
  });

  it('leaves no end mark where its items fail', async () => {
    const whole = tinyBundle();
    const failing = async function* (): AsyncGenerator<readonly BundleItem[]> {
      for await (const portion of readBundleItems(slices(whole, 11))) {
        if (portion.some(({ type }) => type === 'part-end')) throw new RevconvertError('BUNDLE_TRUNCATED', 'cut');
        yield portion;
      }
    };
    const given: Buffer[] = [];
    await assert.rejects(
      async () => {
        for await (const piece of writeBundleBytes(failing())) given.push(piece);
      },
      (error) => error instanceof RevconvertError && error.code === 'BUNDLE_TRUNCATED',
    );
    assert.ok(!Buffer.concat(given).equals(whole) && Buffer.concat(given).length < whole.length);
  });

  it('refuses versions that are not written', async () => {
    await assert.rejects(write([START, { type: 'part', part: changegroupPart('04'), interrupts: false }]), (error) => error instanceof RevconvertError && error.code === 'BUNDLE_HOLDS');
  });

  it('refuses groups in no order, chunks of another version, and what is in no part', async () => {
    const begin = [START, { type: 'part', part: changegroupPart('02'), interrupts: false }] as const;
    const file: BundleItem = { type: 'group', group: { kind: 'filelog', name: 'f' } };
    const manifest: BundleItem = { type: 'group', group: { kind: 'manifest', name: '' } };
    const wrong: readonly (readonly BundleItem[])[] = [
      [...begin, file, manifest],
      [...begin, manifest, manifest],
      [...begin, { type: 'group', group: { kind: 'manifest', name: 'tree/' } }],
      [...begin, manifest, { type: 'chunks', group: { kind: 'manifest', name: '' }, version: '03', bytes: [], revisions: 0 }],
      [START, { type: 'data', bytes: large }],
      [START, START],
      [file],
    ];
    for (const items of wrong) await assert.rejects(write(items), (error) => error instanceof RevconvertError && error.code === 'INTERNAL', JSON.stringify(items).slice(0, 200));
  });
});

describe('readBundle and writeBundle', () => {
  it('are streams for pipelines of one\'s own', async () => {
    const whole = bundle2(Buffer.concat([partHeader('CHANGEGROUP', 0, [['version', '02']]), payload(tinyChangegroup())]), partHeader('output', 1), payload(large));
    const out = writeBundle();
    const collected = buffer(out);
    await pipeline(Readable.from(slices(whole, 999)), readBundle(), out);
    assert.deepEqual(await collected, whole);
  });

  it('end with the error of whatever is damaged', async () => {
    const out = writeBundle();
    out.resume();
    await assert.rejects(pipeline(Readable.from(slices(tinyBundle().subarray(0, 200), 50)), readBundle(), out), (error) => error instanceof RevconvertError && error.code === 'BUNDLE_TRUNCATED');
  });
});
