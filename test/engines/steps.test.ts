import assert from 'node:assert/strict';

import { describe, it } from 'mocha';

import { isPromise } from '../../src/engines/engine.js';
import type { Steps } from '../../src/engines/steps.js';
import { runSteps, settled } from '../../src/engines/steps.js';

const later = <T>(value: T): Promise<T> => Promise.resolve().then(() => value);

describe('work in steps', () => {
  it('is done at once where nothing is waited for', () => {
    function* sum(): Steps<number> {
      return (yield* settled(1)) + (yield* settled(2));
    }
    assert.equal(runSteps(sum()), 3);
  });

  it('waits for what is promised, in order, and gets what that brings', async () => {
    const seen: string[] = [];
    function* work(): Steps<string> {
      for (const value of [later('a'), 'b', later('c'), later('d'), 'e']) seen.push(yield* settled(value));
      return seen.join('');
    }
    const done = runSteps(work());
    assert.ok(isPromise(done));
    assert.deepEqual(seen, []);
    assert.equal(await done, 'abcde');
  });

  it('begins at once, up to the first wait', async () => {
    const seen: number[] = [];
    function* work(): Steps<void> {
      seen.push(1);
      yield* settled(later(0));
      seen.push(2);
    }
    const done = runSteps(work());
    assert.deepEqual(seen, [1]);
    await done;
    assert.deepEqual(seen, [1, 2]);
  });

  it('may be made of work in steps', async () => {
    function* inner(value: number): Steps<number> {
      return 2 * (yield* settled(later(value)));
    }
    function* outer(): Steps<number> {
      return (yield* inner(1)) + (yield* inner(10));
    }
    assert.equal(await runSteps(outer()), 22);
  });

  it('goes through 100,000 steps, of either kind', async () => {
    function* count(value: number | Promise<number>): Steps<number> {
      let sum = 0;
      for (let i = 0; i < 100_000; i++) sum += yield* settled(value);
      return sum;
    }
    assert.equal(runSteps(count(1)), 100_000);
    assert.equal(await runSteps(count(Promise.resolve(1))), 100_000);
  });

  describe('that fails', () => {
    const failure = new Error('fails');
    const released: string[] = [];
    function* failing(before: unknown[], error: () => unknown): Steps<void> {
      try {
        for (const value of before) yield* settled(value);
        yield* settled(error());
      } finally {
        released.push('let go');
      }
    }
    const fails = (): never => {
      throw failure;
    };

    it('throws at once where it has not waited', () => {
      assert.throws(() => runSteps(failing([1], fails)), failure);
    });

    it('rejects where it has', async () => {
      const done = runSteps(failing([later(1)], fails));
      assert.ok(isPromise(done));
      await assert.rejects(done, failure);
    });

    it('rejects with what it waited for, first or last', async () => {
      await assert.rejects(async () => runSteps(failing([], () => Promise.reject(failure))), failure);
      await assert.rejects(async () => runSteps(failing([later(1), later(2)], () => Promise.reject(failure))), failure);
    });

    it('lets go of what it has, once', () => {
      assert.deepEqual(released, Array(4).fill('let go'));
    });

    it('may catch what it waited for, and go on', async () => {
      function* careful(): Steps<string> {
        try {
          yield* settled(Promise.reject(failure));
        } catch (error) {
          assert.equal(error, failure);
        }
        return yield* settled(later('went on'));
      }
      assert.equal(await runSteps(careful()), 'went on');
    });
  });
});
