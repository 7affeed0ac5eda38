import assert from 'node:assert/strict';

import fc from 'fast-check';
import { describe, it } from 'mocha';

import { ChainTable } from '../../src/delta/chain-table.js';
import type { DeltaTools } from '../../src/delta/choose-delta.js';
import { chooseDelta } from '../../src/delta/choose-delta.js';
import type { DeltaPolicy } from '../../src/delta/policy.js';
import { PRESETS } from '../../src/delta/policy.js';
import { isPromise } from '../../src/engines/engine.js';
import { runSteps } from '../../src/engines/steps.js';
import { makeRevision } from '../support/revlog-builder.js';
import { chainTable, FREE, FULL } from './support.js';

interface Search {
  readonly chains: ChainTable;
  readonly p1: number;
  readonly policy?: Partial<DeltaPolicy>;
  readonly text?: number;
  /** Bytes of the delta against each base; those that are not named are as long as the text. */
  readonly deltas?: Readonly<Record<number, number>>;
  /** One byte of a chunk for so many of a delta. @default 1 */
  readonly ratio?: number;
}

/** Parents are never good here, unless `deltas` says so: deltas are at most as long as the text less one. */
function choose({ chains, p1, policy, text = 1000, deltas = {}, ratio = 1 }: Search): { base: number; diffed: number[]; packed: number } {
  const diffed: number[] = [];
  let packed = 0;
  const tools: DeltaTools = {
    policy: { ...FREE, sparse: true, maxDeltaRatio: 0.999, ...policy },
    chains,
    textOf: (rev) => Buffer.of(rev),
    diff: ([rev = -1]) => {
      diffed.push(rev);
      return Buffer.alloc(deltas[rev] ?? text * ratio, rev);
    },
    compress: (delta) => {
      packed++;
      return Buffer.alloc(Math.ceil(delta.length / ratio), delta[0]);
    },
    isOffLimits: () => false,
    reuse: () => undefined,
  };
  const choice = runSteps(chooseDelta(makeRevision({ rev: chains.length, p1 }), Buffer.alloc(text, 0xff), tools));
  return isPromise(choice) ? assert.fail('it waited') : { base: choice.base, diffed, packed };
}

/** 0 full, 1 delta on 0, which is the parent: 0 is a base for a snapshot. */
const OVER_FULL = chainTable([FULL, 900, 1000], [0, 10, 1000]);

/** 0 full, 1 snapshot of level 1, 2 one of level 2, 3 delta on it, which is the parent. */
const overLevels = (length: number): ChainTable =>
  chainTable([FULL, 900, 1000], [0, length, 1000, 'snapshot'], [1, length, 1000, 'snapshot'], [2, 10, 1000]);

describe('choice of a snapshot', () => {
  describe('accepts one', () => {
    it('on a full text, of half the text; not of one byte more', () => {
      assert.equal(choose({ chains: OVER_FULL, p1: 1, deltas: { 0: 500 } }).base, 0);
      assert.equal(choose({ chains: OVER_FULL, p1: 1, deltas: { 0: 501 } }).base, FULL);
      assert.equal(choose({ chains: OVER_FULL, p1: 1, text: 1001, deltas: { 0: 500 } }).base, 0);
      assert.equal(choose({ chains: OVER_FULL, p1: 1, text: 1001, deltas: { 0: 501 } }).base, FULL, 'half a byte is none');
    });

    it('on level 1, of a quarter; on level 2, of an eighth', () => {
      assert.equal(choose({ chains: overLevels(400), p1: 3, deltas: { 1: 250 } }).base, 1);
      assert.equal(choose({ chains: overLevels(400), p1: 3, deltas: { 1: 251 } }).base, FULL);
      assert.equal(choose({ chains: overLevels(400), p1: 3, deltas: { 2: 125 } }).base, 2);
      assert.equal(choose({ chains: overLevels(400), p1: 3, deltas: { 2: 126 } }).base, FULL);
    });

    it('of as many bytes as its base is stored in; not of one more', () => {
      assert.equal(choose({ chains: overLevels(70), p1: 3, deltas: { 2: 70 } }).base, 2);
      assert.equal(choose({ chains: overLevels(70), p1: 3, deltas: { 2: 71 } }).base, FULL);
      const small = chainTable([FULL, 60, 1000], [0, 10, 1000]);
      assert.equal(choose({ chains: small, p1: 1, deltas: { 0: 60 } }).base, 0);
      assert.equal(choose({ chains: small, p1: 1, deltas: { 0: 61 } }).base, FULL);
    });

    it('by none of these rules against a parent, or what is no snapshot', () => {
      assert.equal(choose({ chains: OVER_FULL, p1: 0, deltas: { 0: 999 } }).base, 0);
      assert.equal(choose({ chains: OVER_FULL, p1: 1, deltas: { 1: 999 } }).base, 1);
      assert.equal(choose({ chains: OVER_FULL, p1: 0, policy: { parents: 'none', previous: true }, deltas: { 1: 999 } }).base, 1);
    });

    it('by none of these rules where the policy has no snapshots', () => {
      const policy = { sparse: false, parents: 'none', previous: true } as const;
      const chains = chainTable([FULL, 60, 1000], [0, 10, 1000], [FULL, 60, 1000]);
      assert.equal(choose({ chains, p1: 1, policy, deltas: { 2: 999 } }).base, 2);
    });
  });

  it('improves on what it found: down to the base of it, then up', () => {
    // 0 full, 1 and 2 on it, 3 on 1, 4 delta on 3, the parent; 5 on 1.
    const chains = chainTable(
      [FULL, 900, 1000], [0, 400, 1000, 'snapshot'], [0, 400, 1000, 'snapshot'], [1, 300, 1000, 'snapshot'], [3, 10, 1000], [1, 300, 1000, 'snapshot'],
    );
    const found = choose({ chains, p1: 4, deltas: { 3: 120, 1: 110, 0: 115, 5: 100 } });
    assert.deepEqual(found, { base: 5, diffed: [4, 3, 1, 0, 5], packed: 5 });
    assert.equal(choose({ chains, p1: 4, deltas: { 3: 120, 1: 120, 5: 100 } }).base, 3, 'an equal one is no improvement');
  });

  describe('leaves out', () => {
    it('a base that is shorter than a five hundredth of the text; not one that is that', () => {
      const chains = (rawSize: number): ChainTable => chainTable([FULL, 10, rawSize]);
      const search = { p1: 0, text: 5000, deltas: { 0: 300 }, policy: { minBaseDivisor: 500 } } as const;
      assert.deepEqual(choose({ ...search, chains: chains(10) }).diffed, [0]);
      assert.deepEqual(choose({ ...search, chains: chains(9) }), { base: FULL, diffed: [], packed: 1 });
      assert.deepEqual(choose({ ...search, chains: chains(9), policy: { minBaseDivisor: null } }).diffed, [0]);
      assert.deepEqual(choose({ ...search, chains: chains(9), policy: { minBaseDivisor: 500, sparse: false } }).diffed, [0]);
    });

    const packs = { p1: 1, ratio: 20, policy: { maxCompression: 10 } } as const;

    it('a snapshot that would have to be compressed better than is possible, before it is compressed', () => {
      assert.deepEqual(choose({ ...packs, chains: OVER_FULL, deltas: { 0: 5000 } }), { base: 0, diffed: [1, 0], packed: 2 });
      assert.deepEqual(choose({ ...packs, chains: OVER_FULL, deltas: { 0: 5001 } }), { base: FULL, diffed: [1, 0], packed: 2 });
      assert.equal(choose({ ...packs, chains: OVER_FULL, deltas: { 0: 5001 }, policy: { maxCompression: null } }).base, 0);
    });

    it('a base that lacks more than a good snapshot can hold, before any delta is made', () => {
      // The text has 1000 bytes, the base 300: 70 bytes at least. The chunk of the base has as many, or one less.
      const chains = (chunk: number): ChainTable => chainTable([FULL, chunk, 300], [0, 10, 1000]);
      assert.deepEqual(choose({ ...packs, chains: chains(70), deltas: { 0: 700 } }), { base: 0, diffed: [1, 0], packed: 2 });
      assert.deepEqual(choose({ ...packs, chains: chains(69), deltas: { 0: 700 } }).diffed, [1]);
    });

    it('what cannot be better than the best, before it is compressed', () => {
      const chains = chainTable([FULL, 100, 1000], [FULL, 100, 1000]);
      const parents = (longer: number): number => {
        let packed = 0;
        const tools: DeltaTools = {
          policy: { ...FREE, maxCompression: 10 },
          chains,
          textOf: (rev) => Buffer.of(rev),
          diff: ([rev]) => Buffer.alloc(rev === 0 ? 50 : longer),
          compress: (delta) => {
            packed++;
            return delta;
          },
          isOffLimits: () => false,
          reuse: () => undefined,
        };
        void runSteps(chooseDelta(makeRevision({ rev: 2, p1: 0, p2: 1 }), Buffer.alloc(1000, 1), tools));
        return packed;
      };
      assert.deepEqual([parents(500), parents(501)], [2, 1]);
    });
  });

  /** Histories of random lengths: what a compressor answers later must not change any choice. */
  const histories = fc.record({
    seed: fc.nat(),
    revisions: fc.array(fc.record({ p1: fc.nat(), p2: fc.nat(), merge: fc.boolean(), text: fc.integer({ min: 0, max: 400 }), packs: fc.integer({ min: 1, max: 9 }) }), { maxLength: 40 }),
    policy: fc.constantFrom(...Object.values(PRESETS).map(({ filelog }) => filelog), FREE, { ...FREE, sparse: true, groupSize: 1 }, { ...FREE, generaldelta: false }),
  });
  type History = typeof histories extends fc.Arbitrary<infer T> ? T : never;

  async function choicesOf({ seed, revisions, policy }: History, later: boolean): Promise<string[]> {
    const chains = new ChainTable(revisions.length);
    const answer = <T>(value: T): T | Promise<T> => (later ? Promise.resolve(value) : value);
    const choices: string[] = [];
    for (const [rev, { p1, p2, merge, text, packs }] of revisions.entries()) {
      const parent = (at: number): number => (at % (rev + 1)) - 1;
      const revision = makeRevision({ rev, p1: parent(p1), p2: merge ? parent(p2) : -1 });
      const tools: DeltaTools = {
        policy,
        chains,
        textOf: (base) => answer(Buffer.of(base)),
        diff: ([base = 0]) => Buffer.alloc((((seed % 1009) + 7 * base * rev) % (text + 20)), base),
        compress: (delta) => answer(delta.subarray(0, Math.ceil(delta.length / packs))),
        isOffLimits: (base) => base % 7 === 6,
        reuse: (_revision, base) => answer(base % 5 === 4 ? Buffer.alloc(text >> 2, base) : undefined),
      };
      const steps = runSteps(chooseDelta(revision, Buffer.alloc(text, 0xff), tools));
      if (!later) assert.ok(!isPromise(steps), 'it waited');
      const { base, delta, chunk } = await steps;
      chains.add(base, chunk.length, text, chains.isSnapshotOn(base, revision.p1, revision.p2));
      choices.push(`${base} ${delta.length} ${chunk.length}`);
    }
    return choices;
  }

  it('is the same whether its surroundings answer at once or later', async () => {
    await fc.assert(fc.asyncProperty(histories, async (history) => assert.deepEqual(await choicesOf(history, true), await choicesOf(history, false))));
  });

  it('keeps every chain within the rules of the presets', async () => {
    await fc.assert(
      fc.asyncProperty(histories, async (history) => {
        const { policy, revisions } = history;
        const stored = (await choicesOf(history, false)).map((line) => line.split(' ').map(Number));
        const lengths: number[] = [];
        const bytes: number[] = [];
        for (const [rev, [base = FULL, , chunk = 0]] of stored.entries()) {
          lengths.push(base < 0 ? 0 : (lengths[base] ?? NaN) + 1);
          bytes.push(base < 0 ? chunk : (bytes[base] ?? NaN) + chunk);
          if (base < 0) continue;
          assert.ok(base < rev && base % 7 !== 6, 'the base may be one');
          const text = revisions[rev]?.text ?? NaN;
          assert.ok(chunk <= text * policy.maxDeltaRatio, 'the delta is not longer than the text');
          assert.ok((lengths[rev] ?? NaN) <= (policy.maxChainLength ?? Infinity), 'the chain is not too long');
          assert.ok((bytes[rev] ?? NaN) <= text * (policy.maxChainRatio ?? Infinity), 'the chain has not too many bytes');
          if (!policy.generaldelta) assert.equal(base, rev - 1);
        }
      }),
    );
  });
});
