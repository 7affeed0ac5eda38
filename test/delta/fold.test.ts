import assert from 'node:assert/strict';

import fc from 'fast-check';
import { describe, it } from 'mocha';

import { isLineAligned } from '../../src/delta/align.js';
import { foldChain } from '../../src/delta/fold-chain.js';
import { HUNK_HEADER, patchedSize } from '../../src/formats/hunks.js';
import { applyHunks, hunk } from '../support/revlog-builder.js';
import { diffTexts } from './one-delta.js';
import { listHunks, looseDelta, looseLines } from './reference.js';

const BASE = Buffer.from('0123456789'.repeat(4));
const NONE = Buffer.alloc(0);

/** Folds, and checks that the hunks are in order and none touches the next. */
function checkedFold(first: Uint8Array, second: Uint8Array, base: Uint8Array): Buffer {
  const folded = foldChain([first, second]);
  assert.equal(typeof patchedSize(folded, base.length), 'number');
  assert.ok(folded.length <= first.length + second.length);
  if (first.length > 0 && second.length > 0) {
    const hunks = listHunks(folded);
    hunks.slice(1).forEach(({ start }, i) => assert.ok(start > (hunks[i]?.end ?? 0), 'hunks touch'));
  }
  return folded;
}

describe('delta: fold', () => {
  const cases: readonly (readonly [title: string, first: Buffer, second: Buffer, folded: Buffer])[] = [
    ['nothing and nothing', NONE, NONE, NONE],
    ['a delta and nothing', hunk(1, 2, 'a'), NONE, hunk(1, 2, 'a')],
    ['nothing and a delta', NONE, hunk(1, 2, 'a'), hunk(1, 2, 'a')],
    ['places apart', hunk(10, 12, 'abc'), hunk(20, 21, 'x'), Buffer.concat([hunk(10, 12, 'abc'), hunk(19, 20, 'x')])],
    ['the second before the first', hunk(10, 12, 'abc'), hunk(2, 3, 'x'), Buffer.concat([hunk(2, 3, 'x'), hunk(10, 12, 'abc')])],
    ['the second inside of what the first put there', hunk(10, 10, 'abcd'), hunk(11, 13, 'X'), hunk(10, 10, 'aXd')],
    ['the second takes away what the first put there', hunk(10, 10, 'abcd'), hunk(10, 14, ''), NONE],
    ['the second replaces more than the first', hunk(10, 12, 'abc'), hunk(8, 15, 'X'), hunk(8, 14, 'X')],
    ['the second begins in what the first put there', hunk(10, 12, 'abc'), hunk(12, 15, 'X'), hunk(10, 14, 'abX')],
    ['the second ends in what the first put there', hunk(10, 12, 'abc'), hunk(5, 11, 'X'), hunk(5, 12, 'Xbc')],
    ['one touches the other', hunk(10, 12, 'abc'), hunk(13, 13, 'X'), hunk(10, 12, 'abcX')],
    ['an insert where something was deleted', hunk(10, 12, ''), hunk(10, 10, 'X'), hunk(10, 12, 'X')],
    ['all replaced', hunk(10, 12, ''), hunk(0, 38, 'X'), hunk(0, 40, 'X')],
    ['a hunk over several', Buffer.concat([hunk(1, 2, 'a'), hunk(5, 6, 'bb'), hunk(9, 9, 'c')]), hunk(0, 12, ''), hunk(0, 10, '')],
  ];
  for (const [title, first, second, folded] of cases) {
    it(title, () => {
      assert.deepEqual(checkedFold(first, second, BASE), folded);
    });
  }

  it('two deltas do together what they do one after the other', () => {
    const chain = looseDelta(BASE.length).chain((first) => {
      const middle = applyHunks(BASE, first);
      return looseDelta(middle.length).map((second) => ({ first, second, text: applyHunks(middle, second) }));
    });
    fc.assert(fc.property(chain, ({ first, second, text }) => {
      assert.deepEqual(applyHunks(BASE, checkedFold(first, second, BASE)), text);
    }), { numRuns: 1000 });
  });

  for (const lines of [true, false]) {
    it(`a chain by ${lines ? 'lines' : 'bytes'} does what its deltas do one after the other`, () => {
      fc.assert(fc.property(fc.array(looseLines, { minLength: 1, maxLength: 12 }), (texts) => {
        const deltas = texts.slice(1).map((text, i) => diffTexts(texts[i] ?? NONE, text, { lines }));
        const base = texts[0] ?? NONE;
        const folded = foldChain(deltas);
        assert.deepEqual(applyHunks(base, folded), texts.at(-1));
        if (lines) assert.ok(isLineAligned(base, folded));
      }), { numRuns: 200 });
    });
  }

  it('a long chain takes no stack, and its delta is no larger than its last texts', () => {
    const count = 20_000;
    const deltas = Array.from({ length: count }, (_, i) => hunk(0, i === 0 ? 0 : 8, `rev${String(i).padStart(4, '0').slice(-4)}\n`));
    assert.deepEqual(Buffer.from(foldChain(deltas)), hunk(0, 0, `rev${count - 1 - 10_000}\n`));
    assert.equal(foldChain([]).length, 0);
    assert.equal(foldChain([hunk(0, 0, 'a')]).length, HUNK_HEADER + 1);
  });
});
