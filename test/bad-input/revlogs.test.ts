/** Revlogs that lie: each refused with its code and place, whatever the threads, and nothing left behind. */
import { rmSync } from 'node:fs';

import { describe } from 'mocha';

import { int32, patch, Scratch, uint48 } from '../repository/support.js';
import type { BuiltRepository } from '../support/repository-builder.js';
import { hunk, rawChunk } from '../support/repository-builder.js';
import type { BadCase } from './support.js';
import { setChunk, setField, setRevision, testBadCases, truncate } from './support.js';

const INLINE = 'data/a.txt.i';
const SPLIT = 'data/split.txt.i';
const DATA = 'data/split.txt.d';
const LARGE = { files: ['split.txt'], commits: 30, textBytes: 80_000, compress: rawChunk };
const LARGE_INLINE = { ...LARGE, files: ['a.txt'] };

const entry = (name: string, rev: number) => (repository: BuiltRepository) => repository.revlog(name).entryAt(rev);
const chunk = (name: string, rev: number) => (repository: BuiltRepository) => repository.revlog(name).chunkAt(rev);
const sizeOf = (name: string) => (repository: BuiltRepository) => repository.revlog(name).index.length;
const header = (name: string, word: number) => (repository: BuiltRepository) => patch(repository.inStore(name), 0, int32(word));

const TRUNCATED_INDEX: readonly BadCase[] = [
  { title: 'split, in the third entry', damage: truncate(SPLIT, () => 138), code: 'INDEX_TRUNCATED', path: SPLIT, rev: 2, offset: () => 138 },
  {
    title: 'inline, in the third entry',
    damage: (repository) => truncate(INLINE, () => entry(INLINE, 2)(repository) + 10)(repository),
    code: 'INDEX_TRUNCATED',
    path: INLINE,
    rev: 2,
    offset: (repository) => entry(INLINE, 2)(repository) + 10,
  },
  { title: 'version 0', layout: 'version 0 in a store', damage: truncate(SPLIT, () => 162), code: 'INDEX_TRUNCATED', path: SPLIT, rev: 2, offset: () => 162 },
  { title: 'in the header', damage: truncate(INLINE, () => 3), code: 'INDEX_TRUNCATED', path: INLINE, rev: 0, offset: () => 3 },
  {
    title: 'the changelog',
    damage: (repository) => truncate('00changelog.i', () => entry('00changelog.i', 3)(repository) + 63)(repository),
    code: 'INDEX_TRUNCATED',
    path: '00changelog.i',
    rev: 3,
    offset: (repository) => entry('00changelog.i', 3)(repository) + 63,
  },
  { title: 'larger than a MiB', build: LARGE, damage: truncate(SPLIT, () => 29 * 64 + 1), code: 'INDEX_TRUNCATED', path: SPLIT, rev: 29, offset: () => 29 * 64 + 1 },
];

const TRUNCATED_DATA: readonly BadCase[] = [
  {
    title: 'a .d one byte short',
    damage: (repository) => truncate(DATA, () => (repository.revlog(SPLIT).data?.length ?? 0) - 1)(repository),
    code: 'DATA_TRUNCATED',
    path: SPLIT,
    rev: 3,
    offset: chunk(SPLIT, 3),
  },
  { title: 'a .d cut in an early chunk', damage: truncate(DATA, () => 1), code: 'DATA_TRUNCATED', path: SPLIT, rev: 0, offset: () => 0 },
  { title: 'an empty .d', damage: truncate(DATA, () => 0), code: 'DATA_TRUNCATED', path: SPLIT, rev: 0, offset: () => 0 },
  { title: 'no .d', damage: (repository) => rmSync(repository.inStore(DATA)), code: 'DATA_MISSING', path: DATA },
  {
    title: 'an inline chunk cut',
    damage: (repository) => truncate(INLINE, () => sizeOf(INLINE)(repository) - 1)(repository),
    code: 'DATA_TRUNCATED',
    path: INLINE,
    rev: 3,
    offset: chunk(INLINE, 3),
  },
  {
    title: 'larger than a MiB',
    build: LARGE,
    damage: (repository) => truncate(DATA, () => chunk(SPLIT, 29)(repository) + 5)(repository),
    code: 'DATA_TRUNCATED',
    path: SPLIT,
    rev: 29,
    offset: chunk(SPLIT, 29),
  },
];

const CHUNKS: readonly BadCase[] = [
  { title: 'a zlib chunk that does not decompress', damage: setChunk(SPLIT, 2, 30, Buffer.alloc(20, 0xff)), code: 'CHUNK_DAMAGED', path: SPLIT, rev: 2, offset: chunk(SPLIT, 2) },
  { title: 'the same, inline', damage: setChunk(INLINE, 2, 30, Buffer.alloc(20, 0xff)), code: 'CHUNK_DAMAGED', path: INLINE, rev: 2, offset: chunk(INLINE, 2) },
  {
    title: 'a zstd chunk that does not decompress',
    damage: setRevision(SPLIT, 1, () => ({ chunk: Buffer.from('28b52ffd20052900006865', 'hex') })),
    code: 'CHUNK_DAMAGED',
    path: SPLIT,
    rev: 1,
    offset: chunk(SPLIT, 1),
  },
  { title: 'an lz4 chunk that does not decompress', damage: setRevision(SPLIT, 0, () => ({ chunk: Buffer.from('4\u0005\0\0\0\0', 'latin1') })), code: 'CHUNK_DAMAGED', path: SPLIT, rev: 0, offset: () => 0 },
  { title: 'a full text longer than the index says', damage: setField(SPLIT, 0, 'rawSize', int32(7)), code: 'CHUNK_SIZE', path: SPLIT, rev: 0, offset: () => 0 },
  { title: 'a full text shorter than the index says', damage: setField(SPLIT, 0, 'rawSize', int32(0x7fffffff)), code: 'CHUNK_SIZE', path: SPLIT, rev: 0, offset: () => 0 },
  { title: 'a delta that makes a text of the wrong size', damage: setField(INLINE, 3, 'rawSize', int32(401)), code: 'CHUNK_SIZE', path: INLINE, rev: 3, offset: chunk(INLINE, 3) },
  { title: 'an unknown marker', damage: setChunk(SPLIT, 1, 0, Buffer.of(0x12)), code: 'CHUNK_MARKER', path: SPLIT, rev: 1, offset: chunk(SPLIT, 1), message: /12/ },
  { title: 'an unknown marker in the changelog', damage: setChunk('00changelog.i', 2, 0, Buffer.of(0xff)), code: 'CHUNK_MARKER', path: '00changelog.i', rev: 2, offset: chunk('00changelog.i', 2) },
  {
    title: 'a hunk that ends behind its base',
    damage: setRevision(SPLIT, 1, ({ rawSize }) => ({ chunk: rawChunk(hunk(0, 5000, Buffer.alloc(rawSize))) })),
    code: 'DELTA_MALFORMED',
    path: SPLIT,
    rev: 1,
    offset: chunk(SPLIT, 1),
  },
  {
    title: 'a delta with half a hunk',
    damage: setRevision(SPLIT, 1, () => ({ chunk: Buffer.alloc(7) })),
    code: 'DELTA_MALFORMED',
    path: SPLIT,
    rev: 1,
    offset: chunk(SPLIT, 1),
  },
  { title: 'in the middle of a revlog larger than a MiB', build: LARGE, damage: setChunk(SPLIT, 27, 0, Buffer.of(0x12)), code: 'CHUNK_MARKER', path: SPLIT, rev: 27, offset: chunk(SPLIT, 27) },
  { title: 'the same, inline', build: LARGE_INLINE, damage: setChunk(INLINE, 27, 0, Buffer.of(0x12)), code: 'CHUNK_MARKER', path: INLINE, rev: 27, offset: chunk(INLINE, 27) },
  { title: 'in a version 0 revlog', layout: 'version 0 without a store', damage: setChunk(INLINE, 1, 0, Buffer.of(0x12)), code: 'CHUNK_MARKER', path: INLINE, rev: 1, offset: chunk(INLINE, 1) },
];

const HEADERS: readonly BadCase[] = [
  { title: 'an unknown version', damage: header(INLINE, 0x00030005), code: 'REVLOG_VERSION', path: INLINE, message: /0x0005/ },
  { title: 'an unknown flag', damage: header(INLINE, 0x00130001), code: 'REVLOG_FLAGS', path: INLINE, message: /0x0010/ },
  { title: 'a flag in version 0', damage: header(SPLIT, 0x00020000), code: 'REVLOG_FLAGS', path: SPLIT, message: /0x0002.*version 0/ },
  { title: 'a docket of revlog v2', damage: header(SPLIT, 0x0000dead), code: 'REVLOG_VERSION', path: SPLIT, message: /exp-revlogv2/ },
  { title: 'a docket of changelog-v2', damage: header('00changelog.i', 0x0000d34d), code: 'REVLOG_VERSION', path: '00changelog.i', message: /exp-changelog-v2/ },
  { title: 'version 0 in the place of version 1', damage: header(SPLIT, 0), code: 'INDEX_TRUNCATED', path: SPLIT, rev: 3, offset: () => 256 },
];

const ENTRIES: readonly BadCase[] = [
  { title: 'a delta base after its revision', damage: setField(SPLIT, 2, 'base', int32(3)), code: 'DELTA_BASE', path: SPLIT, rev: 2, offset: entry(SPLIT, 2) },
  { title: 'a delta base after its revision, inline', damage: setField(INLINE, 2, 'base', int32(0x7fffffff)), code: 'DELTA_BASE', path: INLINE, rev: 2, offset: entry(INLINE, 2) },
  { title: 'a delta base below -1', damage: setField(SPLIT, 1, 'base', int32(-2)), code: 'DELTA_BASE', path: SPLIT, rev: 1, offset: entry(SPLIT, 1) },
  // The own revision says that it is a full text; read as one, a delta has the wrong length.
  { title: 'a delta whose base is its own revision', damage: setField(SPLIT, 1, 'base', int32(1)), code: 'CHUNK_SIZE', path: SPLIT, rev: 1, offset: chunk(SPLIT, 1) },
  { title: 'an offset outside the file', damage: setField(SPLIT, 3, 'offset', uint48(2 ** 40)), code: 'DATA_TRUNCATED', path: SPLIT, rev: 3, offset: () => 2 ** 40 },
  { title: 'an offset before the chunk before', damage: setField(SPLIT, 3, 'offset', uint48(0)), code: 'INDEX_ENTRY', path: SPLIT, rev: 3, offset: entry(SPLIT, 3) },
  { title: 'a length outside the file', damage: setField(SPLIT, 3, 'chunkLength', int32(0x7fffffff)), code: 'DATA_TRUNCATED', path: SPLIT, rev: 3, offset: chunk(SPLIT, 3) },
  { title: 'a length outside the file, inline', damage: setField(INLINE, 3, 'chunkLength', int32(0x7fffffff)), code: 'DATA_TRUNCATED', path: INLINE, rev: 3, offset: chunk(INLINE, 3) },
  { title: 'a length into the next chunk', damage: setField(SPLIT, 1, 'chunkLength', int32(250)), code: 'INDEX_ENTRY', path: SPLIT, rev: 2, offset: entry(SPLIT, 2) },
  { title: 'a negative length', damage: setField(SPLIT, 1, 'chunkLength', int32(-1)), code: 'INDEX_ENTRY', path: SPLIT, rev: 1, offset: entry(SPLIT, 1) },
  { title: 'a negative length, inline', damage: setField(INLINE, 1, 'chunkLength', int32(-64)), code: 'INDEX_ENTRY', path: INLINE, rev: 1, offset: entry(INLINE, 1) },
  { title: 'a negative text length', damage: setField(SPLIT, 1, 'rawSize', int32(-2)), code: 'INDEX_ENTRY', path: SPLIT, rev: 1, offset: entry(SPLIT, 1) },
  { title: 'a parent at its own revision', damage: setField(SPLIT, 1, 'p1', int32(1)), code: 'INDEX_ENTRY', path: SPLIT, rev: 1, offset: entry(SPLIT, 1) },
  { title: 'a second parent below -1', damage: setField(SPLIT, 1, 'p2', int32(-2)), code: 'INDEX_ENTRY', path: SPLIT, rev: 1, offset: entry(SPLIT, 1) },
  { title: 'a linkrev below -1', damage: setField(SPLIT, 1, 'linkRev', int32(-2)), code: 'INDEX_ENTRY', path: SPLIT, rev: 1, offset: entry(SPLIT, 1) },
  {
    title: 'an unknown parent in version 0',
    layout: 'version 0 in a store',
    damage: (repository) => patch(repository.inStore(SPLIT), 76 + 16, Buffer.alloc(20, 7)),
    code: 'INDEX_ENTRY',
    path: SPLIT,
    rev: 1,
    offset: () => 76,
    message: /0707/,
  },
  { title: 'larger than a MiB', build: LARGE, damage: setField(SPLIT, 20, 'base', int32(21)), code: 'DELTA_BASE', path: SPLIT, rev: 20, offset: entry(SPLIT, 20) },
];


describe('bad input: revlogs', function () {
  this.timeout(60_000);
  const scratch = Scratch.use();
  describe('an index cut in the middle of an entry', () => testBadCases(scratch, TRUNCATED_INDEX));
  describe('data that ends too early', () => testBadCases(scratch, TRUNCATED_DATA));
  describe('chunks', () => testBadCases(scratch, CHUNKS));
  describe('headers', () => testBadCases(scratch, HEADERS));
  describe('index entries', () => testBadCases(scratch, ENTRIES));
});
