import assert from 'node:assert/strict';

import fc from 'fast-check';
import { describe, it } from 'mocha';

import { makesText } from '../../src/delta/check-delta.js';
import { applyHunks, hunk } from '../support/revlog-builder.js';

const BASE = Buffer.from('abcdefghijklmnopqrstuvwxyz');

const text = (value: string): Buffer => Buffer.from(value);

describe('check of a delta', () => {
  const right: readonly (readonly [string, readonly Buffer[], string])[] = [
    ['no hunks', [], 'abcdefghijklmnopqrstuvwxyz'],
    ['one that replaces all', [hunk(0, 26, 'other')], 'other'],
    ['one that removes all', [hunk(0, 26, '')], ''],
    ['one at the beginning', [hunk(0, 1, 'XY')], 'XYbcdefghijklmnopqrstuvwxyz'],
    ['one at the end', [hunk(25, 26, 'XY')], 'abcdefghijklmnopqrstuvwxyXY'],
    ['an insert behind the end', [hunk(26, 26, 'XY')], 'abcdefghijklmnopqrstuvwxyzXY'],
    ['an insert before the beginning', [hunk(0, 0, 'XY')], 'XYabcdefghijklmnopqrstuvwxyz'],
    ['several', [hunk(1, 3, 'X'), hunk(5, 5, 'YZ'), hunk(20, 26, '')], 'aXdeYZfghijklmnopqrst'],
    ['several that touch', [hunk(1, 3, 'X'), hunk(3, 5, 'Y')], 'aXYfghijklmnopqrstuvwxyz'],
    ['several inserts at one place', [hunk(3, 3, 'X'), hunk(3, 3, 'Y')], 'abcXYdefghijklmnopqrstuvwxyz'],
    ['one that does nothing', [hunk(3, 3, '')], 'abcdefghijklmnopqrstuvwxyz'],
    ['one that puts there what was there', [hunk(3, 5, 'de')], 'abcdefghijklmnopqrstuvwxyz'],
  ];
  for (const [title, hunks, made] of right) {
    it(`accepts ${title}`, () => {
      assert.equal(makesText(BASE, Buffer.concat(hunks), text(made)), true);
    });
  }

  it('accepts deltas against nothing, and of nothing', () => {
    assert.equal(makesText(Buffer.alloc(0), Buffer.alloc(0), Buffer.alloc(0)), true);
    assert.equal(makesText(Buffer.alloc(0), hunk(0, 0, 'text'), text('text')), true);
  });

  // 'abXXXefghYYmnopqrstuvwxyz': each field of each hunk is then wrong by one.
  const first = { start: 2, end: 4, insert: 'XXX', length: 3 };
  const second = { start: 8, end: 12, insert: 'YY', length: 2 };
  const made = text('abXXXefghYYmnopqrstuvwxyz');
  const build = (a: typeof first, b: typeof second): Buffer => Buffer.concat([hunk(a.start, a.end, a.insert, a.length), hunk(b.start, b.end, b.insert, b.length)]);

  it('accepts what the wrong ones are made of', () => {
    assert.equal(makesText(BASE, build(first, second), made), true);
  });

  for (const field of ['start', 'end', 'length'] as const) {
    for (const off of [-1, 1, -0x7fffffff, 0x7ffffff0]) {
      it(`refuses a first hunk whose ${field} is off by ${off}`, () => {
        assert.equal(makesText(BASE, build({ ...first, [field]: first[field] + off }, second), made), false);
      });
      it(`refuses a last hunk whose ${field} is off by ${off}`, () => {
        assert.equal(makesText(BASE, build(first, { ...second, [field]: second[field] + off }), made), false);
      });
    }
  }

  const wrong: readonly (readonly [string, Buffer, Buffer])[] = [
    ['one byte of the insert', Buffer.concat([hunk(2, 4, 'XXx'), hunk(8, 12, 'YY')]), made],
    ['a byte of the insert less', Buffer.concat([hunk(2, 4, 'XX'), hunk(8, 12, 'YY')]), made],
    ['hunks out of order', Buffer.concat([hunk(8, 12, 'YY'), hunk(2, 4, 'XXX')]), made],
    ['hunks that overlap', Buffer.concat([hunk(2, 5, 'X'), hunk(4, 6, 'Y')]), text('abXYghijklmnopqrstuvwxyz')],
    ['a hunk that ends before it begins', hunk(4, 2, ''), text('abcdcdefghijklmnopqrstuvwxyz')],
    ['a negative start', hunk(-1, 0, 'X'), text('Xabcdefghijklmnopqrstuvwxyz')],
    ['a hunk behind the end', hunk(27, 27, 'X'), text('abcdefghijklmnopqrstuvwxyzX')],
    ['a hunk that ends behind the end', hunk(25, 27, 'X'), text('abcdefghijklmnopqrstuvwxyX')],
    ['a header that is cut short', Buffer.concat([build(first, second), Buffer.alloc(11)]), made],
    ['bytes behind the last hunk', Buffer.concat([build(first, second), Buffer.of(0)]), made],
    ['an insert that is cut short', build(first, second).subarray(0, -1), made],
    ['the last hunk missing', hunk(2, 4, 'XXX'), made],
    ['no hunks', Buffer.alloc(0), made],
    ['a text that is longer by a byte', build(first, second), Buffer.concat([made, Buffer.of(0x7a)])],
    ['a text that is shorter by a byte', build(first, second), made.subarray(0, -1)],
    ['a text whose first byte is another', build(first, second), Buffer.concat([Buffer.from('A'), made.subarray(1)])],
    ['a text whose last byte is another', build(first, second), Buffer.concat([made.subarray(0, -1), Buffer.from('Z')])],
    ['a text between the hunks that is another', build(first, second), text('abXXXefGhYYmnopqrstuvwxyz')],
  ];
  for (const [title, delta, to] of wrong) {
    it(`refuses ${title}`, () => assert.equal(makesText(BASE, delta, to), false));
  }

  it('refuses a base that is another, where it is left standing', () => {
    assert.equal(makesText(text('Abcdefghijklmnopqrstuvwxyz'), build(first, second), made), false);
    assert.equal(makesText(text('abCdefghijklmnopqrstuvwxyz'), build(first, second), made), true, 'that byte is replaced');
    assert.equal(makesText(BASE.subarray(0, -1), build(first, second), made), false);
    assert.equal(makesText(Buffer.concat([BASE, text('!')]), build(first, second), made), false);
  });

  it('works on views in the middle of memory', () => {
    const view = (bytes: Buffer): Uint8Array => new Uint8Array(Buffer.concat([Buffer.from('before'), bytes, Buffer.from('behind')])).subarray(6, 6 + bytes.length);
    assert.equal(makesText(view(BASE), view(build(first, second)), view(made)), true);
    assert.equal(makesText(view(BASE), view(build(first, second)), view(made.subarray(0, -1))), false);
  });

  /** Cuts of a base in order, what is put there, and then one byte of the delta or of the text that is changed. */
  const deltas = fc.record({
    base: fc.uint8Array({ maxLength: 60 }),
    cuts: fc.array(fc.tuple(fc.nat(), fc.nat(), fc.uint8Array({ maxLength: 8 })), { maxLength: 5 }),
    at: fc.nat(),
    bit: fc.nat(7),
  });
  const deltaOf = (base: Uint8Array, cuts: readonly (readonly [number, number, Uint8Array])[]): Buffer => {
    let from = 0;
    return Buffer.concat(
      cuts.map(([skip, take, insert]) => {
        const start = from + (skip % (base.length - from + 1));
        from = start + (take % (base.length - start + 1));
        return hunk(start, from, insert);
      }),
    );
  };

  it('accepts every delta that the reference makes the text of, and no other text', () => {
    fc.assert(
      fc.property(deltas, ({ base, cuts, at, bit }) => {
        const delta = deltaOf(base, cuts);
        const expected = applyHunks(base, delta);
        assert.equal(makesText(base, delta, expected), true);
        if (expected.length === 0) return;
        const other = Buffer.from(expected);
        other[at % other.length] = (other[at % other.length] ?? 0) ^ (1 << bit);
        assert.equal(makesText(base, delta, other), false);
      }),
    );
  });

  it('says no to a delta with a bit changed, unless that makes the same text', () => {
    fc.assert(
      fc.property(deltas, ({ base, cuts, at, bit }) => {
        const delta = deltaOf(base, cuts);
        if (delta.length === 0) return;
        const expected = applyHunks(base, delta);
        const other = Buffer.from(delta);
        other[at % other.length] = (other[at % other.length] ?? 0) ^ (1 << bit);
        if (makesText(base, other, expected)) assert.deepEqual(applyHunks(base, other), expected);
      }),
    );
  });
});
