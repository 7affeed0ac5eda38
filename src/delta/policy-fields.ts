import type { DeltaPolicy } from './policy.js';

export type PolicyKey = keyof DeltaPolicy;

/** What one value of a policy may be. */
export interface PolicyField {
  /** Completes `… must be`. */
  readonly expected: string;
  accepts(value: unknown): boolean;
  /** Null is a value: there is no limit. */
  readonly nullable: boolean;
}

const flag: PolicyField = { expected: 'true or false', accepts: (value) => typeof value === 'boolean', nullable: false };

/** A value of a few words. */
export const oneOf = (words: readonly string[]): PolicyField => ({
  expected: `one of ${words.join(', ')}`,
  accepts: (value) => typeof value === 'string' && words.includes(value),
  nullable: false,
});

const count: PolicyField = {
  expected: 'a whole number, 1 or more',
  accepts: (value) => Number.isSafeInteger(value) && Number(value) >= 1,
  nullable: false,
};

const number = (expected: string, accepts: (value: number) => boolean): PolicyField => ({
  expected,
  accepts: (value) => typeof value === 'number' && Number.isFinite(value) && accepts(value),
  nullable: false,
});

const ratio = number('a number above 0', (value) => value > 0);
const divisor = number('a number, 1 or more', (value) => value >= 1);

const orNull = (field: PolicyField): PolicyField => ({
  expected: `${field.expected}, or none for no limit`,
  accepts: (value) => value === null || field.accepts(value),
  nullable: true,
});

/** Every value of a policy. */
export const POLICY_FIELDS: Readonly<Record<PolicyKey, PolicyField>> = {
  deltas: flag,
  generaldelta: flag,
  sparse: flag,
  parents: oneOf(['none', 'one', 'both']),
  previous: flag,
  sourceBase: flag,
  exhaustive: flag,
  maxChainLength: orNull({ ...count, expected: `${count.expected} (deltas: false for none at all)` }),
  maxChainRatio: orNull(ratio),
  maxSpanRatio: orNull(ratio),
  // A delta that is larger than the text is never worth more than the text.
  maxDeltaRatio: number('a number above 0, at most 1', (value) => value > 0 && value <= 1),
  minBaseDivisor: orNull(divisor),
  maxCompression: orNull(divisor),
  groupSize: count,
};

export const POLICY_KEYS = Object.keys(POLICY_FIELDS) as readonly PolicyKey[];

export const isPolicyKey = (key: string): key is PolicyKey => Object.hasOwn(POLICY_FIELDS, key);
