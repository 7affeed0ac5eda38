/**
 * Tiny repositories, byte by byte: revlogs, requirements and lists as the formats say, without the code under test and
 * without Mercurial. What is built is sound (`hg verify` agrees); the tests damage it.
 * Format facts: `hg help internals.revlogs` and `hg help internals.requirements`.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { deflateSync } from 'node:zlib';

const NULL_NODE = Buffer.alloc(20);

/** One revision as it is stored. */
export interface StoredRevision {
  readonly chunk: Buffer;
  /** Length of the full text. */
  readonly rawSize: number;
  /** The base field: the revision itself for a full text. */
  readonly base: number;
  readonly linkRev: number;
  readonly p1: number;
  readonly p2: number;
  readonly node: Buffer;
  readonly flags?: number;
}

export type RevlogForm = 'inline' | 'split' | 'v0';

/** The two files of a revlog, and where things stand in them. */
export interface BuiltRevlog {
  readonly form: RevlogForm;
  readonly revisions: readonly StoredRevision[];
  readonly index: Buffer;
  /** Undefined where it is inline. */
  readonly data: Buffer | undefined;
  /** Where the entry of a revision begins in the index. */
  readonly entryAt: (rev: number) => number;
  /** Where its chunk begins in the file that holds it. */
  readonly chunkAt: (rev: number) => number;
}

const ENTRY_BYTES = { inline: 64, split: 64, v0: 76 } as const;
const INLINE_BIT = 0x10000;
const GENERALDELTA_BIT = 0x20000;

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

function encodeEntry(revision: StoredRevision, offset: number): Buffer {
  const entry = Buffer.alloc(64);
  entry.writeUIntBE(offset, 0, 6);
  entry.writeUInt16BE(revision.flags ?? 0, 6);
  entry.writeInt32BE(revision.chunk.length, 8);
  entry.writeInt32BE(revision.rawSize, 12);
  entry.writeInt32BE(revision.base, 16);
  entry.writeInt32BE(revision.linkRev, 20);
  entry.writeInt32BE(revision.p1, 24);
  entry.writeInt32BE(revision.p2, 28);
  revision.node.copy(entry, 32);
  return entry;
}

function encodeV0Entry(revision: StoredRevision, offset: number, nodeOf: (rev: number) => Buffer): Buffer {
  const entry = Buffer.alloc(76);
  entry.writeUInt32BE(offset, 0);
  entry.writeInt32BE(revision.chunk.length, 4);
  entry.writeInt32BE(revision.base, 8);
  entry.writeInt32BE(revision.linkRev, 12);
  nodeOf(revision.p1).copy(entry, 16);
  nodeOf(revision.p2).copy(entry, 36);
  revision.node.copy(entry, 56);
  return entry;
}

/** Lays revisions out as a revlog. */
export function buildRevlog(revisions: readonly StoredRevision[], form: RevlogForm, generaldelta = true): BuiltRevlog {
  const offsets = revisions.map((_, rev) => sum(revisions.slice(0, rev).map(({ chunk }) => chunk.length)));
  const nodeOf = (rev: number): Buffer => revisions[rev]?.node ?? NULL_NODE;
  const entries = revisions.map((revision, rev) =>
    form === 'v0' ? encodeV0Entry(revision, offsets[rev] ?? 0, nodeOf) : encodeEntry(revision, offsets[rev] ?? 0),
  );
  if (form !== 'v0') entries[0]?.writeUInt32BE(1 | (form === 'inline' ? INLINE_BIT : 0) | (generaldelta ? GENERALDELTA_BIT : 0), 0);
  const chunks = revisions.map(({ chunk }) => chunk);
  const isInline = form === 'inline';
  const before = (rev: number): number => (isInline ? (offsets[rev] ?? 0) : 0);
  return {
    form,
    revisions,
    index: isInline ? Buffer.concat(entries.flatMap((entry, rev) => [entry, chunks[rev] ?? NULL_NODE])) : Buffer.concat(entries),
    data: isInline ? undefined : Buffer.concat(chunks),
    entryAt: (rev) => rev * ENTRY_BYTES[form] + before(rev),
    chunkAt: (rev) => (offsets[rev] ?? 0) + (isInline ? (rev + 1) * ENTRY_BYTES[form] : 0),
  };
}

/** Data as a chunk that is not compressed. */
export const rawChunk = (data: Buffer): Buffer => (data.length === 0 || data[0] === 0 ? data : Buffer.concat([Buffer.from('u'), data]));

/** Data as a zlib chunk, where that is shorter. */
export function zlibChunk(data: Buffer): Buffer {
  const packed = deflateSync(data);
  return packed.length < data.length ? packed : rawChunk(data);
}

/** A delta of one hunk: `insert` in the place of `from` to `to` of its base. */
export function hunk(from: number, to: number, insert: Buffer): Buffer {
  const header = Buffer.alloc(12);
  for (const [i, value] of [from, to, insert.length].entries()) header.writeInt32BE(value, i * 4);
  return Buffer.concat([header, insert]);
}

/** The node of a text: the smaller parent first. */
export function nodeOf(text: Buffer, p1: Buffer, p2: Buffer): Buffer {
  const parents = [p1, p2].sort((a, b) => Buffer.compare(a, b));
  return createHash('sha1').update(Buffer.concat([...parents, text])).digest();
}

/** A straight line of texts: the first whole, each other as a delta against the one before. */
export function storeTexts(texts: readonly Buffer[], compress: (data: Buffer) => Buffer = zlibChunk): StoredRevision[] {
  const revisions: StoredRevision[] = [];
  for (const [rev, text] of texts.entries()) {
    const before = texts[rev - 1];
    const node = nodeOf(text, revisions[rev - 1]?.node ?? NULL_NODE, NULL_NODE);
    const data = before === undefined ? text : hunk(0, before.length, text);
    revisions.push({ chunk: compress(data), rawSize: text.length, base: 0, linkRev: rev, p1: rev - 1, p2: -1, node });
  }
  return revisions;
}

/** How a repository lies on the disk. Only lower-case names without underscores are tracked: they need no encoding. */
export const LAYOUTS = {
  'share-safe': { workingCopy: ['share-safe'], store: ['dotencode', 'fncache', 'generaldelta', 'revlogv1', 'sparserevlog', 'store'] },
  'fncache and dotencode': { workingCopy: ['dotencode', 'fncache', 'generaldelta', 'revlogv1', 'sparserevlog', 'store'] },
  'fncache without dotencode': { workingCopy: ['fncache', 'generaldelta', 'revlogv1', 'store'] },
  'store without fncache': { workingCopy: ['generaldelta', 'revlogv1', 'store'] },
  'no store': { workingCopy: ['revlogv1'] },
  'version 0 in a store': { workingCopy: ['dotencode', 'fncache', 'store'] },
  'version 0 without a store': { workingCopy: [] },
} as const satisfies Record<string, { readonly workingCopy: readonly string[]; readonly store?: readonly string[] }>;

export type LayoutName = keyof typeof LAYOUTS;

export interface RepositoryOptions {
  /** @default 'share-safe' */
  readonly layout?: LayoutName;
  /** @default 4 */
  readonly commits?: number;
  /** Tracked files; each changes in every commit. Those whose name begins with `split` have a data file. @default two */
  readonly files?: readonly string[];
  /** Length of each file's text, about. @default 400 */
  readonly textBytes?: number;
  /** Requirements beside those of the layout, in the file of the store where there is one. */
  readonly requirements?: readonly string[];
  /** How chunks are made. @default zlib */
  readonly compress?: (data: Buffer) => Buffer;
}

export interface BuiltRepository {
  readonly root: string;
  readonly hg: string;
  readonly store: string;
  /** By unencoded name: `00changelog.i`, `data/a.txt.i`. */
  readonly revlogs: ReadonlyMap<string, BuiltRevlog>;
  /** The revlog of that name; throws where there is none. */
  readonly revlog: (name: string) => BuiltRevlog;
  /** Where a file of the store lies. */
  readonly inStore: (name: string) => string;
}

/** Lines that compress by about half, other ones for each seed. */
export function sampleText(seed: string, bytes: number): Buffer {
  const lines: string[] = [];
  for (let i = 0, length = 0; length < bytes; i++) {
    const line = `${createHash('sha256').update(`${seed} ${i}`).digest('hex').slice(0, 24)} a line of text\n`;
    lines.push(line);
    length += line.length;
  }
  return Buffer.from(lines.join(''));
}

/** The texts of a history in which every file changes in every commit. */
function historyTexts(files: readonly string[], commits: number, textBytes: number): Map<string, Buffer[]> {
  const texts = new Map<string, Buffer[]>();
  const revs = Array.from({ length: commits }, (_, rev) => rev);
  for (const file of files) texts.set(`data/${file}.i`, revs.map((rev) => sampleText(`${file} ${rev}`, textBytes)));
  const nodes = new Map(files.map((file) => [file, storeTexts(texts.get(`data/${file}.i`) ?? []).map(({ node }) => node.toString('hex'))]));
  const manifests = revs.map((rev) => Buffer.from([...files].sort().map((file) => `${file}\0${nodes.get(file)?.[rev] ?? ''}\n`).join('')));
  texts.set('00manifest.i', manifests);
  const manifestNodes = storeTexts(manifests).map(({ node }) => node.toString('hex'));
  texts.set('00changelog.i', revs.map((rev) => Buffer.from(`${manifestNodes[rev] ?? ''}\na <a@example.org>\n${rev} 0\n${[...files].sort().join('\n')}\n\ncommit ${rev}`)));
  return texts;
}

function formOf(name: string, isV0: boolean): RevlogForm {
  if (isV0) return 'v0';
  return name.startsWith('data/split') ? 'split' : 'inline';
}

const linesOf = (names: readonly string[]): string => names.map((name) => `${name}\n`).join('');

/** Writes a file and the folders it lies in. */
export function writeAt(path: string, bytes: string | Uint8Array): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, bytes);
}

/** Puts the two files of a revlog in their place. */
export function writeRevlogFiles(store: string, name: string, { index, data }: Pick<BuiltRevlog, 'index' | 'data'>): void {
  writeAt(join(store, name), index);
  if (data !== undefined) writeAt(join(store, `${name.slice(0, -1)}d`), data);
}

/** Builds a repository in a folder that does not exist yet. */
export function buildRepository(root: string, options: RepositoryOptions = {}): BuiltRepository {
  const { layout = 'share-safe', commits = 4, files = ['a.txt', 'split.txt'], textBytes = 400, requirements = [], compress = zlibChunk } = options;
  const required: { readonly workingCopy: readonly string[]; readonly store?: readonly string[] } = LAYOUTS[layout];
  const all = [...required.workingCopy, ...(required.store ?? []), ...requirements];
  const hg = join(root, '.hg');
  const store = all.includes('store') ? join(hg, 'store') : hg;
  mkdirSync(store, { recursive: true });
  const revlogs = new Map<string, BuiltRevlog>();
  for (const [name, texts] of historyTexts(files, commits, textBytes)) {
    const generaldelta = name !== '00changelog.i' && all.includes('generaldelta');
    revlogs.set(name, buildRevlog(storeTexts(texts, compress), formOf(name, !all.includes('revlogv1')), generaldelta));
  }
  for (const [name, revlog] of revlogs) writeRevlogFiles(store, name, revlog);
  if (all.includes('fncache')) {
    const listed = [...revlogs].filter(([name]) => name.startsWith('data/'));
    writeAt(join(store, 'fncache'), linesOf(listed.flatMap(([name, { data }]) => (data === undefined ? [name] : [name, `${name.slice(0, -1)}d`]))));
  }
  if (store !== hg) writeAt(join(hg, '00changelog.i'), '\0\0\xff\xff dummy');
  if (required.store === undefined) {
    if (all.length > 0) writeAt(join(hg, 'requires'), linesOf([...required.workingCopy, ...requirements]));
  } else {
    writeAt(join(hg, 'requires'), linesOf(required.workingCopy));
    writeAt(join(store, 'requires'), linesOf([...required.store, ...requirements]));
  }
  return {
    root,
    hg,
    store,
    revlogs,
    revlog(name) {
      const found = revlogs.get(name);
      if (found === undefined) throw new Error(`no revlog ${name}`);
      return found;
    },
    inStore: (name) => join(store, name),
  };
}
