import type { ChunkDecoders } from '../../engines/chunk-codec.js';
import { decodeChunks } from '../../engines/chunk-codec.js';
import type { MaybePromise } from '../../engines/engine.js';
import { andThen, isPromise } from '../../engines/engine.js';
import { RevconvertError } from '../../errors.js';
import type { RevlogIndex } from '../../formats/revlog-index.js';
import { ENTRY_SIZE } from '../../formats/revlog-index.js';
import { chunkLimit } from '../../streams/chunk-reader.js';
import type { RevlogReader } from '../../streams/read-revlog.js';
import { openRevlog } from '../../streams/read-revlog.js';
import type { RevlogSource } from '../discover.js';
import { bytesOf } from '../plan.js';
import { revlogFiles } from '../revlog-files.js';

/** Chunks out of many, as they are compressed. */
export interface Samples {
  /** What the chunks hold, decompressed: hunks, or full texts. */
  readonly deltas: readonly Uint8Array[];
  /** Bytes that each of these chunks takes now. */
  readonly chunkBytes: readonly number[];
  /** All of them, with their index entries. */
  readonly storedBytes: number;
}

export interface SampleOptions {
  readonly revlogs: readonly RevlogSource[];
  /** Folder that their paths are below. */
  readonly storeFolder: string;
  readonly decoders: ChunkDecoders;
  /** How many are wanted. There may be fewer. */
  readonly count: number;
  /** No more are taken once they have so many bytes. */
  readonly maxBytes: number;
  /** Of each sample no more bytes are taken. @default all */
  readonly longest?: number | undefined;
  /** From 0 up to 1: other samples for another phase. */
  readonly phase: number;
}

/** The most revlogs that are opened for one set of samples: opening one takes as long as decoding ten chunks. */
const MAX_OPENED = 400;

/**
 * Takes samples that are spread over revlogs by their bytes, and over all revisions within each. The same store gives
 * the same samples. What cannot be read is left out: the conversion itself says what is wrong with it.
 */
export async function takeSamples({ revlogs, storeFolder, decoders, count, maxBytes, longest, phase }: SampleOptions): Promise<Samples> {
  const deltas: Uint8Array[] = [];
  const chunkBytes: number[] = [];
  let bytes = 0;
  let storedBytes = 0;
  for (const { revlog, share } of inTurns([...spreadOver(revlogs, phase)])) {
    if (bytes > maxBytes) break;
    const reader = openQuietly(revlog, storeFolder);
    if (reader === undefined) continue;
    try {
      for (const rev of spreadRevisions(reader.index, Math.round(share * count), phase)) {
        if (bytes > maxBytes) break;
        const decoded = readDelta(rev, reader, decoders);
        const delta = isPromise(decoded) ? await decoded : decoded;
        if (delta === undefined) continue;
        const sample = delta.slice(0, longest);
        deltas.push(sample);
        bytes += sample.length;
        chunkBytes.push(reader.index.chunkLength(rev));
        storedBytes += reader.index.chunkLength(rev) + ENTRY_SIZE;
      }
    } finally {
      reader.close();
    }
  }
  return { deltas, chunkBytes, storedBytes };
}

interface Share {
  readonly revlog: RevlogSource;
  /** Of all samples. */
  readonly share: number;
}

/** A step that leads to each of some places once, and soon near to all of them. */
const STEP = 0.618;

/** In an order in which the first few are from all over: there may be bytes enough before the last is reached. */
function inTurns<T>(items: readonly T[]): T[] {
  const step = coprimeNear(STEP * items.length, items.length);
  return items.map((item, i) => items[(i * step) % items.length] ?? item);
}

function coprimeNear(wanted: number, length: number): number {
  let step = Math.max(1, Math.round(wanted));
  while (greatestDivisor(step, length) > 1) step++;
  return step;
}

const greatestDivisor = (a: number, b: number): number => (b === 0 ? a : greatestDivisor(b, a % b));

/** Points at equal distances in all bytes, one revlog behind the other: a revlog has as large a share as points fall into it. */
function* spreadOver(revlogs: readonly RevlogSource[], phase: number): Generator<Share, void, void> {
  const total = revlogs.reduce((sum, revlog) => sum + bytesOf(revlog), 0);
  const points = Math.min(revlogs.length, MAX_OPENED);
  let begin = 0;
  let next = 0;
  for (const revlog of revlogs) {
    const end = begin + bytesOf(revlog);
    let hits = 0;
    if (points === revlogs.length) {
      if (total > 0) yield { revlog, share: (end - begin) / total };
    } else {
      for (; next < points && ((next + phase) * total) / points < end; next++) hits++;
      if (hits > 0) yield { revlog, share: hits / points };
    }
    begin = end;
  }
}

function spreadRevisions(index: RevlogIndex, wanted: number, phase: number): number[] {
  const { length } = index;
  const count = Math.min(length, Math.max(1, wanted));
  const revs = Array.from({ length: count }, (_, i) => Math.min(length - 1, Math.floor(((i + phase) * length) / count)));
  return revs.filter((rev) => index.chunkLength(rev) > 0);
}

function openQuietly(revlog: RevlogSource, storeFolder: string): RevlogReader | undefined {
  try {
    return openRevlog(revlogFiles(revlog, storeFolder));
  } catch (error) {
    if (error instanceof RevconvertError) return undefined;
    throw error;
  }
}

/** A chunk that is larger, as it is stored or decoded, is no sample: a dictionary has nothing to give it. */
const MAX_CHUNK_BYTES = 1 << 20;
const MAX_DECODED_BYTES = 1 << 26;

/** @returns what the chunk of a revision holds; undefined where it is too large, or cannot be decoded */
function readDelta(rev: number, { origin, index }: RevlogReader, decoders: ChunkDecoders): MaybePromise<Uint8Array | undefined> {
  if (index.chunkLength(rev) > MAX_CHUNK_BYTES) return undefined;
  // In version 0 the index does not say how long a text is.
  const limit = Math.min(chunkLimit(rev, index), MAX_DECODED_BYTES);
  const decoded = decodeChunks([origin.data.read(index.position(rev), index.chunkLength(rev))], [limit], decoders);
  return andThen(decoded, ([delta]) => (delta instanceof Uint8Array ? delta : undefined));
}
