import assert from 'node:assert/strict';

import { describe, it } from 'mocha';

import { renderPart, speedup } from '../bench/dictionaries/part.js';
import type { LoadedBatch } from '../bench/dictionaries/store.js';
import { inRuns, spreadSamples } from '../bench/dictionaries/train.js';

const batch = (...lengths: readonly number[]): LoadedBatch => ({ path: 'data/a.i', kind: 'filelog', revisions: [], deltas: lengths.map((length, i) => new Uint8Array(length).fill(i)) });

describe('bench:dictionaries', () => {
  it('spreads samples over all batches by their bytes', () => {
    const samples = spreadSamples([batch(10, 10, 10, 10), batch(10, 10, 10, 10)], 4);
    assert.equal(samples.length, 4);
    assert.deepEqual(samples.map((sample) => sample[0]), [1, 3, 1, 3]);
  });

  it('takes a long chunk once, however many points fall into it', () => {
    assert.deepEqual(spreadSamples([batch(10, 1000, 10)], 10).map(({ length }) => length), [1000]);
  });

  it('takes all where more are asked for than there are', () => {
    assert.equal(spreadSamples([batch(10, 10, 10)], 100).length, 3);
  });

  it('puts runs of samples into one, none lost', () => {
    const samples = spreadSamples([batch(5, 5, 5, 5, 5)], 100);
    assert.deepEqual(inRuns(samples, 2).map(({ length }) => length), [10, 10, 5]);
  });

  it('compares runs pair by pair', () => {
    assert.equal(speedup([1, 2, 4], [2, 4, 4]), 2);
  });

  it('marks tables with times as provisional where it is told so, others never', () => {
    const part = { name: 'x', title: 'X', about: 'How.', grids: [{ head: ['a'], rows: [['1']] }] };
    assert.equal(renderPart({ ...part, isTimed: false }, true), 'How.\n\n| a |\n| --- |\n| 1 |');
    assert.match(renderPart({ ...part, isTimed: true }, true), /^<!-- provisional: .* -->\n\nHow\./);
    assert.equal(renderPart({ ...part, isTimed: true }, false), 'How.\n\n| a |\n| --- |\n| 1 |');
  });
});
