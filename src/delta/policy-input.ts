import { RevconvertError } from '../errors.js';
import type { RevlogKind } from '../formats/record.js';
import { REVLOG_KINDS } from '../formats/record.js';
import { closestName } from './closest-name.js';
import type { DeltaPolicy, PolicySet, PresetName } from './policy.js';
import { DEFAULT_PRESET, PRESET_NAMES, PRESETS } from './policy.js';
import type { PolicyKey } from './policy-fields.js';
import { isPolicyKey, oneOf, POLICY_FIELDS, POLICY_KEYS } from './policy-fields.js';
import type { Origin } from './policy-rules.js';
import { settlePolicy } from './policy-rules.js';

/** What can be said of one kind of revlog: the values of a preset, changed one by one. */
export type KindPolicyInput = { readonly [K in PolicyKey]?: DeltaPolicy[K] | undefined } & { readonly preset?: PresetName | undefined };

/**
 * A policy as it is written: in a file, by a caller. What is said of a kind wins over what is said of all.
 *
 * The changelog is Mercurial's unless it is spoken of: it takes the preset, the limits and `exhaustive` that are said of
 * all kinds; `deltas`, `generaldelta`, `sparse`, `parents`, `previous` and `sourceBase` only under `changelog`. So it
 * stays without deltas unless `changelog.deltas` says otherwise.
 */
export type PolicyInput = KindPolicyInput & Readonly<Partial<Record<RevlogKind, KindPolicyInput | undefined>>>;

export const REDELTA_MODES = ['never', 'parent', 'multibase', 'all', 'fulladd'] as const;

/**
 * Which deltas are computed anew, as Mercurial's `re-delta-*`: `never`, all are kept; `parent`, bases are chosen anew and
 * the source's deltas are used where they fit; `multibase`, the same, and both parents are always tried; `all`, everything
 * is chosen anew, and a delta of the source is used only where it is the one wanted and not worse; `fulladd`, every delta
 * is computed from the texts.
 */
export type RedeltaMode = (typeof REDELTA_MODES)[number];

/**
 * Checks what is said of a policy, and fills what is not: from the preset, `mercurial` where none is named. Values of the
 * preset adapt to those that are given: `generaldelta: false` alone takes snapshots and parents away. Values that are
 * given together must not contradict each other. What is resolved can be given again and stays the same.
 * @param inputs of {@link PolicyInput}; a later one wins over an earlier one, whose values then adapt like a preset's
 * @throws RevconvertError POLICY: an unknown key, a wrong type, a value out of its range, a contradiction
 */
export function resolvePolicy(...inputs: readonly unknown[]): PolicySet {
  const sections = inputs.map(readInput);
  return {
    changelog: resolveKind('changelog', sections),
    manifest: resolveKind('manifest', sections),
    filelog: resolveKind('filelog', sections),
  };
}

/** The policies under a mode: `multibase` tries both parents, whatever they say. */
export function policyFor(mode: RedeltaMode, policies: PolicySet): PolicySet {
  if (mode !== 'multibase') return policies;
  const forced = (policy: DeltaPolicy): DeltaPolicy => (policy.generaldelta ? { ...policy, parents: 'both' } : policy);
  return { changelog: forced(policies.changelog), manifest: forced(policies.manifest), filelog: forced(policies.filelog) };
}

/** Of these, what is said of all kinds does not hold for the changelog. */
const NOT_FOR_CHANGELOG: ReadonlySet<PolicyKey> = new Set(['deltas', 'generaldelta', 'sparse', 'parents', 'previous', 'sourceBase'] as const);

const presetField = oneOf(PRESET_NAMES);

interface Section {
  readonly preset: PresetName | undefined;
  /** Checked one by one. */
  readonly values: ReadonlyMap<PolicyKey, unknown>;
}

type Sections = Readonly<Record<RevlogKind | 'all', Section>>;

function readInput(input: unknown): Sections {
  const all = readSection(input, '');
  const own = (kind: RevlogKind): Section => {
    const { [kind]: value = {} } = input as PolicyInput;
    return readSection(value, kind);
  };
  return { all, changelog: own('changelog'), manifest: own('manifest'), filelog: own('filelog') };
}

const NO_KINDS: readonly string[] = [];

/** @param kind empty: what holds for all of them, where the kinds themselves are keys too */
function readSection(input: unknown, kind: RevlogKind | ''): Section {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) throw wrong(kind === '' ? 'the policy' : kind, 'an object', input);
  const kinds = kind === '' ? REVLOG_KINDS : NO_KINDS;
  const values = new Map<PolicyKey, unknown>();
  let preset: PresetName | undefined;
  for (const [key, given] of Object.entries(input)) {
    const name = kind === '' ? key : `${kind}.${key}`;
    if (kinds.some((one) => one === key)) continue;
    if (key !== 'preset' && !isPolicyKey(key)) throw unknownKey(kind, key, kinds);
    if (given === undefined) continue;
    // No limit is said by the same word as on the command line, too.
    const value: unknown = given === 'none' && key !== 'preset' && POLICY_FIELDS[key].nullable ? null : given;
    const field = key === 'preset' ? presetField : POLICY_FIELDS[key];
    if (!field.accepts(value)) throw wrong(name, field.expected, value, key === 'preset' ? PRESET_NAMES : []);
    if (key === 'preset') preset = value as PresetName;
    else values.set(key, value);
  }
  return { preset, values };
}

function resolveKind(kind: RevlogKind, inputs: readonly Sections[]): DeltaPolicy {
  const preset = inputs.map((sections) => sections[kind].preset ?? sections.all.preset).findLast((name) => name !== undefined);
  const values = new Map<PolicyKey, unknown>(Object.entries(PRESETS[preset ?? DEFAULT_PRESET][kind]) as [PolicyKey, unknown][]);
  const origins = new Map<PolicyKey, Origin>();
  for (const [at, sections] of inputs.entries()) {
    for (const from of ['all', kind] as const) {
      for (const [key, value] of sections[from].values) {
        if (from === 'all' && kind === 'changelog' && NOT_FOR_CHANGELOG.has(key)) continue;
        values.set(key, value);
        origins.set(key, { rank: at + 1, name: from === 'all' ? key : `${kind}.${key}` });
      }
    }
  }
  const policy = Object.fromEntries(values) as unknown as DeltaPolicy;
  return settlePolicy(policy, (key) => origins.get(key) ?? { rank: 0, name: `${kind}.${key}` });
}

const suggestion = (name: string | undefined): string => (name === undefined ? '' : `; did you mean ${name}?`);

function unknownKey(kind: RevlogKind | '', key: string, kinds: readonly string[]): RevconvertError {
  const [first = ''] = key.split('.');
  const meant = closestName(first, [...POLICY_KEYS, ...kinds, 'preset']);
  const prefix = kind === '' ? '' : `${kind}.`;
  return new RevconvertError('POLICY', `${prefix}${shorten(key)}: there is no such key${suggestion(meant === undefined ? undefined : prefix + meant)}`);
}

function wrong(name: string, expected: string, found: unknown, names: readonly string[] = []): RevconvertError {
  const meant = typeof found === 'string' ? closestName(found, names) : undefined;
  return new RevconvertError('POLICY', `${name} must be ${expected}, found ${show(found)}${suggestion(meant)}`);
}

const MAX_SHOWN = 60;
const shorten = (text: string): string => (text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text);

/** A value, in a line. */
function show(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object' && value !== null) return 'an object';
  return shorten(typeof value === 'string' ? JSON.stringify(value) : String(value));
}
