import assert from 'node:assert/strict';

import fc from 'fast-check';
import { describe, it } from 'mocha';

import type { TextCache } from '../../src/delta/text-cache.js';
import { createTextCache } from '../../src/delta/text-cache.js';

/** Puts a text of so many bytes, each of which is the revision. */
function put(cache: TextCache, rev: number, bytes: number): Buffer {
  const text = cache.allocate(bytes).fill(rev);
  cache.put(rev, text);
  return text;
}

/** The revisions that are here; makes them the most recently used, in this order. */
const present = (cache: TextCache, ...revs: readonly number[]): number[] => revs.filter((rev) => cache.get(rev) !== undefined);

describe('text cache', () => {
  it('gives back what was put, and nothing else', () => {
    const cache = createTextCache();
    const text = put(cache, 7, 1000);
    assert.equal(cache.get(7), text);
    assert.deepEqual(text, Buffer.alloc(1000, 7));
    assert.equal(cache.get(8), undefined);
  });

  it('gives memory of exactly the length asked for', () => {
    const cache = createTextCache();
    for (const bytes of [0, 1, 255, 256, 257, 320, 321, 1023, 1024, 1025, (1 << 20) + 1]) assert.equal(cache.allocate(bytes).length, bytes);
  });

  it('holds no more memory than it may, whatever the number of texts: 256 bytes for the smallest', () => {
    const cache = createTextCache({ maxBytes: 256_000 });
    for (let rev = 0; rev < 1000; rev++) put(cache, rev, 1);
    assert.equal(cache.bytes, 256_000);
    assert.equal(cache.get(0)?.length, 1);
    put(cache, 1000, 2560);
    assert.equal(cache.bytes, 256_000, 'so many go as make room');
    assert.deepEqual(present(cache, 0, 10, 11, 999, 1000), [0, 11, 999, 1000]);
  });

  it('lets the least recently used go first', () => {
    const cache = createTextCache({ maxBytes: 3 * 1024 });
    for (const rev of [1, 2, 3]) put(cache, rev, 1024);
    assert.equal(cache.get(1)?.[0], 1);
    put(cache, 4, 1024);
    assert.deepEqual(present(cache, 1, 2, 3, 4), [1, 3, 4]);
    put(cache, 5, 1025);
    assert.deepEqual(present(cache, 1, 2, 3, 4, 5), [4, 5]);
  });

  it('holds exactly as much as it may; one more, and one text goes', () => {
    const cache = createTextCache({ maxBytes: 3 * 256 });
    for (const rev of [1, 2, 3]) put(cache, rev, 256);
    assert.deepEqual([present(cache, 1, 2, 3), cache.bytes], [[1, 2, 3], 768]);
    put(cache, 4, 1);
    assert.deepEqual(present(cache, 1, 2, 3, 4), [2, 3, 4]);
  });

  it('holds two texts whatever their size', () => {
    const cache = createTextCache({ maxBytes: 10 });
    put(cache, 1, 1024);
    put(cache, 2, 2048);
    assert.deepEqual([present(cache, 1, 2), cache.bytes], [[1, 2], 3072]);
    put(cache, 3, 512);
    assert.deepEqual([present(cache, 1, 2, 3), cache.bytes], [[2, 3], 2560]);
    const none = createTextCache({ maxBytes: 0 });
    for (const rev of [1, 2, 3]) put(none, rev, 1);
    assert.deepEqual(present(none, 1, 2, 3), [2, 3]);
  });

  it('forgets what is released, and all that is cleared', () => {
    const cache = createTextCache();
    for (const rev of [1, 2, 3]) put(cache, rev, 256);
    cache.release(2);
    cache.release(2);
    cache.release(9);
    assert.deepEqual([present(cache, 1, 2, 3), cache.bytes], [[1, 3], 512]);
    cache.clear();
    assert.deepEqual([present(cache, 1, 2, 3), cache.bytes], [[], 0]);
  });

  it('replaces a text that is put again', () => {
    const cache = createTextCache();
    put(cache, 1, 512);
    put(cache, 2, 512);
    const again = cache.allocate(50).fill(9);
    cache.put(1, again);
    assert.deepEqual([cache.get(1), cache.bytes], [Buffer.alloc(50, 9), 768]);
  });

  describe('memory', () => {
    it('is used again once it is released, given back or pushed out, and not before', () => {
      const cache = createTextCache({ maxBytes: 2000 });
      const one = put(cache, 1, 1000);
      const two = put(cache, 2, 1000);
      const lent = cache.allocate(1000);
      assert.equal(new Set([one.buffer, two.buffer, lent.buffer]).size, 3);
      cache.release(1);
      assert.equal(cache.allocate(1000).buffer, one.buffer);
      cache.giveBack(lent);
      assert.equal(cache.allocate(1000).buffer, lent.buffer);
      put(cache, 3, 1000);
      put(cache, 4, 1000);
      assert.equal(cache.allocate(1000).buffer, two.buffer);
    });

    it('serves texts of about the same size, and none of another', () => {
      const cache = createTextCache();
      const memory = cache.allocate(1030);
      cache.giveBack(memory);
      assert.notEqual(cache.allocate(1024).buffer, memory.buffer);
      assert.notEqual(cache.allocate(2000).buffer, memory.buffer);
      assert.equal(cache.allocate(1280).buffer, memory.buffer);
    });

    it('is at most a quarter more than is asked for', () => {
      const cache = createTextCache();
      for (let bytes = 257; bytes < 1 << 24; bytes = Math.ceil(bytes * 1.01)) {
        const { byteLength } = cache.allocate(bytes).buffer;
        assert.ok(byteLength >= bytes && byteLength <= bytes * 1.25, `${byteLength} for ${bytes}`);
      }
    });

    it('that was given back last is taken first', () => {
      const cache = createTextCache();
      const [one, two] = [cache.allocate(500), cache.allocate(500)];
      cache.giveBack(one);
      cache.giveBack(two);
      assert.equal(cache.allocate(500).buffer, two.buffer);
      assert.equal(cache.allocate(500).buffer, one.buffer);
    });

    it('that is free is bounded, too: more of it is let go', () => {
      const cache = createTextCache({ maxBytes: 4096 });
      const lent = Array.from({ length: 10 }, () => cache.allocate(1024));
      for (const one of lent) cache.giveBack(one);
      const known = new Set(lent.map(({ buffer }) => buffer));
      const again = Array.from({ length: 10 }, () => cache.allocate(1024));
      assert.equal(again.filter(({ buffer }) => known.has(buffer)).length, 4);
    });

    it('is not kept where nothing may be held', () => {
      const cache = createTextCache({ maxBytes: 0 });
      const one = cache.allocate(1000);
      cache.giveBack(one);
      assert.notEqual(cache.allocate(1000).buffer, one.buffer);
    });
  });

  /** What the cache is: texts in order of use, the least recent first. */
  class Model {
    texts: { rev: number; text: Buffer; mark: number }[] = [];

    constructor(readonly maxBytes: number) {}

    get bytes(): number {
      return this.texts.reduce((sum, { text }) => sum + text.buffer.byteLength, 0);
    }

    use(rev: number): Buffer | undefined {
      const used = this.texts.find((one) => one.rev === rev);
      if (used !== undefined) this.texts = [...this.texts.filter((one) => one !== used), used];
      return used?.text;
    }

    put(rev: number, text: Buffer, mark: number): void {
      this.release(rev);
      this.texts.push({ rev, text, mark });
      while (this.bytes > this.maxBytes && this.texts.length > 2) this.texts.shift();
    }

    release(rev: number): void {
      this.texts = this.texts.filter((one) => one.rev !== rev);
    }
  }

  const rev = fc.nat(12);
  const steps = fc.array(
    fc.oneof(
      { weight: 6, arbitrary: fc.record({ do: fc.constant('put' as const), rev, bytes: fc.oneof(fc.nat(700), fc.nat(5000)) }) },
      { weight: 3, arbitrary: fc.record({ do: fc.constant('get' as const), rev }) },
      { weight: 2, arbitrary: fc.record({ do: fc.constant('release' as const), rev }) },
      { weight: 2, arbitrary: fc.record({ do: fc.constant('borrow' as const), bytes: fc.nat(2000) }) },
      { weight: 2, arbitrary: fc.record({ do: fc.constant('giveBack' as const), at: fc.nat() }) },
      { weight: 1, arbitrary: fc.record({ do: fc.constant('clear' as const) }) },
    ),
    { minLength: 1, maxLength: 120 },
  );

  it('does what a plain list does, and never overwrites what it holds or has lent', () => {
    fc.assert(
      fc.property(steps, fc.constantFrom(0, 500, 3000, 20_000), (actions, maxBytes) => {
        const cache = createTextCache({ maxBytes });
        const model = new Model(maxBytes);
        const lent: { text: Buffer; mark: number }[] = [];
        for (const [i, action] of actions.entries()) {
          const mark = i + 1;
          if (action.do === 'put') {
            const text = cache.allocate(action.bytes).fill(mark);
            cache.put(action.rev, text);
            model.put(action.rev, text, mark);
          } else if (action.do === 'get') assert.equal(cache.get(action.rev), model.use(action.rev));
          else if (action.do === 'release') {
            cache.release(action.rev);
            model.release(action.rev);
          } else if (action.do === 'borrow') lent.push({ text: cache.allocate(action.bytes).fill(mark), mark });
          else if (action.do === 'giveBack') {
            for (const { text } of lent.splice(action.at % (lent.length + 1), 1)) cache.giveBack(text);
          } else {
            cache.clear();
            model.texts = [];
          }
          assert.equal(cache.bytes, model.bytes);
          for (const { text, mark: own } of [...model.texts, ...lent]) assert.ok(text.every((byte) => byte === own), 'overwritten');
        }
        for (let one = 0; one <= 12; one++) assert.equal(cache.get(one), model.use(one), `revision ${one}`);
      }),
      { numRuns: 300 },
    );
  });
});
