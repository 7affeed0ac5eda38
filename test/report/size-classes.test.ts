import assert from 'node:assert/strict';

import { describe, it } from 'mocha';

import { SizeClasses } from '../../src/report/size-classes.js';

const classesOf = (lengths: readonly number[]): SizeClasses => {
  const classes = new SizeClasses();
  for (const length of lengths) classes.add(length);
  return classes;
};

const close = (found: number, expected: number): void => assert.ok(Math.abs(found - expected) < 1e-9 * Math.max(1, expected), `${found}, expected ${expected}`);

describe('classes of chunks by size', () => {
  it('count all', () => {
    assert.deepEqual(classesOf([1, 2, 3, 1000, 2 ** 30]).total, { chunks: 5, bytes: 1006 + 2 ** 30 });
    assert.deepEqual(classesOf([]).total, { chunks: 0, bytes: 0 });
  });

  it('weigh a sample of all as what it is', () => {
    const lengths = [1, 5, 7, 64, 100, 127, 128, 5000];
    for (const weight of classesOf(lengths).weigh(lengths)) close(weight, 1);
  });

  it('let few large chunks of a sample not stand for many small ones', () => {
    const all = [...Array.from({ length: 1000 }, () => 100), ...Array.from({ length: 10 }, () => 10_000)];
    const weights = classesOf(all).weigh([100, 10_000, 10_000]);
    assert.deepEqual(weights, [1000, 5, 5]);
  });

  it('let a class that the sample lacks be stood for by the next below, or above', () => {
    const classes = classesOf([1, 4, 64, 64, 1024]);
    const lengths = [4, 64];
    const weights = classes.weigh(lengths);
    assert.deepEqual(weights, [(4 + 1) / 4, (128 + 1024) / 64]);
    close(lengths.reduce((sum, length, i) => sum + length * (weights[i] ?? 0), 0), classes.total.bytes);
    assert.deepEqual(classes.weigh([]), []);
  });
});
