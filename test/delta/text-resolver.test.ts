import assert from 'node:assert/strict';

import { describe, it } from 'mocha';

import { createTextCache } from '../../src/delta/text-cache.js';
import type { TextResolver } from '../../src/delta/text-resolver.js';
import { createTextResolver, lastDeltaUses, lastTextUses } from '../../src/delta/text-resolver.js';
import type { Revision } from '../../src/formats/record.js';
import { RevlogIndex } from '../../src/formats/revlog-index.js';
import { memorySource } from '../../src/streams/byte-source.js';
import { readIndex } from '../../src/streams/read-index.js';
import type { RevisionSpec, RevlogLayout } from '../support/revlog-builder.js';
import { buildRevlog, diff, evolvingTexts, hunk, makeRevision, SPLIT, V0 } from '../support/revlog-builder.js';

/** A revision, and the text that it must have. */
interface Known {
  readonly revision: Revision;
  readonly text: Buffer;
}

/** Revisions with the texts and bases given, their deltas by the reference. */
function history(texts: readonly Buffer[], baseOf: (rev: number) => number): Known[] {
  return texts.map((text, rev) => {
    const deltaBase = baseOf(rev);
    const base = texts[deltaBase] ?? Buffer.alloc(0);
    const delta = deltaBase === -1 ? Buffer.from(text) : diff(base, text);
    return { text, revision: makeRevision({ rev, deltaBase, delta, rawSize: text.length, baseSize: deltaBase < 0 ? 0 : base.length }) };
  });
}

interface Run {
  readonly resolver: TextResolver;
  readonly fetched: number[];
  readonly cache: ReturnType<typeof createTextCache>;
}

/** A resolver whose `fetch` knows all texts. What later revisions are built on is computed here once more. */
function start(known: readonly Known[], options: { maxBytes?: number; later?: boolean; needed?: (rev: number) => number } = {}): Run {
  const fetched: number[] = [];
  const cache = createTextCache({ maxBytes: options.maxBytes });
  const uses = new Map(known.map(({ revision }) => [revision.deltaBase, revision.rev]));
  const fetch = (rev: number): Buffer => {
    fetched.push(rev);
    const text = known[rev]?.text ?? assert.fail(`no revision ${rev}`);
    const own = cache.allocate(text.length);
    text.copy(own);
    return own;
  };
  const resolver = createTextResolver({
    cache,
    lastUse: options.needed ?? ((rev) => uses.get(rev) ?? -1),
    fetch: (rev) => (options.later === true ? Promise.resolve(rev).then(fetch) : fetch(rev)),
  });
  return { resolver, fetched, cache };
}

/** Resolves all, comparing every text, as long as it is promised to be there. */
async function resolveAll(known: readonly Known[], { resolver }: Run, during?: (rev: number) => unknown): Promise<void> {
  for (const { revision, text } of known) {
    revision.text = await resolver.resolve(revision);
    assert.ok(text.equals(revision.text), `revision ${revision.rev}`);
    await during?.(revision.rev);
    assert.ok(text.equals(revision.text), `revision ${revision.rev} before it is settled`);
    resolver.settle(revision);
    revision.text = undefined;
  }
}

const TEXTS = evolvingTexts(60);

/** Memory that a text takes in a cache. */
const memoryOf = (text: Uint8Array): number => createTextCache().allocate(text.length).buffer.byteLength;

describe('text resolver', () => {
  it('rebuilds a line of deltas without fetching anything, however little it may hold', async () => {
    for (const maxBytes of [0, 100, 1 << 20]) {
      const known = history(TEXTS, (rev) => rev - 1);
      const run = start(known, { maxBytes });
      await resolveAll(known, run);
      assert.deepEqual(run.fetched, []);
      assert.equal(run.cache.bytes, 0, 'nothing is kept that nothing needs');
    }
  });

  it('answers at once where nothing has to be fetched', () => {
    const known = history(TEXTS, (rev) => rev - 1);
    const { resolver } = start(known);
    for (const { revision } of known) {
      const text = resolver.resolve(revision);
      assert.ok(text instanceof Uint8Array);
      revision.text = text;
      resolver.settle(revision);
    }
  });

  it('rebuilds 50,000 deltas in a line', async () => {
    const current = Buffer.alloc(64, 0x20);
    const texts = Array.from({ length: 50_001 }, (_, rev) => {
      current[rev % 64] = 0x30 + (rev % 71);
      return Buffer.from(current);
    });
    const known = history(texts, (rev) => rev - 1);
    const run = start(known, { maxBytes: 100 });
    await resolveAll(known, run);
    assert.deepEqual(run.fetched, []);
  }).timeout(20_000);

  it('rebuilds full texts, deltas against nothing, empty texts and empty deltas', async () => {
    const bases = [-1, -2, 1, 1, -1, 4, -2, 6];
    const texts = ['full', 'against nothing', 'against nothing', 'other', '', '', '', 'more'].map((text) => Buffer.from(text));
    const known = history(texts, (rev) => bases[rev] ?? -1);
    const run = start(known);
    await resolveAll(known, run);
    assert.deepEqual(run.fetched, []);
  });

  it('gives a full text as it is: nothing is copied', () => {
    const [one] = history([Buffer.from('full text')], () => -1);
    assert.ok(one !== undefined);
    assert.equal(start([one]).resolver.resolve(one.revision), one.revision.delta);
  });

  it('keeps a copy of a full text: the memory of its batch is used again', async () => {
    const known = history([Buffer.from('full text'), Buffer.from('full text, and more')], (rev) => rev - 1);
    const run = start(known);
    const [first, second] = known;
    assert.ok(first !== undefined && second !== undefined);
    await resolveAll([first], run);
    first.revision.delta?.fill(0);
    await resolveAll([second], run);
    assert.deepEqual(run.fetched, []);
  });

  describe('with branches that take turns', () => {
    const branches = 5;
    const baseOf = (rev: number): number => (rev < branches ? -1 : rev - branches);

    it('fetches nothing where the cache holds a text of each', async () => {
      const known = history(TEXTS, baseOf);
      const run = start(known, { maxBytes: branches * Math.max(...TEXTS.map(memoryOf)) });
      await resolveAll(known, run);
      assert.deepEqual(run.fetched, []);
    });

    for (const later of [false, true]) {
      it(`fetches each base once, ${later ? 'later' : 'at once'}, where the cache holds no more than two`, async () => {
        const known = history(TEXTS, baseOf);
        const run = start(known, { maxBytes: 0, later });
        await resolveAll(known, run);
        // The last that is kept stays until the end: nothing more is put in.
        assert.deepEqual(run.fetched, Array.from({ length: TEXTS.length - branches - 1 }, (_, i) => i));
      });
    }
  });

  it('rebuilds texts that are larger than all that it may hold', async () => {
    const texts = Array.from({ length: 12 }, (_, rev) => Buffer.alloc(300_000 + rev, `text ${rev} `));
    for (const [distance, fetched] of [[1, []], [2, []], [4, [0, 1, 2, 3, 4, 5, 6]]] as const) {
      const known = history(texts, (rev) => (rev < distance ? -1 : rev - distance));
      const run = start(known, { maxBytes: 1000 });
      await resolveAll(known, run);
      assert.deepEqual(run.fetched, fetched);
    }
  });

  it('fetches a base again that was pushed out in between', async () => {
    // All on the first: what is fetched is used until it is pushed out.
    const known = history(TEXTS, (rev) => (rev === 0 ? -1 : 0));
    const run = start(known, { maxBytes: 0, needed: () => 1000 });
    await resolveAll(known, run, async (rev) => {
      if (rev % 10 === 0) for (const other of [1, 2, 3]) if (other < rev) await run.resolver.textOf(other);
    });
    assert.deepEqual(run.fetched.filter((rev) => rev === 0).length, 5);
  });

  it('leaves the current text alone while others are asked for, however small the cache is', async () => {
    for (const later of [false, true]) {
      const known = history(TEXTS, (rev) => (rev % 7 === 0 ? -1 : rev - 1));
      const run = start(known, { maxBytes: 0, later });
      await resolveAll(known, run, async (rev) => {
        for (let i = 0; i < 20; i++) {
          const other = (i * 7) % (rev + 1);
          if (other === rev) continue;
          const text = await run.resolver.textOf(other);
          assert.ok(known[other]?.text.equals(text), `revision ${other} while at ${rev}`);
        }
      });
    }
  });

  it('gives the text of an earlier revision from the cache while it is there', async () => {
    const known = history(TEXTS.slice(0, 5), (rev) => (rev === 0 ? -1 : 0));
    const run = start(known, { needed: () => 1000 });
    await resolveAll(known, run);
    for (const { revision, text } of known) assert.ok(text.equals(await run.resolver.textOf(revision.rev)));
    assert.deepEqual(run.fetched, []);
  });

  it('forgets parents that nothing later needs', async () => {
    const known = history(TEXTS.slice(0, 4), () => -1);
    const merge = { ...makeRevision({ rev: 3, p1: 0, p2: 1 }), delta: known[3]?.revision.delta, rawSize: known[3]?.text.length ?? 0 };
    const uses = [3, 3, 5, -1];
    const run = start(known, { needed: (rev) => uses[rev] ?? -1 });
    await resolveAll(known.slice(0, 3), run);
    const bytes = known.map(({ text }) => memoryOf(text));
    assert.equal(run.cache.bytes, (bytes[0] ?? 0) + (bytes[1] ?? 0) + (bytes[2] ?? 0));
    await run.resolver.resolve(merge);
    run.resolver.settle(merge);
    assert.equal(run.cache.bytes, bytes[2]);
  });

  for (const parents of [{ p1: 0, p2: -1 }, { p1: -1, p2: 0 }]) {
    it(`does not let a parent that was used last push out what is still needed (p1 ${parents.p1}, p2 ${parents.p2})`, async () => {
      const known = history(TEXTS.slice(0, 4), (rev) => (rev === 3 ? 1 : -1));
      const last = known[2] ?? assert.fail();
      const both = known.map((one) => (one === last ? { ...one, revision: { ...one.revision, ...parents } } : one));
      const uses = [2, 3, 3, -1];
      const run = start(both, { maxBytes: 0, needed: (rev) => uses[rev] ?? -1 });
      await resolveAll(both, run, (rev) => (rev === 2 ? run.resolver.textOf(0) : undefined));
      assert.deepEqual(run.fetched, []);
    });
  }

  it('keeps no text of a revision whose text was taken away, and uses its memory again', async () => {
    const known = history(TEXTS.slice(0, 3), (rev) => rev - 1);
    const run = start(known, { needed: () => 1000 });
    const [first, second, third] = known;
    assert.ok(first !== undefined && second !== undefined && third !== undefined);
    await resolveAll([first], run);
    const bytes = run.cache.bytes;
    const text = await run.resolver.resolve(second.revision);
    run.resolver.settle(second.revision);
    assert.equal(run.cache.bytes, bytes);
    assert.equal(run.cache.allocate(text.length).buffer, text.buffer);
    await resolveAll([third], run);
    assert.deepEqual(run.fetched, [1]);
  });

  it('takes a base of a length that the index does not say', async () => {
    const known = history(TEXTS, (rev) => rev - 1).map(({ revision, text }) => ({ text, revision: { ...revision, baseSize: revision.deltaBase < 0 ? 0 : -1 } }));
    await resolveAll(known, start(known));
  });

  describe('refuses', () => {
    const base = Buffer.from('0123456789');
    const onBase = (fields: Partial<Revision>): Known[] => [
      ...history([base], () => -1),
      { text: base, revision: makeRevision({ rev: 1, deltaBase: 0, baseSize: 10, delta: hunk(0, 1, 'ab'), rawSize: 11, ...fields }) },
    ];
    const rows: readonly (readonly [string, Partial<Revision>, string])[] = [
      ['a delta that makes a longer text', { rawSize: 10 }, 'CHUNK_SIZE'],
      ['a delta that makes a shorter text', { rawSize: 12 }, 'CHUNK_SIZE'],
      ['a base of another length than the index says', { baseSize: 11 }, 'CHUNK_SIZE'],
      ['a delta against nothing that makes another length', { deltaBase: -2, baseSize: 0, delta: hunk(0, 0, 'ab'), rawSize: 3 }, 'CHUNK_SIZE'],
      ['what was not decompressed', { delta: undefined }, 'INTERNAL'],
      ['what was not measured', { rawSize: -1 }, 'INTERNAL'],
    ];
    for (const [title, fields, code] of rows) {
      it(title, async () => {
        const known = onBase(fields);
        const run = start(known);
        await resolveAll(known.slice(0, 1), run);
        const revision = known[1]?.revision ?? assert.fail();
        assert.throws(() => run.resolver.resolve(revision), { code, at: { rev: 1 } });
      });
    }

    it('what `fetch` refuses, at once and later', async () => {
      const failure = new Error('not to be had');
      const cache = createTextCache();
      const revision = makeRevision({ rev: 1, deltaBase: 0, baseSize: 10, delta: hunk(0, 1, 'ab'), rawSize: 11 });
      const thrown = createTextResolver({ cache, lastUse: () => -1, fetch: () => { throw failure; } });
      assert.throws(() => thrown.resolve(revision), failure);
      const rejected = createTextResolver({ cache, lastUse: () => -1, fetch: () => Promise.reject(failure) });
      await assert.rejects(async () => rejected.resolve(revision), failure);
    });
  });

  describe('last uses', () => {
    const indexOf = (layout: RevlogLayout, specs: readonly RevisionSpec[]): RevlogIndex => readIndex(memorySource(buildRevlog(layout, specs).index, 'f.i'));
    const text = (rev: number): { text: Buffer } => ({ text: Buffer.from(`text ${rev}`) });
    // bases: full, 0, 0, nothing, 3, 1;  parents: -, 0, 1, 2 and 0, 3, - and 4
    const specs: readonly RevisionSpec[] = [
      { ...text(0), base: 'full' },
      { ...text(1), base: 0 },
      { ...text(2), base: 0 },
      { ...text(3), base: 'null', p2: 0 },
      { ...text(4), base: 3 },
      { ...text(5), base: 1, p1: -1, p2: 4 },
    ];

    it('are those of the last delta on a revision', () => {
      assert.deepEqual([...lastDeltaUses(indexOf(SPLIT, specs))], [2, 5, -1, 4, -1, -1]);
    });

    it('are those of the last child too, where texts of parents are needed', () => {
      assert.deepEqual([...lastTextUses(indexOf(SPLIT, specs))], [3, 5, 3, 4, 5, -1]);
    });

    it('are the next revision of the chain without generaldelta', () => {
      const chain = [{ ...text(0) }, { ...text(1) }, { ...text(2), base: 'full' as const, p1: 0 }, { ...text(3), p1: 0 }];
      for (const layout of [V0, { version: 1, inline: true, generaldelta: false } as const]) {
        assert.deepEqual([...lastDeltaUses(indexOf(layout, chain))], [1, -1, 3, -1]);
        assert.deepEqual([...lastTextUses(indexOf(layout, chain))], [3, -1, 3, -1]);
      }
    });

    it('are none in a revlog without revisions', () => {
      const empty = new RevlogIndex({ version: 1, inline: false, generaldelta: true, filelogMeta: false, deltaInfo: false }, Buffer.alloc(0));
      assert.deepEqual([[...lastDeltaUses(empty)], [...lastTextUses(empty)]], [[], []]);
    });
  });
});
