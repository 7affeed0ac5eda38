import assert from 'node:assert/strict';

import fc from 'fast-check';
import { describe, it } from 'mocha';

import { applyDelta } from '../../src/delta/apply.js';
import { RevconvertError } from '../../src/errors.js';
import { applyHunks, hunk } from '../support/revlog-builder.js';
import { applyChecked } from './one-delta.js';
import { looseDelta } from './reference.js';

const BASE = Buffer.from('0123456789'.repeat(30));

describe('delta: apply', () => {
  const cases: readonly (readonly [title: string, base: Buffer, delta: Buffer])[] = [
    ['no hunks', BASE, Buffer.alloc(0)],
    ['no hunks on nothing', Buffer.alloc(0), Buffer.alloc(0)],
    ['a text on nothing', Buffer.alloc(0), hunk(0, 0, 'abc')],
    ['everything deleted', BASE, hunk(0, 300, '')],
    ['everything replaced', BASE, hunk(0, 300, 'abc')],
    ['a hunk at the beginning', BASE, hunk(0, 3, 'x')],
    ['a hunk at the end', BASE, hunk(300, 300, 'x')],
    ['touching hunks', BASE, Buffer.concat([hunk(1, 2, 'a'), hunk(2, 3, 'b'), hunk(3, 3, 'c'), hunk(3, 3, 'd')])],
    ['idle hunks', BASE, Buffer.concat([hunk(5, 5, ''), hunk(7, 7, '')])],
    ['copies around the length that is copied natively', BASE, Buffer.concat([hunk(47, 47, 'a'), hunk(95, 95, 'b'), hunk(144, 144, 'c'), hunk(193, 193, 'd'.repeat(100))])],
  ];
  for (const [title, base, delta] of cases) {
    it(title, () => {
      const text = applyHunks(base, delta);
      assert.deepEqual(Buffer.from(applyChecked(base, delta)), text);
      const target = new Uint8Array(text.length);
      assert.equal(applyDelta(new Uint8Array(base), new Uint8Array(delta), target), text.length);
      assert.deepEqual(Buffer.from(target), text);
    });
  }

  it('does what the reference does', () => {
    fc.assert(fc.property(looseDelta(BASE.length), (delta) => {
      assert.deepEqual(Buffer.from(applyChecked(BASE, delta)), applyHunks(BASE, delta));
    }));
  });

  it('refuses hunks that overlap, lie or end behind the base', () => {
    for (const delta of [hunk(0, 301, ''), hunk(-1, 5, ''), hunk(3, 2, ''), hunk(0, 0, 'abc', 4), Buffer.concat([hunk(5, 8, ''), hunk(7, 9, '')]), Buffer.alloc(11)]) {
      assert.throws(() => applyChecked(BASE, delta), (error) => error instanceof RevconvertError && error.code === 'DELTA_MALFORMED');
    }
  });
});
