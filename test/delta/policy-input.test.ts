/** Policies as they are written: what is refused, by its name, and what becomes of the rest. */
import assert from 'node:assert/strict';

import fc from 'fast-check';
import { describe, it } from 'mocha';

import type { DeltaPolicy, PolicySet } from '../../src/delta/policy.js';
import { PRESET_NAMES, PRESETS } from '../../src/delta/policy.js';
import type { PolicyKey } from '../../src/delta/policy-fields.js';
import { POLICY_KEYS } from '../../src/delta/policy-fields.js';
import type { PolicyInput } from '../../src/delta/policy-input.js';
import { policyFor, REDELTA_MODES, resolvePolicy } from '../../src/delta/policy-input.js';
import { describePolicy } from '../../src/delta/policy-name.js';
import { RevconvertError } from '../../src/errors.js';
import { REVLOG_KINDS } from '../../src/formats/record.js';
import { assertThrows } from '../repository/support.js';

const NO_FLAGS = [0, 1, 'true', 'yes', null, [], {}];
const NO_COUNTS = [0, -1, 1.5, '3', true, Number.NaN, Infinity, 2 ** 60, [], {}];
const NO_RATIOS = [0, -0.5, '2', true, Number.NaN, Infinity, [], {}];
const NO_DIVISORS = [0, 0.5, -1, '10', false, Number.NaN, Infinity, []];

interface FieldCase {
  readonly bad: readonly unknown[];
  readonly good: readonly unknown[];
}

/** Where null is good there is no limit; where it is not, it is bad. */
const FIELDS: Readonly<Record<PolicyKey, FieldCase>> = {
  deltas: { bad: NO_FLAGS, good: [true, false] },
  generaldelta: { bad: NO_FLAGS, good: [true, false] },
  sparse: { bad: NO_FLAGS, good: [true, false] },
  parents: { bad: ['all', 'p1', '', 2, true, null, ['one']], good: ['none', 'one', 'both'] },
  previous: { bad: NO_FLAGS, good: [true, false] },
  sourceBase: { bad: NO_FLAGS, good: [true, false] },
  exhaustive: { bad: NO_FLAGS, good: [true, false] },
  maxChainLength: { bad: NO_COUNTS, good: [1, 1000, null] },
  maxChainRatio: { bad: NO_RATIOS, good: [0.5, 1, 100, null] },
  maxSpanRatio: { bad: NO_RATIOS, good: [0.5, 1, 100, null] },
  maxDeltaRatio: { bad: [...NO_RATIOS, 1.01, null], good: [0.001, 0.5, 1] },
  minBaseDivisor: { bad: NO_DIVISORS, good: [1, 1.5, 500, null] },
  maxCompression: { bad: NO_DIVISORS, good: [1, 2.5, 10, null] },
  groupSize: { bad: [...NO_COUNTS, null], good: [1, 1000] },
};

const shown = (value: unknown): string => (typeof value === 'number' ? String(value) : JSON.stringify(value));

describe('values of a policy', () => {
  for (const key of POLICY_KEYS) {
    for (const value of FIELDS[key].bad) {
      it(`${key} ${shown(value)}: refused, with its name`, () => {
        assertThrows(() => resolvePolicy({ [key]: value }), { code: 'POLICY', message: new RegExp(`^${key} must be .+, found .+`) });
        assertThrows(() => resolvePolicy({ manifest: { [key]: value } }), { code: 'POLICY', message: new RegExp(`^manifest\\.${key} must be `) });
      });
    }
    for (const value of FIELDS[key].good) {
      it(`${key} ${shown(value)}: taken`, () => {
        const policy = resolvePolicy({ [key]: value });
        assert.deepEqual([policy.manifest[key], policy.filelog[key]], [value, value]);
      });
    }
  }
});

const REFUSED: readonly (readonly [title: string, input: unknown, message: RegExp])[] = [
  ['nothing', null, /^the policy must be an object, found null$/],
  ['a list', [], /^the policy must be an object, found a list$/],
  ['text', 'mercurial', /^the policy must be an object, found "mercurial"$/],
  ['a kind that is no object', { filelog: true }, /^filelog must be an object, found true$/],
  ['a kind that is null', { filelog: null }, /^filelog must be an object, found null$/],
  ['a kind that is a list', { changelog: [1] }, /^changelog must be an object, found a list$/],
  ['an unknown key', { frobnicate: 1 }, /^frobnicate: there is no such key$/],
  ['a key misspelt', { maxChainLenght: 5 }, /^maxChainLenght: there is no such key; did you mean maxChainLength\?$/],
  ['a key misspelt, of a kind', { manifest: { maxChainLenght: 5 } }, /^manifest\.maxChainLenght: there is no such key; did you mean manifest\.maxChainLength\?$/],
  ['a key with dashes', { 'max-chain-ratio': 5 }, /^max-chain-ratio: .* did you mean maxChainRatio\?$/],
  ['a key of Mercurial', { 'sparse-revlog': true }, /^sparse-revlog: .* did you mean sparse\?$/],
  ['a key cut short', { filelog: { maxchainlen: 5 } }, /^filelog\.maxchainlen: .* did you mean filelog\.maxChainLength\?$/],
  ['the plural of a kind', { manifests: {} }, /^manifests: .* did you mean manifest\?$/],
  ['a kind in a kind', { manifest: { filelog: {} } }, /^manifest\.filelog: there is no such key$/],
  ['a kind and a key in one', { 'filelog.sparse': true }, /^filelog\.sparse: .* did you mean filelog\?$/],
  ['a name of every object', { constructor: 1 }, /^constructor: there is no such key$/],
  ['a prototype', JSON.parse('{"__proto__":{"sparse":true}}'), /^__proto__: there is no such key$/],
  ['a very long key', { ['x'.repeat(5000)]: 1 }, /^x{60}…: there is no such key$/],
  ['an unknown preset', { preset: 'best' }, /^preset must be one of mercurial, mercurial-3\.7, smallest, fastest-read, found "best"$/],
  ['a preset misspelt', { preset: 'smalest' }, /^preset must be .* did you mean smallest\?$/],
  ['a preset cut short', { manifest: { preset: 'fastest' } }, /^manifest\.preset must be .* did you mean fastest-read\?$/],
  ['a preset that is no name', { preset: 1 }, /^preset must be .*, found 1$/],
  ['a very long value', { preset: 'x'.repeat(5000) }, /found "x{59}…$/],
];

/** Values that are given together, each of which is sound. */
const CONTRADICTIONS: readonly (readonly [title: string, input: PolicyInput, message: RegExp])[] = [
  ['sparse without generaldelta', { sparse: true, generaldelta: false }, /^sparse: true, generaldelta: false: .*sparse needs generaldelta$/],
  ['the same of a kind', { filelog: { sparse: true, generaldelta: false } }, /^filelog\.sparse: true, filelog\.generaldelta: false: /],
  ['the same of all and of a kind', { sparse: true, manifest: { generaldelta: false } }, /^sparse: true, manifest\.generaldelta: false: /],
  ['the same without deltas: the store would promise it', { deltas: false, sparse: true, generaldelta: false }, /^sparse: true, generaldelta: false: /],
  ['a parent without generaldelta', { generaldelta: false, parents: 'one' }, /^parents: "one", generaldelta: false: .*only the previous revision/],
  ['parents without generaldelta', { generaldelta: false, filelog: { parents: 'both' } }, /^filelog\.parents: "both", generaldelta: false: /],
  ['neither generaldelta nor the previous revision', { generaldelta: false, previous: false }, /^previous: false, generaldelta: false: /],
  ['changelog deltas without the previous revision', { changelog: { deltas: true, previous: false } }, /^changelog\.previous: false, changelog\.generaldelta: false \(the preset's\): /],
  ['no revision to be a base', { sparse: false, parents: 'none', previous: false }, /^previous: false, parents: "none", .*sparse: false: .*no revision is left/],
  ['no revision, with a preset that has no snapshots', { preset: 'mercurial-3.7', parents: 'none', previous: false }, /^previous: false, parents: "none", .*sparse: false \(the preset's\): /],
  ['a delta larger than its chain', { maxChainRatio: 0.5, maxDeltaRatio: 0.6 }, /^maxDeltaRatio: 0\.6, maxChainRatio: 0\.5: /],
  ['a delta longer than the span of its chain', { sparse: false, maxSpanRatio: 0.5, maxDeltaRatio: 0.6 }, /^maxDeltaRatio: 0\.6, maxSpanRatio: 0\.5: /],
];

describe('policies that are refused', () => {
  for (const [title, input, message] of [...REFUSED, ...CONTRADICTIONS]) {
    it(title, () => assertThrows(() => resolvePolicy(input), { code: 'POLICY', message }));
  }
});

const BARE: Partial<DeltaPolicy> = { generaldelta: false, sparse: false, parents: 'none', previous: true };
const CHANGELOG: Partial<DeltaPolicy> = { deltas: false, ...BARE };

interface ResolvedCase {
  readonly title: string;
  readonly inputs: readonly PolicyInput[];
  /** What differs from the preset, by kind; of the changelog from one without deltas and generaldelta. */
  readonly changed: Readonly<Partial<Record<keyof PolicySet, Partial<DeltaPolicy>>>>;
  readonly preset?: (typeof PRESET_NAMES)[number];
}

const both = (changed: Partial<DeltaPolicy>, changelog: Partial<DeltaPolicy> = {}): ResolvedCase['changed'] => ({ manifest: changed, filelog: changed, changelog });

const RESOLVED: readonly ResolvedCase[] = [
  { title: 'nothing: Mercurial\'s', inputs: [], changed: {} },
  { title: 'an empty one: Mercurial\'s', inputs: [{}], changed: {} },
  { title: 'what is undefined is not given', inputs: [{ preset: undefined, sparse: undefined, filelog: undefined, manifest: { deltas: undefined } }], changed: {} },
  ...PRESET_NAMES.map((preset): ResolvedCase => ({ title: `the preset ${preset}`, inputs: [{ preset }], changed: {}, preset })),
  { title: 'a limit holds for all kinds', inputs: [{ maxChainLength: 7 }], changed: both({ maxChainLength: 7 }, { maxChainLength: 7 }) },
  { title: 'a kind wins over all', inputs: [{ maxChainLength: 7, manifest: { maxChainLength: 9 } }], changed: { changelog: { maxChainLength: 7 }, manifest: { maxChainLength: 9 }, filelog: { maxChainLength: 7 } } },
  { title: 'a preset for one kind', inputs: [{ filelog: { preset: 'fastest-read' } }], changed: { filelog: { maxChainLength: 32, maxChainRatio: 1.5 } } },
  { title: 'values over the preset of their kind', inputs: [{ maxChainRatio: 3, filelog: { preset: 'fastest-read' } }], changed: { changelog: { maxChainRatio: 3 }, manifest: { maxChainRatio: 3 }, filelog: { maxChainLength: 32, maxChainRatio: 3 } } },
  { title: 'without generaldelta the previous revision is the base', inputs: [{ generaldelta: false }], changed: both(BARE) },
  { title: 'for one kind', inputs: [{ filelog: { generaldelta: false } }], changed: { filelog: BARE } },
  { title: 'without generaldelta, with what follows from it', inputs: [{ generaldelta: false, sparse: false, parents: 'none', previous: true }], changed: both(BARE) },
  { title: 'snapshots over a preset without', inputs: [{ preset: 'mercurial-3.7', sparse: true }], changed: both({ sparse: true }), preset: 'mercurial-3.7' },
  { title: 'no snapshots', inputs: [{ sparse: false }], changed: both({ sparse: false }) },
  { title: 'neither snapshots nor parents: the previous revision', inputs: [{ sparse: false, parents: 'none' }], changed: both({ sparse: false, parents: 'none', previous: true }) },
  { title: 'the base of the source alone', inputs: [{ sparse: false, parents: 'none', previous: false, sourceBase: true }], changed: both({ sparse: false, parents: 'none', sourceBase: true }) },
  { title: 'a short chain: its deltas are no larger', inputs: [{ maxChainRatio: 0.5 }], changed: both({ maxChainRatio: 0.5, maxDeltaRatio: 0.5 }, { maxChainRatio: 0.5, maxDeltaRatio: 0.5 }) },
  { title: 'no deltas: what they would be is kept', inputs: [{ deltas: false }], changed: both({ deltas: false }) },
  { title: 'no deltas, and limits for them', inputs: [{ deltas: false, maxChainLength: 3 }], changed: both({ deltas: false, maxChainLength: 3 }, { maxChainLength: 3 }) },
  { title: 'deltas for all are none for the changelog', inputs: [{ deltas: true, generaldelta: true, sparse: true, parents: 'one', previous: true, sourceBase: true }], changed: both({ parents: 'one', previous: true, sourceBase: true }) },
  { title: 'deltas for the changelog', inputs: [{ changelog: { deltas: true } }], changed: { changelog: { deltas: true } } },
  { title: 'deltas for the changelog, for no other', inputs: [{ deltas: false, changelog: { deltas: true } }], changed: both({ deltas: false }, { deltas: true }) },
  { title: 'generaldelta for the changelog', inputs: [{ changelog: { deltas: true, generaldelta: true } }], changed: { changelog: { deltas: true, generaldelta: true, parents: 'both', previous: false } } },
  { title: 'snapshots for the changelog, which need generaldelta', inputs: [{ changelog: { deltas: true, sparse: true } }], changed: { changelog: { deltas: true, generaldelta: true, sparse: true, parents: 'both', previous: false } } },
  { title: 'parents for a changelog without deltas change nothing else', inputs: [{ changelog: { parents: 'both' } }], changed: { changelog: { parents: 'both' } } },
  { title: 'a later one wins, of all over a kind', inputs: [{ filelog: { maxChainLength: 5 } }, { maxChainLength: 9 }], changed: both({ maxChainLength: 9 }, { maxChainLength: 9 }) },
  { title: 'an earlier one adapts', inputs: [{ sparse: true, parents: 'both', previous: false }, { generaldelta: false }], changed: both(BARE) },
  { title: 'an earlier one adapts the other way', inputs: [{ generaldelta: false }, { filelog: { sparse: true } }], changed: { manifest: BARE, filelog: { parents: 'both' } } },
  { title: 'a later preset takes the place of an earlier one, under the values of both', inputs: [{ preset: 'smallest', filelog: { preset: 'mercurial', groupSize: 3 } }, { preset: 'fastest-read' }], changed: { filelog: { groupSize: 3 } }, preset: 'fastest-read' },
];

describe('policies, resolved', () => {
  for (const { title, inputs, changed, preset = 'mercurial' } of RESOLVED) {
    it(title, () => {
      const resolved = resolvePolicy(...inputs);
      assert.deepEqual(resolved, {
        changelog: { ...PRESETS[preset].changelog, ...CHANGELOG, ...changed.changelog },
        manifest: { ...PRESETS[preset].manifest, ...changed.manifest },
        filelog: { ...PRESETS[preset].filelog, ...changed.filelog },
      });
      assert.deepEqual(resolvePolicy(resolved), resolved, 'given again it stays the same');
      assert.deepEqual(resolvePolicy(JSON.parse(JSON.stringify(resolved))), resolved, 'also through JSON');
    });
  }

  it('any sound values are refused as a contradiction, or resolved for good', () => {
    const values = fc.record(Object.fromEntries(POLICY_KEYS.map((key) => [key, fc.constantFrom(...FIELDS[key].good)])), { requiredKeys: [] });
    const input = fc.record({ changelog: values, manifest: values, filelog: values, preset: fc.constantFrom(...PRESET_NAMES) }, { requiredKeys: [] });
    fc.assert(
      fc.property(fc.array(fc.tuple(input, values).map(([kinds, all]) => ({ ...kinds, ...all })), { maxLength: 3 }), (inputs) => {
        let resolved: PolicySet;
        try {
          resolved = resolvePolicy(...inputs);
        } catch (error) {
          assert.ok(error instanceof RevconvertError && error.code === 'POLICY' && error.message.includes('contradict'), String(error));
          return;
        }
        assert.deepEqual(resolvePolicy(resolved), resolved);
        for (const { deltas, generaldelta, sparse, parents, previous, sourceBase } of Object.values(resolved)) {
          assert.ok(generaldelta || !sparse);
          if (deltas) assert.ok(generaldelta ? sparse || previous || sourceBase || parents !== 'none' : previous && parents === 'none');
        }
      }),
      { numRuns: 2000 },
    );
  });

  it('what is resolved takes single values', () => {
    const { changelog, filelog } = resolvePolicy(resolvePolicy(), { changelog: { deltas: true }, filelog: { generaldelta: false } });
    assert.deepEqual(changelog, { ...PRESETS.mercurial.changelog, ...BARE, deltas: true });
    assert.deepEqual(filelog, { ...PRESETS.mercurial.filelog, ...BARE });
  });

  it('the inputs and the presets are not changed', () => {
    const before = JSON.stringify(PRESETS);
    const input = Object.freeze({ generaldelta: false, filelog: Object.freeze({ maxChainLength: 3 }) });
    resolvePolicy(input);
    assert.equal(JSON.stringify(PRESETS), before);
  });

  it('multibase tries both parents where there is generaldelta; other modes change nothing', () => {
    const policies = resolvePolicy({ preset: 'mercurial-3.7', manifest: { generaldelta: false } });
    for (const mode of REDELTA_MODES.filter((one) => one !== 'multibase')) assert.equal(policyFor(mode, policies), policies);
    const forced = policyFor('multibase', policies);
    assert.deepEqual(forced, { ...policies, filelog: { ...policies.filelog, parents: 'both' } });
  });
});

const DESCRIBED: readonly (readonly [input: PolicyInput, changelog: string, manifest: string, filelog: string])[] = [
  [{}, 'no deltas', 'mercurial', 'mercurial'],
  [{ preset: 'smallest', manifest: { preset: 'mercurial-3.7' } }, 'no deltas', 'mercurial-3.7', 'smallest'],
  [{ changelog: { deltas: true }, filelog: { deltas: false } }, 'mercurial', 'mercurial', 'no deltas'],
  [{ generaldelta: false }, 'no deltas', 'mercurial, generaldelta false', 'mercurial, generaldelta false'],
  [{ sparse: false, filelog: { maxChainLength: null } }, 'no deltas', 'mercurial, sparse false', 'mercurial, sparse false, maxChainLength none'],
  [{ filelog: { exhaustive: true, maxChainLength: 1, maxChainRatio: 9, maxSpanRatio: 9, minBaseDivisor: 9, maxCompression: 9, groupSize: 9 } }, 'no deltas', 'mercurial', 'mercurial, exhaustive true, maxChainLength 1, maxChainRatio 9, maxSpanRatio 9, 3 more'],
];

describe('policies in a few words', () => {
  for (const [input, ...words] of DESCRIBED) {
    it(`${JSON.stringify(input)}: ${words.join(' / ')}`, () => {
      const policies = resolvePolicy(input);
      assert.deepEqual(REVLOG_KINDS.map((kind) => describePolicy(kind, policies[kind])), words);
    });
  }
});
