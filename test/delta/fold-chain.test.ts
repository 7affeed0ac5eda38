import assert from 'node:assert/strict';

import fc from 'fast-check';
import { describe, it } from 'mocha';

import { foldChain } from '../../src/delta/fold-chain.js';
import { applyHunks, diff, evolvingTexts, hunk } from '../support/revlog-builder.js';
import { applyChecked } from './one-delta.js';

const BASE = Buffer.from('0123456789');

/** Deltas one after the other, by the reference. */
const applyAll = (base: Uint8Array, deltas: readonly Uint8Array[]): Buffer => deltas.reduce<Buffer>((text, delta) => applyHunks(text, delta), Buffer.from(base));

/** The folded delta is sound, makes the same text, and is no longer than those it is made of. */
function assertFolds(base: Uint8Array, deltas: readonly Uint8Array[]): Buffer {
  const folded = foldChain(deltas);
  assert.equal(Buffer.from(applyChecked(base, folded)).toString('latin1'), applyAll(base, deltas).toString('latin1'));
  return folded;
}

/** What becomes of the second delta's hunk, where it meets one of the first in every way there is. */
const CASES: readonly (readonly [title: string, first: readonly Uint8Array[], second: readonly Uint8Array[], folded: readonly Uint8Array[]])[] = [
  ['nothing and nothing', [], [], []],
  ['something and nothing', [hunk(2, 4, 'ab')], [], [hunk(2, 4, 'ab')]],
  ['nothing and something', [], [hunk(2, 4, 'ab')], [hunk(2, 4, 'ab')]],
  ['before', [hunk(5, 6, 'abc')], [hunk(1, 2, 'x')], [hunk(1, 2, 'x'), hunk(5, 6, 'abc')]],
  ['behind', [hunk(2, 3, 'abc')], [hunk(7, 8, 'x')], [hunk(2, 3, 'abc'), hunk(5, 6, 'x')]],
  ['right before: one hunk', [hunk(5, 6, 'abc')], [hunk(4, 5, 'x')], [hunk(4, 6, 'xabc')]],
  ['right behind: one hunk', [hunk(5, 6, 'abc')], [hunk(8, 9, 'x')], [hunk(5, 7, 'abcx')]],
  ['the same place', [hunk(5, 6, 'abc')], [hunk(5, 8, 'x')], [hunk(5, 6, 'x')]],
  ['over it', [hunk(5, 6, 'abc')], [hunk(4, 9, 'x')], [hunk(4, 7, 'x')]],
  ['its begin', [hunk(5, 6, 'abc')], [hunk(4, 6, 'x')], [hunk(4, 6, 'xbc')]],
  ['its end', [hunk(5, 6, 'abc')], [hunk(7, 9, 'x')], [hunk(5, 7, 'abx')]],
  ['its middle', [hunk(5, 6, 'abc')], [hunk(6, 7, 'x')], [hunk(5, 6, 'axc')]],
  ['an insert in its middle', [hunk(5, 6, 'abc')], [hunk(6, 6, 'x')], [hunk(5, 6, 'axbc')]],
  ['an insert that goes again', [hunk(5, 5, 'abc')], [hunk(5, 8, '')], []],
  ['an insert where something went', [hunk(4, 6, '')], [hunk(4, 4, 'x')], [hunk(4, 6, 'x')]],
  ['over two', [hunk(1, 2, 'ab'), hunk(5, 6, '')], [hunk(2, 8, 'x')], [hunk(1, 8, 'ax')]],
];

describe('folding deltas', () => {
  for (const [title, first, second, folded] of CASES) {
    it(title, () => {
      const deltas = [Buffer.concat(first), Buffer.concat(second)];
      assertFolds(BASE, deltas);
      assert.deepEqual(foldChain(deltas), Buffer.concat(folded));
    });
  }

  it('no deltas are one that does nothing', () => assert.equal(foldChain([]).length, 0));

  it('a chain of any length', () => {
    const texts = evolvingTexts(70, 30);
    for (let length = 0; length < texts.length; length++) {
      const deltas = texts.slice(1, length + 1).map((text, i) => diff(texts[i] ?? BASE, text));
      assertFolds(texts[0] ?? BASE, deltas);
    }
  });

  it('a line that changes again and again is there once', () => {
    const deltas = Array.from({ length: 1000 }, (_, i) => hunk(3, 6, String(i % 1000).padStart(3, '0')));
    assert.deepEqual(assertFolds(BASE, deltas), hunk(3, 6, '999'));
  });

  /** A delta against a text of some length: places in order, inserts of a few bytes. */
  const deltaFor = (size: number, places: readonly number[], inserts: readonly string[]): Buffer => {
    const sorted = places.map((place) => place % (size + 1)).sort((a, b) => a - b);
    const hunks: Buffer[] = [];
    for (let i = 0; i + 1 < sorted.length; i += 2) hunks.push(hunk(sorted[i] ?? 0, sorted[i + 1] ?? 0, inserts[i >> 1] ?? ''));
    return Buffer.concat(hunks);
  };

  it('whatever the deltas', () => {
    const delta = fc.record({ places: fc.array(fc.nat(60), { maxLength: 12 }), inserts: fc.array(fc.string({ maxLength: 6, unit: 'grapheme-ascii' }), { maxLength: 6 }) });
    fc.assert(
      fc.property(fc.string({ maxLength: 50, unit: 'grapheme-ascii' }), fc.array(delta, { maxLength: 12 }), (text, list) => {
        const base = Buffer.from(text);
        let current: Buffer = base;
        const deltas = list.map(({ places, inserts }) => {
          const made = deltaFor(current.length, places, inserts);
          current = applyHunks(current, made);
          return made;
        });
        const folded = assertFolds(base, deltas);
        assert.ok(folded.length <= deltas.reduce((total, { length }) => total + length, 0));
      }),
      { numRuns: 2000 },
    );
  });
});
