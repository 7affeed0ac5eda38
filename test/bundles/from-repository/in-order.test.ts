import assert from 'node:assert/strict';
import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';

import { describe, it } from 'mocha';

import type { InOrderOptions } from '../../../src/bundles/from-repository/in-order.js';
import { inOrder } from '../../../src/bundles/from-repository/in-order.js';

type Options = InOrderOptions<string, number, number>;

const numbers = (count: number): number[] => Array.from({ length: count }, (_, i) => i);

const options = (more: Partial<Options>): Options => ({
  work: numbers(20),
  lanes: ['a', 'b', 'c'],
  perform: (piece) => Promise.resolve(piece * 10),
  bytesOf: () => 1,
  maxWaitingBytes: 5,
  signal: undefined,
  ...more,
});

async function collect(more: Partial<Options>): Promise<number[]> {
  const results: number[] = [];
  for await (const { piece, result } of inOrder(options(more))) {
    assert.equal(result, piece * 10);
    results.push(piece);
  }
  return results;
}

describe('work in lanes, results in order', () => {
  it('whichever is done first', async () => {
    const results = await collect({ perform: async (piece) => delay((piece * 7) % 5, piece * 10) });
    assert.deepEqual(results, numbers(20));
  });

  it('of no work, and of one lane', async () => {
    assert.deepEqual(await collect({ work: [] }), []);
    assert.deepEqual(await collect({ lanes: ['a'] }), numbers(20));
  });

  it('stops where results are not asked for: as many as may wait, and one more for each lane', async () => {
    let begun = 0;
    const results = inOrder(options({ work: numbers(1000), perform: (piece) => Promise.resolve(((begun = Math.max(begun, piece + 1)), piece * 10)) }));
    await results.next();
    for (let turn = 0; turn < 20; turn++) await nextTurn();
    assert.ok(begun >= 5 && begun <= 5 + 1 + 3, String(begun));
    await results.return();
  });

  it('a large result in front lets those behind it wait, and comes out', async () => {
    let begun = 0;
    const perform = async (piece: number): Promise<number> => {
      begun++;
      return piece === 0 ? delay(20, 0) : piece * 10;
    };
    assert.deepEqual(await collect({ perform, bytesOf: () => 100 }), numbers(20));
    assert.equal(begun, 20);
  });

  it('begins no more once it is given up', async () => {
    let begun = 0;
    for await (const { piece } of inOrder(options({ work: numbers(1000), perform: (one) => Promise.resolve((begun++, one * 10)) }))) if (piece === 3) break;
    const before = begun;
    for (let turn = 0; turn < 20; turn++) await nextTurn();
    assert.ok(begun - before <= 3, String(begun - before));
    assert.ok(begun < 20);
  });

  it('fails with the first failure, at once, and begins no more', async () => {
    let begun = 0;
    const perform = async (piece: number): Promise<number> => {
      begun++;
      if (piece === 4) throw new Error('four');
      return piece === 2 ? delay(10_000, 0, { ref: false }) : piece * 10;
    };
    await assert.rejects(collect({ work: numbers(1000), perform }), /four/);
    assert.ok(begun < 20, String(begun));
  });

  it('fails where the work cannot be made', async () => {
    const work = function* (): Generator<number> {
      yield 0;
      throw new Error('no more');
    };
    await assert.rejects(collect({ work: work() }), /no more/);
  });

  it('ends with the reason of the signal, before and while it waits', async () => {
    const reason = new Error('enough');
    await assert.rejects(collect({ signal: AbortSignal.abort(reason) }), reason);
    const controller = new AbortController();
    const waiting = collect({ signal: controller.signal, perform: async () => delay(10_000, 0, { ref: false }) });
    setImmediate(() => controller.abort(reason));
    await assert.rejects(waiting, reason);
  });
});
