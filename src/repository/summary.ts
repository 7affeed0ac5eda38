import type { PolicySet } from '../delta/policy.js';
import type { RedeltaMode } from '../delta/policy-input.js';
import type { EngineName } from '../engines/engine.js';
import { ruleFor } from '../formats/dictionary-index.js';
import type { RevlogKind } from '../formats/record.js';
import { REVLOG_KINDS } from '../formats/record.js';
import type { CarryOutcome } from './carry.js';
import type { RevlogResult } from './convert-revlog.js';
import type { DictionaryChoice } from './dictionaries/choice.js';
import type { GroupWithout, NewDictionary } from './dictionaries/compose.js';
import type { DictionarySet } from './dictionaries/folder.js';
import { filePathOf } from './dictionaries/groups.js';
import type { PreparedDictionaries } from './dictionaries/prepare.js';
import type { DictionaryUse } from './dictionaries/use.js';
import { addUse } from './dictionaries/use.js';
import type { Findings } from './findings.js';
import type { HeldLocks } from './locks.js';
import type { FilledOptions } from './options.js';
import type { ConversionPlan, RepositoryFacts } from './plan.js';
import { bytesOf } from './plan.js';

export interface KindSummary {
  readonly revlogs: number;
  readonly revisions: number;
  /** Bytes of index and data files. */
  readonly bytesBefore: number;
  readonly bytesAfter: number;
}

/** What a conversion did. */
export interface ConversionSummary extends Findings {
  readonly source: string;
  readonly destination: string;
  readonly from: EngineName;
  readonly to: EngineName;
  readonly levels: Readonly<Record<RevlogKind, number | undefined>>;
  /** Which deltas were computed anew. */
  readonly redelta: RedeltaMode;
  /** How they were chosen; undefined: all were kept. */
  readonly policy: PolicySet | undefined;
  readonly requirements: { readonly added: readonly string[]; readonly removed: readonly string[]; readonly kept: readonly string[] };
  readonly dictionaries: DictionarySummary;
  readonly kinds: Readonly<Record<RevlogKind, KindSummary>>;
  readonly revisions: number;
  /** Of revlogs and dictionaries. */
  readonly bytesBefore: number;
  readonly bytesAfter: number;
  readonly carriedFiles: number;
  readonly carriedBytes: number;
  /** What was verified of each written chunk. */
  readonly checked: 'none' | 'chunks';
  /** Threads that worked: no more than were worth their start. */
  readonly jobs: number;
  /** Why the source was read without its locks; undefined: it was locked. */
  readonly unlocked: string | undefined;
  readonly milliseconds: number;
  /** What a person should know that is no fault of the source: it was not locked, its owner could not be kept. */
  readonly notices: readonly string[];
}

/** The zstd dictionaries of the new store, and their use. */
export interface DictionarySummary {
  readonly choice: DictionaryChoice;
  /** Those that came to it. */
  readonly added: readonly NewDictionary[];
  /** Bytes of all that the source has. */
  readonly bytesBefore: number;
  /** Bytes of all that the new store has. */
  readonly bytes: number;
  /** Chunks that name one, by ID. */
  readonly used: DictionaryUse;
  /** Kinds and suffixes that get no dictionary, and why. */
  readonly without: readonly GroupWithout[];
  /** Revlogs with chunks that a dictionary was there for, and that gained nothing by it. */
  readonly revlogsWithout: number;
}

export interface SummaryInput {
  readonly plan: ConversionPlan;
  readonly destination: string;
  readonly options: FilledOptions;
  readonly locks: HeldLocks;
  readonly facts: RepositoryFacts;
  /** Those of the source. */
  readonly source: DictionarySet;
  readonly dictionaries: PreparedDictionaries;
  readonly results: readonly RevlogResult[];
  readonly carried: CarryOutcome;
  readonly findings: Findings;
  readonly threads: number;
  readonly notices: readonly string[];
  readonly milliseconds: number;
}

const sum = <T>(items: readonly T[], value: (item: T) => number): number => items.reduce((total, item) => total + value(item), 0);

export function summarise(input: SummaryInput): ConversionSummary {
  const { plan, options, facts, results, carried } = input;
  const { added, removed, kept } = plan.requirements;
  const kind = (name: RevlogKind): KindSummary => {
    const own = results.filter((result) => result.kind === name);
    return {
      revlogs: own.length,
      revisions: sum(own, (result) => result.revisions),
      bytesBefore: sum(facts.discovery.revlogs.filter((revlog) => revlog.kind === name), bytesOf),
      bytesAfter: sum(own, (result) => result.bytesAfter),
    };
  };
  const kinds = { changelog: kind('changelog'), manifest: kind('manifest'), filelog: kind('filelog') };
  const all = REVLOG_KINDS.map((name) => kinds[name]);
  const dictionaries = summariseDictionaries(input);
  return {
    source: plan.source,
    destination: input.destination,
    from: plan.from,
    to: plan.to,
    levels: plan.levels,
    redelta: plan.redelta,
    policy: plan.policy,
    requirements: { added, removed, kept },
    dictionaries,
    kinds,
    revisions: sum(all, ({ revisions }) => revisions),
    bytesBefore: sum(all, ({ bytesBefore }) => bytesBefore) + dictionaries.bytesBefore,
    bytesAfter: sum(all, ({ bytesAfter }) => bytesAfter) + dictionaries.bytes,
    carriedFiles: carried.files,
    carriedBytes: carried.bytes,
    checked: options.check,
    jobs: input.threads,
    unlocked: input.locks.unlocked,
    milliseconds: Math.round(input.milliseconds),
    notices: input.notices,
    ...input.findings,
  };
}

const sizeOf = ({ dictionaries }: DictionarySet): number => sum(dictionaries, ({ bytes }) => bytes.length);

function summariseDictionaries({ plan, source, dictionaries, results }: SummaryInput): DictionarySummary {
  const { set, added, without, fate } = dictionaries;
  const hasRule = ({ kind, name }: RevlogResult): boolean => ruleFor(set.write, kind, filePathOf(name)) !== 0;
  const declined = fate === 'none' ? [] : results.filter((result) => result.revisions > 0 && result.dictionaryUse.length === 0 && hasRule(result));
  return {
    choice: plan.dictionaries,
    added,
    bytesBefore: sizeOf(source),
    bytes: sizeOf(set),
    used: addUse(results.map(({ dictionaryUse }) => dictionaryUse)),
    without,
    revlogsWithout: declined.length,
  };
}
