import assert from 'node:assert/strict';
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, it } from 'mocha';

import type { CreateFromStreamOptions, StreamOutcome } from '../../src/bundles/stream-clone/create-repository.js';
import { createRepositoryFromStream } from '../../src/bundles/stream-clone/create-repository.js';
import { describeStream } from '../../src/bundles/stream-clone/describe-stream.js';
import type { StreamRepositoryOptions } from '../../src/bundles/stream-clone/stream-repository.js';
import { streamRepository } from '../../src/bundles/stream-clone/stream-repository.js';
import type { ErrorPlace } from '../../src/errors.js';
import { RevconvertError } from '../../src/errors.js';
import type { BundleItem } from '../../src/formats/bundle/items.js';
import { parseBundleSpec } from '../../src/formats/bundle/spec.js';
import { writeBundleBytes } from '../../src/sinks/bundle/write-bundle.js';
import { readBundleItems } from '../../src/streams/bundle/read-bundle.js';
import { partHeader, payload, slices, tinyBundle } from '../support/bundle-builder.js';
import { useFixtures } from '../support/fixtures.js';
import { file, packed1, REQUIREMENTS, stream2 } from '../support/stream-builder.js';
import { useTempFolder } from '../support/temp-folder.js';

const create = (bytes: Buffer, destination: string, options?: CreateFromStreamOptions, slice = 65536): Promise<StreamOutcome> =>
  createRepositoryFromStream(readBundleItems(slices(bytes, slice)), destination, options);

const PACKED1 = parseBundleSpec('packed1');
const STREAM2 = parseBundleSpec('none-v2;stream=v2');

async function streamed(path: string, options: Partial<StreamRepositoryOptions> = {}): Promise<Buffer> {
  const written: Buffer[] = [];
  for await (const piece of writeBundleBytes(streamRepository(path, { spec: PACKED1, ...options }))) written.push(piece);
  return Buffer.concat(written);
}

async function readAll(items: AsyncIterable<unknown>): Promise<void> {
  for await (const portion of items) assert.ok(portion !== undefined);
}

/** All files below a folder, by name. */
function filesBelow(folder: string, prefix = ''): Record<string, string> {
  const found: Record<string, string> = {};
  for (const entry of readdirSync(join(folder, prefix), { withFileTypes: true })) {
    const name = join(prefix, entry.name);
    if (entry.isDirectory()) Object.assign(found, filesBelow(folder, name));
    else found[name] = readFileSync(join(folder, name), 'latin1');
  }
  return found;
}

const fails = (code: string, message: RegExp, at?: ErrorPlace) => (error: unknown): boolean => {
  assert.ok(error instanceof RevconvertError, String(error));
  assert.equal(error.code, code, error.message);
  assert.match(error.message, message);
  if (at !== undefined) assert.deepEqual(error.at, at);
  return true;
};

const DUMMY = '\0\0\xff\xff dummy changelog to prevent using the old repo layout';

describe('createRepositoryFromStream', () => {
  const folder = useTempFolder();

  for (const slice of [1, 7, 65536]) {
    it(`puts each file in its place, out of slices of ${slice}`, async () => {
      const bytes = packed1([file('data/Dir.i.hg/AUX.i', 'one'), file('data/Dir.i.hg/AUX.d', 'two'), file('meta/x/00manifest.i', ''), file('00manifest.i', 'three'), file('00changelog.i', Buffer.alloc(100, 9))]);
      const outcome = await create(bytes, folder('made'), {}, slice);
      assert.deepEqual(filesBelow(folder('made')), {
        '.hg/00changelog.i': DUMMY,
        '.hg/requires': 'share-safe\n',
        '.hg/store/requires': 'dotencode\nfncache\ngeneraldelta\nrevlogv1\nsparserevlog\nstore\n',
        '.hg/store/fncache': 'data/Dir.i.hg/AUX.d\ndata/Dir.i.hg/AUX.i\nmeta/x/00manifest.i\n',
        '.hg/store/data/_dir.i.hg/_a_u_x.i': 'one',
        '.hg/store/data/_dir.i.hg/_a_u_x.d': 'two',
        '.hg/store/meta/x/00manifest.i': '',
        '.hg/store/00manifest.i': 'three',
        '.hg/store/00changelog.i': '\t'.repeat(100),
      });
      assert.equal(outcome.files, 5);
      assert.equal(outcome.bytes, 111);
      assert.deepEqual(readdirSync(folder()), ['made']);
    });
  }

  it('takes phases, markers and caches of stream2, and leaves out what is of no use', async () => {
    const files = [file('phaseroots', 'roots'), file('obsstore', 'markers'), file('00changelog.n', 'map'), file('undo.backup.00changelog.n', 'old'), file('00changelog.i', 'log'), file('tags2', 'cached', { place: 'c' }), file('checkisexec', '', { place: 'c' })];
    const spare = Buffer.concat([partHeader('OBSMARKERS', 1), payload(Buffer.from('the same markers')), partHeader('PHASE-HEADS', 2), payload(Buffer.alloc(24))]);
    await create(stream2(files, {}, spare), folder('made'));
    assert.deepEqual(Object.keys(filesBelow(folder('made'))).sort(), ['.hg/00changelog.i', '.hg/cache/tags2', '.hg/requires', '.hg/store/00changelog.i', '.hg/store/obsstore', '.hg/store/phaseroots', '.hg/store/requires']);
    assert.equal(readFileSync(folder('made/.hg/store/obsstore'), 'latin1'), 'markers');
  });

  it('takes markers that come in a part of their own', async () => {
    await create(stream2([file('00changelog.i', 'log')], {}, partHeader('OBSMARKERS', 1), payload(Buffer.from('in two frames'), 7)), folder('made'));
    assert.equal(readFileSync(folder('made/.hg/store/obsstore'), 'latin1'), 'in two frames');
  });

  it('says that large files stay where they are', async () => {
    const notices: string[] = [];
    await create(packed1([file('00changelog.i', 'log')], { requirements: ['lfs', 'revlogv1'] }), folder('made'), { onNotice: (notice) => notices.push(notice) });
    assert.deepEqual(notices, ['contents of large files (lfs) do not come in a stream clone: Mercurial gets them from where they are served']);
    assert.match(readFileSync(folder('made/.hg/store/requires'), 'latin1'), /^lfs$/m);
  });

  it('makes an empty repository of nothing', async () => {
    await create(packed1([]), folder('made'));
    assert.deepEqual(Object.keys(filesBelow(folder('made'))).sort(), ['.hg/00changelog.i', '.hg/requires', '.hg/store/requires']);
  });

  it('makes it in an empty folder that is there', async () => {
    mkdirSync(folder('made'));
    await create(packed1([file('00changelog.i', 'log')]), folder('made'));
    assert.ok(existsSync(folder('made/.hg/store/00changelog.i')));
  });

  const one = file('00changelog.i', 'log');
  const refusals: readonly (readonly [string, Buffer, string, RegExp])[] = [
    ['two files of one name', packed1([file('data/a.i', 'x'), file('data/a.i', 'y')]), 'PART_MALFORMED', /"data\/a\.i": two files have this name/],
    ['a file out of the store', packed1([file('../hgrc', 'x')]), 'PART_MALFORMED', /is no name/],
    ['requirements of the store among the files', packed1([file('requires', 'x')]), 'PART_MALFORMED', /"requires": it is no file of a store/],
    ['an fncache', stream2([file('fncache', 'x')]), 'PART_MALFORMED', /"fncache": it is no file of a store/],
    ['a lock', stream2([file('lock', 'x')]), 'PART_MALFORMED', /"lock": it is no file of a store/],
    ['a file that is no revlog', packed1([file('data/a.txt', 'x')]), 'PART_MALFORMED', /"data\/a\.txt": it is no file of a store/],
    ['a file of the large files extension', packed1([file('lfs/objects/aa/bb', 'x')]), 'PART_MALFORMED', /it is no file of a store/],
    ['an unknown requirement', packed1([one], { requirements: [...REQUIREMENTS, 'from-the-future'] }), 'UNKNOWN_REQUIREMENT', /from-the-future \(unknown\)/],
    ['a requirement that is refused', stream2([one], { requirements: ['exp-revlogv2.2'] }), 'UNKNOWN_REQUIREMENT', /exp-revlogv2\.2/],
    ['dictionaries', packed1([one], { requirements: ['exp-revlog-zstd-dictionary.1', 'revlog-compression-zstd', 'revlogv1'] }), 'BUNDLE_HOLDS', /does not bring the dictionaries/],
    ['a narrow clone', packed1([one], { requirements: ['narrowhg-experimental', 'revlogv1'] }), 'BUNDLE_HOLDS', /does not bring the patterns/],
    ['a bundle without a stream clone', tinyBundle(), 'BUNDLE_HOLDS', /a changegroup beside a stream clone|there is no stream clone/],
    ['an unknown mandatory part', stream2([one], {}, partHeader('B2X:SOMETHING', 1), payload(Buffer.alloc(0))), 'PART_UNKNOWN', /it is mandatory/],
    ['a bundle that was cut', packed1([file('data/a.i', 'x'), one]).subarray(0, -1), 'BUNDLE_TRUNCATED', /1 bytes before the end of file 2 of 2/],
  ];
  for (const [title, bytes, code, message] of refusals) {
    it(`refuses ${title}: ${code}, and leaves nothing behind`, async () => {
      await assert.rejects(create(bytes, folder('made')), fails(code, message));
      assert.deepEqual(readdirSync(folder()), []);
    });
  }

  it('leaves nothing behind wherever the bundle ends', async () => {
    const bytes = stream2([file('data/a.i', 'first'), file('tags2', 'x', { place: 'c' }), one]);
    for (let end = 0; end < bytes.length; end++) {
      await assert.rejects(create(bytes.subarray(0, end), folder('made')), (error) => error instanceof RevconvertError && ['BUNDLE_TRUNCATED', 'NOT_A_BUNDLE'].includes(error.code), String(end));
      assert.deepEqual(readdirSync(folder()), [], String(end));
    }
  });

  it('does not write over anything', async () => {
    mkdirSync(folder('made'));
    writeFileSync(folder('made/precious'), 'x');
    await assert.rejects(create(packed1([one]), folder('made')), fails('DESTINATION_EXISTS', /not empty/));
    assert.deepEqual(readdirSync(folder('made')), ['precious']);
  });

  it('stops where it is told to', async () => {
    const controller = new AbortController();
    const items = (async function* (): AsyncGenerator<Buffer> {
      const bytes = packed1([file('data/a.i', Buffer.alloc(1 << 20))]);
      for await (const slice of slices(bytes, 4096)) {
        if (existsSync(folder()) && readdirSync(folder()).length > 0) controller.abort();
        yield slice;
      }
    })();
    await assert.rejects(createRepositoryFromStream(readBundleItems(items), folder('made'), { signal: controller.signal }), fails('CANCELLED', /interrupted/));
    assert.deepEqual(readdirSync(folder()), []);
  });
});

describe('streamRepository', () => {
  const folder = useTempFolder();
  const unpack = useFixtures();

  for (const fixture of ['default-zlib', 'zstd', 'split', 'tree-manifests', 'delta-info', 'no-store', 'version-0'] as const) {
    it(`and back: the store of ${fixture} is the same`, async () => {
      const source = unpack(fixture);
      await create(await streamed(source), folder('made'));
      const files = filesBelow(join(folder('made'), '.hg', 'store'));
      const isOld = fixture === 'no-store' || fixture === 'version-0';
      const before = filesBelow(join(source, '.hg', fixture === 'no-store' ? '' : 'store'));
      const isRevlog = (name: string): boolean => /\.[id]$/.test(name) && !/(?:^|\/)undo\./.test(name) && name !== '../00changelog.i';
      const contents = (all: Record<string, string>): string[] => Object.keys(all).filter(isRevlog).map((name) => all[name] ?? '').filter((text) => text !== '').sort();
      assert.deepEqual(contents(files), contents(before));
      if (!isOld) assert.deepEqual(Object.keys(files).filter(isRevlog).sort(), Object.keys(before).filter((name) => isRevlog(name) && before[name] !== '').sort());
    });
  }

  it('converts first, where an engine is asked for', async () => {
    const source = unpack('default-zlib');
    const bytes = await streamed(source, { convert: { to: 'zstd', jobs: 1 }, temporaryFolder: folder() });
    const description = await describeStream(readBundleItems(slices(bytes, 65536)));
    assert.ok(description?.requirements.includes('revlog-compression-zstd'));
    assert.deepEqual(readdirSync(folder()), ['default-zlib'].filter((name) => existsSync(folder(name))));
  });

  it('describes what it makes', async () => {
    const source = unpack('default-zlib');
    const names: string[] = [];
    const description = await describeStream(readBundleItems(slices(await streamed(source, { spec: STREAM2, secret: true }), 65536)), ({ place, name }) => names.push(`${place} ${name}`));
    assert.equal(description?.version, 'stream2');
    assert.equal(description.store.files + description.cache.files, description.files);
    assert.equal(description.store.bytes + description.cache.bytes, description.bytes);
    assert.equal(names.length, description.files);
    assert.ok(names.includes('store 00changelog.i'));
    assert.equal(await describeStream(readBundleItems(slices(tinyBundle(), 100))), undefined);
  });

  it('gives the locks back before the first bytes are taken', async () => {
    const source = unpack('default-zlib');
    const items = streamRepository(source, { spec: PACKED1 });
    await items.next();
    assert.ok(!existsSync(join(source, '.hg/wlock')));
    assert.ok(!existsSync(join(source, '.hg/store/lock')));
    await items.return();
  });

  it('reads what was there when it was locked, though more is appended', async () => {
    const source = unpack('default-zlib');
    const expected = await streamed(source);
    const items = streamRepository(source, { spec: PACKED1 });
    const { value } = await items.next();
    appendFileSync(join(source, '.hg/store/00changelog.i'), 'more');
    appendFileSync(join(source, '.hg/store/00manifest.i'), 'more');
    const again = async function* (): AsyncGenerator<readonly BundleItem[]> {
      if (value !== undefined) yield value;
      yield* items;
    };
    const written: Buffer[] = [];
    for await (const piece of writeBundleBytes(again())) written.push(piece);
    assert.deepEqual(Buffer.concat(written), expected);
  });

  const changes: readonly (readonly [string, (store: string) => void, RegExp])[] = [
    ['is cut', (store) => truncateSync(join(store, '00manifest.i'), 10), /cut to 10 bytes/],
    ['is removed', (store) => renameSync(join(store, '00manifest.i'), join(store, 'gone')), /removed/],
    ['is replaced', (store) => {
      writeFileSync(join(store, 'new'), readFileSync(join(store, '00manifest.i')));
      renameSync(join(store, 'new'), join(store, '00manifest.i'));
    }, /another file took its place/],
  ];
  for (const [title, change, message] of changes) {
    it(`stops where a file ${title} meanwhile: SOURCE_CHANGED`, async () => {
      const source = unpack('default-zlib');
      const items = streamRepository(source, { spec: PACKED1 });
      await items.next();
      change(join(source, '.hg/store'));
      await assert.rejects(readAll(items), fails('SOURCE_CHANGED', message, title === 'is cut' ? { path: '00manifest.i', offset: 10 } : { path: '00manifest.i' }));
    });
  }

  it('stops where changesets were removed and others came: SOURCE_CHANGED', async () => {
    const source = unpack('default-zlib');
    const log = join(source, '.hg/store/00changelog.i');
    const items = streamRepository(source, { spec: PACKED1 });
    await items.next();
    const bytes = readFileSync(log);
    writeFileSync(log, Buffer.concat([bytes.subarray(0, -64), Buffer.alloc(200)]));
    await assert.rejects(readAll(items), fails('SOURCE_CHANGED', /changesets were removed/));
  });

  it('refuses an abandoned transaction, and dictionaries', async () => {
    const source = unpack('zstd');
    writeFileSync(join(source, '.hg/store/journal'), '');
    await assert.rejects(streamed(source), fails('ABANDONED_TRANSACTION', /not finished/));
    const other = unpack('default-zlib');
    appendFileSync(join(other, '.hg/store/requires'), 'exp-revlog-zstd-dictionary.1\nrevlog-compression-zstd\n');
    await assert.rejects(streamed(other), fails('BUNDLE_HOLDS', /does not bring the dictionaries.*compress the store anew/));
  });

  it('refuses secret changesets in stream2, and says so in packed1', async () => {
    const source = unpack('default-zlib');
    writeFileSync(join(source, '.hg/store/phaseroots'), `2 ${'1'.repeat(40)}\n`);
    await assert.rejects(streamed(source, { spec: STREAM2 }), fails('BUNDLE_HOLDS', /secret changesets/));
    const notices: string[] = [];
    await streamed(source, { onNotice: (notice) => notices.push(notice) });
    assert.deepEqual(notices, ['the bundle holds secret changesets, and in packed1 everything is public']);
    assert.ok((await streamed(source, { spec: STREAM2, secret: true, phases: true })).includes(`2 ${'1'.repeat(40)}\n`));
  });

  it('brings phases where the repository does not publish, or where they are asked for', async () => {
    const source = unpack('default-zlib');
    const roots = `1 ${'2'.repeat(40)}\n`;
    writeFileSync(join(source, '.hg/store/phaseroots'), roots);
    const holds = async (options: Partial<StreamRepositoryOptions> = {}): Promise<boolean> => (await streamed(source, { spec: STREAM2, ...options })).includes(roots);
    for (const [hgrc, publishes] of [['', true], ['[phases]\npublish = No\n', false], ['[phases]\npublish=false\n[ui]\npublish = yes\n', false], ['[ui]\npublish = no\n', true], ['[phases]\npublish = no\npublish = yes\n', true], ['[phases]\n# publish = no\n', true]] as const) {
      writeFileSync(join(source, '.hg/hgrc'), hgrc);
      assert.equal(await holds(), !publishes, hgrc);
      assert.equal(await holds({ phases: true }), true);
      assert.equal(await holds({ phases: false }), false);
    }
  });

  it('brings obsolescence markers in stream2 alone', async () => {
    const source = unpack('default-zlib');
    writeFileSync(join(source, '.hg/store/obsstore'), '\x01markers');
    assert.ok((await streamed(source, { spec: STREAM2, secret: true })).includes('\x01markers'));
    await assert.rejects(streamed(source, { spec: STREAM2, secret: true, obsolescence: false }), fails('BUNDLE_HOLDS', /without the obsolescence markers/));
    const notices: string[] = [];
    assert.ok(!(await streamed(source, { onNotice: (notice) => notices.push(notice) })).includes('\x01markers'));
    assert.deepEqual(notices.slice(-1), ['packed1 holds no obsolescence markers: what is hidden here will be visible, and public']);
  });

  it('does not follow a link out of the cache folder that is no file', async () => {
    const source = unpack('default-zlib');
    mkdirSync(join(source, '.hg/cache'), { recursive: true });
    symlinkSync('/dev/zero', join(source, '.hg/cache/tags2-served'));
    assert.ok(!(await streamed(source, { spec: STREAM2, secret: true })).includes('tags2-served'));
  });
});

