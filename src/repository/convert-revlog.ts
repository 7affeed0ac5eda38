import { copyFileSync, rmSync, statSync } from 'node:fs';

import type { ErrorData } from '../errors.js';
import { RevconvertError, toRevconvertError } from '../errors.js';
import { ByteCollector } from '../formats/byte-collector.js';
import { createEntryEncoder } from '../formats/encode-entries.js';
import type { RevlogKind } from '../formats/record.js';
import type { RevlogHeader } from '../formats/revlog-header.js';
import { ENTRY_SIZE, INLINE_LIMIT, RevlogIndex } from '../formats/revlog-index.js';
import type { RevlogOutcome } from '../sinks/revlog-writer.js';
import { RevlogWriter } from '../sinks/revlog-writer.js';
import { openByteSource } from '../streams/byte-source.js';
import type { RevlogReader } from '../streams/read-revlog.js';
import { openChunksOf, openRevlog, readBatches } from '../streams/read-revlog.js';
import { drive } from '../streams/stage.js';
import type { FilePath } from './byte-path.js';
import { asPath } from './byte-path.js';
import type { DictionaryCounter, DictionaryUse } from './dictionaries/use.js';
import { createDictionaryUse } from './dictionaries/use.js';
import type { ConversionSettings } from './settings.js';
import { leavesDictionaries } from './settings.js';
import { sharedMemory } from './shared-memory.js';
import type { ThreadEngines } from './thread-engines.js';


/** One revlog to convert whole. Plain data; it crosses threads. */
export interface RevlogJob {
  /** Comes back with the result. */
  readonly id: number;
  /** For messages. */
  readonly name: string;
  readonly kind: RevlogKind;
  readonly sourceIndex: FilePath;
  readonly sourceData: FilePath;
  readonly targetIndex: FilePath;
  readonly targetData: FilePath;
  /** There is a data file. */
  readonly hasData: boolean;
  /** The store's list does not name it: where it is no sound revlog it is carried as it is, and reported. */
  readonly stray: boolean;
}

/** What became of one revlog. */
export interface RevlogResult {
  readonly id: number;
  readonly name: string;
  readonly kind: RevlogKind;
  readonly revisions: number;
  /** Whether there is a data file now. */
  readonly split: boolean;
  readonly bytesAfter: number;
  /** Damaged revisions, carried over byte for byte. */
  readonly damaged: readonly ErrorData[];
  /** Why the whole revlog was carried byte for byte; undefined: it was converted. */
  readonly carried: ErrorData | undefined;
  /** Bytes behind the last chunk that no revision refers to, left behind. */
  readonly trailingBytes: number;
  /** Chunks that name a dictionary. */
  readonly dictionaryUse: DictionaryUse;
  /** There is a data file in the source to which no revision can refer (the index is inline, or empty): left behind. */
  readonly staleData: boolean;
}

/**
 * The header that a target revlog gets: with new deltas what the policy says, otherwise what the source has, but that
 * manifests and filelogs gain generaldelta; changelogs never do, as in Mercurial.
 */
export function targetHeader(source: RevlogHeader, kind: RevlogKind, settings: ConversionSettings): Omit<RevlogHeader, 'version' | 'inline'> {
  const { filelogMeta, deltaInfo } = source;
  if (settings.redelta !== 'never') return { generaldelta: settings.policy[kind].generaldelta, filelogMeta, deltaInfo };
  return { generaldelta: source.generaldelta || (settings.generaldelta && kind !== 'changelog'), filelogMeta, deltaInfo };
}

/**
 * Converts one revlog.
 * @throws RevconvertError for damage (unless settings say to keep going, or the job is a stray), and for the system's failures
 */
export async function convertRevlog(job: RevlogJob, settings: ConversionSettings, engines: ThreadEngines): Promise<RevlogResult> {
  const tolerant = settings.keepGoing || job.stray;
  const damaged: ErrorData[] = [];
  // Carried whole its chunks would need dictionaries that do not come along.
  const isTied = leavesDictionaries(settings.dictionaries);
  const onDamage = settings.keepGoing || (job.stray && isTied) ? (error: RevconvertError) => damaged.push(error.toJSON()) : undefined;
  try {
    const reader = openRevlog({
      indexFile: asPath(job.sourceIndex),
      dataFile: asPath(job.sourceData),
      path: job.name,
      kind: job.kind,
      onDamage,
    });
    const use = createDictionaryUse();
    const outcome = await rewrite(reader, job, settings, engines, use, onDamage);
    return convertedResult(job, reader, outcome, damaged, use.used);
  } catch (error) {
    const failure = toRevconvertError(error, { path: job.name });
    if (!tolerant || failure.kind !== 'input') throw failure;
    // What nothing lists, and cannot be read as a revlog, is nobody's history.
    if (!isTied || job.stray) return carryWhole(job, failure);
    throw new RevconvertError(failure.code, `${failure.message}; it cannot be carried as it is, since its chunks may need dictionaries that do not come along: --dict keep carries them`, failure.at, { cause: failure });
  }
}

/** The result of a revlog that was converted. */
export const convertedResult = (
  job: RevlogJob,
  { index, trailingBytes }: Pick<RevlogReader, 'index' | 'trailingBytes'>,
  outcome: RevlogOutcome,
  damaged: readonly ErrorData[],
  dictionaryUse: DictionaryUse,
): RevlogResult => ({
  id: job.id,
  name: job.name,
  kind: job.kind,
  revisions: outcome.revisions,
  split: !outcome.inline,
  bytesAfter: outcome.indexBytes + outcome.dataBytes,
  damaged,
  dictionaryUse,
  carried: undefined,
  trailingBytes,
  staleData: job.hasData && (index.header.inline || index.length === 0),
});

async function rewrite(
  reader: RevlogReader,
  job: RevlogJob,
  settings: ConversionSettings,
  engines: ThreadEngines,
  use: DictionaryCounter,
  onDamage: ((error: RevconvertError) => void) | undefined,
): Promise<RevlogOutcome> {
  const writer = new RevlogWriter({
    ...targetHeader(reader.index.header, job.kind, settings),
    indexFile: asPath(job.targetIndex),
    dataFile: asPath(job.targetData),
    path: job.name,
    mode: settings.fileMode,
    expectedBytes: Math.min(reader.index.chunksEnd(), INLINE_LIMIT),
  });
  try {
    await drive(reader.batches(), engines.createPipeline(reader.origin, onDamage), (batch) => {
      writer.write(batch);
      for (const { chunk } of batch.revisions) use.add(chunk);
      engines.batchDone();
    });
    return writer.finish();
  } catch (error) {
    writer.abort();
    throw error;
  } finally {
    reader.close();
  }
}

/** The files as they are: a reader goes by the first byte of each chunk, whatever the repository says. */
function carryWhole(job: RevlogJob, reason: RevconvertError): RevlogResult {
  let bytes = 0;
  const copy = (from: FilePath, to: FilePath): boolean => {
    try {
      // A FIFO would block for ever.
      if (statSync(asPath(from), { throwIfNoEntry: false })?.isFile() !== true) return false;
      rmSync(asPath(to), { force: true });
      copyFileSync(asPath(from), asPath(to));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
      throw toRevconvertError(error, { path: job.name });
    }
    bytes += sizeOf(to);
    return true;
  };
  copy(job.sourceIndex, job.targetIndex);
  const split = copy(job.sourceData, job.targetData);
  return {
    id: job.id,
    name: job.name,
    kind: job.kind,
    revisions: 0,
    split,
    bytesAfter: bytes,
    damaged: [],
    dictionaryUse: [],
    carried: reason.toJSON(),
    trailingBytes: 0,
    staleData: false,
  };
}

function sizeOf(path: FilePath): number {
  const source = openByteSource(asPath(path), '');
  source.close();
  return source.size;
}

/** A range of a large revlog. Ranges are independent, since no delta changes. Plain data; the table is shared memory. */
export interface RangeJob {
  readonly name: string;
  readonly kind: RevlogKind;
  /** The whole index, 64 bytes a revision. */
  readonly table: Uint8Array;
  readonly header: RevlogHeader;
  /** What `position` of the index points into. */
  readonly chunkFile: FilePath;
  readonly from: number;
  readonly to: number;
}

export interface RangeResult {
  /** Index entries; offsets are counted from the first chunk of the range. */
  readonly entries: Uint8Array;
  /** The chunks, one after the other. */
  readonly chunks: Uint8Array;
  readonly damaged: readonly ErrorData[];
  readonly dictionaryUse: DictionaryUse;
}

/** Converts a range of revisions in memory. @throws as {@link convertRevlog} */
export async function convertRange(job: RangeJob, settings: ConversionSettings, engines: ThreadEngines): Promise<RangeResult> {
  const damaged: ErrorData[] = [];
  const onDamage = settings.keepGoing ? (error: RevconvertError) => damaged.push(error.toJSON()) : undefined;
  const index = new RevlogIndex(job.header, job.table);
  const { generaldelta } = targetHeader(job.header, job.kind, settings);
  const encoder = createEntryEncoder({ generaldelta, chainStart: job.from === 0 ? -1 : index.chainStart(job.from - 1) });
  const entries = new ByteCollector((job.to - job.from) * ENTRY_SIZE, sharedMemory);
  const chunks = new ByteCollector(storedBytes(index, job.from, job.to), sharedMemory);
  const data = openChunksOf(index, asPath(job.chunkFile), job.name);
  const use = createDictionaryUse();
  try {
    const origin = { index, data, path: job.name, kind: job.kind };
    const batches = readBatches(origin, job.from, job.to);
    await drive(batches, engines.createPipeline(origin, onDamage), (batch) => {
      entries.append(encoder.encode(batch.revisions));
      for (const { chunk } of batch.revisions) {
        chunks.append(chunk);
        use.add(chunk);
      }
      engines.batchDone();
    });
  } finally {
    data.close();
  }
  return { entries: entries.view(), chunks: chunks.view(), damaged, dictionaryUse: use.used };
}

/** Bytes of the chunks of a range in the source, and some: what is made of them is rarely much larger. */
function storedBytes(index: RevlogIndex, from: number, to: number): number {
  let bytes = 0;
  for (let rev = from; rev < to; rev++) bytes += index.chunkLength(rev);
  return bytes + (bytes >> 3);
}
