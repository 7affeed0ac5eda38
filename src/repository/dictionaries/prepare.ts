import { loadDecoders } from '../../engines/chunk-codec.js';
import type { LoadedEngine } from '../../engines/registry.js';
import { loadEngine } from '../../engines/registry.js';
import type { RevlogKind } from '../../formats/record.js';
import { MIN_DICTIONARY_ID, withDictionaryId } from '../../formats/zstd-dictionary.js';
import type { ChunkFate } from '../../transforms/recompress.js';
import type { RevlogSource } from '../discover.js';
import { runInLanes } from '../schedule.js';
import type { DictionaryChoice, FilledDictionaryOptions } from './choice.js';
import { isTrained } from './choice.js';
import type { Candidate, Composed } from './compose.js';
import { composeDictionaries, gainOf } from './compose.js';
import type { DictionarySet } from './folder.js';
import { dictionaryMap, NO_DICTIONARIES } from './folder.js';
import type { GivenDictionaries } from './given.js';
import { readDictionariesFrom, readDictionaryFiles } from './given.js';
import type { RevlogGroup } from './groups.js';
import { groupName, groupRevlogs, largeSuffixes } from './groups.js';
import { checkZstdProgram } from './program.js';
import type { TrainingTools } from './train.js';
import { estimateBytes, estimateGroup, trainFor } from './train.js';

/** The dictionaries of the new store, and what becomes of its chunks. */
export interface PreparedDictionaries extends Composed {
  readonly fate: ChunkFate;
}

export interface PrepareOptions extends Pick<FilledDictionaryOptions, 'size' | 'samples'>, Pick<TrainingTools, 'thorough'> {
  readonly choice: DictionaryChoice;
  readonly revlogs: readonly RevlogSource[];
  readonly storeFolder: string;
  /** Of the store that the revlogs are in. */
  readonly source: DictionarySet;
  readonly levels: Readonly<Record<RevlogKind, number | undefined>>;
  readonly checksum: boolean;
  /** Programs that may run at a time. */
  readonly jobs: number;
  readonly signal: AbortSignal | undefined;
}

/** Where nothing has to be trained or judged. @returns undefined where something has */
export function dictionariesAtOnce(choice: DictionaryChoice, source: DictionarySet): PreparedDictionaries | undefined {
  if (choice === 'none') return { set: NO_DICTIONARIES, fate: 'all', added: [], without: [] };
  if (choice === 'keep') return { set: source, fate: 'all', added: [], without: [] };
  return undefined;
}

/**
 * Refuses at once what would otherwise fail when everything else is done: a program that is missing, files that are no
 * dictionaries.
 * @throws RevconvertError ZSTD_PROGRAM, DICTIONARY, ENGINE_MISSING; of another repository as openRepository and readDictionaries
 */
export async function checkDictionaryChoice(choice: DictionaryChoice, signal?: AbortSignal): Promise<void> {
  if (isTrained(choice)) await checkZstdProgram(signal);
  if (typeof choice !== 'string') readGiven(choice, await loadEngine('zstd'));
}

const readGiven = (choice: Exclude<DictionaryChoice, string>, engine: LoadedEngine): GivenDictionaries =>
  'from' in choice ? readDictionariesFrom(choice, engine) : readDictionaryFiles(choice, engine);

/**
 * Trains or reads the dictionaries of a new store, and leaves out what gains less than it costs.
 * @throws RevconvertError ENGINE_MISSING, DICTIONARY, ZSTD_PROGRAM, NO_SPACE, SYSTEM, CANCELLED
 */
export async function prepareDictionaries(options: PrepareOptions): Promise<PreparedDictionaries> {
  const { choice, source, revlogs } = options;
  const known = dictionariesAtOnce(choice, source);
  if (known !== undefined) return known;
  const engine = await loadEngine('zstd');
  const keepsShorter = choice === 'refresh' || choice === 'add';
  const tools: TrainingTools = { ...options, engine, keepsShorter, decoders: await loadDecoders({ dictionaries: dictionaryMap(source) }) };
  const candidates = typeof choice === 'string' ? await trainAll(options, tools) : await judgeGiven(revlogs, readGiven(choice, engine), tools);
  const kept = keepsShorter ? source : NO_DICTIONARIES;
  const fate = choice === 'refresh' ? 'shorter' : choice === 'add' ? 'none' : 'all';
  return { fate, ...composeDictionaries(candidates, kept, source) };
}

/** Trained under any ID: which one each gets is known when it is known which are kept. */
const ANY_ID = MIN_DICTIONARY_ID;

async function trainAll({ revlogs, jobs, source }: PrepareOptions, tools: TrainingTools): Promise<Candidate[]> {
  // Where its rules stay, what they set apart stays apart.
  const known = tools.keepsShorter ? source.write.suffixes.keys() : [];
  const groups = groupRevlogs(revlogs, [...new Set([...largeSuffixes(revlogs), ...known])]);
  const candidates = new Map<RevlogGroup, Candidate>();
  const lanes = Array.from({ length: Math.max(1, Math.min(jobs, groups.length)) }, (_, lane) => lane);
  const controller = new AbortController();
  const signal = tools.signal === undefined ? controller.signal : AbortSignal.any([tools.signal, controller.signal]);
  const begun: Promise<unknown>[] = [];
  const train = async (group: RevlogGroup): Promise<void> => {
    const trained = trainGroup(group, { ...tools, signal });
    begun.push(trained);
    candidates.set(group, await trained);
  };
  try {
    await runInLanes(groups, lanes, train, tools.signal);
  } catch (error) {
    // No program runs on, and no folder of samples is left, behind the failure.
    controller.abort();
    await Promise.allSettled(begun);
    throw error;
  }
  const ordered = groups.flatMap((group) => candidates.get(group) ?? []);
  return await withoutNeedless(ordered, tools);
}

async function trainGroup(group: RevlogGroup, tools: TrainingTools): Promise<Candidate> {
  const estimate = await estimateGroup(group, tools);
  const trained = await trainFor(group, ANY_ID, estimate, tools);
  const none = { group, estimate, bytes: undefined, samples: undefined, bytesWith: estimate.plainBytes };
  return 'why' in trained ? { ...none, why: trained.why } : { ...none, ...trained, why: '' };
}

/** Leaves out the dictionaries of suffixes that the one of all other filelogs serves as well. */
async function withoutNeedless(candidates: readonly Candidate[], tools: TrainingTools): Promise<Candidate[]> {
  const filelogs = candidates.find(({ group }) => group.kind === 'filelog' && group.suffix === undefined);
  // One that will not be kept serves nobody.
  const common = filelogs?.bytes !== undefined && gainOf([filelogs]) > filelogs.bytes.length ? filelogs.bytes : undefined;
  const judged: Candidate[] = [];
  for (const candidate of candidates) {
    const { group, bytes, estimate, bytesWith } = candidate;
    if (common === undefined || bytes === undefined || group.suffix === undefined) {
      judged.push(candidate);
      continue;
    }
    const withCommon = await estimateBytes(estimate.judged, group.revlogs, group.kind, { id: ANY_ID, bytes: common }, tools);
    if (withCommon > bytesWith + bytes.length) judged.push(candidate);
  }
  return judged;
}

async function judgeGiven(revlogs: readonly RevlogSource[], given: GivenDictionaries, tools: TrainingTools): Promise<Candidate[]> {
  const suffixes = [...given.keys()].filter((name) => name.startsWith('.'));
  const candidates: Candidate[] = [];
  for (const group of groupRevlogs(revlogs, suffixes)) {
    const bytes = given.get(groupName(group));
    const estimate = await estimateGroup(group, tools);
    // Under the ID that it has, which may take four bytes, it would look worse than it is.
    const bytesWith = bytes === undefined ? estimate.plainBytes : await estimateBytes(estimate.judged, group.revlogs, group.kind, { id: ANY_ID, bytes: withDictionaryId(bytes, ANY_ID) }, tools);
    candidates.push({ group, bytes, why: 'none is given for it', samples: undefined, estimate, bytesWith });
  }
  return candidates;
}
