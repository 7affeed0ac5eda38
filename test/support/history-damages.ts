/** Ways in which a history disagrees with itself, and what `revconvert verify` says of each: code, revlog, revision. */
import { appendFileSync, copyFileSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';

import type { ToldHistory, ToldRevlogs } from './history-builder.js';
import { soundHistory, storeFull, storeHistory, writeHistory } from './history-builder.js';
import type { BuiltRepository, StoredRevision } from './repository-builder.js';
import { nodeOf, rawChunk } from './repository-builder.js';

export interface HistoryDamage {
  readonly title: string;
  /** Changes what is told. */
  readonly tell?: (history: ToldHistory) => void;
  /** Changes the revisions, before they are written. */
  readonly store?: (revlogs: ToldRevlogs) => void;
  /** Changes the files. */
  readonly files?: (repository: BuiltRepository) => void;
  /** `CODE path` or `CODE path rev`, in order; `warning CODE path`. */
  readonly expected: readonly string[];
  /** What `hg verify` says that is no fault here, and why. */
  readonly hgOnly?: string;
}

/** Builds the repository of a damage in a folder that does not exist yet. */
export function buildDamage(root: string, { tell, store, files }: HistoryDamage): BuiltRepository {
  const history = soundHistory();
  tell?.(history);
  const revlogs = storeHistory(history);
  store?.(revlogs);
  const repository = writeHistory(root, revlogs);
  files?.(repository);
  return repository;
}

const NOWHERE = '1'.repeat(40);
const NULL = '0'.repeat(40);
const A = 'a'.repeat(40);
const B = 'b'.repeat(40);

type Parts<T> = { -readonly [K in keyof T]?: T[K] };

/** Changes what is told of a changeset. */
const changeset =
  (rev: number, change: Parts<ToldHistory['changesets'][number]>) =>
  ({ changesets }: ToldHistory): void => {
    Object.assign(changesets[rev] ?? {}, change);
  };

/** Changes a file revision. */
const fileRevision =
  (path: string, rev: number, change: Parts<ToldHistory['files'][string][number]>) =>
  ({ files }: ToldHistory): void => {
    Object.assign(files[path]?.[rev] ?? {}, change);
  };

/** Changes a stored revision. */
const stored =
  (name: string, rev: number, change: (revision: StoredRevision) => Partial<StoredRevision>) =>
  (revlogs: ToldRevlogs): void => {
    const revisions = revlogs[name] ?? [];
    revlogs[name] = revisions.map((revision, i) => (i === rev ? { ...revision, ...change(revision) } : revision));
  };

/** Adds a copy of a revision to the end of its revlog. */
const repeated =
  (name: string, rev: number, linkRev: number) =>
  (revlogs: ToldRevlogs): void => {
    const revisions = revlogs[name] ?? [];
    const revision = revisions[rev];
    if (revision !== undefined) revlogs[name] = [...revisions, { ...revision, base: revisions.length, linkRev }];
  };

const wrongNode = ({ node }: StoredRevision): Partial<StoredRevision> => {
  const changed = Buffer.from(node);
  changed[3] = (changed[3] ?? 0) ^ 1;
  return { node: changed };
};

const withMeta = (fields: string): Partial<ToldHistory['files'][string][number]> => ({ text: `\x01\n${fields}\x01\ntext`, p1: -1 });

const malformedManifest = (title: string, manifestText: string): HistoryDamage => ({
  title: `a manifest with ${title}`,
  tell: changeset(2, { manifestText }),
  expected: ['TEXT_MALFORMED 00manifest.i 2'],
});

const malformedChangeset = (title: string, text: string): HistoryDamage => ({
  title: `a changeset with ${title}`,
  tell: changeset(2, { text }),
  expected: ['TEXT_MALFORMED 00changelog.i 2'],
});

const B0_NODE = nodeOf(Buffer.from('b0\n'), Buffer.alloc(20), Buffer.alloc(20)).toString('hex');

/** What changesets, manifests and files say of each other. */
const REFERENCES: readonly HistoryDamage[] = [
  { title: 'a changeset that does not list a file of its own', tell: changeset(1, { files: [] }), expected: ['LINKREV data/a.i 1'] },
  { title: 'a changeset that lists a file that never was', tell: changeset(1, { files: ['a', 'ghost'] }), expected: ['FILE_LIST 00changelog.i 1'] },
  {
    title: 'a file that no changeset lists',
    tell: ({ changesets }) => changesets.forEach((one) => (one.files = one.files.filter((path) => path !== 'd/b'))),
    expected: ['FILE_LIST data/d/b.i'],
  },
  { title: 'a changeset that names a manifest that is not there', tell: changeset(1, { manifestNode: NOWHERE }), expected: ['REVISION_MISSING 00changelog.i 1'] },
  { title: 'a manifest that no changeset names', tell: changeset(1, { manifestNode: NULL }), expected: ['REVISION_UNNAMED 00manifest.i 1'] },
  { title: 'two changesets with one manifest', tell: changeset(2, { manifestRev: 1 }), expected: ['REVISION_UNNAMED 00manifest.i 2'] },
  { title: 'a file revision that no manifest names', tell: changeset(1, { manifest: { 'a': 0, 'd/b': 0 } }), expected: ['REVISION_UNNAMED data/a.i 1'] },
  { title: 'a manifest that names a file revision that is not there', tell: changeset(1, { manifest: { 'a': NOWHERE, 'd/b': 0 } }), expected: ['REVISION_MISSING 00manifest.i 1', 'REVISION_UNNAMED data/a.i 1'] },
  { title: 'a manifest that names the null revision', tell: changeset(2, { manifest: { 'a': NULL, 'd/b': 1 } }), expected: ['REVISION_MISSING 00manifest.i 2', 'REVISION_UNNAMED data/a.i 2'] },
  { title: 'a linkrev of a file to another changeset', tell: fileRevision('d/b', 1, { link: 1 }), expected: ['LINKREV data/d/b.i 1'] },
  { title: 'a linkrev of a file to no changeset', tell: fileRevision('a', 1, { link: 9 }), expected: ['LINKREV data/a.i 1'] },
  { title: 'a linkrev of a file of -1', tell: fileRevision('a', 1, { link: -1 }), expected: ['LINKREV data/a.i 1'] },
  { title: 'a linkrev of a manifest to another changeset', tell: changeset(1, { manifestLink: 2 }), expected: ['LINKREV 00manifest.i 1'] },
  { title: 'a linkrev of a manifest to no changeset', tell: changeset(1, { manifestLink: 7 }), expected: ['LINKREV 00manifest.i 1'] },
  { title: 'a linkrev of a changeset to another', tell: changeset(1, { link: 0 }), expected: ['LINKREV 00changelog.i 1'] },
  { title: 'a copy of a revision that is not there', tell: fileRevision('a', 2, withMeta(`copy: d/b\ncopyrev: ${A}\n`)), expected: ['COPY_SOURCE data/a.i 2'] },
  { title: 'a copy of a file that is not there', tell: fileRevision('a', 2, withMeta(`copy: nofile\ncopyrev: ${A}\n`)), expected: ['COPY_SOURCE data/a.i 2'] },
  { title: 'a copy of the null revision', tell: fileRevision('a', 2, withMeta(`copy: d/b\ncopyrev: ${NULL}\n`)), expected: ['COPY_SOURCE data/a.i 2'] },
  { title: 'a copy whose source is no node', tell: fileRevision('a', 2, withMeta('copy: d/b\ncopyrev: qq\n')), expected: ['TEXT_MALFORMED data/a.i 2'] },
  { title: 'metadata that is no list of fields', tell: fileRevision('a', 2, withMeta('foo\n')), expected: ['TEXT_MALFORMED data/a.i 2'] },
  { title: 'metadata without an end', tell: fileRevision('a', 2, { text: '\x01\ncopy: d/b\n', p1: -1 }), expected: ['TEXT_MALFORMED data/a.i 2'] },
];

const TEXTS: readonly HistoryDamage[] = [
  malformedManifest('a line twice', `a\0${A}\na\0${A}\nd/b\0${B}\n`),
  malformedManifest('lines that are not sorted', `d/b\0${B}\na\0${A}\n`),
  malformedManifest('a node of 38 digits', `a\0${'a'.repeat(38)}\nd/b\0${B}\n`),
  malformedManifest('a node of 64 digits', `a\0${'a'.repeat(64)}\nd/b\0${B}\n`),
  malformedManifest('a node that is not hexadecimal', `a\0${'g'.repeat(40)}\nd/b\0${B}\n`),
  malformedManifest('a flag that is none', `a\0${A}q\nd/b\0${B}\n`),
  malformedManifest('two flags', `a\0${A}lx\nd/b\0${B}\n`),
  malformedManifest('a last line that is cut short', `a\0${A}\nd/b\0${B}`),
  malformedManifest('a line without NUL', `a\nd/b\0${B}\n`),
  malformedManifest('a line without a path', `\0${A}\nd/b\0${B}\n`),
  malformedChangeset('a text of another kind', 'hello'),
  malformedChangeset('a manifest that is no node', `${'z'.repeat(40)}\nme\n0 0\na\n\nx`),
  malformedChangeset('a date that is none', `${NULL}\nme\nxyz\na\n\nx`),
  malformedChangeset('no date', `${NULL}\nme\n`),
  malformedChangeset('no end of its files', `${NULL}\nme\n0 0\na`),
];

const REVISIONS: readonly HistoryDamage[] = [
  { title: 'a node in the index that is another', store: stored('data/a.i', 1, wrongNode), expected: ['NODE_MISMATCH data/a.i 1'] },
  { title: 'the node of a manifest in the index that is another', store: stored('00manifest.i', 1, wrongNode), expected: ['NODE_MISMATCH 00manifest.i 1'] },
  { title: 'another text of the same length', store: stored('data/a.i', 1, () => ({ chunk: Buffer.from('uA1\n') })), expected: ['NODE_MISMATCH data/a.i 1'] },
  { title: 'a tombstone without its flag', store: stored('data/a.i', 1, () => ({ chunk: rawChunk(Buffer.from('\x01\ncensored: x\n\x01\n')), rawSize: 16 })), expected: ['NODE_MISMATCH data/a.i 1'] },
  { title: 'a length of a text that is another', store: stored('data/a.i', 1, ({ rawSize }) => ({ rawSize: rawSize + 1 })), expected: ['CHUNK_SIZE data/a.i 1'] },
  { title: 'a chunk that cannot be decompressed', store: stored('data/a.i', 1, () => ({ chunk: Buffer.from('xabc') })), expected: ['CHUNK_DAMAGED data/a.i 1'] },
  { title: 'a chunk of no known kind', store: stored('data/a.i', 1, () => ({ chunk: Buffer.from('qabc') })), expected: ['CHUNK_MARKER data/a.i 1'] },
  { title: 'a delta that is none', store: stored('data/a.i', 1, () => ({ base: -1 })), expected: ['DELTA_MALFORMED data/a.i 1'] },
  { title: 'a base that comes later', store: stored('data/a.i', 1, () => ({ base: 2 })), expected: ['DELTA_BASE data/a.i 1'] },
  { title: 'a first parent that comes later', store: stored('data/a.i', 1, () => ({ p1: 2 })), expected: ['INDEX_ENTRY data/a.i 1'] },
  { title: 'a first parent that is the revision', store: stored('data/a.i', 1, () => ({ p1: 1 })), expected: ['INDEX_ENTRY data/a.i 1'] },
  { title: 'a first parent below -1', store: stored('data/a.i', 1, () => ({ p1: -2 })), expected: ['INDEX_ENTRY data/a.i 1'] },
  { title: 'a first parent far away', store: stored('data/a.i', 1, () => ({ p1: 77 })), expected: ['INDEX_ENTRY data/a.i 1'] },
  { title: 'a parent of a changeset that comes later', store: stored('00changelog.i', 1, () => ({ p1: 2 })), expected: ['INDEX_ENTRY 00changelog.i 1'] },
  { title: 'the same parent twice', store: stored('data/a.i', 2, () => ({ p2: 1 })), expected: ['NODE_MISMATCH data/a.i 2'] },
  { title: 'a flag that is none', store: stored('data/a.i', 1, () => ({ flags: 1 })), expected: ['INDEX_ENTRY data/a.i 1'] },
  { title: 'a flag for cut history', store: stored('data/a.i', 1, () => ({ flags: 0x4000 })), expected: ['INDEX_ENTRY data/a.i 1'] },
  { title: 'a flag for text stored elsewhere', store: stored('data/a.i', 1, () => ({ flags: 0x2000 })), expected: ['INDEX_ENTRY data/a.i 1'] },
  { title: 'a text of a manifest that is another', store: stored('00manifest.i', 1, () => ({ chunk: rawChunk(Buffer.from('zzz')) })), expected: ['CHUNK_SIZE 00manifest.i 1'] },
  { title: 'a text of a changeset that is another', store: stored('00changelog.i', 1, () => ({ chunk: rawChunk(Buffer.from('zzz')) })), expected: ['CHUNK_SIZE 00changelog.i 1'] },
  { title: 'a file revision that is there twice', store: repeated('data/a.i', 1, 1), expected: ['DUPLICATE_NODE data/a.i 3'] },
  { title: 'a manifest that is there twice', store: repeated('00manifest.i', 1, 2), expected: ['DUPLICATE_NODE 00manifest.i 3'] },
  { title: 'a changeset that is there twice', store: repeated('00changelog.i', 1, 3), expected: ['DUPLICATE_NODE 00changelog.i 3'] },
];

const copyAs =
  (name: string, listed: boolean) =>
  ({ inStore }: BuiltRepository): void => {
    copyFileSync(inStore('data/a.i'), inStore(name));
    if (listed) appendFileSync(inStore('fncache'), `${name}\n`);
  };

const FILES: readonly HistoryDamage[] = [
  { title: 'a filelog that is missing', files: ({ inStore }) => rmSync(inStore('data/a.i')), expected: ['REVLOG_MISSING data/a.i'] },
  { title: 'a filelog that is empty', files: ({ inStore }) => writeFileSync(inStore('data/a.i'), ''), expected: ['REVLOG_MISSING data/a.i'] },
  { title: 'an index that is cut short', files: ({ inStore }) => truncateSync(inStore('data/a.i'), readFileSync(inStore('data/a.i')).length - 3), expected: ['DATA_TRUNCATED data/a.i 2'] },
  { title: 'bytes behind an index', files: ({ inStore }) => appendFileSync(inStore('data/a.i'), 'xxx'), expected: ['INDEX_TRUNCATED data/a.i 3'] },
  { title: 'a revlog of no known version', files: ({ inStore }) => writeFileSync(inStore('data/a.i'), readFileSync(inStore('data/a.i')).fill(9, 3, 4)), expected: ['REVLOG_VERSION data/a.i'] },
  { title: 'a manifest that is missing', files: ({ inStore }) => rmSync(inStore('00manifest.i')), expected: ['REVLOG_MISSING 00manifest.i'] },
  { title: 'a manifest that is empty', files: ({ inStore }) => writeFileSync(inStore('00manifest.i'), ''), expected: ['REVLOG_MISSING 00manifest.i'] },
  { title: 'a changelog that is missing', files: ({ inStore }) => rmSync(inStore('00changelog.i')), expected: ['REVLOG_MISSING 00changelog.i'] },
  { title: 'a changelog that is empty', files: ({ inStore }) => writeFileSync(inStore('00changelog.i'), ''), expected: ['REVLOG_MISSING 00changelog.i'] },
  {
    title: 'neither changelog nor manifest',
    files: ({ inStore }) => ['00changelog.i', '00manifest.i'].forEach((name) => rmSync(inStore(name))),
    expected: ['warning STORE_DISORDER data/a.i', 'warning STORE_DISORDER data/d/b.i'],
  },
  { title: 'a filelog that is not listed', files: ({ inStore }) => writeFileSync(inStore('fncache'), 'data/a.i\n'), expected: ['warning STORE_DISORDER data/d/b.i'] },
  { title: 'no list', files: ({ inStore }) => rmSync(inStore('fncache')), expected: ['warning STORE_DISORDER data/a.i', 'warning STORE_DISORDER data/d/b.i'] },
  { title: 'a listed filelog that is missing', files: ({ inStore }) => appendFileSync(inStore('fncache'), 'data/q.i\n'), expected: ['warning REVLOG_MISSING data/q.i'] },
  { title: 'a listed data file that is missing', files: ({ inStore }) => appendFileSync(inStore('fncache'), 'data/a.d\n'), expected: ['warning REVLOG_MISSING data/a.d'] },
  { title: 'a filelog that nothing names', files: copyAs('data/orphan.i', true), expected: ['warning STORE_DISORDER data/orphan.i'] },
  { title: 'a filelog that nothing names or lists', files: copyAs('data/orphan.i', false), expected: ['warning STORE_DISORDER data/orphan.i'] },
  { title: 'a data file of an inline revlog', files: ({ inStore }) => writeFileSync(inStore('data/a.d'), 'xx'), expected: ['warning STORE_DISORDER data/a.i'] },
  { title: 'a file that is no revlog', files: ({ inStore }) => writeFileSync(inStore('data/readme'), 'xx'), expected: ['warning STORE_DISORDER data/readme'] },
];

export const HISTORY_DAMAGES: readonly HistoryDamage[] = [...REFERENCES, ...TEXTS, ...REVISIONS, ...FILES];

/** Odd, and legal. */
export const LEGAL_ODDITIES: readonly HistoryDamage[] = [
  { title: 'nothing odd at all', expected: [] },
  { title: 'a copy', tell: fileRevision('a', 2, withMeta(`copy: d/b\ncopyrev: ${B0_NODE}\n`)), expected: [] },
  { title: 'a copy without its revision', tell: fileRevision('a', 2, withMeta('copy: d/b\n')), expected: [] },
  { title: 'metadata of nothing', tell: fileRevision('a', 2, { text: '\x01\n\x01\ntext' }), expected: [] },
  { title: 'what looks like metadata, where there is a first parent', tell: fileRevision('a', 2, { text: '\x01\nfoo\n\x01\ntext' }), expected: [] },
  { title: 'a second parent without a first', store: stored('data/a.i', 1, () => ({ p1: -1, p2: 0 })), expected: [] },
  { title: 'a text whose length is not known', store: stored('data/a.i', 1, () => ({ rawSize: -1 })), expected: [] },
  { title: 'a sound text with the flag of censored ones', store: stored('data/a.i', 1, () => ({ flags: 0x8000 })), expected: [] },
  {
    title: 'a censored revision',
    store: stored('data/a.i', 1, () => ({ flags: 0x8000, chunk: rawChunk(Buffer.from('\x01\ncensored: x\n\x01\n')), rawSize: 16 })),
    expected: [],
    hgOnly: 'hg verify counts censored revisions among the errors, unless it is told to ignore them',
  },
  {
    title: 'two changesets that add nothing',
    store: (revlogs: ToldRevlogs): void => {
      const changelog = revlogs['00changelog.i'] ?? [];
      const manifest = revlogs['00manifest.i']?.[2]?.node.toString('hex') ?? NULL;
      for (const rev of [3, 4]) changelog.push(storeFull(rev, { text: `${manifest}\nme\n0 0\n\nempty ${rev}`, link: rev }, changelog));
    },
    expected: [],
  },
];
