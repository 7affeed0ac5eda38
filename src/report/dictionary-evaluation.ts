import { loadDecoders } from '../engines/chunk-codec.js';
import { loadEngine } from '../engines/registry.js';
import type { RevlogKind } from '../formats/record.js';
import { MIN_DICTIONARY_ID } from '../formats/zstd-dictionary.js';
import { dictionaryMap, readDictionaries } from '../repository/dictionaries/folder.js';
import type { RevlogGroup } from '../repository/dictionaries/groups.js';
import { groupRevlogs } from '../repository/dictionaries/groups.js';
import type { Samples } from '../repository/dictionaries/samples.js';
import type { NoDictionary, TrainedDictionary, TrainingTools } from '../repository/dictionaries/train.js';
import { estimateBytes, takeJudged, trainFor } from '../repository/dictionaries/train.js';
import type { RevlogSource } from '../repository/discover.js';
import { discoverRevlogs } from '../repository/discover.js';
import { openRepository } from '../repository/open.js';
import { bytesOf } from '../repository/plan.js';
import { runInLanes } from '../repository/schedule.js';
import { asFailure } from '../repository/with-source.js';
import { Turns } from '../streams/turns.js';
import type { CodecFigures } from './codec-speed.js';
import { measureCodecs } from './codec-speed.js';
import { withRevlog } from './each-revlog.js';
import type { EvaluationOptions, FilledEvaluationOptions } from './evaluation-options.js';
import { fillEvaluationOptions } from './evaluation-options.js';
import { SizeClasses } from './size-classes.js';

/** What chunks take, and how fast they are, at one level of zstd. */
export interface LevelFigures {
  readonly level: number;
  /** About what all chunks of the kind take, as a sample of them says; without the dictionary, and without index entries. */
  readonly bytes: number;
  /** Bytes of decompressed chunks that are compressed in a second, by one thread: the median of several runs. */
  readonly compressRate: number;
  /** Bytes of decompressed chunks that come out in a second. */
  readonly decompressRate: number;
}

/** The same with a dictionary. */
export interface DictionaryLevelFigures extends LevelFigures {
  /** `bytes`, and those of the dictionary. */
  readonly bytesInAll: number;
  /** How many chunks must be stored until they have gained what the dictionary takes; undefined: they never do. */
  readonly breakEvenChunks: number | undefined;
  /** The same in bytes of decompressed chunks. */
  readonly breakEvenRawBytes: number | undefined;
}

/** A dictionary of one size. */
export interface DictionaryEvaluation {
  /** Bytes that were asked for. */
  readonly size: number;
  /** Bytes that it takes; 0 where there is none. */
  readonly bytes: number;
  /** Chunks that it was trained on. */
  readonly samples: number;
  /** Why there is none; undefined: there is. */
  readonly why: string | undefined;
  /** By level, as asked for; empty where there is none. */
  readonly levels: readonly DictionaryLevelFigures[];
}

/** What dictionaries of some sizes would do for one kind of revlogs. */
export interface KindEvaluation {
  readonly kind: RevlogKind;
  /** Bytes of its revlogs now, indexes included. */
  readonly fileBytes: number;
  readonly chunks: number;
  /** What the chunks take now. */
  readonly chunkBytes: number;
  /** Chunks that were measured, spread over the kind, and not those that the dictionaries were trained on. */
  readonly judged: number;
  /** What these hold, decompressed. */
  readonly judgedBytes: number;
  /** Without a dictionary, by level. */
  readonly plain: readonly LevelFigures[];
  /** By size, as asked for. */
  readonly dictionaries: readonly DictionaryEvaluation[];
}

/** What dictionaries would do for a store. Plain data. */
export interface EvaluationReport {
  /** The folder that holds `.hg`, as an absolute path. */
  readonly repository: string;
  /** Kinds without a revlog are left out. */
  readonly kinds: readonly KindEvaluation[];
}

/** Chunks that are measured: enough to say bytes to a few percent, few enough for level 19. */
const MOST_JUDGED = 1024;
const MOST_JUDGED_BYTES = 1 << 21;

/**
 * Says what zstd dictionaries of some sizes would do at some levels: trains them on each kind of revlogs as a whole, and compresses
 * and decompresses chunks that are spread over it, with each and without. Reads some of the chunks, and writes nothing;
 * takes no lock. Sizes are estimates; two runs of the same store say the same of them.
 * @param repository the folder that holds `.hg`
 * @throws RevconvertError USAGE, LEVEL; as openRepository; FNCACHE_CORRUPT, STORE_DISORDER; DICTIONARY_INDEX,
 *   DICTIONARY_MISSING, DICTIONARY_DAMAGED (those of the repository, which reading it takes); ENGINE_MISSING, ZSTD_PROGRAM;
 *   NO_SPACE, PERMISSION, SYSTEM, CANCELLED
 * @example
 * const { kinds } = await evaluateDictionaries('src', { sizes: [112 * 1024], levels: [3] });
 */
export async function evaluateDictionaries(repository: string, options: EvaluationOptions = {}): Promise<EvaluationReport> {
  const filled = fillEvaluationOptions(options);
  const { signal } = filled;
  try {
    const opened = openRepository(repository);
    const source = readDictionaries(opened);
    const { revlogs } = discoverRevlogs(opened);
    const tools: TrainingTools = {
      size: undefined,
      samples: undefined,
      storeFolder: opened.storeFolder,
      decoders: await loadDecoders({ dictionaries: dictionaryMap(source) }),
      engine: await loadEngine('zstd'),
      checksum: false,
      keepsShorter: false,
      levels: { changelog: undefined, manifest: undefined, filelog: undefined },
      signal,
    };
    const kinds: KindEvaluation[] = [];
    for (const group of groupRevlogs(revlogs, [])) {
      if (filled.kind === undefined || filled.kind === group.kind) kinds.push(await evaluateKind(group, tools, filled));
    }
    return { repository: opened.root, kinds };
  } catch (error) {
    throw asFailure(error, signal);
  }
}

async function evaluateKind(group: RevlogGroup, tools: TrainingTools, { sizes, levels, jobs }: FilledEvaluationOptions): Promise<KindEvaluation> {
  const { kind, revlogs } = group;
  const turns = new Turns(tools.signal);
  const classes = await countClasses(revlogs, tools.storeFolder, turns);
  const judged = await takeJudged(group, tools, MOST_JUDGED, MOST_JUDGED_BYTES);
  const sample = createJudgedSample(judged, classes);
  const empty: KindEvaluation = {
    kind,
    fileBytes: sum(revlogs.map(bytesOf)),
    chunks: classes.total.chunks,
    chunkBytes: classes.total.bytes,
    judged: judged.deltas.length,
    judgedBytes: sum(judged.deltas.map(({ length }) => length)),
    plain: [],
    dictionaries: [],
  };
  if (empty.judgedBytes === 0) return empty;
  const trained = await trainSizes(group, tools, sizes, judged, jobs);
  const sound = trained.flatMap(({ found }) => ('why' in found ? [] : [found]));
  const measured: MeasuredLevel[] = [];
  for (const level of levels) {
    const [plain, ...codecs] = await measureCodecs({ engine: tools.engine, level, dictionaries: [undefined, ...sound], deltas: judged.deltas, turns });
    if (plain !== undefined) measured.push({ level, plain, withEach: new Map(sound.map((dictionary, i) => [dictionary, codecs[i] ?? plain])) });
  }
  return {
    ...empty,
    plain: measured.map(({ level, plain }) => figuresOf(level, plain, sample)),
    dictionaries: trained.map(({ size, found }) =>
      'why' in found
        ? { size, bytes: 0, samples: 0, why: found.why, levels: [] }
        : { size, bytes: found.bytes.length, samples: found.samples, why: undefined, levels: measured.map((level) => withDictionary(found, level, sample)) },
    ),
  };
}

/** All chunks of some revlogs; those that cannot be opened are left out. */
async function countClasses(revlogs: readonly RevlogSource[], storeFolder: string, turns: Turns): Promise<SizeClasses> {
  const classes = new SizeClasses();
  for (const revlog of revlogs) {
    await withRevlog(revlog, storeFolder, turns, ({ index }) => {
      for (let rev = 0; rev < index.length; rev++) if (index.chunkLength(rev) > 0) classes.add(index.chunkLength(rev));
      return Promise.resolve();
    });
  }
  return classes;
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

/** Chunks that stand for all of their kind. */
interface JudgedSample {
  /** About how many bytes all chunks take where these take so many. */
  readonly estimate: (lengths: readonly number[]) => number;
  readonly chunks: number;
  /** About what all chunks hold, decompressed. */
  readonly rawBytes: number;
}

function createJudgedSample({ deltas, chunkBytes: stored }: Samples, classes: SizeClasses): JudgedSample {
  const weights = classes.weigh(stored);
  const estimate = (lengths: readonly number[]): number => sum(lengths.map((length, i) => length * (weights[i] ?? 0)));
  return { estimate, chunks: classes.total.chunks, rawBytes: estimate(deltas.map(({ length }) => length)) };
}

/** What the same chunks take at one level. */
interface MeasuredLevel {
  readonly level: number;
  readonly plain: CodecFigures;
  readonly withEach: ReadonlyMap<TrainedDictionary, CodecFigures>;
}

interface TrainedSize {
  readonly size: number;
  readonly found: TrainedDictionary | NoDictionary;
}

async function trainSizes(group: RevlogGroup, tools: TrainingTools, sizes: readonly number[], judged: Samples, jobs: number): Promise<TrainedSize[]> {
  const estimate = { judged, plainBytes: await estimateBytes(judged, group.revlogs, group.kind, undefined, tools) };
  const found = new Map<number, TrainedSize>();
  const lanes = Array.from({ length: Math.min(jobs, sizes.length) }, (_, lane) => lane);
  const train = async (size: number): Promise<void> => {
    found.set(size, { size, found: await trainFor(group, MIN_DICTIONARY_ID, estimate, { ...tools, size }) });
  };
  await runInLanes(sizes, lanes, train, tools.signal);
  return sizes.flatMap((size) => found.get(size) ?? []);
}

const figuresOf = (level: number, { lengths, compressRate, decompressRate }: CodecFigures, { estimate }: JudgedSample): LevelFigures => ({
  level,
  bytes: Math.round(estimate(lengths)),
  compressRate,
  decompressRate,
});

function withDictionary(dictionary: TrainedDictionary, { level, plain, withEach }: MeasuredLevel, sample: JudgedSample): DictionaryLevelFigures {
  const figures = figuresOf(level, withEach.get(dictionary) ?? plain, sample);
  const cost = dictionary.bytes.length;
  const gain = sample.estimate(plain.lengths) - figures.bytes;
  return {
    ...figures,
    bytesInAll: figures.bytes + cost,
    breakEvenChunks: breakEven(cost, gain, sample.chunks),
    breakEvenRawBytes: breakEven(cost, gain, sample.rawBytes),
  };
}

/** How many of what gains something must be there until that has made up for a cost; undefined: it never does. @param count of what gains so much now */
export const breakEven = (cost: number, gain: number, count: number): number | undefined => (gain > 0 ? Math.ceil((cost / gain) * count) : undefined);
