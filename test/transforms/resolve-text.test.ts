import assert from 'node:assert/strict';

import { describe, it } from 'mocha';

import { createSpoiltRevisions } from '../../src/delta/spoilt.js';
import { createTextCache } from '../../src/delta/text-cache.js';
import type { TextResolver } from '../../src/delta/text-resolver.js';
import { createTextResolver } from '../../src/delta/text-resolver.js';
import { RevconvertError } from '../../src/errors.js';
import type { Revision, RevisionBatch } from '../../src/formats/record.js';
import { stageOf } from '../../src/streams/stage.js';
import type { ResolveStepOptions } from '../../src/transforms/resolve-text.js';
import { createResolveStep, createSettleStep } from '../../src/transforms/resolve-text.js';
import { diff } from '../support/revlog-builder.js';
import { batch, errorOf } from './support.js';

/** A resolver that does as it is told, and says what it was asked. */
function scripted(answer: (revision: Revision) => Uint8Array | Promise<Uint8Array>): { resolver: TextResolver; settled: number[]; resolved: number[] } {
  const settled: number[] = [];
  const resolved: number[] = [];
  const resolver: TextResolver = {
    resolve(revision) {
      resolved.push(revision.rev);
      return answer(revision);
    },
    textOf: () => assert.fail('not asked for'),
    settle: ({ rev }) => void settled.push(rev),
  };
  return { resolver, settled, resolved };
}

interface Reports {
  readonly errors: RevconvertError[];
  readonly unresolved: number[];
}

/** Options that tolerate damage, and what is reported. */
function tolerant(resolver: TextResolver): Reports & { options: ResolveStepOptions } {
  const errors: RevconvertError[] = [];
  const unresolved: number[] = [];
  const options = { resolver, spoilt: createSpoiltRevisions(), onDamage: (error: RevconvertError) => void errors.push(error), onUnresolved: ({ rev }: Revision) => void unresolved.push(rev) };
  return { errors, unresolved, options };
}

const textsOf = (given: RevisionBatch): (string | undefined)[] => given.revisions.map(({ text }) => (text === undefined ? undefined : Buffer.from(text).toString()));

const named = ({ rev }: Revision): Buffer => Buffer.from(`text ${rev}`);
const three = (): RevisionBatch => batch({ rev: 0 }, { rev: 1, deltaBase: 0, position: 100 }, { rev: 2, deltaBase: 1 });

describe('resolving texts', () => {
  it('fills the text of each revision, at once where it is there at once', () => {
    const given = three();
    const step = createResolveStep({ resolver: scripted(named).resolver, spoilt: createSpoiltRevisions() });
    assert.equal(stageOf(step)(given), given);
    assert.deepEqual(textsOf(given), ['text 0', 'text 1', 'text 2']);
  });

  it('waits where it comes later', async () => {
    const given = three();
    await stageOf(createResolveStep({ resolver: scripted((revision) => Promise.resolve(named(revision))).resolver, spoilt: createSpoiltRevisions() }))(given);
    assert.deepEqual(textsOf(given), ['text 0', 'text 1', 'text 2']);
  });

  it('with the texts of a true resolver: bases are kept until they are settled', async () => {
    const texts = ['one', 'one two', 'one two three', 'none'].map((text) => Buffer.from(text));
    const cache = createTextCache();
    const resolver = createTextResolver({ cache, lastUse: (rev) => (rev < 2 ? rev + 1 : -1), fetch: () => assert.fail('fetched') });
    const seen: string[] = [];
    const stage = stageOf(
      createResolveStep({ resolver, spoilt: createSpoiltRevisions() }),
      (_batch, { text }) => void seen.push(Buffer.from(text ?? []).toString()),
      createSettleStep(resolver),
    );
    const given = batch(
      ...texts.map((text, rev) => {
        const base = rev === 0 || rev === 3 ? undefined : texts[rev - 1];
        return { rev, rawSize: text.length, deltaBase: base === undefined ? -1 : rev - 1, baseSize: base?.length ?? 0, delta: base === undefined ? text : diff(base, text) };
      }),
    );
    await stage(given);
    assert.deepEqual(seen, ['one', 'one two', 'one two three', 'none']);
    assert.deepEqual(textsOf(given), [undefined, undefined, undefined, undefined]);
    assert.equal(cache.bytes, 0);
  });

  it('settles each revision, whether it has a text or not', () => {
    const { resolver, settled } = scripted(named);
    const given = batch({ rev: 0, text: Buffer.from('text') }, { rev: 1 });
    void stageOf(createSettleStep(resolver))(given);
    assert.deepEqual([settled, textsOf(given)], [[0, 1], [undefined, undefined]]);
  });

  describe('where one cannot be had', () => {
    const damage = new RevconvertError('CHUNK_SIZE', 'wrong length');
    const elsewhere = new RevconvertError('CHUNK_DAMAGED', 'broken', { path: 'data/f.i', rev: 0, offset: 7 });
    const asked: readonly (readonly [string, (error: Error) => Uint8Array | Promise<Uint8Array>])[] = [
      ['at once', (error) => { throw error; }],
      ['later', (error) => Promise.reject(error)],
    ];
    for (const [title, fail] of asked) {
      const failAt = (rev: number, error: Error): ReturnType<typeof scripted> => scripted((revision) => (revision.rev === rev ? fail(error) : named(revision)));

      it(`${title}: is an error with the place`, async () => {
        const error = await errorOf(stageOf(createResolveStep({ resolver: failAt(1, damage).resolver, spoilt: createSpoiltRevisions() })), three());
        assert.deepEqual([error.code, error.at], ['CHUNK_SIZE', { path: 'data/f.i', rev: 1, offset: 100 }]);
      });

      it(`${title}: keeps the place that the error has`, async () => {
        const error = await errorOf(stageOf(createResolveStep({ resolver: failAt(1, elsewhere).resolver, spoilt: createSpoiltRevisions() })), three());
        assert.deepEqual(error.at, { path: 'data/f.i', rev: 0, offset: 7 });
      });

      it(`${title}: is reported where damage is tolerated, and spoils what is built on it`, async () => {
        const { resolver, resolved } = failAt(1, damage);
        const { options, errors, unresolved } = tolerant(resolver);
        const given = batch(...three().revisions, { rev: 3, deltaBase: 0 }, { rev: 4, deltaBase: 2 });
        await stageOf(createResolveStep(options))(given);
        assert.deepEqual(errors.map(({ code, at }) => [code, at]), [['CHUNK_SIZE', { path: 'data/f.i', rev: 1, offset: 100 }]]);
        assert.deepEqual(unresolved, [2, 4]);
        assert.deepEqual(resolved, [0, 1, 3], 'what is spoilt is not asked for');
        assert.deepEqual(textsOf(given), ['text 0', undefined, undefined, 'text 3', undefined]);
        assert.deepEqual([0, 1, 2, 3, 4].filter((rev) => options.spoilt.has(rev)), [1, 2, 4]);
        assert.deepEqual(given.revisions.map(({ damaged }) => damaged), Array(5).fill(false));
      });

      it(`${title}: is not reported a second time where another revision is at fault`, async () => {
        const { options, errors, unresolved } = tolerant(failAt(1, elsewhere).resolver);
        await stageOf(createResolveStep(options))(three());
        assert.deepEqual([errors, unresolved], [[], [1, 2]]);
      });

      it(`${title}: is no damage where the fault is not the input's`, async () => {
        for (const error of [new RevconvertError('ENGINE_MISSING', 'no lz4'), new RevconvertError('INTERNAL', 'a bug'), new TypeError('a bug')]) {
          const { options, errors } = tolerant(failAt(1, error).resolver);
          const found = await errorOf(stageOf(createResolveStep(options)), three());
          assert.equal(found.code, error instanceof RevconvertError ? error.code : 'INTERNAL');
          assert.deepEqual([errors, found.at.rev], [[], 1]);
        }
      });
    }

    it('damaged ones are passed over, and not reported: the stage before did that', async () => {
      const { resolver, resolved } = scripted(named);
      const { options, errors, unresolved } = tolerant(resolver);
      const given = batch({ rev: 0, damaged: true }, { rev: 1, deltaBase: 0 }, { rev: 2, deltaBase: -1 }, { rev: 3, deltaBase: -2 });
      await stageOf(createResolveStep(options))(given);
      assert.deepEqual([errors, unresolved, resolved], [[], [1], [2, 3]]);
      assert.deepEqual(textsOf(given), [undefined, undefined, 'text 2', 'text 3']);
    });

    it('one that a later stage spoilt spoils those built on it', async () => {
      const { resolver } = scripted(named);
      const { options, unresolved } = tolerant(resolver);
      const stage = stageOf(createResolveStep(options), (_batch, { rev }) => {
        if (rev === 1) options.spoilt.add(rev);
      });
      const given = three();
      await stage(given);
      assert.deepEqual([unresolved, textsOf(given)], [[2], ['text 0', 'text 1', undefined]]);
    });
  });
});
