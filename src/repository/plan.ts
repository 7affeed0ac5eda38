import type { PolicySet } from '../delta/policy.js';
import type { RedeltaMode } from '../delta/policy-input.js';
import type { EngineName } from '../engines/engine.js';
import { checkLevel, findEngine } from '../engines/registry.js';
import { RevconvertError } from '../errors.js';
import type { RevlogKind } from '../formats/record.js';
import { DICTIONARY_REQUIREMENT } from '../formats/requires.js';
import type { StoreEncoding } from '../formats/store-path.js';
import type { DictionaryChoice } from './dictionaries/choice.js';
import type { Discovery, RevlogSource } from './discover.js';
import { discoverRevlogs } from './discover.js';
import type { Repository } from './open.js';
import type { FilledOptions } from './options.js';
import type { RequirementPlan } from './requirement-plan.js';
import { engineOfSource, hasOldLayout, planRequirements } from './requirement-plan.js';
import type { FileDecision } from './scan-files.js';
import { scanFiles } from './scan-files.js';

/** All that is known of a source before anything is converted. */
export interface RepositoryFacts {
  readonly repository: Repository;
  readonly discovery: Discovery;
  readonly files: readonly FileDecision[];
}

/** Looks at every file of a repository, without reading revlogs. @throws RevconvertError as discoverRevlogs */
export const gatherFacts = (repository: Repository): RepositoryFacts => ({
  repository,
  discovery: discoverRevlogs(repository),
  files: scanFiles(repository),
});

export interface KindTotals {
  readonly revlogs: number;
  readonly bytes: number;
}

/** What a conversion will do. */
export interface ConversionPlan {
  readonly source: string;
  readonly from: EngineName;
  readonly to: EngineName;
  readonly levels: Readonly<Record<RevlogKind, number | undefined>>;
  readonly requirements: RequirementPlan;
  /** Which deltas are computed anew. */
  readonly redelta: RedeltaMode;
  /** How they are chosen; undefined: all are kept. */
  readonly policy: PolicySet | undefined;
  /** Which zstd dictionaries the new store has. */
  readonly dictionaries: DictionaryChoice;
  /** Manifests and filelogs are written with generaldelta where they do not have it yet. */
  readonly addsGeneraldelta: boolean;
  /** Old layouts (version 0, no store) are written in today's. */
  readonly newLayout: boolean;
  readonly targetEncoding: StoreEncoding;
  readonly writesFncache: boolean;
  readonly kinds: Readonly<Record<RevlogKind, KindTotals>>;
}

/** The level of zstd, where none is given, for new deltas with dictionaries. */
const SMALL_LEVEL = 9;

/** Engine and levels, from the options and what the source has. @throws RevconvertError LEVEL, USAGE */
export function chooseEngine(requirements: ReadonlySet<string>, options: FilledOptions): Pick<ConversionPlan, 'from' | 'to' | 'levels' | 'dictionaries'> {
  const from = engineOfSource(requirements);
  const engine = options.to === undefined ? from : findEngine(options.to);
  const dictionaries = chooseDictionaries(requirements, from.name, engine.name, options);
  // Who wants new deltas and dictionaries wants a small store; beside making deltas the level costs little.
  const usual = dictionaries !== 'none' && options.redelta !== 'never' ? SMALL_LEVEL : undefined;
  const level = (kind: RevlogKind): number | undefined => checkLevel(engine, options.levels[kind] ?? options.level ?? usual);
  if (options.checksum && engine.name !== 'zstd') {
    throw new RevconvertError('USAGE', `--checksum: only zstd has frame checksums to choose, not ${engine.name}`);
  }
  return {
    from: from.name,
    to: engine.name,
    dictionaries,
    levels: { changelog: level('changelog'), manifest: level('manifest'), filelog: level('filelog') },
  };
}

/** Where none were chosen: those of the source, if its engine is not chosen anew. */
function chooseDictionaries(requirements: ReadonlySet<string>, from: EngineName, engine: EngineName, { to, dictionaries: { choice } }: FilledOptions): DictionaryChoice {
  const chosen = choice ?? (to === undefined ? 'keep' : 'none');
  if (chosen === 'none' || (chosen === 'keep' && !requirements.has(DICTIONARY_REQUIREMENT))) return 'none';
  // What Mercurial reads with an extension of its own only must not stay in a store that no longer says so.
  if (from === 'lz4' && (chosen === 'refresh' || chosen === 'add')) throw new RevconvertError('USAGE', `--dict ${chosen} keeps chunks as they are, and those of the source are lz4: use --dict auto`);
  if (engine === 'zstd') return chosen;
  throw new RevconvertError('USAGE', `--dict: only zstd has dictionaries, not ${engine}: give --to zstd`);
}

/**
 * Plans a conversion. Pure.
 * @param dictionaries whether the new store has any; what trains them may find that none are worth it. @default as was chosen
 * @throws RevconvertError LEVEL, USAGE
 */
export function planConversion(facts: RepositoryFacts, options: FilledOptions, dictionaries?: boolean): ConversionPlan {
  const { requirements: source } = facts.repository;
  const chosen = chooseEngine(source, options);
  const { redelta, generaldelta } = options;
  const policy = redelta === 'never' ? undefined : options.policy;
  const requirements = planRequirements(source, {
    engine: findEngine(chosen.to),
    generaldelta,
    policy,
    dictionaries: dictionaries ?? chosen.dictionaries !== 'none',
  });
  const newLayout = hasOldLayout(source);
  return {
    source: facts.repository.root,
    ...chosen,
    requirements,
    redelta,
    policy,
    addsGeneraldelta: requirements.added.includes('generaldelta'),
    newLayout,
    targetEncoding: newLayout ? 'dotencode' : facts.repository.encoding,
    writesFncache: requirements.all.has('fncache'),
    kinds: { changelog: totals(facts, 'changelog'), manifest: totals(facts, 'manifest'), filelog: totals(facts, 'filelog') },
  };
}

export const bytesOf = (revlog: RevlogSource): number => revlog.indexBytes + revlog.dataBytes;

function totals({ discovery }: RepositoryFacts, kind: RevlogKind): KindTotals {
  const revlogs = discovery.revlogs.filter((revlog) => revlog.kind === kind);
  return { revlogs: revlogs.length, bytes: revlogs.reduce((sum, revlog) => sum + bytesOf(revlog), 0) };
}
