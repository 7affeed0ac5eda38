import assert from 'node:assert/strict';
import type { Duplex } from 'node:stream';
import { PassThrough, Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

import { describe, it } from 'mocha';

import { RevconvertError } from '../../src/errors.js';
import type { RevisionBatch } from '../../src/formats/record.js';
import type { RevlogFiles } from '../../src/streams/read-revlog.js';
import { readRevlog } from '../../src/streams/read-revlog.js';
import type { Stage } from '../../src/streams/stage.js';
import { joinStages, toTransform } from '../../src/streams/stage.js';
import { assertNoDescriptors, descriptorsIn } from '../support/descriptors.js';
import { buildRevlog, placeRevlog, SPLIT } from '../support/revlog-builder.js';
import { useTempFolder } from '../support/temp-folder.js';
import { batchesOf, batchOf, closed, collect, fulls, revsOf, settle } from './support.js';

const pass: Stage = (batch) => batch;
const passLater: Stage = (batch) => new Promise((resolve) => setImmediate(resolve, batch));

/** Its batches are never ready. */
const stuck: Stage = () => new Promise<never>(() => undefined);

/** Holds all revisions back to the end. */
function hoarding(): Stage {
  const held: RevisionBatch[] = [];
  const stage: Stage = (batch) => {
    held.push(batch);
    return { ...batch, revisions: [] };
  };
  stage.flush = () => ({ ...batchOf([]), revisions: held.flatMap(({ revisions }) => revisions) });
  return stage;
}

const failingAt = (rev: number, later: boolean): Stage => (batch) => {
  if (revsOf([batch])[0] !== rev) return batch;
  const error = new RevconvertError('CHUNK_SIZE', 'too long', { path: batch.path, rev });
  if (later) return Promise.reject(error);
  throw error;
};

/** Every way to make a Duplex of stages. */
const makers: readonly (readonly [string, (stage: Stage) => Duplex])[] = [
  ['a transform', (stage) => toTransform(stage)],
  ['a transform of fused stages', (stage) => toTransform(pass, stage, pass)],
  ['a transform of fused stages, one asynchronous', (stage) => toTransform(stage, passLater)],
  ['joined transforms', (stage) => joinStages([toTransform(pass), toTransform(stage), toTransform(passLater)])],
];

/** A source that counts how much was taken from it. */
function counted(count: number): { source: Readable; taken: () => number } {
  let taken = 0;
  function* batches(): Generator<RevisionBatch> {
    for (const batch of batchesOf(count)) {
      taken++;
      yield batch;
    }
  }
  return { source: Readable.from(batches(), { objectMode: true, highWaterMark: 2 }), taken: () => taken };
}

/** A sink that accepts nothing: its first write never ends. */
const blocked = (): Writable => new Writable({ objectMode: true, highWaterMark: 1, write: () => undefined });

const allRevs = (count: number): number[] => Array.from({ length: count }, (_, rev) => rev);

describe('stages as streams', () => {
  const inFolder = useTempFolder();

  /** A split revlog of 200 revisions, in batches of one. */
  const revlog = (): RevlogFiles => ({
    ...placeRevlog(inFolder(), buildRevlog(SPLIT, fulls(Array<number>(200).fill(20)))),
    path: 'data/f.i',
    limits: { maxRevisions: 1 },
  });

  for (const [name, make] of makers) {
    describe(name, () => {
      for (const [title, stage] of [['at once', pass], ['later', passLater]] as const) {
        it(`passes everything on in order, where the stage answers ${title}`, async () => {
          const transform = make(stage);
          const [batches] = await Promise.all([collect(transform), pipeline(Readable.from(batchesOf(300)), transform)]);
          assert.deepEqual(revsOf(batches), allRevs(300));
        });

        it(`takes no more than a handful of batches ahead, where the stage answers ${title}`, async () => {
          const { source, taken } = counted(1000);
          const transform = make(stage);
          const done = pipeline(source, transform);
          await settle();
          const most = taken();
          assert.ok(most >= 2 && most <= 24, `${most} of 1000 batches in flight`);
          assert.deepEqual(revsOf(await collect(transform)), allRevs(1000));
          await done;
        });
      }

      it('passes on what is flushed, where anything came or nothing', async () => {
        for (const count of [0, 1, 40]) {
          const transform = make(hoarding());
          const [batches] = await Promise.all([collect(transform), pipeline(Readable.from(batchesOf(count)), transform)]);
          assert.deepEqual(revsOf(batches), allRevs(count));
          assert.equal(batches.at(-1)?.revisions.length, count);
        }
      });

      for (const [title, later] of [['at once', false], ['later', true]] as const) {
        it(`fails with the error of the stage, thrown ${title}; everything is closed`, async () => {
          const streams = [readRevlog(revlog()), make(failingAt(5, later)), new PassThrough({ objectMode: true })] as const;
          const [source, transform, sink] = streams;
          const running = pipeline(source, transform, sink);
          sink.resume();
          await assert.rejects(running, { code: 'CHUNK_SIZE', at: { path: 'data/f.i', rev: 5 } });
          await closed(...streams);
          assert.ok(streams.every(({ destroyed }) => destroyed));
          assertNoDescriptors(inFolder());
        });
      }

      it('fails with the error of a flush', async () => {
        const stage: Stage = (batch) => batch;
        stage.flush = () => {
          throw new RevconvertError('INTERNAL', 'in the flush', { rev: 9 });
        };
        const transform = make(stage);
        const sink = new PassThrough({ objectMode: true });
        const running = pipeline(Readable.from(batchesOf(3)), transform, sink);
        sink.resume();
        await assert.rejects(running, { code: 'INTERNAL', at: { rev: 9 } });
        await closed(transform, sink);
      });

      it('is closed by an error before it', async () => {
        const failure = new RevconvertError('DATA_TRUNCATED', 'ends here', { rev: 2 });
        async function* failing(): AsyncGenerator<RevisionBatch> {
          yield* batchesOf(2);
          await Promise.resolve();
          throw failure;
        }
        const transform = make(pass);
        const sink = new PassThrough({ objectMode: true });
        sink.resume();
        await assert.rejects(pipeline(Readable.from(failing()), transform, sink), { code: 'DATA_TRUNCATED', at: { rev: 2 } });
        await closed(transform, sink);
        assert.ok(transform.destroyed);
      });

      it('is closed by an error behind it, with the source', async () => {
        const failure = new RevconvertError('NO_SPACE', 'full', { path: 'out.i' });
        const sink = new Writable({ objectMode: true, write: (_batch, _encoding, done) => done(failure) });
        const streams = [readRevlog(revlog()), make(pass), sink] as const;
        await assert.rejects(pipeline(...streams), { code: 'NO_SPACE', at: { path: 'out.i' } });
        await closed(...streams);
        assertNoDescriptors(inFolder());
      });

      for (const [title, stage, sinkOf] of [
        ['the stage never answers', stuck, (): Writable => new PassThrough({ objectMode: true })],
        ['the sink takes nothing', pass, blocked],
      ] as const) {
        it(`lets go of everything when it is destroyed while ${title}`, async () => {
          const streams = [readRevlog(revlog()), make(stage), sinkOf()] as const;
          const running = pipeline(...streams);
          const checked = assert.rejects(running, /enough/);
          await settle();
          if (process.platform === 'linux') assert.equal(descriptorsIn(inFolder()).length, 2);
          streams[1].destroy(new Error('enough'));
          await checked;
          await closed(...streams);
          assertNoDescriptors(inFolder());
        });

        it(`lets go of everything at an abort while ${title}`, async () => {
          const streams = [readRevlog(revlog()), make(stage), sinkOf()] as const;
          const abort = new AbortController();
          const checked = assert.rejects(pipeline(...streams, { signal: abort.signal }), { name: 'AbortError' });
          await settle();
          abort.abort();
          await checked;
          await closed(...streams);
          assertNoDescriptors(inFolder());
        });
      }

      it('lets go of everything when the consumer breaks out', async () => {
        const source = readRevlog(revlog());
        const transform = make(pass);
        const seen: number[] = [];
        const running = pipeline(source, transform, async (batches: AsyncIterable<RevisionBatch>) => {
          for await (const batch of batches) {
            seen.push(...revsOf([batch]));
            if (seen.length === 3) break;
          }
        });
        await assert.rejects(running, { name: 'AbortError' });
        await closed(source, transform);
        assert.deepEqual(seen, [0, 1, 2]);
        assert.ok(transform.destroyed && source.destroyed);
        assertNoDescriptors(inFolder());
      });
    });
  }

  describe('joined', () => {
    const three = (middle: Stage): Duplex[] => [toTransform(pass), toTransform(middle), toTransform(pass)];

    it('destroys all its stages with it', async () => {
      const stages = three(pass);
      const joined = joinStages(stages);
      joined.destroy();
      await closed(joined, ...stages);
      assert.ok(stages.every(({ destroyed }) => destroyed));
    });

    for (const index of [0, 1, 2]) {
      it(`is destroyed, with the others, by an error of stage ${index}`, async () => {
        const stages = three(pass);
        const joined = joinStages(stages);
        const failure = new Error('fails');
        const checked = assert.rejects(collect(joined), failure);
        stages[index]?.destroy(failure);
        await checked;
        await closed(joined, ...stages);
        assert.ok(stages.every(({ destroyed }) => destroyed));
      });

      it(`fails where stage ${index} is closed early, without an error`, async () => {
        const stages = three(pass);
        const joined = joinStages(stages);
        const checked = assert.rejects(collect(joined), { code: 'ERR_STREAM_PREMATURE_CLOSE' });
        stages[index]?.destroy();
        await checked;
        await closed(joined, ...stages);
      });
    }

    it('closes its stages where the consumer stops early', async () => {
      const stages = three(passLater);
      const joined = joinStages(stages);
      const source = readRevlog(revlog());
      const running = pipeline(source, joined);
      const checked = assert.rejects(running, { name: 'AbortError' });
      for await (const batch of joined as AsyncIterable<RevisionBatch>) {
        assert.deepEqual(revsOf([batch]), [0]);
        break;
      }
      await checked;
      await closed(source, joined, ...stages);
      assertNoDescriptors(inFolder());
    });

    it('closes its stages when it has ended', async () => {
      const stages = three(pass);
      const joined = joinStages(stages);
      const [batches] = await Promise.all([collect(joined), pipeline(Readable.from(batchesOf(20)), joined)]);
      assert.equal(batches.length, 20);
      await closed(joined, ...stages);
    });
  });
});
