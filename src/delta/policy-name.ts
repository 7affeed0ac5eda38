import type { RevlogKind } from '../formats/record.js';
import type { DeltaPolicy } from './policy.js';
import { PRESET_NAMES, PRESETS } from './policy.js';
import { POLICY_KEYS } from './policy-fields.js';
import { resolvePolicy } from './policy-input.js';

/** At most this many values are listed. */
const MANY = 4;

/** A policy in a few words: the preset that it is nearest to, and what differs from it; `no deltas` where there are none. */
export function describePolicy(kind: RevlogKind, policy: DeltaPolicy): string {
  if (!policy.deltas) return 'no deltas';
  const descriptions = PRESET_NAMES.map((preset) => {
    // With generaldelta given, what only follows from it is no difference.
    const near = resolvePolicy({ preset, [kind]: { deltas: true, generaldelta: policy.generaldelta } })[kind];
    const same = near.generaldelta === PRESETS[preset][kind].generaldelta;
    const changed = POLICY_KEYS.filter((key) => near[key] !== policy[key] || (key === 'generaldelta' && !same));
    return { preset, changed };
  });
  const { preset, changed } = descriptions.reduce((best, one) => (one.changed.length < best.changed.length ? one : best));
  const shown = changed.slice(0, MANY).map((key) => `${key} ${policy[key] ?? 'none'}`);
  if (changed.length > MANY) shown.push(`${changed.length - MANY} more`);
  return [preset, ...shown].join(', ');
}
