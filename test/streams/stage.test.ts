import assert from 'node:assert/strict';

import { describe, it } from 'mocha';

import { andThen } from '../../src/engines/engine.js';
import type { RevisionBatch } from '../../src/formats/record.js';
import type { RevisionStep, Stage } from '../../src/streams/stage.js';
import { drive, fuseStages, lazyStage, stageOf } from '../../src/streams/stage.js';
import { batchesOf, batchOf, revsOf } from './support.js';

const marked = (batch: RevisionBatch, mark: string): RevisionBatch => ({ ...batch, path: batch.path + mark });

/** Puts a mark on the path: shows which stages a batch went through, and in which order. */
const mark = (name: string): Stage => (batch) => marked(batch, name);

const markLater = (name: string): Stage => (batch) => Promise.resolve().then(() => marked(batch, name));

/** Holds every batch back until the next one comes; the last is flushed. Gives an empty batch first. */
function delayed(name: string): Stage {
  let held: RevisionBatch = batchOf([]);
  const stage: Stage = (batch) => {
    const given = held;
    held = batch;
    return marked(given, name);
  };
  stage.flush = () => marked(held, `${name}!`);
  return stage;
}

const one = (rev: number): RevisionBatch => batchOf([rev], '');

describe('stage', () => {
  describe('andThen', () => {
    it('goes on at once with a value, later with a promise', async () => {
      assert.equal(andThen(1, (value) => value + 1), 2);
      const later = andThen(Promise.resolve(1), (value) => value + 1);
      assert.ok(later instanceof Promise);
      assert.equal(await later, 2);
    });

    it('does not go on behind a failure', async () => {
      const failure = new Error('before');
      await assert.rejects(async () => andThen(Promise.reject(failure), () => assert.fail('went on')), failure);
    });
  });

  describe('fused', () => {
    it('runs through all, in order', () => {
      assert.deepEqual(fuseStages([mark('a'), mark('b'), mark('c')])(one(7)), batchOf([7], 'abc'));
      assert.deepEqual(fuseStages([])(one(7)), one(7));
    });

    it('answers at once where all of them do', () => {
      const answer = fuseStages([mark('a'), fuseStages([mark('b')])])(one(0));
      assert.ok(!(answer instanceof Promise));
    });

    for (const [title, stages] of [
      ['first', [markLater('a'), mark('b'), mark('c')]],
      ['in the middle', [mark('a'), markLater('b'), mark('c')]],
      ['last', [mark('a'), mark('b'), markLater('c')]],
    ] as const) {
      it(`answers with a promise where one does, ${title}`, async () => {
        const answer = fuseStages(stages)(one(0));
        assert.ok(answer instanceof Promise);
        assert.equal((await answer).path, 'abc');
      });
    }

    it('has nothing to flush where no stage has', () => {
      assert.equal(fuseStages([mark('a'), mark('b')]).flush, undefined);
    });

    it('runs what a stage flushes through those behind it, before they are flushed', async () => {
      const fused = fuseStages([mark('a'), delayed('b'), markLater('c'), delayed('d'), mark('e')]);
      const outputs = [await fused(one(1)), await fused(one(2))];
      assert.deepEqual(outputs.map(({ path, revisions }) => [path, revisions.length]), [['data/f.ide', 0], ['data/f.ibcde', 0]]);
      const last = await fused.flush?.();
      assert.ok(last !== undefined);
      assert.deepEqual(revsOf([last]), [1, 2]);
    });

    it('flushes nothing where every stage has nothing left', async () => {
      const empty: Stage = (batch) => batch;
      empty.flush = () => undefined;
      const fused = fuseStages([empty, mark('a'), empty]);
      assert.ok(fused.flush !== undefined);
      assert.equal(await fused.flush(), undefined);
    });

    it('stops at a failure', async () => {
      const failure = new Error('in the stage');
      const seen: string[] = [];
      const spy: Stage = (batch) => {
        seen.push(batch.path);
        return batch;
      };
      const throws: Stage = () => {
        throw failure;
      };
      const rejects: Stage = () => Promise.reject(failure);
      assert.throws(() => fuseStages([mark('a'), throws, spy])(one(0)), failure);
      await assert.rejects(async () => fuseStages([mark('a'), rejects, spy])(one(0)), failure);
      const flushes: Stage = (batch) => batch;
      flushes.flush = () => Promise.reject(failure);
      await assert.rejects(async () => fuseStages([flushes, spy]).flush?.(), failure);
      assert.deepEqual(seen, []);
    });
  });

  describe('of steps', () => {
    /** Writes down what is done to which revision. */
    const noted = (name: string, seen: string[], wait: (rev: number) => boolean = () => false): RevisionStep => (_batch, { rev }) => {
      const note = (): void => void seen.push(`${name}${rev}`);
      if (wait(rev)) return Promise.resolve().then(note);
      note();
      return undefined;
    };
    const ORDER = ['a0', 'b0', 'c0', 'a1', 'b1', 'c1', 'a2', 'b2', 'c2'];

    it('takes each revision through all before the next one begins', () => {
      const seen: string[] = [];
      const given = batchOf([0, 1, 2]);
      assert.equal(stageOf(noted('a', seen), noted('b', seen), noted('c', seen))(given), given);
      assert.deepEqual(seen, ORDER);
    });

    const waits: readonly (readonly [string, (name: string, rev: number) => boolean])[] = [
      ['the first step', (name) => name === 'a'],
      ['the last step', (name) => name === 'c'],
      ['a step in the middle, of one revision', (name, rev) => name === 'b' && rev === 1],
      ['all of them', () => true],
      ['the last of all', (name, rev) => name === 'c' && rev === 2],
    ];
    for (const [title, wait] of waits) {
      it(`keeps the order where it has to wait for ${title}`, async () => {
        const seen: string[] = [];
        const given = batchOf([0, 1, 2]);
        const steps = ['a', 'b', 'c'].map((name) => noted(name, seen, (rev) => wait(name, rev)));
        const answer = stageOf(...steps)(given);
        assert.ok(answer instanceof Promise);
        assert.equal(await answer, given);
        assert.deepEqual(seen, ORDER);
      });
    }

    it('gives each step the batch and the revision, to fill in place', () => {
      const given = batchOf([4, 5]);
      const fill: RevisionStep = (batch, revision) => {
        assert.equal(batch, given);
        assert.ok(given.revisions.includes(revision));
        revision.text = Buffer.from(`text ${revision.rev}`);
      };
      void stageOf(fill)(given);
      assert.deepEqual(given.revisions.map(({ text }) => Buffer.from(text ?? []).toString()), ['text 4', 'text 5']);
    });

    it('does nothing without steps, or without revisions', () => {
      const given = batchOf([0, 1]);
      assert.equal(stageOf()(given), given);
      const none = batchOf([]);
      assert.equal(stageOf(() => assert.fail('called'))(none), none);
    });

    it('stops at a failure, whether it comes at once or later', async () => {
      const failure = new Error('in the step');
      const failsAt = (rev: number, fail: () => Promise<void>): RevisionStep => (_batch, revision) => (revision.rev === rev ? fail() : undefined);
      const throws = (): never => {
        throw failure;
      };
      const seen: string[] = [];
      assert.throws(() => stageOf(noted('a', seen), failsAt(1, throws), noted('c', seen))(batchOf([0, 1, 2])), failure);
      assert.deepEqual(seen, ['a0', 'c0', 'a1']);
      for (const fail of [throws, () => Promise.reject(failure)]) {
        seen.length = 0;
        const stage = stageOf(noted('a', seen, () => true), failsAt(1, fail), noted('c', seen));
        await assert.rejects(async () => stage(batchOf([0, 1, 2])), failure);
        assert.deepEqual(seen, ['a0', 'c0', 'a1']);
      }
    });

    it('takes 20,000 revisions, waiting for each or for none', async () => {
      const given = batchOf(Array.from({ length: 20_000 }, (_, rev) => rev));
      for (const wait of [true, false]) {
        const seen: string[] = [];
        await stageOf(noted('a', seen, () => wait))(given);
        assert.equal(seen.length, 20_000);
      }
    });
  });

  describe('lazy', () => {
    it('loads once, with the first batch; from then on it answers as the stage does', async () => {
      let loads = 0;
      const lazy = lazyStage(() => {
        loads++;
        return Promise.resolve(mark('a'));
      });
      assert.equal(loads, 0);
      const first = lazy(one(0));
      assert.ok(first instanceof Promise);
      assert.equal((await first).path, 'a');
      assert.deepEqual(lazy(one(1)), batchOf([1], 'a'));
      assert.equal(loads, 1);
    });

    it('gives out what the stage holds back', async () => {
      const lazy = lazyStage(() => Promise.resolve(delayed('a')));
      assert.equal((await lazy(one(5))).revisions.length, 0);
      const last = await lazy.flush?.();
      assert.ok(last !== undefined);
      assert.deepEqual(revsOf([last]), [5]);
    });

    it('has nothing to flush where no batch came', async () => {
      assert.equal(await lazyStage(() => assert.fail('loaded')).flush?.(), undefined);
    });

    it('fails with what loading failed with', async () => {
      const failure = new Error('not installed');
      await assert.rejects(async () => lazyStage(() => Promise.reject(failure))(one(0)), failure);
    });
  });

  describe('driven', () => {
    it('runs every batch through the stage into the sink, in order, then what is flushed', async () => {
      for (const stage of [delayed('a'), fuseStages([delayed('a'), markLater('b')])]) {
        const given: RevisionBatch[] = [];
        await drive(batchesOf(50), stage, (batch) => void given.push(batch));
        assert.deepEqual(revsOf(given), batchesOf(50).map((_, rev) => rev));
        assert.equal(given.length, 51);
      }
    });

    it('waits for nothing where nothing is asynchronous', async () => {
      const given: number[] = [];
      const done = drive(batchesOf(10), mark('a'), (batch) => void given.push(...revsOf([batch])));
      assert.deepEqual(given, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
      await done;
    });

    it('has one batch under way at a time, in the stage and in the sink', async () => {
      let under = 0;
      const later = async (batch: RevisionBatch): Promise<RevisionBatch> => {
        assert.equal(++under, 1);
        await Promise.resolve();
        under--;
        return batch;
      };
      let count = 0;
      await drive(batchesOf(40), later, async (batch) => {
        await later(batch);
        count++;
      });
      assert.equal(count, 40);
    });

    it('lets signals be heard in a long revlog', async () => {
      let heard = false;
      setImmediate(() => (heard = true));
      await drive(batchesOf(100), mark('a'), () => undefined);
      assert.ok(heard);
    });

    const failures: readonly (readonly [string, (fail: () => never) => [Stage, () => void]])[] = [
      ['the stage', (fail) => [fail, () => undefined]],
      ['the sink', (fail) => [mark('a'), fail]],
      ['an asynchronous stage', (fail) => [() => Promise.resolve().then(fail), () => undefined]],
    ];
    for (const [title, make] of failures) {
      it(`lets go of the source where ${title} fails`, async () => {
        const failure = new Error('fails');
        let released = false;
        function* source(): Generator<RevisionBatch> {
          try {
            yield* batchesOf(5);
          } finally {
            released = true;
          }
        }
        const [stage, sink] = make(() => {
          throw failure;
        });
        stage.flush = () => assert.fail('flushed');
        await assert.rejects(drive(source(), stage, sink), failure);
        assert.ok(released);
      });
    }
  });
});
