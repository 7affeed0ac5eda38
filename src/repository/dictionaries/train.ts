import type { ChunkDecoders } from '../../engines/chunk-codec.js';
import { encodeChunks } from '../../engines/chunk-codec.js';
import type { Dictionary } from '../../engines/engine.js';
import type { LoadedEngine } from '../../engines/registry.js';
import { RevconvertError } from '../../errors.js';
import type { RevlogKind } from '../../formats/record.js';
import type { RevlogSource } from '../discover.js';
import { bytesOf } from '../plan.js';
import type { FilledDictionaryOptions } from './choice.js';
import { MIN_TRAINED_BYTES } from './choice.js';
import type { RevlogGroup } from './groups.js';
import { trainDictionary } from './program.js';
import type { Samples } from './samples.js';
import { takeSamples } from './samples.js';

/** What trains the dictionaries of a store. */
export interface TrainingTools extends Pick<FilledDictionaryOptions, 'size' | 'samples'> {
  readonly storeFolder: string;
  /** Of the store. */
  readonly decoders: ChunkDecoders;
  /** zstd. */
  readonly engine: LoadedEngine;
  readonly checksum: boolean;
  /** Chunks that would not get shorter stay as they are. */
  readonly keepsShorter: boolean;
  readonly levels: Readonly<Record<RevlogKind, number | undefined>>;
  /** More samples where their number is not given: for conversions that take far longer than training. @default false */
  readonly thorough?: boolean | undefined;
  readonly signal: AbortSignal | undefined;
}

/** A dictionary that was trained for a group of revlogs, and what it is worth. */
export interface TrainedDictionary extends Dictionary {
  /** Chunks that it was trained on. */
  readonly samples: number;
  /** About how many bytes all chunks of the group take without and with it, as a sample of them says; without the dictionary itself. */
  readonly plainBytes: number;
  readonly bytesWith: number;
}

/** Why there is no dictionary for a group. */
export interface NoDictionary {
  readonly why: string;
}

/** About the twentieth part of what it is for: more costs more than it gains, less gains less. */
const SIZE_DIVISOR = 20;
const SIZE_STEP = 1024;
const MAX_DEFAULT_BYTES = 1 << 20;

/** Where the first gains less than it takes, one of a fourth of its size may not. */
const SMALLER = 4;

/** Samples have this many times the bytes of the dictionary, and at least so many. */
const SAMPLE_TIMES = 12;
const MIN_SAMPLE_TOTAL = 1 << 20;
const MAX_DEFAULT_SAMPLES = 4096;
/** However large they are: of fewer nothing is learnt that most chunks have in common. */
const MIN_DEFAULT_SAMPLES = 64;
/** Where training is thorough, of both. */
const THOROUGH_TIMES = 8;
/** Whatever is asked for: the program holds them all in memory. */
const MAX_SAMPLE_TOTAL = 1 << 29;

/** zstd looks at no more of a sample. */
const MAX_SAMPLE_BYTES = 128 * 1024;

/**
 * Chunks by which a group is judged. They are not chosen like those that a dictionary is trained on: those would flatter it.
 * The first few say how large the chunks are: of large ones fewer are taken.
 */
const FIRST_JUDGED = 24;
const JUDGED = 256;
const JUDGED_BYTES = 1 << 21;
const JUDGED_PHASE = 0.21;
const TRAINING_PHASE = 0.5;

/** What is known of a group before anything is trained. */
export interface GroupEstimate {
  readonly judged: Samples;
  /** About how many bytes all of its chunks take without a new dictionary. */
  readonly plainBytes: number;
}

/** Compresses a sample of a group's chunks without a dictionary. */
export async function estimateGroup(group: RevlogGroup, tools: TrainingTools): Promise<GroupEstimate> {
  const judged = await takeJudged(group, tools, JUDGED, JUDGED_BYTES);
  return { judged, plainBytes: await estimateBytes(judged, group.revlogs, group.kind, undefined, tools) };
}

/**
 * Takes the chunks by which a group is judged.
 * @param most how many at most
 * @param maxBytes about the most bytes that they hold, decompressed; twice as many where their lengths differ much
 */
export async function takeJudged({ revlogs }: RevlogGroup, { storeFolder, decoders }: Pick<TrainingTools, 'storeFolder' | 'decoders'>, most: number, maxBytes: number): Promise<Samples> {
  const take = (count: number): Promise<Samples> => takeSamples({ revlogs, storeFolder, decoders, count, maxBytes: 2 * maxBytes, phase: JUDGED_PHASE });
  const first = await take(FIRST_JUDGED);
  const count = Math.min(most, Math.floor(maxBytes / meanLength(first.deltas)));
  return count > FIRST_JUDGED ? await take(count) : first;
}

/** About how many bytes the chunks of revlogs take with a dictionary, or without: as many times as a sample as they are larger now. */
export async function estimateBytes({ deltas, chunkBytes, storedBytes }: Samples, revlogs: readonly RevlogSource[], kind: RevlogKind, dictionary: Dictionary | undefined, { engine, levels, checksum, keepsShorter }: TrainingTools): Promise<number> {
  if (deltas.length === 0) return 0;
  const compressor = engine.createCompressor({ level: levels[kind], checksum, dictionary });
  const chunks = await encodeChunks(deltas, compressor);
  const total = revlogs.reduce((sum, revlog) => sum + bytesOf(revlog), 0);
  const bytes = chunks.reduce((sum, { length }, i) => sum + (keepsShorter ? Math.min(length, chunkBytes[i] ?? length) : length), 0);
  return (bytes * total) / storedBytes;
}

/**
 * Trains a dictionary for a group of revlogs, and estimates what it gains.
 * @throws RevconvertError ZSTD_PROGRAM, NO_SPACE, SYSTEM, CANCELLED
 */
export async function trainFor(group: RevlogGroup, id: number, estimate: GroupEstimate, tools: TrainingTools): Promise<TrainedDictionary | NoDictionary> {
  const { size = Math.min(MAX_DEFAULT_BYTES, Math.round(estimate.plainBytes / SIZE_DIVISOR / SIZE_STEP) * SIZE_STEP) } = tools;
  const trained = await trainOfSize(size, group, id, estimate, tools);
  if (tools.size !== undefined || 'why' in trained || netGainOf(trained) > 0) return trained;
  const smaller = await trainOfSize(Math.floor(size / SMALLER), group, id, estimate, tools);
  return 'why' in smaller ? trained : smaller;
}

/** What a dictionary gains, less what it takes itself. */
const netGainOf = ({ plainBytes, bytesWith, bytes }: TrainedDictionary): number => plainBytes - bytesWith - bytes.length;

async function trainOfSize(size: number, group: RevlogGroup, id: number, estimate: GroupEstimate, tools: TrainingTools): Promise<TrainedDictionary | NoDictionary> {
  const { plainBytes, judged } = estimate;
  if (size < MIN_TRAINED_BYTES) return { why: 'its chunks take too little room' };
  const samples = await trainingSamples(group, size, judged, tools);
  const bytes = await trainDictionary({ samples: inRuns(samples), size, id, signal: tools.signal });
  if (bytes === undefined) return { why: `zstd --train makes nothing of its ${samples.length} samples` };
  const bytesWith = await estimateBytes(judged, group.revlogs, group.kind, { id, bytes }, tools).catch((error: unknown) => {
    if (!(error instanceof RevconvertError) || error.code !== 'DICTIONARY_DAMAGED') throw error;
    throw new RevconvertError('ZSTD_PROGRAM', 'zstd --train made a dictionary that cannot be used', {}, { cause: error });
  });
  return { id, bytes, samples: samples.length, plainBytes, bytesWith };
}

const meanLength = (deltas: readonly Uint8Array[]): number => Math.max(1, deltas.reduce((sum, { length }) => sum + length, 0) / Math.max(1, deltas.length));

/** Samples that are files of their own: with more, the time goes into making files. */
const MAX_FILES = 1024;
const MAX_RUN = 8;

/** Puts several chunks that follow each other into one sample where there are many: the dictionary is as good. */
function inRuns(samples: readonly Uint8Array[]): readonly Uint8Array[] {
  const length = Math.min(MAX_RUN, Math.ceil(samples.length / MAX_FILES));
  if (length <= 1) return samples;
  return Array.from({ length: Math.ceil(samples.length / length) }, (_, i) => Buffer.concat(samples.slice(i * length, (i + 1) * length)));
}

async function trainingSamples({ revlogs }: RevlogGroup, size: number, judged: Samples, { storeFolder, decoders, samples, thorough = false }: TrainingTools): Promise<readonly Uint8Array[]> {
  const mean = meanLength(judged.deltas.map((delta) => delta.subarray(0, MAX_SAMPLE_BYTES)));
  const effort = thorough ? THOROUGH_TIMES : 1;
  const total = effort * Math.max(MIN_SAMPLE_TOTAL, SAMPLE_TIMES * size);
  const wanted = Math.min(effort * MAX_DEFAULT_SAMPLES, Math.max(MIN_DEFAULT_SAMPLES, Math.ceil(total / mean)));
  const maxBytes = samples === undefined ? 2 * wanted * mean + MAX_SAMPLE_BYTES : MAX_SAMPLE_TOTAL;
  return (await takeSamples({ revlogs, storeFolder, decoders, count: samples ?? wanted, maxBytes, longest: MAX_SAMPLE_BYTES, phase: TRAINING_PHASE })).deltas;
}
