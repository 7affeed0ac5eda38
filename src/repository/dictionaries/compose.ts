import { RevconvertError } from '../../errors.js';
import type { DictionaryKind, WriteRules } from '../../formats/dictionary-index.js';
import { MAX_DICTIONARY_ID, MIN_DICTIONARY_ID, withDictionaryId } from '../../formats/zstd-dictionary.js';
import type { DictionarySet } from './folder.js';
import type { RevlogGroup } from './groups.js';
import { groupName } from './groups.js';
import type { GroupEstimate } from './train.js';

/** A dictionary for a group, and what it would gain. */
export interface Candidate {
  readonly group: RevlogGroup;
  /** Undefined: there is none, for this reason. */
  readonly bytes: Uint8Array | undefined;
  readonly why: string;
  /** Chunks that it was trained on; undefined: it was given. */
  readonly samples: number | undefined;
  readonly estimate: GroupEstimate;
  /** About how many bytes the chunks take with it. */
  readonly bytesWith: number;
}

/** A dictionary that came to a store. */
export interface NewDictionary {
  readonly id: number;
  /** What it is for: a kind of revlog, or a suffix of files; several for one that serves them all. */
  readonly names: readonly string[];
  readonly bytes: number;
  /** Chunks that it was trained on; undefined: it was given. */
  readonly samples: number | undefined;
  /** About how many bytes the chunks of the store get smaller by it, as a sample of them says. Its own are to be taken off. */
  readonly gain: number;
}

/** A group of revlogs that gets no dictionary, and why. */
export interface GroupWithout {
  readonly name: string;
  readonly why: string;
}

/** The dictionaries of the new store. */
export interface Composed {
  readonly set: DictionarySet;
  readonly added: readonly NewDictionary[];
  readonly without: readonly GroupWithout[];
}

/**
 * Keeps the dictionaries that gain more than they cost, gives them IDs, and says which chunks each is for. Pure.
 * @param kept those of the source that stay
 * @param source all of the source's
 * @throws RevconvertError DICTIONARY where there are no IDs left
 */
export function composeDictionaries(candidates: readonly Candidate[], kept: DictionarySet, source: DictionarySet): Composed {
  const without: GroupWithout[] = [];
  const worthwhile = selectWorthwhile(candidates, without);
  const ids = freeIds(worthwhile.length, kept, source);
  const chosen = worthwhile.map(({ bytes, served }, i) => {
    const id = ids[i] ?? 0;
    return { id, kind: kindOf(served), bytes: withDictionaryId(bytes, id), names: served.map(({ group }) => groupName(group)), samples: served[0]?.samples, gain: Math.round(gainOf(served)) };
  });
  const dictionaries = [...kept.dictionaries, ...chosen.map(({ id, kind, bytes }) => ({ id, kind, bytes }))].sort((a, b) => a.id - b.id);
  const rules = new Map(chosen.flatMap(({ id, names }) => names.map((name) => [name, id] as const)));
  return {
    set: { dictionaries, write: mergeRules(kept.write, rules) },
    added: chosen.map(({ id, names, bytes, samples, gain }) => ({ id, names, bytes: bytes.length, samples, gain })),
    without,
  };
}

/** A dictionary, and the groups that it serves. */
interface Worthwhile {
  readonly bytes: Uint8Array;
  readonly served: readonly Candidate[];
}

/** @param without is given the groups that get none */
function selectWorthwhile(candidates: readonly Candidate[], without: GroupWithout[]): Worthwhile[] {
  const served = new Map<Uint8Array, Candidate[]>();
  for (const candidate of candidates) {
    const { bytes, estimate, bytesWith, group, why } = candidate;
    if (bytes === undefined) without.push({ name: groupName(group), why });
    else if (bytesWith >= estimate.plainBytes) without.push({ name: groupName(group), why: 'its chunks would not get smaller' });
    else served.set(bytes, [...(served.get(bytes) ?? []), candidate]);
  }
  return [...served].flatMap(([bytes, groups]) => {
    const gain = gainOf(groups);
    if (gain > bytes.length) return [{ bytes, served: groups }];
    without.push(...groups.map(({ group }) => ({ name: groupName(group), why: `it would gain ${Math.round(gain)} bytes; the dictionary takes ${bytes.length}` })));
    return [];
  });
}

/** What a dictionary gains in all groups that it serves; what it takes itself is not counted. */
export const gainOf = (served: readonly Candidate[]): number => served.reduce((sum, { estimate, bytesWith }) => sum + estimate.plainBytes - bytesWith, 0);

function kindOf(served: readonly Candidate[]): DictionaryKind {
  const [kind, ...others] = new Set(served.map(({ group }) => group.kind));
  return kind === undefined || others.length > 0 ? 'any' : kind;
}

function mergeRules(known: WriteRules, rules: ReadonlyMap<string, number>): WriteRules {
  const suffixes = [...rules].filter(([name]) => name.startsWith('.'));
  return {
    changelog: rules.get('changelog') ?? known.changelog,
    manifest: rules.get('manifest') ?? known.manifest,
    filelog: rules.get('filelog') ?? known.filelog,
    suffixes: new Map([...known.suffixes, ...suffixes]),
  };
}

/**
 * IDs for new dictionaries: above those of the source, so that a frame of the old store never finds another dictionary
 * under its ID in the new one; when these run out, others that the source does not have, and last any that are free.
 */
function freeIds(count: number, kept: DictionarySet, source: DictionarySet): number[] {
  const highest = source.dictionaries.reduce((most, { id }) => Math.max(most, id), 0);
  const used = new Set(kept.dictionaries.map(({ id }) => id));
  const all = Array.from({ length: MAX_DICTIONARY_ID }, (_, i) => i + MIN_DICTIONARY_ID);
  const known = new Set(source.dictionaries.map(({ id }) => id));
  const fresh = all.filter((id) => !known.has(id));
  const free = [...fresh.filter((id) => id > highest), ...fresh.filter((id) => id < highest), ...known].filter((id) => !used.has(id));
  if (free.length >= count) return free.slice(0, count);
  throw new RevconvertError('DICTIONARY', `the store has ${used.size} dictionaries, and ${MAX_DICTIONARY_ID} at most: convert it with --dict auto, which leaves the old ones behind`);
}
