/** How work is cut, grouped and handed out. */
import assert from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';

import fc from 'fast-check';
import { describe, it } from 'mocha';

import { RevlogIndex } from '../../src/formats/revlog-index.js';
import { cutRanges, group, runInLanes } from '../../src/repository/schedule.js';

const MIB = 1 << 20;

/** An index whose chunks have these lengths. */
function indexOf(lengths: readonly number[]): RevlogIndex {
  const table = Buffer.alloc(lengths.length * 64);
  lengths.forEach((length, rev) => table.writeInt32BE(length, rev * 64 + 8));
  return new RevlogIndex({ version: 1, inline: false, generaldelta: true, filelogMeta: false, deltaInfo: false }, table);
}

describe('cutting a revlog into ranges', () => {
  const cases: readonly (readonly [title: string, lengths: readonly number[], ends: readonly number[]])[] = [
    ['no revisions: no ranges', [], []],
    ['a small one stays whole', [10, 20, 30], [3]],
    ['a range ends once it has a MiB', [MIB / 2, MIB / 2, 5, MIB, 7], [2, 4, 5]],
    ['a revision larger than a range has one of its own', [5 * MIB, 5 * MIB], [1, 2]],
    ['a range has no more than 8192 revisions', Array.from({ length: 8193 }, () => 0), [8192, 8193]],
  ];
  for (const [title, lengths, ends] of cases) {
    it(title, () => assert.deepEqual(cutRanges(indexOf(lengths), 64).map(({ to }) => to), ends));
  }

  it('ranges follow each other without a gap, and hold all bytes', () => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: MIB }), { maxLength: 60 }), (lengths) => {
        const ranges = cutRanges(indexOf(lengths), 64);
        let at = 0;
        for (const { from, to, bytes } of ranges) {
          assert.equal(from, at);
          assert.ok(to > from);
          assert.equal(bytes, lengths.slice(from, to).reduce((sum, length) => sum + length + 64, 0));
          at = to;
        }
        assert.equal(at, lengths.length);
      }),
    );
  });
});

describe('grouping small revlogs', () => {
  it('keeps the order and loses none; a group ends at half a MiB or 64 revlogs', () => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: MIB }), { maxLength: 300 }), (sizes) => {
        const groups = group(sizes, (size) => size);
        assert.deepEqual(groups.flat(), sizes);
        for (const members of groups) {
          assert.ok(members.length >= 1 && members.length <= 64);
          assert.ok(members.slice(0, -1).reduce((sum, size) => sum + size, 0) < MIB / 2);
        }
      }),
    );
  });

  it('nothing makes no group', () => assert.deepEqual(group([], () => 0), []));
});

describe('work in lanes', () => {
  const lanes = ['a', 'b', 'c'];
  const counted = (count: number): number[] => Array.from({ length: count }, (_, i) => i);

  it('no more pieces are under way than there are lanes, and each lane has one at a time', async () => {
    const under = new Set<string>();
    let most = 0;
    const done: number[] = [];
    await runInLanes(counted(40), lanes, async (piece, lane) => {
      assert.ok(!under.has(lane), lane);
      under.add(lane);
      most = Math.max(most, under.size);
      for (let turns = piece % 4; turns >= 0; turns--) await nextTurn();
      under.delete(lane);
      done.push(piece);
    });
    assert.equal(most, lanes.length);
    assert.deepEqual(done.sort((a, b) => a - b), counted(40));
  });

  it('pieces are begun in order, each made only when there is a lane for it', async () => {
    const begun: number[] = [];
    let made = 0;
    function* work(): Generator<number, void, void> {
      for (const piece of counted(20)) {
        made++;
        yield piece;
      }
    }
    await runInLanes(work(), lanes, async (piece) => {
      begun.push(piece);
      assert.ok(made <= begun.length + lanes.length, `${made} made, ${begun.length} begun`);
      await nextTurn();
    });
    assert.deepEqual(begun, counted(20));
  });

  it('no work is done at once', () => runInLanes([], lanes, () => assert.fail('nothing to do')));

  it('the first failure is what it rejects with, and no piece is begun after it', async () => {
    const begun: number[] = [];
    const work = async (piece: number): Promise<void> => {
      begun.push(piece);
      await nextTurn();
      if (piece >= 4) throw new Error(`piece ${piece}`);
    };
    await assert.rejects(runInLanes(counted(100), lanes, work), { message: 'piece 4' });
    const at = begun.length;
    for (let turns = 0; turns < 10; turns++) await nextTurn();
    assert.equal(begun.length, at);
    assert.ok(at <= 8, `${at} were begun`);
  });

  it('a failure while work is made is a failure', async () => {
    function* broken(): Generator<number, void, void> {
      yield 1;
      throw new Error('no more');
    }
    await assert.rejects(runInLanes(broken(), lanes, () => nextTurn()), { message: 'no more' });
  });

  it('an abort ends it with the reason, and no piece is begun after it', async () => {
    const controller = new AbortController();
    let begun = 0;
    const running = runInLanes(counted(1000), lanes, async () => {
      if (++begun === 10) controller.abort(new Error('enough'));
      await nextTurn();
    }, controller.signal);
    await assert.rejects(running, { message: 'enough' });
    const at = begun;
    for (let turns = 0; turns < 10; turns++) await nextTurn();
    assert.ok(begun <= at + lanes.length && begun < 20, `${begun} were begun`);
  });

  it('aborted before it begins: nothing is begun', async () => {
    const running = runInLanes(counted(3), lanes, () => assert.fail('begun'), AbortSignal.abort(new Error('before')));
    await assert.rejects(running, { message: 'before' });
  });
});
