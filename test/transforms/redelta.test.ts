import assert from 'node:assert/strict';

import fc from 'fast-check';
import { describe, it } from 'mocha';

import { createDiffer } from '../../src/delta/diff.js';
import type { DeltaPolicy } from '../../src/delta/policy.js';
import { PRESETS } from '../../src/delta/policy.js';
import type { SpoiltRevisions } from '../../src/delta/spoilt.js';
import { createSpoiltRevisions } from '../../src/delta/spoilt.js';
import type { Revision, RevlogKind } from '../../src/formats/record.js';
import { stageOf } from '../../src/streams/stage.js';
import type { RedeltaStepOptions } from '../../src/transforms/redelta.js';
import { createRedeltaStep } from '../../src/transforms/redelta.js';
import { FREE } from '../delta/support.js';
import { applyHunks, diff, evolvingTexts, hunk, makeRevision } from '../support/revlog-builder.js';
import { batch, errorOf } from './support.js';

interface Given {
  readonly text: Buffer | string;
  /** The source's base. @default full text */
  readonly base?: number;
  readonly p1?: number;
  readonly p2?: number;
  readonly flags?: number;
  /** @default what the reference makes */
  readonly delta?: Buffer;
  /** The text cannot be had. */
  readonly spoilt?: boolean;
  readonly damaged?: boolean;
}

interface Outcome {
  readonly revisions: readonly Revision[];
  /** Each call of diff: the revision whose text is the base, as far as it can be told. */
  readonly diffed: readonly number[];
  /** What was compressed. */
  readonly packed: readonly string[];
  readonly spoilt: SpoiltRevisions;
}

interface Setup extends Partial<Omit<RedeltaStepOptions, 'policy'>> {
  readonly policy?: Partial<DeltaPolicy>;
}

/** As they come out of the stages before. */
const revisionsOf = (history: readonly Given[]): Revision[] =>
  history.map(({ text, base = -1, p1, p2, flags, delta, spoilt = false, damaged = false }, rev) => {
    const own = Buffer.from(text);
    const truth = base < 0 ? (base === -1 ? own : hunk(0, 0, own)) : diff(Buffer.from(history[base]?.text ?? ''), own);
    const fields = damaged ? { chunk: Buffer.from(`broken ${rev}`), damaged } : { delta: delta ?? truth };
    return makeRevision({ rev, rawSize: own.length, deltaBase: base, p1: p1 ?? rev - 1, p2: p2 ?? -1, flags: flags ?? 0, ...fields, ...(spoilt || damaged ? {} : { text: own }) });
  });

const packed = (delta: Uint8Array): Buffer => Buffer.concat([Buffer.from('*'), delta]);

function setUp(history: readonly Given[], { policy, ...options }: Setup): { step: ReturnType<typeof createRedeltaStep>; revisions: Revision[]; diffed: number[]; sent: string[]; spoilt: SpoiltRevisions } {
  const diffed: number[] = [];
  const sent: string[] = [];
  const spoilt = createSpoiltRevisions();
  history.forEach((given, rev) => {
    if (given.spoilt === true || given.damaged === true) spoilt.add(rev);
  });
  const texts = history.map(({ text }) => Buffer.from(text));
  const step = createRedeltaStep({
    kind: 'filelog',
    policy: { ...FREE, ...policy },
    revisions: history.length,
    deltaInfo: false,
    sourceDeltas: 'kept',
    tighten: (base, delta, text) => createDiffer().tighten(base, delta, text),
    check: true,
    spoilt,
    flagsOf: (rev) => history[rev]?.flags ?? 0,
    textOf: (rev) => (spoilt.has(rev) ? assert.fail(`the text of ${rev} was asked for`) : (texts[rev] ?? assert.fail(`no revision ${rev}`))),
    diff: (base, text) => {
      diffed.push(texts.findIndex((one) => one.equals(base)));
      return diff(base, text);
    },
    compress: (delta) => {
      sent.push(Buffer.from(delta).toString());
      return packed(delta);
    },
    ...options,
  });
  return { step, revisions: revisionsOf(history), diffed, sent, spoilt };
}

async function redelta(history: readonly Given[], setup: Setup = {}): Promise<Outcome> {
  const { step, revisions, diffed, sent, spoilt } = setUp(history, setup);
  const given = batch(...revisions);
  await stageOf(step)(given);
  return { revisions: given.revisions, diffed, packed: sent, spoilt };
}

const basesOf = ({ revisions }: Outcome): number[] => revisions.map(({ deltaBase }) => deltaBase);

/** The texts that the new deltas make, by the reference. */
function madeBy(revisions: readonly Revision[]): Buffer[] {
  const texts: Buffer[] = [];
  for (const { deltaBase, delta } of revisions) texts.push(deltaBase < 0 ? Buffer.from(delta ?? []) : applyHunks(texts[deltaBase] ?? assert.fail(), delta ?? assert.fail()));
  return texts;
}

const long = (change: string): string => `${'the same in all of them; '.repeat(20)}${change}`;

describe('new deltas', () => {
  it('fill base, delta and chunk', async () => {
    const outcome = await redelta([{ text: long('a') }, { text: long('b') }, { text: long('c'), p1: 0 }]);
    assert.deepEqual(basesOf(outcome), [-1, 0, 0]);
    assert.deepEqual(outcome.revisions.map(({ delta }) => Buffer.from(delta ?? [])), [Buffer.from(long('a')), hunk(500, 501, 'b'), hunk(500, 501, 'c')]);
    assert.deepEqual(outcome.revisions.map(({ chunk }) => Buffer.from(chunk)), outcome.revisions.map(({ delta }) => packed(delta ?? assert.fail())));
    assert.deepEqual(outcome.diffed, [0, 0]);
  });

  it('come at once where nothing has to be waited for', () => {
    const { step, revisions } = setUp([{ text: 'a' }, { text: 'b' }], {});
    for (const revision of revisions) assert.equal(step(batch(), revision), undefined);
  });

  it('leave all that is not about deltas as it is', async () => {
    const history = [{ text: long('a'), flags: 0x1000 }, { text: long('b'), p1: -1, p2: 0, base: 0 }];
    const untouched = (revision: Revision): Partial<Revision> => ({ ...revision, deltaBase: 0, baseSize: 0, delta: undefined, chunk: Buffer.alloc(0) });
    assert.deepEqual((await redelta(history)).revisions.map(untouched), revisionsOf(history).map(untouched));
  });

  describe('are those of the source', () => {
    const chained: readonly Given[] = [{ text: long('a') }, { text: long('b'), base: 0 }];

    it('against the base that is wanted: none is made', async () => {
      // Not what would be made: two bytes are exchanged where one would do.
      const own = hunk(499, 501, ' b');
      const outcome = await redelta([chained[0] ?? assert.fail(), { text: long('b'), base: 0, delta: own }]);
      assert.deepEqual([outcome.diffed, outcome.revisions[1]?.delta], [[], own]);
    });

    it('only where they are to be used', async () => {
      const own = hunk(499, 501, ' b');
      const outcome = await redelta([chained[0] ?? assert.fail(), { text: long('b'), base: 0, delta: own }], { sourceDeltas: 'unused' });
      assert.deepEqual([outcome.diffed, outcome.revisions[1]?.delta], [[0], hunk(500, 501, 'b')]);
    });

    it('only where that base is wanted', async () => {
      const outcome = await redelta([...chained, { text: long('c'), base: 0, p1: 1 }]);
      assert.deepEqual([basesOf(outcome), outcome.diffed], [[-1, 0, 1], [1]]);
    });

    it('not where the source has a full text, or a delta against nothing', async () => {
      for (const base of [-1, -2]) {
        const outcome = await redelta([{ text: long('a') }, { text: long('b'), base }]);
        assert.deepEqual([basesOf(outcome), outcome.diffed], [[-1, 0], [0]]);
      }
    });

    // 20 lines of two bytes each; the second one changes.
    const manifest = { kind: 'manifest' } as const;
    const lines = 'abcdefghijklmnopqrst'.split('').map((letter) => `${letter}\n`);
    const changed = lines.map((line) => (line === 'b\n' ? 'B\n' : line));
    const withDelta = (delta: Buffer): readonly Given[] => [{ text: lines.join('') }, { text: changed.join(''), base: 0, delta }];

    it('of a manifest where they exchange whole lines', async () => {
      for (const own of [hunk(2, 4, 'B\n'), hunk(0, 4, 'a\nB\n')]) {
        const { revisions, diffed } = await redelta(withDelta(own), manifest);
        assert.deepEqual([revisions[1]?.delta, diffed], [own, []]);
      }
    });

    it('of a manifest not, where they exchange bytes', async () => {
      const made = hunk(0, 6, 'a\nB\nc\n');
      for (const own of [hunk(2, 3, 'B'), hunk(1, 3, '\nB'), hunk(2, 5, 'B\nc')]) {
        const { revisions } = await redelta(withDelta(own), { ...manifest, diff: () => made });
        assert.deepEqual(revisions[1]?.delta, made);
      }
    });

    it('of any other revlog where they exchange bytes, too', async () => {
      for (const kind of ['filelog', 'changelog'] satisfies RevlogKind[]) {
        const given = [{ text: `${long('a')}\n` }, { text: `${long('b')}\n`, base: 0 }];
        assert.deepEqual((await redelta(given, { kind })).diffed, []);
      }
    });

    describe('where they are longer than half the text', () => {
      const text = 'x'.repeat(48);
      const other = `${'x'.repeat(40)}yyyyyyyy`;
      const inserts = (bytes: number): Buffer => hunk(48 - bytes, 48, other.slice(48 - bytes));
      const one = (delta: Buffer, options: Setup = {}): Promise<Outcome> => redelta([{ text }, { text: other, base: 0, delta }], options);

      it('only if none is shorter that can be made', async () => {
        const { revisions, diffed } = await one(inserts(13));
        assert.deepEqual([revisions[1]?.delta, diffed], [inserts(8), [0]]);
      });

      it('where one that is made is no shorter', async () => {
        // Another one of the same length, and a longer one.
        for (const made of [hunk(34, 47, other.slice(34, 47)), inserts(14)]) {
          const { revisions } = await one(inserts(13), { diff: () => made });
          assert.deepEqual(revisions[1]?.delta, inserts(13));
        }
      });

      it('they are not looked at where they are half of it', async () => {
        const { revisions, diffed } = await one(inserts(12));
        assert.deepEqual([revisions[1]?.delta, diffed], [inserts(12), []]);
      });
    });
  });

  describe('of revisions whose text cannot be had', () => {
    // 2 is broken, 3 is built on it, 4 is a child of 3 with a text of its own.
    const history: readonly Given[] = [
      { text: long('a') },
      { text: long('b'), base: 0 },
      { text: long('c'), base: 0, damaged: true },
      { text: long('d'), base: 2, spoilt: true },
      { text: long('e'), base: 1, p1: 3, p2: 1 },
    ];

    it('are what they were: chunk and base of what is damaged, delta and base of what is built on it', async () => {
      const outcome = await redelta(history);
      const before = revisionsOf(history);
      assert.deepEqual(basesOf(outcome).slice(2, 4), [0, 2]);
      assert.deepEqual([outcome.revisions[2]?.chunk, outcome.revisions[2]?.damaged], [before[2]?.chunk, true]);
      assert.deepEqual(outcome.revisions[3]?.delta, before[3]?.delta);
      assert.deepEqual(outcome.revisions[3]?.chunk, packed(before[3]?.delta ?? assert.fail()));
      assert.ok(!outcome.packed.some((one) => one.startsWith('broken')), 'what is damaged is not compressed');
    });

    it('make no base', async () => {
      assert.deepEqual(basesOf(await redelta(history)), [-1, 0, 0, 2, 1]);
      const alone = history.map((given, rev) => (rev === 4 ? { ...given, p2: -1 } : given));
      assert.deepEqual(basesOf(await redelta(alone)), [-1, 0, 0, 2, -1]);
      assert.deepEqual(basesOf(await redelta(alone, { policy: { previous: true, sourceBase: true } })), [-1, 0, 0, 2, 1]);
    });

    it('stay full texts and deltas against nothing', async () => {
      const outcome = await redelta([{ text: 'a', spoilt: true }, { text: 'b', base: -2, spoilt: true }, { text: 'c', base: -1, damaged: true }, { text: 'd', base: -2, damaged: true }]);
      assert.deepEqual(basesOf(outcome), [-1, -2, -1, -2]);
    });

    it('are kept where the policy has no deltas, too', async () => {
      assert.deepEqual(basesOf(await redelta(history, { policy: { deltas: false } })), [-1, -1, 0, 2, -1]);
    });

    it('count in the chains of those built on what they are built on', async () => {
      // Bytes from the start of the chain: the chunk of 2 lies between.
      const span = [{ text: long('a') }, { text: 'x'.repeat(1500), base: -1, p1: -1, spoilt: true }, { text: long('b'), p1: 0 }];
      assert.deepEqual(basesOf(await redelta(span, { policy: { maxSpanRatio: 4 } })), [-1, -1, -1]);
      assert.deepEqual(basesOf(await redelta(span, { policy: { maxSpanRatio: 5 } })), [-1, -1, 0]);
    });

    describe('without generaldelta', () => {
      const policy = { generaldelta: false };
      const errorFor = (third: Given): ReturnType<typeof errorOf> => errorOf(stageOf(setUp([{ text: 'a' }, { text: 'b' }, third], { policy }).step), batch(...revisionsOf([{ text: 'a' }, { text: 'b' }, third])));

      it('are what they were where that can be said', async () => {
        const own = [{ text: 'a', base: -2, damaged: true }, { text: 'b', base: 0, spoilt: true }, { text: 'c', base: 1, damaged: true }, { text: 'd', damaged: true }];
        assert.deepEqual(basesOf(await redelta(own, { policy })), [-2, 0, 1, -1]);
      });

      const wrong: readonly (readonly [string, Given])[] = [
        ['one that is damaged, on another base', { text: 'c', base: 0, damaged: true }],
        ['one that is spoilt, on another base', { text: 'c', base: 0, spoilt: true }],
        ['one against nothing', { text: 'c', base: -2, damaged: true }],
      ];
      for (const [title, third] of wrong) {
        it(`are refused: ${title}`, async () => {
          const error = await errorFor(third);
          assert.deepEqual([error.code, error.at], ['DELTA_BASE', { path: 'data/f.i', rev: 2 }]);
        });
      }
    });
  });

  it('are not made against what is censored or elsewhere, nor for it', async () => {
    for (const flags of [0x8000, 0x2000]) {
      const outcome = await redelta([{ text: long('a') }, { text: long('b'), base: 0, flags }, { text: long('c'), base: 1 }, { text: long('d'), p1: 2 }]);
      assert.deepEqual(basesOf(outcome), [-1, -1, -1, 2]);
    }
    assert.deepEqual(basesOf(await redelta([{ text: long('a') }, { text: long('b'), flags: 0x4000 }, { text: long('c') }])), [-1, 0, 1]);
  });

  it('of a changelog are against a parent only: Mercurial cannot send a changeset whose base it must not show', async () => {
    const history: readonly Given[] = [{ text: long('a') }, { text: long('b'), p1: 0 }, { text: long('c'), p1: 0 }, { text: long('d'), p1: 2 }];
    for (const generaldelta of [false, true]) {
      const outcome = await redelta(history, { kind: 'changelog', policy: { generaldelta, previous: true, exhaustive: true } });
      assert.deepEqual(basesOf(outcome), generaldelta ? [-1, 0, 0, 2] : [-1, 0, -1, 2]);
    }
  });

  it('without generaldelta are against the revision before, equal texts or not', async () => {
    const outcome = await redelta([{ text: long('a') }, { text: long('b'), p1: -1 }, { text: long('b'), p1: 0 }, { text: long('c'), p1: 0 }, { text: long('c') }], { policy: { generaldelta: false }, compress: (delta) => delta });
    assert.deepEqual(basesOf(outcome), [-1, 0, 1, 2, 3]);
    assert.deepEqual(madeBy(outcome.revisions).map(String), ['a', 'b', 'b', 'c', 'c'].map(long));
  });

  describe('are told in the flags', () => {
    const A = 'a'.repeat(1000);
    const changed = (at: number, length: number): string => `${A.slice(0, at)}${'b'.repeat(length)}${A.slice(at + length)}`;
    // 1 on 0; 2 is a child of 1, whose chain is too long for it: a snapshot on 0; 3 on 2; 4 has no parents; 5 is censored
    const history: readonly Given[] = [
      { text: A },
      { text: changed(400, 600), flags: 0x0400 },
      { text: changed(0, 10), flags: 0x03c0 },
      { text: changed(0, 11), flags: 0x17c0 },
      { text: changed(5, 9), p1: -1, flags: 0x0800 },
      { text: 'tombstone', flags: 0x8000 },
    ];
    const policy = { sparse: true, maxChainRatio: 2, maxDeltaRatio: 1 };
    const flagsOf = (outcome: Outcome): number[] => outcome.revisions.map(({ flags }) => flags);

    it('where the revlog says that they are: of full texts and snapshots, and no quality', async () => {
      const outcome = await redelta(history, { policy, deltaInfo: true });
      assert.deepEqual(basesOf(outcome), [-1, 0, 0, 2, -1, -1]);
      assert.deepEqual(flagsOf(outcome), [0x0400, 0, 0x0400, 0x1000, 0x0c00, 0x8400]);
    });

    it('else they are left as they are', async () => {
      assert.deepEqual(flagsOf(await redelta(history, { policy })), history.map(({ flags = 0 }) => flags));
    });

    it('of what is kept, too', async () => {
      const kept: readonly Given[] = [
        { text: 'a', spoilt: true, flags: 0x0240 },
        { text: 'b', base: -2, damaged: true },
        { text: 'c', base: 1, damaged: true, flags: 0x0400 },
        { text: 'd', base: 0, spoilt: true },
      ];
      assert.deepEqual(flagsOf(await redelta(kept, { deltaInfo: true })), [0x0400, 0x0400, 0, 0x0400]);
    });
  });

  describe('are compared with the text', () => {
    const history = [{ text: long('a') }, { text: long('b') }];
    const lie = { diff: () => hunk(500, 501, 'x') };

    it('and refused with the place where they make another', async () => {
      const { step, revisions } = setUp(history, lie);
      const error = await errorOf(stageOf(step), batch(...revisions));
      assert.deepEqual([error.code, error.kind, error.at], ['CHECK_FAILED', 'bug', { path: 'data/f.i', rev: 1 }]);
    });

    it('later, where the base comes later', async () => {
      const { step, revisions } = setUp(history, { ...lie, textOf: () => Promise.resolve(Buffer.from(long('a'))) });
      assert.equal((await errorOf(stageOf(step), batch(...revisions))).code, 'CHECK_FAILED');
    });

    it('where one replaces the source\'s, too', async () => {
      const given = [{ text: 'x'.repeat(20) }, { text: 'y'.repeat(20), base: 0 }];
      const { step, revisions } = setUp(given, { diff: () => hunk(0, 20, 'z') });
      assert.equal((await errorOf(stageOf(step), batch(...revisions))).code, 'CHECK_FAILED');
    });

    it('only where that is asked for', async () => {
      assert.deepEqual(basesOf(await redelta(history, { ...lie, check: false })), [-1, 0]);
    });
  });

  it('make the same texts, by every policy, reused or not, at once or later', async () => {
    const texts = evolvingTexts(40);
    const presets = Object.values(PRESETS).map(({ filelog }) => filelog);
    const arbitrary = fc.record({
      shape: fc.array(fc.record({ base: fc.nat(), p1: fc.nat(), p2: fc.nat(), merge: fc.boolean(), full: fc.boolean() }), { minLength: 1, maxLength: 40 }),
      policy: fc.constantFrom(...presets, FREE, { ...FREE, generaldelta: false }, { ...FREE, sparse: true, maxChainLength: 3, groupSize: 1 }),
      sourceDeltas: fc.constantFrom('kept' as const, 'tightened' as const, 'unused' as const),
      later: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(arbitrary, async ({ shape, policy, sourceDeltas, later }) => {
        const history = shape.map(({ base, p1, p2, merge, full }, rev): Given => ({
          text: texts[rev] ?? '',
          base: full || rev === 0 ? -1 : base % rev,
          p1: (p1 % (rev + 1)) - 1,
          p2: merge ? (p2 % (rev + 1)) - 1 : -1,
        }));
        const answer = <T>(value: T): T | Promise<T> => (later ? Promise.resolve(value) : value);
        const { revisions } = await redelta(history, {
          policy,
          sourceDeltas,
          textOf: (rev) => answer(Buffer.from(history[rev]?.text ?? assert.fail())),
          compress: (delta) => answer(delta.length % 3 === 0 ? delta : packed(delta)),
        });
        assert.deepEqual(madeBy(revisions), history.map(({ text }) => text));
        if (!policy.generaldelta) assert.ok(revisions.every(({ rev, deltaBase }) => deltaBase < 0 || deltaBase === rev - 1));
      }),
      { numRuns: 60 },
    );
  });
});
