import { loadDecoders } from '../../engines/chunk-codec.js';
import { loadEngine } from '../../engines/registry.js';
import { RevconvertError } from '../../errors.js';
import type { DictionaryKind, WriteRules } from '../../formats/dictionary-index.js';
import type { RevlogKind } from '../../formats/record.js';
import { REVLOG_KINDS } from '../../formats/record.js';
import { MAX_DICTIONARY_ID, MIN_DICTIONARY_ID, withDictionaryId } from '../../formats/zstd-dictionary.js';
import type { ChunkFate } from '../../transforms/recompress.js';
import type { RevlogSource } from '../discover.js';
import { runInLanes } from '../schedule.js';
import type { DictionaryChoice, FilledDictionaryOptions } from './choice.js';
import type { DictionarySet, StoredDictionary } from './folder.js';
import { dictionaryMap, NO_DICTIONARIES } from './folder.js';
import type { GivenDictionaries } from './given.js';
import { readDictionariesFrom, readDictionaryFiles } from './given.js';
import type { RevlogGroup } from './groups.js';
import { groupName, groupRevlogs, largeSuffixes } from './groups.js';
import type { GroupEstimate, TrainingTools } from './train.js';
import { estimateBytes, estimateGroup, trainFor } from './train.js';

/** A dictionary that came to a store, and what it is worth there. */
export interface NewDictionary {
  readonly id: number;
  /** What it is for: a kind of revlog, or a suffix of files; several for one that serves them all. */
  readonly names: readonly string[];
  readonly bytes: number;
  /** Chunks that it was trained on; undefined: it was given. */
  readonly samples: number | undefined;
}

/** A group of revlogs that gets no dictionary, and why. */
export interface GroupWithout {
  readonly name: string;
  readonly why: string;
}

/** The dictionaries of the new store. */
export interface PreparedDictionaries {
  readonly set: DictionarySet;
  readonly fate: ChunkFate;
  readonly added: readonly NewDictionary[];
  readonly without: readonly GroupWithout[];
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
 * Trains or reads the dictionaries of a new store, and leaves out what gains less than it costs.
 * @throws RevconvertError ENGINE_MISSING, DICTIONARY, ZSTD_PROGRAM, NO_SPACE, SYSTEM, CANCELLED
 */
export async function prepareDictionaries(options: PrepareOptions): Promise<PreparedDictionaries> {
  const { choice, source, revlogs } = options;
  const known = dictionariesAtOnce(choice, source);
  if (known !== undefined) return known;
  const engine = await loadEngine('zstd');
  const tools: TrainingTools = { ...options, engine, decoders: await loadDecoders({ dictionaries: dictionaryMap(source) }) };
  const given = typeof choice === 'string' ? undefined : 'from' in choice ? readDictionariesFrom(choice) : readDictionaryFiles(choice, engine);
  const candidates = given === undefined ? await trainAll(revlogs, options.jobs, tools) : await judgeGiven(revlogs, given, tools);
  const kept = choice === 'refresh' || choice === 'add' ? source : NO_DICTIONARIES;
  const fate = choice === 'refresh' ? 'shorter' : choice === 'add' ? 'none' : 'all';
  return { fate, ...compose(candidates, kept, source) };
}

/** A dictionary for a group, and what it would gain. */
interface Candidate {
  readonly group: RevlogGroup;
  /** Undefined: there is none, for this reason. */
  readonly bytes: Uint8Array | undefined;
  readonly why: string;
  readonly samples: number | undefined;
  readonly estimate: GroupEstimate;
  /** About how many bytes the chunks take with it. */
  readonly bytesWith: number;
}

/** Trained under any ID: which one each gets is known when it is known which are kept. */
const ANY_ID = MIN_DICTIONARY_ID;

async function trainAll(revlogs: readonly RevlogSource[], jobs: number, tools: TrainingTools): Promise<Candidate[]> {
  const groups = groupRevlogs(revlogs, largeSuffixes(revlogs));
  const candidates = new Map<RevlogGroup, Candidate>();
  const lanes = Array.from({ length: Math.max(1, Math.min(jobs, groups.length)) }, (_, lane) => lane);
  await runInLanes(
    groups,
    lanes,
    async (group) => {
      const estimate = await estimateGroup(group, tools);
      const trained = await trainFor(group, ANY_ID, estimate, tools);
      const none = { group, estimate, bytes: undefined, samples: undefined, bytesWith: estimate.plainBytes };
      candidates.set(group, 'why' in trained ? { ...none, why: trained.why } : { ...none, ...trained, why: '' });
    },
    tools.signal,
  );
  const ordered = groups.flatMap((group) => candidates.get(group) ?? []);
  return await withoutNeedless(ordered, tools);
}

/** Leaves out the dictionaries of suffixes that the one of all other filelogs serves as well. */
async function withoutNeedless(candidates: readonly Candidate[], tools: TrainingTools): Promise<Candidate[]> {
  const common = candidates.find(({ group }) => group.kind === 'filelog' && group.suffix === undefined)?.bytes;
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
    const bytesWith = bytes === undefined ? estimate.plainBytes : await estimateBytes(estimate.judged, group.revlogs, group.kind, { id: ANY_ID, bytes }, tools);
    candidates.push({ group, bytes, why: 'none is given for it', samples: undefined, estimate, bytesWith });
  }
  return candidates;
}

type Composed = Pick<PreparedDictionaries, 'set' | 'added' | 'without'>;

/** Keeps the dictionaries that gain more than they cost, gives them IDs, and says which chunks each is for. */
function compose(candidates: readonly Candidate[], kept: DictionarySet, source: DictionarySet): Composed {
  const without: GroupWithout[] = [];
  const worth = new Map<Uint8Array, Candidate[]>();
  for (const candidate of candidates) {
    const { bytes, estimate, bytesWith, group, why } = candidate;
    if (bytes === undefined) without.push({ name: groupName(group), why });
    else if (bytesWith >= estimate.plainBytes) without.push({ name: groupName(group), why: 'its chunks would not get smaller' });
    else worth.set(bytes, [...(worth.get(bytes) ?? []), candidate]);
  }
  for (const [bytes, served] of worth) {
    const gain = served.reduce((sum, { estimate, bytesWith }) => sum + estimate.plainBytes - bytesWith, 0);
    if (gain > bytes.length) continue;
    worth.delete(bytes);
    without.push(...served.map(({ group }) => ({ name: groupName(group), why: `it would gain ${Math.round(gain)} bytes; the dictionary takes ${bytes.length}` })));
  }
  const ids = freeIds(worth.size, kept, source);
  const added: NewDictionary[] = [];
  const dictionaries: StoredDictionary[] = [...kept.dictionaries];
  const rules = new Map<string, number>();
  for (const [i, [bytes, served]] of [...worth].entries()) {
    const id = ids[i] ?? 0;
    const names = served.map(({ group }) => groupName(group));
    dictionaries.push({ id, kind: kindOf(served), bytes: withDictionaryId(bytes, id) });
    added.push({ id, names, bytes: bytes.length, samples: served[0]?.samples });
    for (const name of names) rules.set(name, id);
  }
  return { set: { dictionaries: dictionaries.sort((a, b) => a.id - b.id), write: mergeRules(kept.write, rules) }, added, without };
}

function kindOf(served: readonly Candidate[]): DictionaryKind {
  const kinds = new Set(served.map(({ group }) => group.kind));
  const [only] = kinds;
  return kinds.size === 1 && only !== undefined ? only : 'any';
}

function mergeRules(known: WriteRules, rules: ReadonlyMap<string, number>): WriteRules {
  const [changelog, manifest, filelog] = REVLOG_KINDS.map((kind) => rules.get(kind) ?? known[kind]);
  const suffixes = new Map(known.suffixes);
  for (const [name, id] of rules) if (name.startsWith('.')) suffixes.set(name, id);
  return { changelog: changelog ?? 0, manifest: manifest ?? 0, filelog: filelog ?? 0, suffixes };
}

/**
 * IDs for new dictionaries: above those of the source, so that a frame of the old store never finds another dictionary
 * under its ID in the new one; when these run out, any that are free.
 */
function freeIds(count: number, kept: DictionarySet, source: DictionarySet): number[] {
  const highest = source.dictionaries.reduce((most, { id }) => Math.max(most, id), 0);
  const used = new Set(kept.dictionaries.map(({ id }) => id));
  const all = Array.from({ length: MAX_DICTIONARY_ID }, (_, i) => i + MIN_DICTIONARY_ID);
  const free = [...all.filter((id) => id > highest), ...all.filter((id) => id <= highest)].filter((id) => !used.has(id));
  if (free.length >= count) return free.slice(0, count);
  throw new RevconvertError('DICTIONARY', `the store has ${used.size} dictionaries, and ${MAX_DICTIONARY_ID} at most: convert it with --dict auto, which leaves the old ones behind`);
}
