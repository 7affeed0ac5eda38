import assert from 'node:assert/strict';

import { describe, it } from 'mocha';

import { candidateGroups } from '../../src/delta/candidates.js';
import type { ChainTable } from '../../src/delta/chain-table.js';
import type { DeltaPolicy } from '../../src/delta/policy.js';
import { chainTable, FREE, FULL, NULL } from './support.js';

interface Search {
  readonly policy?: Partial<DeltaPolicy>;
  readonly p1?: number;
  readonly p2?: number;
  readonly sourceBase?: number;
  /** Called for each group with what was best before; what is best now. @default nothing is ever good */
  readonly judge?: (group: readonly number[], best: number | undefined) => number | undefined;
}

/** The groups as they come, null revisions and all. */
function allGroups(chains: ChainTable, { policy, p1 = -1, p2 = -1, sourceBase = -1, judge }: Search): number[][] {
  const groups = candidateGroups({ rev: chains.length, p1, p2, sourceBase, chains, policy: { ...FREE, ...policy } });
  const found: number[][] = [];
  let best: number | undefined;
  for (let next = groups.next(); next.done !== true; next = groups.next(best)) {
    found.push([...next.value]);
    best = judge?.(next.value, best);
    assert.ok(found.length < 1000, 'the groups have no end');
  }
  return found;
}

/** The groups as a search sees them, which tries no base twice. */
function groupsOf(chains: ChainTable, search: Search): number[][] {
  const seen = new Set<number>();
  const fresh = (rev: number): boolean => rev >= 0 && !seen.has(rev) && seen.add(rev).has(rev);
  return allGroups(chains, search).map((group) => group.filter(fresh)).filter((group) => group.length > 0);
}

/** Says that a base is good as soon as it is tried, and better than all before it in the list. */
const likes = (...order: readonly number[]): NonNullable<Search['judge']> => (group, best) =>
  [...group, ...(best === undefined ? [] : [best])].filter((rev) => order.includes(rev)).sort((a, b) => order.indexOf(b) - order.indexOf(a))[0];

const SIX = chainTable([FULL], [0], [1], [2], [3], [4]);
const SPARSE: Partial<DeltaPolicy> = { sparse: true };

describe('candidates', () => {
  describe('without snapshots', () => {
    const rows: readonly (readonly [title: string, Search, number[][]])[] = [
      ['both parents together', { p1: 2, p2: 4 }, [[2, 4]]],
      ['the first parent first', { p1: 4, p2: 2 }, [[4, 2]]],
      ['one parent', { p1: 3 }, [[3]]],
      ['a second parent alone', { p2: 3 }, [[3]]],
      ['no parents: nothing', {}, []],
      ['parents one after the other, the later one first', { p1: 2, p2: 4, policy: { parents: 'one' } }, [[4], [2]]],
      ['the same in the other order', { p1: 4, p2: 2, policy: { parents: 'one' } }, [[4], [2]]],
      ['the other parent not, where one was good', { p1: 2, p2: 4, policy: { parents: 'one' }, judge: likes(4, 2) }, [[4]]],
      ['no parents where none are wanted', { p1: 2, p2: 4, policy: { parents: 'none' } }, []],
      ['the previous revision behind the parents', { p1: 2, p2: 3, policy: { previous: true } }, [[2, 3], [5]]],
      ['the previous revision behind one parent and the other', { p1: 2, p2: 3, policy: { previous: true, parents: 'one' } }, [[3], [2], [5]]],
      ['the previous revision not, where a parent was good', { p1: 2, p2: 3, policy: { previous: true }, judge: likes(2) }, [[2, 3]]],
      ['the previous revision alone', { p1: 2, p2: 3, policy: { previous: true, parents: 'none' } }, [[5]]],
      ['the source\'s base before all', { p1: 2, p2: 3, sourceBase: 1, policy: { sourceBase: true } }, [[1], [2, 3]]],
      ['the source\'s base alone where it is good', { p1: 2, p2: 3, sourceBase: 1, policy: { sourceBase: true }, judge: likes(1, 2) }, [[1]]],
      ['not the source\'s base where that is not asked for', { p1: 2, p2: 3, sourceBase: 1 }, [[2, 3]]],
      ['no source\'s base where there is none', { p1: 2, sourceBase: FULL, policy: { sourceBase: true } }, [[2]]],
      ['nor where it is the empty text', { p1: 2, sourceBase: NULL, policy: { sourceBase: true } }, [[2]]],
      ['everything where all is tried, good or not',
        { p1: 2, p2: 3, sourceBase: 1, policy: { sourceBase: true, previous: true, exhaustive: true }, judge: likes(1, 2, 3) }, [[1], [2, 3], [5]]],
      ['both parents where all is tried, one after the other',
        { p1: 2, p2: 3, policy: { parents: 'one', exhaustive: true }, judge: likes(3) }, [[3], [2]]],
    ];
    for (const [title, search, expected] of rows) it(title, () => assert.deepEqual(groupsOf(SIX, search), expected));

    it('without generaldelta there is one, the previous revision, whatever else is asked for', () => {
      const policy: Partial<DeltaPolicy> = { generaldelta: false, sourceBase: true, previous: true, exhaustive: true, sparse: true, parents: 'both' };
      assert.deepEqual(allGroups(SIX, { p1: 2, p2: 3, sourceBase: 1, policy }), [[5]]);
    });
  });

  describe('with snapshots', () => {
    // 0 full, 1 level 1 on 0, 2 delta on 1, 3 level 2 on 1, 4 delta on 3, 5 level 2 on 1, 6 level 3 on 3, 7 full, 8 level 1 on 7
    const LEVELS = chainTable(
      [FULL], [0, 10, 100, 'snapshot'], [1], [1, 10, 100, 'snapshot'], [3], [1, 10, 100, 'snapshot'], [3, 10, 100, 'snapshot'], [FULL], [7, 10, 100, 'snapshot'],
    );

    it('come those of the parent\'s chain, from the deepest level up, each behind its siblings, with those of a later chain', () => {
      assert.deepEqual(groupsOf(LEVELS, { p1: 4, policy: SPARSE }), [[4], [6], [3], [5], [1, 8], [0, 7]]);
    });

    it('come those of both parents\' chains', () => {
      // The chains are 0 1 and 7 8: no other chain is later.
      assert.deepEqual(groupsOf(LEVELS, { p1: 2, p2: 8, policy: SPARSE }), [[2, 8], [5, 3], [1], [0, 7]]);
    });

    it('come after the previous revision', () => {
      assert.deepEqual(groupsOf(LEVELS, { p1: 4, policy: { ...SPARSE, previous: true } }), [[4], [8], [6], [3], [5], [1], [0, 7]]);
    });

    it('come where no parent is to be tried, too', () => {
      assert.deepEqual(groupsOf(LEVELS, { p1: 4, policy: { ...SPARSE, parents: 'none' } }), [[6], [3], [5], [1, 8], [0, 7]]);
    });

    it('come for a second parent alone', () => {
      assert.deepEqual(groupsOf(LEVELS, { p2: 4, policy: SPARSE }), [[4], [6], [3], [5], [1, 8], [0, 7]]);
    });

    it('do not come where a parent was good, nor where there is no parent', () => {
      assert.deepEqual(groupsOf(LEVELS, { p1: 4, policy: SPARSE, judge: likes(4) }), [[4]]);
      assert.deepEqual(groupsOf(LEVELS, { policy: SPARSE }), []);
    });

    it('do not come where they are not allowed', () => {
      assert.deepEqual(groupsOf(LEVELS, { p1: 4 }), [[4]]);
    });

    it('built on a level are tried only where they are later than those of the deeper level', () => {
      // 0 full, 1 and 2 on it, 3 delta on 2, 4 on 0: of the siblings of 2, 1 was there when 2 was made, and was no good.
      const chains = chainTable([FULL], [0, 10, 100, 'snapshot'], [0, 10, 100, 'snapshot'], [2], [0, 10, 100, 'snapshot']);
      assert.deepEqual(groupsOf(chains, { p1: 3, policy: SPARSE }), [[3], [2], [4], [0]]);
    });

    it('end with all full texts that are later than the parents\' first, the latest first', () => {
      const fulls = chainTable([FULL], [FULL], [FULL], [FULL], [FULL], [FULL]);
      assert.deepEqual(groupsOf(fulls, { p1: 1, policy: SPARSE }), [[1], [5], [4, 3, 2]]);
      assert.deepEqual(groupsOf(fulls, { p1: 3, p2: 1, policy: SPARSE }), [[3, 1], [5], [4, 2]]);
    });

    it('are tried up to the number that is asked for, of each level', () => {
      const fulls = chainTable([FULL], [FULL], [FULL], [FULL], [FULL], [FULL], [FULL]);
      const groups = allGroups(fulls, { p1: 0, policy: { ...SPARSE, groupSize: 3, parents: 'none' } });
      assert.deepEqual(groups.slice(-1), [[6, 5, 4]]);
    });

    it('cost no more the more there are', () => {
      const fulls = chainTable(...Array.from({ length: 3000 }, () => [FULL] as const));
      assert.ok(groupsOf(fulls, { p1: 0, policy: { ...SPARSE, groupSize: 20 } }).flat().length <= 22);
    });

    it('count a delta against nothing as a full text', () => {
      const chains = chainTable([NULL], [0, 10, 100, 'snapshot'], [1], [NULL]);
      assert.deepEqual(groupsOf(chains, { p1: 2, policy: SPARSE }), [[2], [1], [0, 3]]);
    });

    it('are found in one pass over a long list of siblings', () => {
      const rows = Array.from({ length: 20_000 }, (_, rev) => (rev === 0 ? ([FULL] as const) : ([0, 10, 100, 'snapshot'] as const)));
      const groups = groupsOf(chainTable(...rows, [1]), { p1: 20_000, policy: { ...SPARSE, groupSize: 100_000 } });
      assert.equal(groups.flat().length, 20_001);
    }).timeout(5000);
  });

  describe('around a good snapshot', () => {
    // 0 full, 1 level 1, 2 level 2 on 1, 3 level 3 on 2, 4 delta on 3 (the parent), 5 level 2 on 1, 6 level 3 on 5, 7 level 4 on 3
    const chains = chainTable(
      [FULL], [0, 10, 100, 'snapshot'], [1, 10, 100, 'snapshot'], [2, 10, 100, 'snapshot'], [3],
      [1, 10, 100, 'snapshot'], [5, 10, 100, 'snapshot'], [3, 10, 100, 'snapshot'],
    );
    const refined = (judge: NonNullable<Search['judge']>): number[][] => allGroups(chains, { p1: 4, policy: { ...SPARSE, parents: 'none' }, judge });

    it('its base is tried, and what is built on it', () => {
      assert.deepEqual(refined(likes(3)), [[7], [3], [2], [7]]);
    });

    it('the search goes down while that is better, then up while that is', () => {
      assert.deepEqual(refined(likes(3, 2, 1, 5, 6)), [[7], [3], [2], [1], [0], [5, 2], [6], []]);
    });

    it('the search goes down to the full text', () => {
      assert.deepEqual(refined(likes(3, 2, 1, 0)), [[7], [3], [2], [1], [0], [1]]);
    });

    it('it goes no further down than one that is not better', () => {
      assert.deepEqual(refined(likes(3, 1, 0)), [[7], [3], [2], [7]]);
    });

    it('it goes up from where it stands where nothing below is better', () => {
      assert.deepEqual(refined(likes(5, 6)).slice(-3), [[1], [6], []]);
    });

    it('it is over where a snapshot has nothing built on it', () => {
      assert.deepEqual(refined(likes(7)), [[7], [3], []]);
    });

    it('takes a slice of what is built on it', () => {
      const fan = chainTable([FULL], [0, 10, 100, 'snapshot'], [1], ...Array.from({ length: 5 }, () => [1, 10, 100, 'snapshot'] as const));
      const groups = allGroups(fan, { p1: 2, policy: { ...SPARSE, parents: 'none', groupSize: 2 }, judge: likes(6, 1) });
      assert.deepEqual(groups.slice(0, 1), [[7, 6]]);
      assert.deepEqual(groups.slice(1), [[1], [0], [7, 6]]);
    });
  });

  it('all levels and all full texts are tried where all is asked for, good or not', () => {
    const chains = chainTable([FULL], [0, 10, 100, 'snapshot'], [1], [FULL], [FULL], [4, 10, 100, 'snapshot']);
    const everything = groupsOf(chains, { p1: 2, policy: { ...SPARSE, exhaustive: true }, judge: likes(2) });
    assert.deepEqual(everything.flat().sort(), [0, 1, 2, 3, 4, 5]);
  });
});
