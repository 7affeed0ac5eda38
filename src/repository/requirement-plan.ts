import type { PolicySet } from '../delta/policy.js';
import type { Engine } from '../engines/engine.js';
import { ENGINE_NAMES, ENGINES } from '../engines/registry.js';
import { RevconvertError } from '../errors.js';
import { REVLOG_KINDS } from '../formats/record.js';
import { DICTIONARY_REQUIREMENT, findRequirement } from '../formats/requires.js';

export interface RequirementOptions {
  /** The engine of the destination. */
  readonly engine: Engine;
  /** False: a source without generaldelta stays without it. Where deltas are made anew the policy says it. */
  readonly generaldelta: boolean;
  /** Of new deltas. @default undefined: all are kept */
  readonly policy?: PolicySet | undefined;
  /** The new store has zstd dictionaries. @default false */
  readonly dictionaries?: boolean | undefined;
}

/** What the two files of requirements will say. */
export interface RequirementPlan {
  readonly all: ReadonlySet<string>;
  /** Lines of `.hg/requires`. */
  readonly workingCopy: readonly string[];
  /** Lines of `.hg/store/requires`; undefined where there is no such file. */
  readonly store: readonly string[] | undefined;
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly kept: readonly string[];
}

/** What `hg init` of today's Mercurial (6.3 and 7.2) gives a new repository, without its compression. */
const TODAYS_LAYOUT = ['dotencode', 'fncache', 'revlogv1', 'share-safe', 'store'] as const;

function requirementsOf({ requirement, legacyRequirements }: Engine): readonly string[] {
  return requirement === undefined ? legacyRequirements : [requirement, ...legacyRequirements];
}

const ENGINE_REQUIREMENTS: ReadonlySet<string> = new Set(
  ENGINE_NAMES.flatMap((name) => requirementsOf(ENGINES[name])),
);

/** Whether a source is older than the layouts that are kept: version 0 revlogs, or no store. It gets today's. */
export const hasOldLayout = (source: ReadonlySet<string>): boolean => !source.has('revlogv1') || !source.has('store');

const DELTA_INFO = 'delta-info-revlog';

/** Whether deltas of the source may be against any earlier revision. */
export const hasGeneraldelta = (source: ReadonlySet<string>): boolean =>
  ['generaldelta', 'sparserevlog', DELTA_INFO].some((name) => source.has(name));

/**
 * The requirements of the destination: the source's, with the engine's own in place of any other's, generaldelta unless
 * it is declined (where deltas are made anew: what their policy says), and today's layout for old sources.
 * @throws RevconvertError USAGE where generaldelta is declined and the source has it: that would take new deltas; where
 * the policy declines what another requirement of the source implies
 */
export function planRequirements(source: ReadonlySet<string>, options: RequirementOptions): RequirementPlan {
  const all = new Set([...source].filter((name) => !ENGINE_REQUIREMENTS.has(name) && name !== DICTIONARY_REQUIREMENT));
  if (options.engine.requirement !== undefined) all.add(options.engine.requirement);
  if (options.dictionaries === true) all.add(DICTIONARY_REQUIREMENT);
  for (const name of hasOldLayout(source) ? TODAYS_LAYOUT : []) all.add(name);
  if (options.policy === undefined) keepDeltas(source, options.generaldelta, all);
  else renewDeltas(source, options.policy, all);
  return { all, ...divideRequirements(all), ...compare(source, all) };
}

function keepDeltas(source: ReadonlySet<string>, generaldelta: boolean, all: Set<string>): void {
  if (!generaldelta && hasGeneraldelta(source)) {
    throw new RevconvertError('USAGE', '--no-generaldelta: the source has generaldelta, and without it every delta would have to be made anew (--redelta)');
  }
  if (generaldelta) all.add('generaldelta');
  if (generaldelta && hasOldLayout(source)) all.add('sparserevlog');
}

/** What any kind is written with must be required; a requirement that nothing is written with any more goes. */
function renewDeltas(source: ReadonlySet<string>, policy: PolicySet, all: Set<string>): void {
  for (const [name, key] of [['generaldelta', 'generaldelta'], ['sparserevlog', 'sparse']] as const) {
    if (REVLOG_KINDS.some((kind) => policy[kind][key])) all.add(name);
    else if (source.has(DELTA_INFO)) throw new RevconvertError('USAGE', `${key}: it cannot be turned off: the source has the requirement ${DELTA_INFO}, which implies ${name}`);
    else all.delete(name);
  }
}

/** What each of the two files of requirements says. */
export function divideRequirements(all: ReadonlySet<string>): Pick<RequirementPlan, 'workingCopy' | 'store'> {
  const sorted = [...all].sort();
  if (!all.has('share-safe')) return { workingCopy: sorted, store: undefined };
  const isWorkingCopy = (name: string): boolean => findRequirement(name)?.place === 'working-copy';
  return { workingCopy: sorted.filter(isWorkingCopy), store: sorted.filter((name) => !isWorkingCopy(name)) };
}

function compare(source: ReadonlySet<string>, all: ReadonlySet<string>): Pick<RequirementPlan, 'added' | 'removed' | 'kept'> {
  return {
    added: [...all].filter((name) => !source.has(name)).sort(),
    removed: [...source].filter((name) => !all.has(name)).sort(),
    kept: [...all].filter((name) => source.has(name)).sort(),
  };
}

/** The engine that a source's requirements name; zlib where they name none. */
export function engineOfSource(source: ReadonlySet<string>): Engine {
  const named = ENGINE_NAMES.find((name) => requirementsOf(ENGINES[name]).some((requirement) => source.has(requirement)));
  return ENGINES[named ?? 'zlib'];
}
