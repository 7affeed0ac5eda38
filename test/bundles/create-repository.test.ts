/** Repositories made of bundles made by hand, true ones and lying ones. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';

import { describe, it } from 'mocha';

import { createRepository } from '../../src/bundles/to-repository/create-repository.js';
import type { CreateOptions } from '../../src/bundles/to-repository/options.js';
import type { CreationSummary } from '../../src/bundles/to-repository/summary.js';
import type { ErrorCode, ErrorPlace } from '../../src/errors.js';
import { RevconvertError } from '../../src/errors.js';
import { readBundleItems } from '../../src/streams/bundle/read-bundle.js';
import { openRevlog } from '../../src/streams/read-revlog.js';
import type { BuiltRevision } from '../support/bundle-builder.js';
import { bundle2, EMPTY_CHUNK, group, hunk, i32, namedGroup, nodeOf, NULL, partHeader, payload, revision, slices, tinyBundle, tinyChangegroup, tinyHistory } from '../support/bundle-builder.js';
import { useTempFolder } from '../support/temp-folder.js';

type Told = ReturnType<typeof tinyHistory>;

interface Written {
  changesets: BuiltRevision[];
  manifests: BuiltRevision[];
  file: BuiltRevision[];
  name: string;
}

const NOWHERE = Buffer.alloc(20, 0x77);

/** The little history, changed, as a bundle; in version 03, which says everything. */
function bundleOf(change: (history: Written) => void): Buffer {
  const { changesets, manifests, file, name }: Told = tinyHistory();
  const history: Written = { changesets: [...changesets], manifests: [...manifests], file: [...file], name };
  change(history);
  const write = (one: BuiltRevision): Buffer => revision('03', one);
  const bytes = Buffer.concat([
    group(...history.changesets.map(write)),
    group(...history.manifests.map(write)),
    EMPTY_CHUNK,
    namedGroup(history.name, ...history.file.map(write)),
    EMPTY_CHUNK,
  ]);
  return bundle2(Buffer.concat([partHeader('CHANGEGROUP', 0, [['version', '03']]), payload(bytes)]));
}

const at = <T>(list: readonly T[], index: number): T => list[index] ?? assert.fail();

/** Replaces fields of one revision. */
const lie = (list: BuiltRevision[], index: number, fields: Partial<BuiltRevision>): void => {
  list[index] = { ...at(list, index), ...fields };
};

const changegroup = (advisory: readonly (readonly [string, string])[] = [], mandatory: readonly (readonly [string, string])[] = []): Buffer =>
  Buffer.concat([partHeader('CHANGEGROUP', 0, [['version', '02'], ...mandatory], advisory), payload(tinyChangegroup())]);

const part = (type: string, bytes: Buffer, mandatory: readonly (readonly [string, string])[] = []): Buffer => Buffer.concat([partHeader(type, 7, mandatory), payload(bytes)]);

const phase = (number: number, node: Buffer): Buffer => Buffer.concat([i32(number), node]);

const create = (bytes: Buffer, destination: string, options: CreateOptions = {}, records = false): Promise<CreationSummary> =>
  createRepository(readBundleItems(slices(bytes, 1 << 16), { records }), destination, options);

describe('createRepository', () => {
  const temporary = useTempFolder();

  const revlog = (name: string): ReturnType<typeof openRevlog> => {
    const file = `${temporary('made')}/.hg/store/${name}`;
    return openRevlog({ indexFile: `${file}.i`, dataFile: `${file}.d` });
  };

  /** p1, p2, linkrev and flags of each revision of a revlog. */
  const entries = (name: string): readonly (readonly number[])[] => {
    const reader = revlog(name);
    reader.close();
    const { index } = reader;
    return Array.from({ length: index.length }, (_, rev) => [index.p1(rev), index.p2(rev), index.linkRev(rev), index.flags(rev)]);
  };

  it('makes what the bundle says, and says what it made', async () => {
    const summary = await create(tinyBundle(), temporary('made'), { to: 'zlib' });
    assert.equal(summary.changesets, 2);
    assert.equal(summary.revisions, 6);
    assert.deepEqual(summary.requirements, ['dotencode', 'fncache', 'generaldelta', 'revlogv1', 'share-safe', 'sparserevlog', 'store']);
    assert.equal(summary.kinds.filelog.revlogs, 1);
    assert.equal(readFileSync(temporary('made/.hg/store/fncache'), 'utf8'), 'data/a.txt.i\n');
    assert.equal(readFileSync(temporary('made/.hg/requires'), 'utf8'), 'share-safe\n');
    const [c0] = tinyHistory().changesets;
    assert.equal(readFileSync(temporary('made/.hg/store/phaseroots'), 'utf8'), `1 ${c0?.node.toString('hex') ?? ''}\n`);
    assert.deepEqual(entries('data/a.txt'), [[-1, -1, 0, 0], [0, -1, 1, 0]]);
    assert.deepEqual(entries('00manifest'), [[-1, -1, 0, 0], [0, -1, 1, 0]]);
    assert.deepEqual(entries('00changelog'), [[-1, -1, 0, 0], [0, -1, 1, 0]]);
    assert.deepEqual(readdirSync(temporary()), ['made']);
  });

  it('takes records as it takes chunks', async () => {
    for (const [name, records] of [['made', true], ['other', false]] as const) await create(tinyBundle('03'), temporary(name), {}, records);
    for (const name of ['00changelog.i', '00manifest.i', 'data/a.txt.i']) {
      assert.deepEqual(readFileSync(temporary(`made/.hg/store/${name}`)), readFileSync(temporary(`other/.hg/store/${name}`)), name);
    }
  });

  it('lets in whom the umask lets in, or whom an empty folder that is there does', async () => {
    await create(tinyBundle(), temporary('made'));
    mkdirSync(temporary('plain'));
    assert.equal(statSync(temporary('made')).mode, statSync(temporary('plain')).mode);
    mkdirSync(temporary('closed'), { mode: 0o700 });
    await create(tinyBundle(), temporary('closed'));
    assert.equal(statSync(temporary('closed')).mode & 0o777, 0o700);
  });

  it('passes over a second revision of the same node, as Mercurial does', async () => {
    await create(bundleOf(({ file, changesets, manifests }) => {
      file.splice(1, 0, { ...at(file, 0), link: at(changesets, 1).node });
      changesets.push(at(changesets, 0));
      manifests.push(at(manifests, 0));
    }), temporary('made'));
    assert.deepEqual(entries('data/a.txt'), [[-1, -1, 0, 0], [0, -1, 1, 0]]);
    assert.equal(entries('00changelog').length, 2);
  });

  it('makes nothing of nothing', async () => {
    const { changesets, revisions } = await create(bundle2(), temporary('made'));
    assert.deepEqual([changesets, revisions], [0, 0]);
    assert.deepEqual(readdirSync(temporary('made/.hg/store')), ['requires']);
  });

  it('encodes names, and hashes those that are long', async () => {
    const name = `${'Long Name/'.repeat(14)}aux.txt`;
    await create(bundleOf((history) => {
      history.name = name;
    }), temporary('made'));
    assert.equal(readFileSync(temporary('made/.hg/store/fncache'), 'utf8'), `data/${name}.i\n`);
    assert.deepEqual(readdirSync(temporary('made/.hg/store/dh')), ['long nam']);
  });

  it('says how far it has come, and stops when it is told to', async () => {
    const seen: number[] = [];
    await create(tinyBundle(), temporary('made'), { onProgress: ({ revlogsDone }) => seen.push(revlogsDone) });
    assert.equal(seen.at(-1), 3);
    const controller = new AbortController();
    controller.abort();
    await assert.rejects(create(tinyBundle(), temporary('other'), { signal: controller.signal }), { code: 'CANCELLED' });
    assert.deepEqual(readdirSync(temporary()), ['made']);
  });

  it('passes on what the sender said', async () => {
    const notices: string[] = [];
    const { notices: told } = await create(bundle2(part('output', Buffer.from('hello\nworld\x1b[1m\n')), part('something', Buffer.alloc(3)), changegroup()), temporary('made'), { onNotice: (notice) => notices.push(notice) });
    assert.deepEqual(notices, ['remote: hello', 'remote: world\\u{1b}[1m', 'part something (7) was left out: nothing is known of it, and it is not mandatory']);
    assert.deepEqual(told, notices);
  });

  it('finds by the check of nodes what only rebuilding a text shows', async () => {
    const long = 'a line\n'.repeat(100);
    const lying = bundleOf(({ file, changesets }) => {
      const first = nodeOf(NULL, NULL, long);
      file[0] = { node: first, link: at(changesets, 0).node, delta: hunk(0, 0, long) };
      // Small enough to be stored as it comes: its text is built by nobody.
      file[1] = { node: NOWHERE, p1: first, base: first, link: at(changesets, 1).node, delta: hunk(0, 2, 'b ') };
    });
    await create(lying, temporary('made'));
    await assert.rejects(create(lying, temporary('checked'), { check: 'nodes' }), { code: 'NODE_MISMATCH', at: { path: 'data/a.txt.i', rev: 1, offset: 152 } });
    assert.deepEqual(readdirSync(temporary()), ['made']);
  });

  const [c0, c1] = tinyHistory().changesets.map(({ node }) => node) as [Buffer, Buffer];
  const [, m1] = tinyHistory().manifests.map(({ node }) => node) as [Buffer, Buffer];
  const [f0, f1] = tinyHistory().file.map(({ node }) => node) as [Buffer, Buffer];
  const hex = (node: Buffer): string => node.toString('hex');

  const LIES: readonly (readonly [what: string, bytes: Buffer, code: ErrorCode, place: ErrorPlace])[] = [
    ['a base that is nowhere', bundleOf(({ file }) => lie(file, 1, { base: NOWHERE })), 'BASE_MISSING', { group: 'a.txt', node: hex(f1) }],
    ['a base that comes later', bundleOf(({ file }) => lie(file, 0, { base: f1 })), 'BASE_MISSING', { group: 'a.txt', node: hex(f0) }],
    ['a revision built on itself', bundleOf(({ file }) => lie(file, 1, { base: f1 })), 'BASE_MISSING', { group: 'a.txt', node: hex(f1) }],
    ['a parent that is nowhere', bundleOf(({ file }) => lie(file, 1, { p1: NOWHERE })), 'PARENT_MISSING', { group: 'a.txt', node: hex(f1) }],
    ['a second parent that is nowhere', bundleOf(({ file }) => lie(file, 1, { p2: NOWHERE })), 'PARENT_MISSING', { group: 'a.txt', node: hex(f1) }],
    ['a revision that is its own parent', bundleOf(({ file }) => lie(file, 1, { p1: f1 })), 'PARENT_MISSING', { group: 'a.txt', node: hex(f1) }],
    ['a changeset that is nowhere', bundleOf(({ file }) => lie(file, 1, { link: NOWHERE })), 'PARENT_MISSING', { group: 'a.txt', node: hex(f1) }],
    ['an incremental bundle', bundleOf(({ changesets }) => changesets.shift()), 'PARENT_MISSING', { group: 'changelog', node: hex(c1) }],
    ['the text of a changeset that is another', bundleOf(({ changesets }) => lie(changesets, 1, { delta: hunk(0, 0, 'another text') })), 'NODE_MISMATCH', { group: 'changelog', node: hex(c1) }],
    ['the text of a file that is another', bundleOf(({ file }) => lie(file, 0, { delta: hunk(0, 0, 'another text') })), 'NODE_MISMATCH', { group: 'a.txt', node: hex(f0) }],
    ['a delta that replaces all by something else', bundleOf(({ file }) => lie(file, 1, { delta: hunk(0, 4, 'another text, and a long one') })), 'NODE_MISMATCH', { group: 'a.txt', node: hex(f1) }],
    ['the null node', bundleOf(({ file }) => lie(file, 1, { node: NULL })), 'NODE_MISMATCH', { group: 'a.txt', node: hex(NULL) }],
    ['a hunk cut short', bundleOf(({ file }) => lie(file, 1, { delta: Buffer.alloc(5) })), 'DELTA_MALFORMED', { group: 'a.txt', node: hex(f1) }],
    ['a hunk that ends behind its base', bundleOf(({ file }) => lie(file, 1, { delta: hunk(2, 50, 'x') })), 'DELTA_MALFORMED', { group: 'a.txt', node: hex(f1) }],
    ['a hunk that inserts more than there is', bundleOf(({ file }) => lie(file, 1, { delta: Buffer.concat([i32(0), i32(0), i32(99), Buffer.from('abc')]) })), 'DELTA_MALFORMED', { group: 'a.txt', node: hex(f1) }],
    ['hunks that overlap', bundleOf(({ file }) => lie(file, 1, { delta: Buffer.concat([hunk(0, 3, 'x'), hunk(1, 4, 'y')]) })), 'DELTA_MALFORMED', { group: 'a.txt', node: hex(f1) }],
    ['a delta against the empty text that replaces something', bundleOf(({ file }) => lie(file, 0, { delta: hunk(0, 4, 'one\n') })), 'DELTA_MALFORMED', { group: 'a.txt', node: hex(f0) }],
    ['flags of a narrow clone', bundleOf(({ file }) => lie(file, 1, { flags: 0x4000 })), 'REVLOG_FLAGS', { group: 'a.txt', node: hex(f1) }],
    ['a manifest whose text is stored elsewhere', bundleOf(({ manifests }) => lie(manifests, 1, { flags: 0x2000 })), 'REVLOG_FLAGS', { group: 'manifest', node: hex(m1) }],
    ['a changeset whose text is stored elsewhere', bundleOf(({ changesets }) => lie(changesets, 1, { flags: 0x2000, delta: hunk(0, 0, 'anything') })), 'REVLOG_FLAGS', { group: 'changelog', node: hex(c1) }],
    ['flags that nobody knows', bundleOf(({ file }) => lie(file, 1, { flags: 1 })), 'REVLOG_FLAGS', { group: 'a.txt', node: hex(f1) }],
    ['a censored revision that is no tombstone', bundleOf(({ file }) => lie(file, 1, { flags: 0x8000 })), 'NODE_MISMATCH', { group: 'a.txt', node: hex(f1) }],
    ['a file without revisions', bundleOf(({ file }) => file.splice(0)), 'CHANGEGROUP_MALFORMED', { group: 'a.txt' }],
    ...['../up', '/root', 'a//b', 'a/./b', 'dir/', 'new\nline', 'nul\0', ''].map((name): (typeof LIES)[number] => [
      `a file called ${JSON.stringify(name)}`,
      bundleOf((history) => {
        history.name = name;
      }),
      'CHANGEGROUP_MALFORMED',
      name === '' ? {} : { group: name },
    ]),
    ['a name longer than any file has', bundleOf((history) => {
      history.name = 'x'.repeat(8193);
    }), 'CHANGEGROUP_MALFORMED', { group: 'files' }],
    ['more bookmarks than any repository has', bundle2(changegroup(), part('BOOKMARKS', Buffer.alloc((1 << 26) + 1))), 'PART_MALFORMED', { part: 'bookmarks (7)' }],
    ['a second changegroup', bundle2(changegroup(), changegroup()), 'BUNDLE_HOLDS', { part: 'changegroup (0)' }],
    ['a parameter that must be known', bundle2(changegroup([], [['made-up', '1']])), 'BUNDLE_PARAMETER', { part: 'changegroup (0)' }],
    ['a target phase that is none', bundle2(changegroup([['targetphase', 'x']])), 'PART_MALFORMED', { part: 'changegroup (0)' }],
    ['a phase that is none', bundle2(changegroup(), part('PHASE-HEADS', phase(3, c0))), 'PART_MALFORMED', { part: 'phase-heads (7)' }],
    ['heads of phases cut short', bundle2(changegroup(), part('PHASE-HEADS', phase(0, c0).subarray(1))), 'PART_MALFORMED', { part: 'phase-heads (7)' }],
    ['a head of a phase that is nowhere', bundle2(changegroup(), part('PHASE-HEADS', phase(0, NOWHERE))), 'REVISION_MISSING', { part: 'phase-heads (7)', node: hex(NOWHERE) }],
    ['phases before the changesets', bundle2(part('PHASE-HEADS', phase(0, c0)), changegroup()), 'REVISION_MISSING', { part: 'phase-heads (7)', node: hex(c0) }],
    ['a bookmark cut short', bundle2(changegroup(), part('BOOKMARKS', Buffer.concat([c0, Buffer.from([0, 9, 65])]))), 'PART_MALFORMED', { part: 'bookmarks (7)' }],
    ['a bookmark of two lines', bundle2(changegroup(), part('BOOKMARKS', Buffer.concat([c0, Buffer.from([0, 2, 65, 10])]))), 'PART_MALFORMED', { part: 'bookmarks (7)' }],
    ['markers without a version', bundle2(changegroup(), part('OBSMARKERS', Buffer.alloc(0))), 'PART_MALFORMED', { part: 'obsmarkers (7)' }],
    ['markers of another version', bundle2(changegroup(), part('OBSMARKERS', Buffer.from([7]))), 'BUNDLE_VERSION', { part: 'obsmarkers (7)' }],
    ['a marker cut short', bundle2(changegroup(), part('OBSMARKERS', Buffer.concat([Buffer.from([1]), i32(59), Buffer.alloc(20)]))), 'PART_MALFORMED', { part: 'obsmarkers (7)' }],
    ['a marker that is too short for its successors', bundle2(changegroup(), part('OBSMARKERS', Buffer.concat([Buffer.from([1]), i32(39), Buffer.alloc(12), Buffer.from([9, 3, 0]), Buffer.alloc(20)]))), 'PART_MALFORMED', { part: 'obsmarkers (7)' }],
    ['a part that is unknown, and mandatory', bundle2(changegroup(), part('MADE-UP', Buffer.alloc(1))), 'PART_UNKNOWN', { part: 'made-up (7)' }],
    ['a push to a repository with other heads', bundle2(part('CHECK:HEADS', NOWHERE), changegroup()), 'PARENT_MISSING', { part: 'check:heads (7)' }],
    ['a push that changes something else', bundle2(changegroup(), part('PUSHKEY', Buffer.alloc(0), [['namespace', 'odd'], ['key', 'x'], ['new', '1']])), 'BUNDLE_HOLDS', { part: 'pushkey (7)' }],
    ['an abort of the sender', bundle2(part('ERROR:ABORT', Buffer.alloc(0), [['message', 'no more room'], ['hint', 'try later']])), 'BUNDLE_ABORTED', { part: 'error:abort (7)' }],
  ];

  for (const [what, bytes, code, place] of LIES) {
    it(`refuses ${what}: ${code}, and leaves nothing behind`, async () => {
      for (const records of [false, true]) {
        await assert.rejects(create(bytes, temporary('made'), {}, records), (error) => {
          assert.ok(error instanceof RevconvertError, String(error));
          assert.equal(error.code, code, error.message);
          for (const [key, value] of Object.entries(place)) assert.equal(error.at[key as keyof ErrorPlace], value, key);
          return true;
        });
        assert.deepEqual(readdirSync(temporary()), []);
      }
    });
  }

  it('says what the sender said when it stopped', async () => {
    const bytes = bundle2(part('ERROR:ABORT', Buffer.alloc(0), [['message', 'no more room'], ['hint', 'try later']]));
    await assert.rejects(create(bytes, temporary('made')), { code: 'BUNDLE_ABORTED', message: 'no more room; try later' });
  });

  it('shows of what a server said no more than a person can read, and takes it byte by byte', async () => {
    const said: string[] = [];
    const bytes = bundle2(changegroup(), partHeader('output', 7), payload(Buffer.alloc(200_000, 'said\n'), 1));
    await create(bytes, temporary('made'), { onNotice: (notice) => said.push(notice) });
    assert.deepEqual([said.length, said[0], said.at(-1)], [Math.ceil((1 << 16) / 5), 'remote: said', 'remote: s']);
  });

  it('refuses two groups of one name', async () => {
    const { changesets, manifests, file } = tinyHistory();
    const write = (one: BuiltRevision): Buffer => revision('02', one);
    const files = namedGroup('a', ...file.map(write));
    const bytes = Buffer.concat([group(...changesets.map(write)), group(...manifests.map(write)), files, files, EMPTY_CHUNK]);
    await assert.rejects(create(bundle2(Buffer.concat([partHeader('CHANGEGROUP', 0, [['version', '02']]), payload(bytes)])), temporary('made')), { code: 'CHANGEGROUP_MALFORMED', at: { group: 'a' } });
  });

  it('refuses a place where something is, and leaves it alone', async () => {
    mkdirSync(temporary('made'));
    writeFileSync(temporary('made/file'), 'x');
    await assert.rejects(create(tinyBundle(), temporary('made')), { code: 'DESTINATION_EXISTS' });
    assert.deepEqual(readdirSync(temporary('made')), ['file']);
  });

  const WRONG: readonly (readonly [options: object, code: ErrorCode])[] = [
    [{ check: 'all' }, 'USAGE'],
    [{ made: 'up' }, 'USAGE'],
    [{ generaldelta: false }, 'USAGE'],
    [{ to: 'zlib', level: 99 }, 'LEVEL'],
    [{ policy: { preset: 'smallest' } }, 'POLICY'],
  ];
  for (const [options, code] of WRONG) {
    it(`refuses ${JSON.stringify(options)}: ${code}`, async () => {
      await assert.rejects(create(tinyBundle(), temporary('made'), options), (error) => {
        assert.ok(error instanceof RevconvertError);
        assert.ok(error.code === code || (code === 'POLICY' && error.kind === 'usage'), error.code);
        return true;
      });
      assert.equal(existsSync(temporary('made')), false);
    });
  }

  it('fails with what the items fail with, and leaves nothing behind', async () => {
    await assert.rejects(create(tinyBundle().subarray(0, -9), temporary('made')), { code: 'BUNDLE_TRUNCATED' });
    assert.deepEqual(readdirSync(temporary()), []);
  });
});
