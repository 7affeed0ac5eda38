import assert from 'node:assert/strict';

import { describe, it } from 'mocha';

import type { ChainTable } from '../../src/delta/chain-table.js';
import type { DeltaChoice, DeltaTools } from '../../src/delta/choose-delta.js';
import { chooseDelta, isUnfit } from '../../src/delta/choose-delta.js';
import type { DeltaPolicy } from '../../src/delta/policy.js';
import { isPromise } from '../../src/engines/engine.js';
import { runSteps } from '../../src/engines/steps.js';
import { RevconvertError } from '../../src/errors.js';
import type { Revision } from '../../src/formats/record.js';
import { makeRevision } from '../support/revlog-builder.js';
import { chainTable, FREE, FULL, NULL } from './support.js';

interface Search {
  readonly chains: ChainTable;
  readonly policy?: Partial<DeltaPolicy>;
  readonly revision?: Partial<Revision>;
  /** Bytes of the new text. @default 1000 */
  readonly text?: number;
  /** Bytes of the delta against each base, as diff makes it. @default 500 */
  readonly deltas?: Readonly<Record<number, number>>;
  /** What compression makes of so many bytes. @default the same */
  readonly compressed?: (length: number) => number;
  readonly offLimits?: readonly number[];
  readonly reuse?: DeltaTools['reuse'];
}

interface Found extends DeltaChoice {
  /** The bases that a delta was made against, in order. */
  readonly diffed: readonly number[];
  /** The lengths that were given to the compressor, in order. */
  readonly packed: readonly number[];
}

/** Texts and deltas are nothing but their lengths; the first byte of a base says which it is. */
function setUp(search: Search): { steps: ReturnType<typeof chooseDelta>; diffed: number[]; packed: number[]; tools: DeltaTools } {
  const { chains, policy, revision, text = 1000, deltas = {}, compressed = (length: number) => length, offLimits = [], reuse = () => undefined } = search;
  const diffed: number[] = [];
  const packed: number[] = [];
  const tools: DeltaTools = {
    policy: { ...FREE, ...policy },
    chains,
    textOf: (rev) => Buffer.of(rev),
    diff: ([rev = -1]) => {
      diffed.push(rev);
      return Buffer.alloc(deltas[rev] ?? 500, rev);
    },
    compress: (delta) => {
      packed.push(delta.length);
      return Buffer.alloc(compressed(delta.length), delta[0]);
    },
    isOffLimits: (rev) => offLimits.includes(rev),
    reuse,
  };
  const given = makeRevision({ rev: chains.length, p1: chains.length - 1, ...revision });
  return { steps: chooseDelta(given, Buffer.alloc(text, 0xff), tools), diffed, packed, tools };
}

function choose(search: Search): Found {
  const { steps, diffed, packed } = setUp(search);
  const choice = runSteps(steps);
  return isPromise(choice) ? assert.fail('it waited') : { ...choice, diffed, packed };
}

/** The base, or what it was refused for: then there is a full text. */
const baseOf = (search: Search): number => choose(search).base;

const ONE = chainTable([FULL, 100, 1000]);

describe('choice of a delta', () => {
  describe('gives a full text', () => {
    const fulls: readonly (readonly [string, Partial<Search>])[] = [
      ['for the first revision', { chains: chainTable(), revision: { p1: -1 } }],
      ['for an empty text', { text: 0, deltas: { 0: 0 } }],
      ['where the policy has no deltas', { policy: { deltas: false } }],
      ['without parents', { revision: { p1: -1 } }],
      ['for a censored revision', { revision: { flags: 0x8000 } }],
      ['for one whose text is elsewhere', { revision: { flags: 0x2000 } }],
      ['where no base may be one', { offLimits: [0] }],
      ['where no delta is good', { deltas: { 0: 1001 }, policy: { maxDeltaRatio: 1 } }],
    ];
    for (const [title, search] of fulls) {
      it(title, () => {
        const { base, delta, chunk } = choose({ chains: ONE, ...search });
        const text = Buffer.alloc(search.text ?? 1000, 0xff);
        assert.deepEqual([base, Buffer.from(delta), Buffer.from(chunk)], [FULL, text, text]);
      });
    }

    it('as the compressor makes it', () => {
      const { base, delta, chunk } = choose({ chains: ONE, revision: { p1: -1 }, compressed: (length) => length / 4 });
      assert.deepEqual([base, delta.length, chunk.length], [FULL, 1000, 250]);
    });

    it('and makes no delta, where none may be', () => {
      for (const search of [{ offLimits: [0] }, { policy: { deltas: false } }, { revision: { flags: 0x8000 } }]) {
        assert.deepEqual(choose({ chains: ONE, ...search }).diffed, []);
      }
    });
  });

  it('knows flags that stand for something else; cut history is none of them', () => {
    assert.deepEqual([0x8000, 0x2000, 0xa000, 0x9000].map(isUnfit), [true, true, true, true]);
    assert.deepEqual([0, 0x4000, 0x1000, 0x0fff].map(isUnfit), [false, false, false, false]);
    assert.equal(baseOf({ chains: ONE, revision: { flags: 0x4000 } }), 0);
  });

  it('gives the delta and the chunk of the base', () => {
    const { base, delta, chunk } = choose({ chains: ONE, deltas: { 0: 300 }, compressed: (length) => length / 3 });
    assert.deepEqual([base, delta.length, chunk.length], [0, 300, 100]);
  });

  describe('takes the smallest', () => {
    const two = chainTable([FULL, 100, 1000], [FULL, 100, 1000], [FULL, 100, 1000]);
    const parents = { chains: two, revision: { p1: 0, p2: 1 } };

    it('as it is stored, not as it was made', () => {
      assert.equal(baseOf({ ...parents, deltas: { 0: 300, 1: 200 } }), 1);
      assert.equal(baseOf({ ...parents, deltas: { 0: 300, 1: 200 }, compressed: (length) => (length === 300 ? 10 : length) }), 0);
    });

    it('the earlier of two that are equal', () => {
      assert.equal(baseOf({ ...parents, deltas: { 0: 300, 1: 300 } }), 0);
      assert.equal(baseOf({ chains: two, revision: { p1: 1, p2: 0 }, deltas: { 0: 300, 1: 300 } }), 1);
      assert.equal(baseOf({ ...parents, deltas: { 0: 300, 1: 299 } }), 1);
    });

    it('of the first group that has a good one', () => {
      const policy = { parents: 'one', previous: true, maxDeltaRatio: 1 } as const;
      assert.deepEqual(choose({ ...parents, policy, deltas: { 0: 300, 1: 400, 2: 1 } }).diffed, [1]);
      assert.deepEqual(choose({ ...parents, policy, deltas: { 0: 300, 1: 1001, 2: 1 } }).diffed, [1, 0]);
      assert.deepEqual(choose({ ...parents, policy, deltas: { 0: 1001, 1: 1001, 2: 1 } }).diffed, [1, 0, 2]);
    });

    it('of all, where all are tried', () => {
      const found = choose({ ...parents, policy: { parents: 'one', previous: true, exhaustive: true }, deltas: { 0: 300, 1: 400, 2: 100 } });
      assert.deepEqual([found.base, found.diffed], [2, [1, 0, 2]]);
    });

    it('and tries no base twice', () => {
      assert.deepEqual(choose({ chains: two, revision: { p1: 2, p2: 2 }, policy: { previous: true, exhaustive: true } }).diffed, [2]);
    });

    it('a good one that is longer rather than a shorter one that is not', () => {
      // Revision 0 is at the end of a long chain.
      const chains = chainTable([FULL, 1900, 1000], [FULL, 100, 1000]);
      assert.equal(baseOf({ chains, revision: { p1: 0, p2: 1 }, policy: { maxChainRatio: 2 }, deltas: { 0: 101, 1: 600 } }), 1);
    });
  });

  describe('accepts a delta', () => {
    it('of as many bytes as the text; not of one more', () => {
      const policy = { maxDeltaRatio: 1 };
      assert.equal(baseOf({ chains: ONE, policy, deltas: { 0: 1000 } }), 0);
      assert.equal(baseOf({ chains: ONE, policy, deltas: { 0: 1001 } }), FULL);
    });

    it('by what is stored of it', () => {
      const policy = { maxDeltaRatio: 1 };
      assert.equal(baseOf({ chains: ONE, policy, deltas: { 0: 1500 }, compressed: () => 1000 }), 0);
      assert.equal(baseOf({ chains: ONE, policy, deltas: { 0: 1000 }, compressed: (length) => length + 1 }), FULL);
    });

    it('of another part of the text, where the policy says so', () => {
      assert.equal(baseOf({ chains: ONE, policy: { maxDeltaRatio: 0.5 }, deltas: { 0: 500 } }), 0);
      assert.equal(baseOf({ chains: ONE, policy: { maxDeltaRatio: 0.5 }, deltas: { 0: 501 } }), FULL);
    });

    it('whose chain is twice the text; not one byte more', () => {
      const chains = chainTable([FULL, 1000, 1000], [0, 400, 1000]);
      const policy = { maxChainRatio: 2 };
      assert.equal(baseOf({ chains, policy, deltas: { 1: 600 } }), 1);
      assert.equal(baseOf({ chains, policy, deltas: { 1: 601 } }), FULL);
      assert.equal(baseOf({ chains, deltas: { 1: 601 } }), 1, 'without a limit');
    });

    it('of no bytes on a chain that is twice the text already; not on a longer one, for which no delta is made', () => {
      assert.equal(baseOf({ chains: chainTable([FULL, 2000, 1000]), policy: { maxChainRatio: 2 }, deltas: { 0: 0 } }), 0);
      const found = choose({ chains: chainTable([FULL, 2001, 1000]), policy: { maxChainRatio: 2 }, deltas: { 0: 0 } });
      assert.deepEqual([found.base, found.diffed], [FULL, []]);
    });

    it('that is the last of as many as a chain may have; not the next, for which no delta is made', () => {
      const chains = chainTable([FULL, 100], [0], [1], [2]);
      assert.equal(baseOf({ chains, policy: { maxChainLength: 4 } }), 3);
      const found = choose({ chains, policy: { maxChainLength: 3 } });
      assert.deepEqual([found.base, found.diffed], [FULL, []]);
      assert.equal(baseOf({ chains, revision: { p1: 2 }, policy: { maxChainLength: 3 } }), 2);
      assert.equal(baseOf({ chains, policy: { maxChainLength: null } }), 3);
      assert.equal(baseOf({ chains: ONE, policy: { maxChainLength: 0 } }), FULL);
    });

    it('that ends four texts behind the beginning of its chain; not one byte further', () => {
      // The chain begins at 700; 3000 bytes of other revisions lie between.
      const chains = chainTable([FULL, 700], [FULL, 500, 1000], [FULL, 3000]);
      const policy = { maxSpanRatio: 4 };
      assert.equal(baseOf({ chains, revision: { p1: 1 }, policy, deltas: { 1: 500 } }), 1);
      assert.equal(baseOf({ chains, revision: { p1: 1 }, policy, deltas: { 1: 501 } }), FULL);
      assert.equal(baseOf({ chains, revision: { p1: 1 }, deltas: { 1: 501 } }), 1, 'without a limit');
      assert.equal(baseOf({ chains, revision: { p1: 1 }, policy: { ...policy, sparse: true }, deltas: { 1: 501 } }), 1, 'with snapshots');
    });
  });

  describe('without generaldelta', () => {
    const policy = { generaldelta: false } as const;
    const chains = chainTable([FULL, 100], [0, 10], [1, 10]);

    it('the previous revision is the only base, whoever the parents are', () => {
      const found = choose({ chains, policy, revision: { p1: 0, p2: 1 }, deltas: { 0: 1, 1: 1, 2: 700 } });
      assert.deepEqual([found.base, found.diffed], [2, [2]]);
      assert.equal(baseOf({ chains, policy, revision: { p1: -1 } }), 2);
    });

    it('there is a full text where that is no good, or may be none', () => {
      assert.equal(baseOf({ chains, policy: { ...policy, maxDeltaRatio: 1 }, revision: { p1: 0 }, deltas: { 0: 1, 2: 1001 } }), FULL);
      assert.equal(baseOf({ chains, policy, offLimits: [2] }), FULL);
    });

    it('it is the base where its own delta is empty, too', () => {
      assert.equal(baseOf({ chains: chainTable([FULL, 100], [0, 10], [1, 0]), policy }), 2);
    });
  });

  it('an empty delta is passed over: its base is the base', () => {
    const chains = chainTable([FULL, 100], [0, 10], [1, 0], [2, 0]);
    const found = choose({ chains, revision: { p1: 3, p2: 2 } });
    assert.deepEqual([found.base, found.diffed], [1, [1]]);
    assert.deepEqual(choose({ chains, revision: { p1: 3 }, offLimits: [1] }).base, FULL);
  });

  describe('uses the source\'s delta', () => {
    it('against the base that it is for, and makes none', () => {
      const own = Buffer.alloc(40, 7);
      const { base, delta, diffed } = choose({ chains: ONE, reuse: (_revision, rev) => (rev === 0 ? own : undefined) });
      assert.deepEqual([base, diffed], [0, []]);
      assert.equal(delta, own);
    });

    it('where it is as good as others must be', () => {
      const own = Buffer.alloc(1001);
      assert.equal(baseOf({ chains: ONE, policy: { maxDeltaRatio: 1 }, reuse: () => own }), FULL);
    });

    it('where that comes later, too', async () => {
      const own = Buffer.alloc(40, 7);
      const { steps, diffed } = setUp({ chains: ONE, reuse: () => Promise.resolve(own) });
      assert.equal((await runSteps(steps)).delta, own);
      const later = setUp({ chains: ONE, reuse: () => Promise.resolve(undefined) });
      assert.equal((await runSteps(later.steps)).base, 0);
      assert.deepEqual([diffed, later.diffed], [[], [0]]);
    });
  });

  it('fails with what fails', async () => {
    const failure = new RevconvertError('CHUNK_DAMAGED', 'the base cannot be had');
    const { tools } = setUp({ chains: ONE });
    const revision = makeRevision({ rev: 1 });
    const broken = (change: Partial<DeltaTools>): ReturnType<typeof chooseDelta> => chooseDelta(revision, Buffer.alloc(10), { ...tools, ...change });
    const fails = (): never => {
      throw failure;
    };
    assert.throws(() => runSteps(broken({ textOf: fails })), failure);
    assert.throws(() => runSteps(broken({ compress: fails })), failure);
    await assert.rejects(async () => runSteps(broken({ textOf: () => Promise.reject(failure) })), failure);
    await assert.rejects(async () => runSteps(broken({ compress: () => Promise.reject(failure) })), failure);
    await assert.rejects(async () => runSteps(broken({ reuse: () => Promise.reject(failure) })), failure);
  });

  it('leaves the table alone', () => {
    const chains = chainTable([FULL, 100], [NULL, 50], [1, 5]);
    choose({ chains });
    assert.deepEqual([chains.length, chains.end, [...chains.base.subarray(0, 3)]], [3, 155, [FULL, NULL, 1]]);
  });
});
