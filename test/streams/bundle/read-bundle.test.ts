import assert from 'node:assert/strict';

import { describe, it } from 'mocha';

import type { ErrorCode } from '../../../src/errors.js';
import { RevconvertError } from '../../../src/errors.js';
import type { BundleItem } from '../../../src/formats/bundle/items.js';
import type { ReadBundleOptions } from '../../../src/streams/bundle/read-bundle.js';
import { readBundleItems } from '../../../src/streams/bundle/read-bundle.js';
import type { BuiltRevision } from '../../support/bundle-builder.js';
import { bundle2, chunk, EMPTY_CHUNK, group, i32, namedGroup, NULL, partHeader, payload, revision, slices, tinyBundle, tinyChangegroup, tinyChangegroup01, tinyHistory } from '../../support/bundle-builder.js';

async function read(bytes: Buffer, slice = bytes.length, options: ReadBundleOptions = {}): Promise<BundleItem[]> {
  const items: BundleItem[] = [];
  for await (const portion of readBundleItems(slices(bytes, Math.max(slice, 1)), options)) {
    assert.ok(portion.length > 0);
    items.push(...portion);
  }
  return items;
}

/** What was read, in words that do not depend on how it was cut. */
function outline(items: readonly BundleItem[]): string[] {
  const lines: string[] = [];
  for (const item of items) {
    if (item.type === 'bundle') lines.push(`${item.container} ${item.compression} ${item.parameters.map(({ name, value }) => `${name}=${value}`).join(' ')}`);
    else if (item.type === 'part') lines.push(`${item.interrupts ? '! ' : ''}${item.part.type} ${item.part.id} ${item.part.mandatory}`);
    else if (item.type === 'group') lines.push(`group ${item.group.kind} ${item.group.name}`);
    else if (item.type === 'data') lines.push(`data ${Buffer.from(item.bytes).toString('latin1')}`);
    else if (item.type === 'revisions') for (const one of item.revisions) lines.push([one.node, one.p1, one.p2, one.base, one.linkNode].map((node) => Buffer.from(node).toString('hex')).join(' ') + ` ${one.flags} ${Buffer.from(one.delta).toString('latin1')}`);
    else if (item.type === 'chunks') lines.push(`chunks ${item.version} ${item.revisions} ${Buffer.concat(item.bytes).toString('hex')}`);
    else lines.push(item.type);
  }
  return lines;
}

const lineOf = ({ node, p1 = NULL, p2 = NULL, base = NULL, link, flags = 0, delta }: BuiltRevision): string =>
  [node, p1, p2, base, link].map((one) => one.toString('hex')).join(' ') + ` ${flags} ${delta.toString('latin1')}`;

const { changesets, manifests, file, name } = tinyHistory();

const GROUPS = ['group changelog ', ...changesets.map(lineOf), 'group manifest ', ...manifests.map(lineOf), `group filelog ${name}`, ...file.map(lineOf)];

const SLICES = [1, 7, 65536];

/** So many parts that are open at once, each in the middle of the one before. */
const nested = (depth: number): Buffer => bundle2(...Array.from({ length: depth - 1 }, () => Buffer.concat([partHeader('output', 1), i32(-1)])), partHeader('output', 2), Buffer.alloc(4 * depth));

describe('readBundleItems', () => {
  it('reads sixteen parts that interrupt each other', async () => {
    const lines = outline(await read(nested(16), 7));
    assert.deepEqual(lines, ['HG20 none ', 'output 1 false', ...Array.from({ length: 14 }, () => '! output 1 false'), '! output 2 false', ...Array.from({ length: 16 }, () => 'part-end'), 'end']);
  });

  for (const slice of SLICES) {
    for (const version of ['02', '03'] as const) {
      it(`reads a bundle 2 with changegroup ${version} in slices of ${slice}`, async () => {
        assert.deepEqual(outline(await read(tinyBundle(version), slice)), ['HG20 none ', 'changegroup 0 true', ...GROUPS, 'part-end', 'end']);
      });
    }

    it(`reads HG10, whose bases are implied, in slices of ${slice}`, async () => {
      const items = outline(await read(Buffer.concat([Buffer.from('HG10UN'), tinyChangegroup01()]), slice));
      const [c0, c1] = changesets as [BuiltRevision, BuiltRevision];
      const second = lineOf({ ...c1, base: c0.node, delta: Buffer.concat([i32(0), i32(c0.delta.length - 12), c1.delta.subarray(8)]) });
      assert.deepEqual(items, ['HG10 none ', 'changegroup 0 true', GROUPS[0], lineOf(c0), second, ...GROUPS.slice(3), 'part-end', 'end']);
    });

    it(`reads an HG10 without its header, in slices of ${slice}`, async () => {
      // Mercurial takes what begins with a zero byte for one.
      assert.equal(outline(await read(tinyChangegroup01(), slice))[0], 'HG10 none ');
    });

    it(`leaves revisions as they are where nobody looks at them, in slices of ${slice}`, async () => {
      const lines = outline(await read(tinyBundle(), slice, { records: false }));
      const chunks = [changesets, manifests, file].map((all) => `chunks 02 2 ${Buffer.concat(all.map((one) => revision('02', one))).toString('hex')}`);
      assert.deepEqual(lines.filter((line) => line.startsWith('chunks')), chunks);
    });

    it(`reads parts of all kinds, and one that interrupts, in slices of ${slice}`, async () => {
      const changegroup = tinyChangegroup();
      const interrupt = Buffer.concat([i32(-1), partHeader('output', 9), payload(Buffer.from('hello'))]);
      const cut = payload(changegroup, 50);
      // Behind the third frame of the changegroup.
      const at = 3 * 54;
      const bytes = Buffer.concat([
        Buffer.from('HG20'), i32(9), Buffer.from('a=b%20c x'),
        partHeader('CHANGEGROUP', 0, [['version', '02']]), cut.subarray(0, at), interrupt, cut.subarray(at),
        partHeader('phase-heads', 1), i32(3), Buffer.from('abc'), i32(2), Buffer.from('de'), i32(0),
        partHeader('empty', 2), i32(0), i32(0),
      ]);
      const lines = outline(await read(bytes, slice));
      const interruption = lines.splice(lines.indexOf('! output 9 false'), 3);
      assert.deepEqual(interruption, ['! output 9 false', 'data hello', 'part-end']);
      assert.deepEqual(lines.slice(2, 2 + GROUPS.length), GROUPS);
      assert.deepEqual(lines.slice(-8), ['part-end', 'phase-heads 1 false', 'data abc', 'data de', 'part-end', 'empty 2 false', 'part-end', 'end']);
      assert.equal(lines[0], 'HG20 none a=b c x=');
    });
  }

  it('reads a changegroup of version 05, which Mercurial 6.3 calls 04, with sidedata', async () => {
    const link = Buffer.alloc(20, 1);
    const plain = revision('05', { node: link, link, flags: 0x1000, delta: Buffer.from('d') });
    const withSide = Buffer.from(plain);
    withSide[4] = 1;
    for (const version of ['04', '05']) {
      const bytes = bundle2(partHeader('CHANGEGROUP', 0, [['version', version]]), payload(Buffer.concat([group(plain, withSide, chunk(Buffer.from('side'))), EMPTY_CHUNK, EMPTY_CHUNK, EMPTY_CHUNK])));
      const revisions = (await read(bytes, 7)).flatMap((item) => (item.type === 'revisions' ? item.revisions : []));
      assert.deepEqual(revisions.map(({ flags }) => flags), [0x1000, 0x1000]);
      assert.deepEqual(revisions.map(({ sidedata }) => sidedata?.toString()), [undefined, 'side']);
    }
  });

  it('reads tree manifests', async () => {
    const link = Buffer.alloc(20, 1);
    const tree = namedGroup('a/b/', revision('03', { node: Buffer.alloc(20, 7), link, delta: Buffer.alloc(0) }));
    const bytes = bundle2(partHeader('CHANGEGROUP', 0, [['version', '03'], ['treemanifest', '1']]), payload(Buffer.concat([EMPTY_CHUNK, EMPTY_CHUNK, tree, EMPTY_CHUNK, EMPTY_CHUNK])));
    assert.ok(outline(await read(bytes)).includes('group manifest a/b/'));
  });

  it('says where each revision stands', async () => {
    const bytes = tinyBundle();
    for (const item of await read(bytes, 5)) {
      if (item.type !== 'revisions') continue;
      for (const { offset, node } of item.revisions) assert.deepEqual(bytes.subarray(offset + 4, offset + 24), Buffer.from(node));
    }
  });
});

const fails = async (bytes: Buffer, code: ErrorCode, slice = bytes.length): Promise<RevconvertError> => {
  try {
    await read(bytes, slice);
  } catch (error) {
    assert.ok(error instanceof RevconvertError, String(error));
    assert.equal(error.code, code, error.message);
    return error;
  }
  return assert.fail(`nothing was thrown, ${code} was expected`);
};

describe('bundles that are damaged', () => {
  const whole = tinyBundle();

  it('cut at any byte: an error that says where, and no end', async () => {
    for (let length = 1; length < whole.length; length++) {
      const items: BundleItem[] = [];
      try {
        for await (const portion of readBundleItems(slices(whole.subarray(0, length), 16))) items.push(...portion);
        assert.fail(`cut at ${length}: nothing was thrown`);
      } catch (error) {
        assert.ok(error instanceof RevconvertError, String(error));
        assert.equal(error.code, length < 4 ? 'NOT_A_BUNDLE' : 'BUNDLE_TRUNCATED', `cut at ${length}`);
        assert.ok((error.at.offset ?? -1) <= length);
        assert.ok(!items.some(({ type }) => type === 'end'));
      }
    }
  });

  it('says the part and the group where it is cut', async () => {
    const at = whole.indexOf(chunk(Buffer.from(name))) + 60;
    const error = await fails(whole.subarray(0, at), 'BUNDLE_TRUNCATED');
    assert.deepEqual([error.at.part, error.at.group], ['changegroup (0)', name]);
  });

  it('cut at any byte in HG10', async () => {
    const bytes = Buffer.concat([Buffer.from('HG10UN'), tinyChangegroup01()]);
    for (let length = 6; length < bytes.length; length++) await fails(bytes.subarray(0, length), 'BUNDLE_TRUNCATED', 16);
  });

  it('bytes behind the end', async () => {
    for (const tail of ['x', '\0\0\0\0', 'HG20\0\0\0\0']) {
      const error = await fails(Buffer.concat([whole, Buffer.from(tail)]), 'BUNDLE_TRAILING');
      assert.equal(error.at.offset, whole.length);
      await fails(Buffer.concat([whole, Buffer.from(tail)]), 'BUNDLE_TRAILING', 1);
    }
  });

  const part = (bytes: Buffer, version = '02'): Buffer => bundle2(partHeader('CHANGEGROUP', 0, [['version', version]]), payload(bytes));
  const link = Buffer.alloc(20, 1);
  const cases: readonly (readonly [what: string, bytes: Buffer, code: ErrorCode])[] = [
    ['nothing', Buffer.alloc(0), 'NOT_A_BUNDLE'],
    ['a page of HTML', Buffer.from('<!DOCTYPE html><html><body>404</body></html>'), 'NOT_A_BUNDLE'],
    ['a real gzip file', Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0]), 'NOT_A_BUNDLE'],
    ['a bundle of a later kind', Buffer.from('HG30\0\0\0\0\0\0\0\0'), 'BUNDLE_VERSION'],
    ['HG10 with an unknown compression', Buffer.from('HG10XZabcdef'), 'BUNDLE_VERSION'],
    ['HG10 with zstd, which it does not have', Buffer.from('HG10ZSabcdef'), 'BUNDLE_VERSION'],
    ['a compressed stream clone', Buffer.from('HGS1GZabcdef'), 'BUNDLE_VERSION'],
    ['an unknown mandatory stream parameter', Buffer.concat([Buffer.from('HG20'), i32(3), Buffer.from('Foo'), i32(0)]), 'BUNDLE_PARAMETER'],
    ['an unknown compression', Buffer.concat([Buffer.from('HG20'), i32(14), Buffer.from('Compression=XZ'), i32(0)]), 'BUNDLE_PARAMETER'],
    ['two compressions', Buffer.concat([Buffer.from('HG20'), i32(29), Buffer.from('Compression=UN Compression=UN'), i32(0)]), 'BUNDLE_PARAMETER'],
    ['stream parameters that are no UTF-8', Buffer.concat([Buffer.from('HG20'), i32(5), Buffer.from('a=%ff'), i32(0)]), 'BUNDLE_PARAMETER'],
    ['stream parameters with bytes that are not quoted', Buffer.concat([Buffer.from('HG20'), i32(3), Buffer.from([0x61, 0x3d, 0xff]), i32(0)]), 'BUNDLE_PARAMETER'],
    ['a name that begins with a digit', Buffer.concat([Buffer.from('HG20'), i32(2), Buffer.from('1a'), i32(0)]), 'BUNDLE_PARAMETER'],
    ['stream parameters of a gigabyte', Buffer.concat([Buffer.from('HG20'), i32(1 << 30), Buffer.alloc(64)]), 'BUNDLE_PARAMETER'],
    ['stream parameters of a negative length', Buffer.concat([Buffer.from('HG20'), i32(-2), Buffer.alloc(64)]), 'BUNDLE_PARAMETER'],
    ['a part header of a negative length', Buffer.concat([Buffer.from('HG20'), i32(0), i32(-5)]), 'PART_MALFORMED'],
    ['a part header of a gigabyte', Buffer.concat([Buffer.from('HG20'), i32(0), i32(1 << 30), Buffer.alloc(64)]), 'PART_MALFORMED'],
    ['a frame of a negative length', Buffer.concat([Buffer.from('HG20'), i32(0), partHeader('output', 0), i32(-2)]), 'PART_MALFORMED'],
    ['parts that interrupt each other without end', nested(50_000), 'PART_MALFORMED'],
    ['a part too many that interrupts another', nested(17), 'PART_MALFORMED'],
    ['an interrupt without a part', Buffer.concat([Buffer.from('HG20'), i32(0), partHeader('output', 0), i32(-1), i32(0)]), 'PART_MALFORMED'],
    ['a part that never ends', Buffer.concat([Buffer.from('HG20'), i32(0), partHeader('output', 0), i32(0x7fffffff), Buffer.alloc(1000)]), 'BUNDLE_TRUNCATED'],
    ['a changegroup of an unknown version', part(tinyChangegroup(), '17'), 'CHANGEGROUP_VERSION'],
    ['a chunk of length 1', part(i32(1)), 'CHANGEGROUP_MALFORMED'],
    ['a chunk of length 4', part(i32(4)), 'CHANGEGROUP_MALFORMED'],
    ['a chunk of a negative length', part(i32(-1)), 'CHANGEGROUP_MALFORMED'],
    ['a chunk too short for its header', part(chunk(Buffer.alloc(99))), 'CHANGEGROUP_MALFORMED'],
    ['a chunk longer than the part', part(Buffer.concat([i32(0x7fffffff), Buffer.alloc(200)])), 'CHANGEGROUP_MALFORMED'],
    ['a changegroup that ends early', part(tinyChangegroup().subarray(0, -4)), 'CHANGEGROUP_MALFORMED'],
    ['bytes behind a changegroup', part(Buffer.concat([tinyChangegroup(), Buffer.from('x')])), 'CHANGEGROUP_MALFORMED'],
    ['a directory without a slash', part(Buffer.concat([EMPTY_CHUNK, EMPTY_CHUNK, namedGroup('a', revision('03', { node: link, link, delta: NULL }))]), '03'), 'CHANGEGROUP_MALFORMED'],
  ];
  for (const [what, bytes, code] of cases) {
    it(`${what}: ${code}`, async () => {
      await fails(bytes, code);
      await fails(bytes, code, 1);
    });
  }

  it('a length that lies makes no memory', async () => {
    const before = process.memoryUsage().arrayBuffers;
    await fails(Buffer.concat([Buffer.from('HG10UN'), i32(0x7ffffff0), Buffer.alloc(4096)]), 'BUNDLE_TRUNCATED', 64);
    assert.ok(process.memoryUsage().arrayBuffers - before < 1 << 26);
  });

  it('closes its source when the reader leaves early', async () => {
    let closed = false;
    const source = async function* (): AsyncGenerator<Buffer> {
      try {
        for (;;) {
          await Promise.resolve();
          yield whole.subarray(0, 40);
        }
      } finally {
        closed = true;
      }
    };
    for await (const portion of readBundleItems(source())) if (portion.length > 0) break;
    assert.ok(closed);
  });
});
