import { DICTIONARY_ID_END, dictionaryIdOf } from '../engines/zstd-frame.js';
import type { ErrorData } from '../errors.js';
import { RevconvertError, toRevconvertError } from '../errors.js';
import type { DictionaryEntry, DictionaryKind, WriteRules } from '../formats/dictionary-index.js';
import { REVLOG_KINDS } from '../formats/record.js';
import { readDictionary, readDictionaryIndex } from '../repository/dictionaries/folder.js';
import type { DictionaryUse, UsedDictionary } from '../repository/dictionaries/use.js';
import { addUse, DictionaryTally } from '../repository/dictionaries/use.js';
import { discoverRevlogs } from '../repository/discover.js';
import type { Repository } from '../repository/open.js';
import { openRepository } from '../repository/open.js';
import type { RevlogReader } from '../streams/read-revlog.js';
import { Turns } from '../streams/turns.js';
import type { ChunkSum } from './chunk-sum.js';
import { missingRevlogs, withRevlog } from './each-revlog.js';
import { visitChunks } from './read-facts.js';

/** A dictionary of a store, and who uses it. */
export interface ListedDictionary {
  readonly id: number;
  /** What it was made for. */
  readonly kind: DictionaryKind;
  /** New chunks that are compressed with it: kinds of revlogs, and for filelogs suffixes of files; empty: none any more. */
  readonly writes: readonly string[];
  /** Of its file, as the store's list says. */
  readonly bytes: number;
  readonly sha256: string;
  /** Chunks that cannot be read without it. */
  readonly used: Readonly<ChunkSum>;
  /** Why it cannot be used: DICTIONARY_MISSING, DICTIONARY_DAMAGED, PERMISSION or SYSTEM; undefined: it is sound. */
  readonly error: ErrorData | undefined;
}

/** The dictionaries of a store. Plain data. */
export interface DictionaryReport {
  /** The folder that holds `.hg`, as an absolute path. */
  readonly repository: string;
  /** By rising ID. */
  readonly dictionaries: readonly ListedDictionary[];
  /** Chunks that need no dictionary; revisions without a byte stored have no chunk. */
  readonly without: Readonly<ChunkSum>;
  /** Chunks that name a dictionary which the store does not list, by that: nobody can read them. */
  readonly unlisted: readonly UsedDictionary[];
  /** Kinds of revlogs, and suffixes, whose new chunks are compressed without one. */
  readonly writesWithout: readonly string[];
  /** Revlogs that are damaged or missing, whose chunks are not counted. */
  readonly errors: readonly ErrorData[];
}

export interface ListDictionariesOptions {
  /** Stops the work. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Says which zstd dictionaries a store has, and how many of its chunks name each: reads the first bytes of every chunk,
 * decompresses none, and writes nothing. Takes no lock; where somebody writes at the same time, the figures are of some
 * moment in between.
 * @param repository the folder that holds `.hg`
 * @throws RevconvertError NOT_A_REPOSITORY, SHARED_REPOSITORY, UNKNOWN_REQUIREMENT, REQUIRES_CORRUPT, INTERRUPTED_UPGRADE,
 *   FNCACHE_CORRUPT, STORE_DISORDER; DICTIONARY_INDEX where the list of dictionaries is missing or wrong; PERMISSION,
 *   SYSTEM, CANCELLED. A dictionary or a revlog that is missing or damaged is not thrown: see `error` and `errors`.
 * @example
 * const { dictionaries } = await listDictionaries('src');
 * for (const { id, used } of dictionaries) console.log(id, used.chunks, used.bytes);
 */
export async function listDictionaries(repository: string, { signal }: ListDictionariesOptions = {}): Promise<DictionaryReport> {
  const opened = openRepository(repository);
  const { dictionaries: entries, write } = readDictionaryIndex(opened);
  const { counts, errors } = await countChunks(opened, new Turns(signal));
  const listed = new Set([0, ...entries.map(({ id }) => id)]);
  const countOf = (id: number): Readonly<ChunkSum> => {
    const { chunks = 0, bytes = 0 } = counts.find((one) => one.id === id) ?? {};
    return { chunks, bytes };
  };
  return {
    repository: opened.root,
    dictionaries: entries.map((entry) => ({ ...entry, writes: namesFor(write, entry.id), used: countOf(entry.id), error: faultOf(opened, entry) })),
    without: countOf(0),
    unlisted: counts.filter(({ id }) => !listed.has(id)),
    writesWithout: namesFor(write, 0),
    errors,
  };
}

/** The rules that name an ID. */
const namesFor = ({ suffixes, ...kinds }: WriteRules, id: number): string[] => [
  ...REVLOG_KINDS.filter((kind) => kinds[kind] === id),
  ...[...suffixes].filter(([, one]) => one === id).map(([suffix]) => suffix),
];

function faultOf(repository: Repository, entry: DictionaryEntry): ErrorData | undefined {
  try {
    readDictionary(repository, entry);
    return undefined;
  } catch (error) {
    return toRevconvertError(error).toJSON();
  }
}

interface Counted {
  /** By rising ID; 0: chunks that name none. */
  readonly counts: DictionaryUse;
  readonly errors: readonly ErrorData[];
}

async function countChunks(repository: Repository, turns: Turns): Promise<Counted> {
  const discovery = discoverRevlogs(repository);
  const errors = missingRevlogs(discovery);
  const uses: DictionaryUse[] = [];
  for (const revlog of discovery.revlogs) {
    const counted = await withRevlog(revlog, repository.storeFolder, turns, (reader) => countIn(reader, turns));
    if (counted instanceof RevconvertError) errors.push(counted);
    else uses.push(counted);
  }
  return {
    counts: addUse(uses),
    errors: errors.map((error) => error.toJSON()).sort((a, b) => ((a.at.path ?? '') < (b.at.path ?? '') ? -1 : 1)),
  };
}

/** One revlog: apart from the others, so that one that is damaged half-way does not count. */
async function countIn(reader: RevlogReader, turns: Turns): Promise<DictionaryUse> {
  const { index } = reader;
  const tally = new DictionaryTally();
  const visit = (rev: number, read: Uint8Array, at: number): void => {
    const bytes = index.chunkLength(rev);
    const id = dictionaryIdOf(read.subarray(at, at + Math.min(bytes, DICTIONARY_ID_END)));
    tally.add({ id, chunks: 1, bytes });
  };
  await visitChunks(reader, DICTIONARY_ID_END, visit, turns);
  return tally.sums;
}
