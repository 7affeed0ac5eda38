import assert from 'node:assert/strict';

import fc from 'fast-check';
import { describe, it } from 'mocha';

import { deltaLimit, HUNK_HEADER, MAX_TEXT, patchedSize } from '../../src/formats/hunks.js';
import { applyHunks, diff, hunk } from '../support/revlog-builder.js';

const delta = (...hunks: readonly Buffer[]): Buffer => Buffer.concat(hunks);

/** Valid hunks for a base of some length: positions in order, each used as a start or an end. */
const validHunks = fc
  .record({ baseSize: fc.nat({ max: 300 }), cuts: fc.array(fc.nat({ max: 300 }), { maxLength: 20 }), inserts: fc.array(fc.uint8Array({ maxLength: 30 }), { minLength: 10, maxLength: 10 }) })
  .map(({ baseSize, cuts, inserts }) => {
    const places = cuts.map((cut) => Math.min(cut, baseSize)).sort((a, b) => a - b);
    const hunks = inserts.flatMap((insert, i) => {
      const [start, end] = places.slice(2 * i, 2 * i + 2);
      return start === undefined || end === undefined ? [] : [hunk(start, end, insert)];
    });
    return { base: Buffer.alloc(baseSize, 'base'), hunks };
  });

describe('hunks', () => {
  const legal: readonly (readonly [title: string, baseSize: number, delta: Buffer, size: number])[] = [
    ['no hunks', 100, delta(), 100],
    ['no hunks on an empty base', 0, delta(), 0],
    ['a full text on an empty base', 0, delta(hunk(0, 0, 'abc')), 3],
    ['a full replacement', 100, delta(hunk(0, 100, 'abc')), 3],
    ['a full deletion', 100, delta(hunk(0, 100, '')), 0],
    ['a hunk that ends with the base', 100, delta(hunk(99, 100, '')), 99],
    ['an insert at the end', 100, delta(hunk(100, 100, 'xy')), 102],
    ['an insert at the beginning', 100, delta(hunk(0, 0, 'xy')), 102],
    ['touching hunks', 100, delta(hunk(10, 20, 'a'), hunk(20, 30, 'b')), 82],
    ['several inserts at one position', 100, delta(hunk(10, 10, 'a'), hunk(10, 10, 'bc'), hunk(10, 10, 'd')), 104],
    ['an insert behind what a hunk replaced', 100, delta(hunk(5, 10, ''), hunk(10, 10, 'bc')), 97],
    ['a hunk that does nothing', 100, delta(hunk(10, 10, '')), 100],
    ['many hunks that do nothing', 0, delta(...Array.from({ length: 50 }, () => hunk(0, 0, ''))), 0],
    ['a hunk that puts back what was there', 4, delta(hunk(1, 3, 'as')), 4],
    ['the largest base', MAX_TEXT, delta(hunk(MAX_TEXT, MAX_TEXT, 'a')), MAX_TEXT + 1],
  ];
  for (const [title, baseSize, hunks, size] of legal) {
    it(`takes ${title}`, () => {
      assert.equal(patchedSize(hunks, baseSize), size);
      assert.equal(patchedSize(Uint8Array.from(hunks), -1), -1);
    });
  }

  const first = hunk(10, 20, 'abcd');
  const illegal: readonly (readonly [title: string, delta: Buffer, at: number, message: RegExp])[] = [
    ['hunks that overlap by a byte', delta(first, hunk(19, 30, '')), 16, /replaces 19 to 30 .* ended at 20/],
    ['a hunk inside the one before', delta(first, hunk(12, 14, '')), 16, /replaces 12 to 14 /],
    ['hunks out of order', delta(first, hunk(0, 5, 'x')), 16, /replaces 0 to 5 /],
    ['an insert inside what a hunk replaced', delta(first, hunk(15, 15, 'x')), 16, /replaces 15 to 15 /],
    ['an end a byte beyond the base', delta(first, hunk(20, 101, '')), 16, /ends at 101, its base at 100/],
    ['an insert behind the base', delta(hunk(101, 101, 'x')), 0, /ends at 101, its base at 100/],
    ['the largest end', delta(hunk(0, 0x7fffffff, '')), 0, /ends at 2147483647/],
    ['an end before the start', delta(first, hunk(50, 49, '')), 16, /replaces 50 to 49 /],
    ['a negative start', delta(hunk(-1, 5, '')), 0, /replaces -1 to 5 /],
    ['a negative end', delta(hunk(0, -1, '')), 0, /replaces 0 to -1 /],
    ['a negative length', delta(first, hunk(30, 40, '', -1)), 16, /with -1 bytes/],
    ['the most negative length', delta(hunk(0, 0, '', -(2 ** 31))), 0, /with -2147483648 bytes/],
    ['a length of one byte more than there is', delta(first, hunk(30, 40, 'abc', 4)), 16, /inserts 4 bytes, 3 are there/],
    ['the largest length', delta(hunk(0, 0, '', 0x7fffffff)), 0, /inserts 2147483647 bytes, 0 are there/],
    ['one trailing byte', delta(first, Buffer.alloc(1)), 16, /cut short: 1 bytes of 12/],
    ['eleven trailing bytes', delta(first, Buffer.alloc(11)), 16, /cut short: 11 bytes of 12/],
    ['a single byte', Buffer.alloc(1), 0, /cut short: 1 bytes of 12/],
    ['a fault in the third hunk', delta(hunk(0, 0, 'abc'), hunk(1, 2, ''), hunk(1, 2, '')), 27, /replaces 1 to 2 /],
  ];
  for (const [title, hunks, at, message] of illegal) {
    it(`refuses ${title}`, () => {
      const fault = patchedSize(hunks, 100);
      assert.ok(typeof fault !== 'number', 'accepted');
      assert.equal(fault.at, at);
      assert.match(fault.message, message);
    });
  }

  it('does not compare with a base that is unknown, but sees all other faults', () => {
    assert.equal(patchedSize(hunk(0, 0x7fffffff, ''), -1), -1);
    const fault = patchedSize(delta(first, hunk(19, 30, '')), -1);
    assert.ok(typeof fault !== 'number');
    assert.equal(fault.at, 16);
  });

  it('gives the length that the reference makes', () => {
    fc.assert(
      fc.property(validHunks, ({ base, hunks }) => {
        assert.equal(patchedSize(Buffer.concat(hunks), base.length), applyHunks(base, Buffer.concat(hunks)).length);
      }),
      { numRuns: 300 },
    );
  });

  it('refuses what is cut off anywhere but between hunks', () => {
    fc.assert(
      fc.property(validHunks, ({ base, hunks }) => {
        const whole = Buffer.concat(hunks);
        const borders = new Set(hunks.map((_, i) => Buffer.concat(hunks.slice(0, i + 1)).length).concat(0));
        for (let length = 0; length <= whole.length; length++) {
          assert.equal(typeof patchedSize(whole.subarray(0, length), base.length) === 'number', borders.has(length), `cut at ${length}`);
        }
      }),
      { numRuns: 30 },
    );
  });

  it('takes the reference diff of any two texts', () => {
    const bytes = fc.uint8Array({ maxLength: 50, max: 3 });
    fc.assert(
      fc.property(bytes, bytes, (base, text) => {
        const hunks = diff(base, text);
        assert.deepEqual(applyHunks(base, hunks), Buffer.from(text));
        assert.equal(patchedSize(hunks, base.length), text.length);
      }),
    );
  });

  describe('limit of a delta', () => {
    it('is reached by hunks of one byte each, and by no delta without idle hunks exceeded', () => {
      // 3 bytes deleted one by one, 2 bytes inserted one by one
      const most = delta(hunk(0, 1, ''), hunk(1, 2, ''), hunk(2, 3, ''), hunk(3, 3, 'a'), hunk(3, 3, 'b'));
      assert.equal(patchedSize(most, 3), 2);
      assert.ok(most.length <= deltaLimit(3, 2));
      assert.equal(deltaLimit(3, 2), 2 + HUNK_HEADER * 6);
      assert.equal(deltaLimit(0, 0), HUNK_HEADER);
    });

    it('is what the format can say where a size is unknown, and never more', () => {
      assert.equal(MAX_TEXT, 2 ** 31 - 1);
      for (const [baseSize, rawSize] of [[-1, 10], [10, -1], [-1, -1], [MAX_TEXT, MAX_TEXT]] as const) {
        assert.equal(deltaLimit(baseSize, rawSize), MAX_TEXT);
      }
    });
  });
});
