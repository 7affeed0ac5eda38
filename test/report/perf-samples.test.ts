import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';

import { describe, it } from 'mocha';

import { emptyTally } from '../../src/report/perf-reads.js';
import { median, sampleInTurns } from '../../src/report/perf-samples.js';
import { Turns } from '../../src/streams/turns.js';
import { assertFails } from '../repository/support.js';

describe('samples', () => {
  const turns = new Turns(undefined);

  it('are taken in turns: one of each in every round', async () => {
    const order: string[] = [];
    const contestant = (name: string) => () => {
      order.push(name);
      return Promise.resolve(emptyTally());
    };
    const samples = await sampleInTurns([contestant('A'), contestant('B')], { runs: 4, seconds: 60 }, turns);
    const [a, b] = samples;
    assert.ok(a !== undefined && b !== undefined);
    assert.equal(order.join(''), 'AB'.repeat(a.warmUps + 4));
    assert.deepEqual([a.milliseconds.length, b.milliseconds.length, b.warmUps], [4, 4, a.warmUps]);
    assert.ok(a.warmUps >= 1);
  });

  it('have what a run made', async () => {
    const made = { revisions: 3, readBytes: 5, bytes: 7, sum: 11 };
    const [samples] = await sampleInTurns([() => Promise.resolve(made)], { runs: 3, seconds: 60 }, turns);
    assert.deepEqual(samples?.tally, made);
  });

  it('of a run that takes longer than all are meant to, there is one', async () => {
    let runs = 0;
    const slow = async (): Promise<ReturnType<typeof emptyTally>> => {
      runs++;
      await delay(250);
      return emptyTally();
    };
    const [samples] = await sampleInTurns([slow], { runs: 10, seconds: 0.1 }, turns);
    assert.deepEqual([runs, samples?.milliseconds.length, samples?.warmUps], [1, 1, 0]);
  });

  it('no round is begun after the time is over, but one is made', async () => {
    const slow = async (): Promise<ReturnType<typeof emptyTally>> => {
      await delay(60);
      return emptyTally();
    };
    const [samples] = await sampleInTurns([slow], { runs: 1000, seconds: 0.15 }, turns);
    assert.ok(samples !== undefined && samples.milliseconds.length >= 1 && samples.milliseconds.length <= 3, JSON.stringify(samples));
    assert.ok(samples.warmUps >= 1);
  });

  it('a signal stops them', async () => {
    const controller = new AbortController();
    let runs = 0;
    const run = (): Promise<ReturnType<typeof emptyTally>> => {
      if (++runs === 2) controller.abort();
      return Promise.resolve(emptyTally());
    };
    await assertFails(sampleInTurns([run], { runs: 100, seconds: 60 }, new Turns(controller.signal)), { code: 'CANCELLED' });
    assert.equal(runs, 2);
  });
});

describe('the median', () => {
  it('is the middle value, or the mean of the two in the middle', () => {
    assert.deepEqual([median([5]), median([9, 1, 5]), median([9, 1, 4, 6]), median([])], [5, 5, 5, 0]);
  });
});
