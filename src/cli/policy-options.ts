import type { Options } from 'yargs';

import { PRESET_NAMES } from '../delta/policy.js';
import { isPolicyKey, POLICY_FIELDS } from '../delta/policy-fields.js';
import type { PolicyInput, RedeltaMode } from '../delta/policy-input.js';
import { REDELTA_MODES } from '../delta/policy-input.js';
import { RevconvertError } from '../errors.js';
import type { RevlogKind } from '../formats/record.js';
import { REVLOG_KINDS } from '../formats/record.js';
import type { ConvertOptions } from '../repository/options.js';
import { readPolicyFile } from '../repository/read-policy.js';
import type { RawOptions } from './command.js';
import { flagOption, textOption, textOptions } from './command.js';

const redeltaHelp = [
  'Which deltas to compute anew.',
  'never: all are kept;',
  "parent: bases are chosen anew, the source's deltas used where they fit;",
  'multibase: the same, both parents always tried;',
  'all: everything is chosen anew, a delta of the source used only where it is the one wanted and not worse;',
  'fulladd: every delta is computed from the texts [default: never]',
].join(' ');

/** The options that say how deltas are chosen, for yargs. */
export const POLICY_OPTIONS = {
  redelta: { type: 'string', requiresArg: true, choices: REDELTA_MODES, describe: redeltaHelp },
  preset: { type: 'string', requiresArg: true, describe: `With --redelta: how deltas are chosen: ${PRESET_NAMES.join(', ')} [default: ${PRESET_NAMES[0]}]` },
  policy: { type: 'string', requiresArg: true, describe: 'With --redelta: the same from a JSON file: values over those of the preset, for all kinds or one' },
  delta: {
    type: 'string',
    requiresArg: true,
    describe: `With --redelta: one value, over --policy; may be repeated: [KIND.]KEY=VALUE, like maxChainLength=none or manifest.sparse=false. Kinds: ${REVLOG_KINDS.join(', ')}. Keys: ${Object.keys(POLICY_FIELDS).join(', ')}`,
  },
  'changelog-deltas': { type: 'boolean', describe: 'With --redelta: deltas in the changelog too, which Mercurial has written without since 2016' },
} as const satisfies Readonly<Record<string, Options>>;

/** Options that may be given more than once, where each counts. */
export const REPEATABLE_POLICY_OPTIONS = ['delta'] as const;

/**
 * What the command line says of deltas. Checked are the file and the form of `--delta`; the rest is the library's.
 * @throws RevconvertError USAGE, POLICY, and what keeps the file from being read
 */
export function readPolicyOptions(raw: RawOptions): Pick<ConvertOptions, 'redelta' | 'policy'> {
  const redelta = textOption(raw, 'redelta') as RedeltaMode | undefined;
  const file = textOption(raw, 'policy');
  if (file === '') throw new RevconvertError('USAGE', '--policy: the file is missing');
  const single = singleOptions(raw);
  if (file === undefined && single === undefined) return { redelta };
  return { redelta, policy: [file === undefined ? {} : readPolicyFile(file), single ?? {}] };
}

function singleOptions(raw: RawOptions): PolicyInput | undefined {
  const all = new Map<string, unknown>();
  const kinds: Readonly<Record<RevlogKind, Map<string, unknown>>> = { changelog: new Map(), manifest: new Map(), filelog: new Map() };
  const preset = textOption(raw, 'preset');
  if (preset !== undefined) all.set('preset', preset);
  for (const text of textOptions(raw, 'delta')) {
    const { kind, key, value } = parseSetting(text);
    (kind === undefined ? all : kinds[kind]).set(key, value);
  }
  if (flagOption(raw, 'changelog-deltas') === true) kinds.changelog.set('deltas', true);
  for (const kind of REVLOG_KINDS) {
    if (kinds[kind].size > 0) all.set(kind, Object.fromEntries(kinds[kind]));
  }
  return all.size === 0 ? undefined : Object.fromEntries(all);
}

interface Setting {
  readonly kind: RevlogKind | undefined;
  readonly key: string;
  readonly value: unknown;
}

/** `[KIND.]KEY=VALUE`. Which keys there are, and which values they take, is not looked at. */
function parseSetting(text: string): Setting {
  const [, name, word] = /^([^=]+)=(.+)$/.exec(text) ?? [];
  if (name === undefined || word === undefined || REVLOG_KINDS.some((kind) => kind === name)) {
    throw new RevconvertError('USAGE', `--delta: [KIND.]KEY=VALUE is expected, found '${text}'`);
  }
  const kind = REVLOG_KINDS.find((one) => name.startsWith(`${one}.`));
  const key = kind === undefined ? name : name.slice(kind.length + 1);
  return { kind, key, value: parseValue(key, word) };
}

/** What a word means depends on the key: `none` is no limit, or no parents. What no value can be stays text, to be refused. */
function parseValue(key: string, word: string): unknown {
  if ((word === 'none' || word === 'null') && isPolicyKey(key) && POLICY_FIELDS[key].nullable) return null;
  if (word === 'true' || word === 'false') return word === 'true';
  return /^-?\d+(?:\.\d+)?$/.test(word) ? Number(word) : word;
}
