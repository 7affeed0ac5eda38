import { RevconvertError } from '../errors.js';
import type { DeltaPolicy } from './policy.js';
import type { PolicyKey } from './policy-fields.js';

/** Who said a value: the higher rank wins. Rank 0 is the preset. */
export interface Origin {
  readonly rank: number;
  /** The full name of the key, as it was said: `sparse`, `filelog.sparse`. */
  readonly name: string;
}

/**
 * Makes a policy consistent: of values that contradict each other, those of lower rank give way.
 * @param originOf who said each value
 * @throws RevconvertError POLICY where values of one rank contradict each other, and that is not a preset's
 */
export function settlePolicy(policy: DeltaPolicy, originOf: (key: PolicyKey) => Origin): DeltaPolicy {
  let settled = policy;
  for (const rule of RULES) {
    if (!rule.isBroken(settled)) continue;
    const highest = Math.max(...rule.keys.map((key) => originOf(key).rank));
    const [weakest] = [...rule.repairs].sort((a, b) => originOf(a.key).rank - originOf(b.key).rank);
    const rank = weakest === undefined ? highest : originOf(weakest.key).rank;
    if (weakest !== undefined && (rank === 0 || rank < highest)) settled = { ...settled, ...weakest.repair(settled) };
    else if (settled.deltas || rule.holdsWithoutDeltas) throw contradiction(rule, settled, originOf);
  }
  return settled;
}

interface Repair {
  /** The value that gives way. Of several of the same rank the first does. */
  readonly key: PolicyKey;
  repair(policy: DeltaPolicy): Partial<DeltaPolicy>;
}

interface Rule {
  /** The values that contradict each other. */
  readonly keys: readonly PolicyKey[];
  readonly why: string;
  /** Where no deltas are made only what the store promises matters: the other values have no effect. */
  readonly holdsWithoutDeltas: boolean;
  isBroken(policy: DeltaPolicy): boolean;
  readonly repairs: readonly Repair[];
}

const exceeds = (ratio: number, limit: number | null): limit is number => limit !== null && ratio > limit;

/** In this order: a later rule sees what an earlier one repaired. */
const RULES: readonly Rule[] = [
  {
    keys: ['sparse', 'generaldelta'],
    why: 'sparse needs generaldelta',
    holdsWithoutDeltas: true,
    isBroken: ({ sparse, generaldelta }) => sparse && !generaldelta,
    repairs: [
      { key: 'sparse', repair: () => ({ sparse: false }) },
      { key: 'generaldelta', repair: () => ({ generaldelta: true }) },
    ],
  },
  {
    keys: ['parents', 'generaldelta'],
    why: 'without generaldelta only the previous revision can be a base',
    holdsWithoutDeltas: false,
    isBroken: ({ parents, generaldelta }) => parents !== 'none' && !generaldelta,
    repairs: [
      { key: 'parents', repair: () => ({ parents: 'none' }) },
      // Where no deltas are made nothing that is said of them changes what the store promises.
      { key: 'generaldelta', repair: ({ deltas }) => (deltas ? { generaldelta: true } : {}) },
    ],
  },
  {
    keys: ['previous', 'generaldelta'],
    why: 'without generaldelta only the previous revision can be a base',
    holdsWithoutDeltas: false,
    isBroken: ({ previous, generaldelta }) => !previous && !generaldelta,
    repairs: [{ key: 'previous', repair: () => ({ previous: true }) }],
  },
  {
    keys: ['previous', 'parents', 'sourceBase', 'sparse'],
    why: 'no revision is left to be a base (deltas: false for none at all)',
    holdsWithoutDeltas: false,
    isBroken: ({ previous, parents, sourceBase, sparse, generaldelta }) => generaldelta && !previous && parents === 'none' && !sourceBase && !sparse,
    repairs: [{ key: 'previous', repair: () => ({ previous: true }) }],
  },
  {
    keys: ['maxDeltaRatio', 'maxChainRatio'],
    why: 'a chain is no smaller than its last delta',
    holdsWithoutDeltas: false,
    isBroken: ({ maxDeltaRatio, maxChainRatio }) => exceeds(maxDeltaRatio, maxChainRatio),
    repairs: [{ key: 'maxDeltaRatio', repair: ({ maxDeltaRatio, maxChainRatio }) => ({ maxDeltaRatio: maxChainRatio ?? maxDeltaRatio }) }],
  },
  {
    keys: ['maxDeltaRatio', 'maxSpanRatio'],
    why: 'a chain spans no less than its last delta',
    holdsWithoutDeltas: false,
    isBroken: ({ maxDeltaRatio, maxSpanRatio, sparse }) => !sparse && exceeds(maxDeltaRatio, maxSpanRatio),
    repairs: [{ key: 'maxDeltaRatio', repair: ({ maxDeltaRatio, maxSpanRatio }) => ({ maxDeltaRatio: maxSpanRatio ?? maxDeltaRatio }) }],
  },
];

function contradiction({ keys, why }: Rule, policy: DeltaPolicy, originOf: (key: PolicyKey) => Origin): RevconvertError {
  const said = keys.map((key) => `${originOf(key).name}: ${JSON.stringify(policy[key])}${originOf(key).rank === 0 ? ' (the preset\'s)' : ''}`);
  return new RevconvertError('POLICY', `${said.join(', ')}: these contradict each other: ${why}`);
}
