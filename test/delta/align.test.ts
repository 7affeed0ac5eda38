import assert from 'node:assert/strict';

import { describe, it } from 'mocha';

import { isLineAligned } from '../../src/delta/align.js';
import { hunk } from '../support/revlog-builder.js';

describe('delta: alignment', () => {
  const base = 'one\ntwo\nthree\n';
  const open = 'one\ntwo';
  const cases: readonly (readonly [title: string, base: string, delta: Buffer, aligned: boolean])[] = [
    ['no hunks', base, Buffer.alloc(0), true],
    ['a line replaced', base, hunk(4, 8, '2\n'), true],
    ['lines inserted', base, hunk(4, 4, 'a\nb\n'), true],
    ['lines deleted', base, hunk(0, 8, ''), true],
    ['a line at the end', base, hunk(14, 14, 'four\n'), true],
    ['several hunks', base, Buffer.concat([hunk(0, 4, '1\n'), hunk(8, 8, 'x\n')]), true],
    ['a last line without LF', base, hunk(8, 14, '3'), true],
    ['a text from nothing', '', hunk(0, 0, 'a\nb\n'), true],
    ['the last line, which has no LF, replaced', open, hunk(4, 7, 'two\nthree\n'), true],
    ['an insert behind what replaced a last line without LF', open, Buffer.concat([hunk(4, 7, '2\n'), hunk(7, 7, '3\n')]), true],
    ['a start inside of a line', base, hunk(5, 8, '2\n'), false],
    ['an end inside of a line', base, hunk(4, 7, '2\n'), false],
    ['a byte', base, hunk(5, 6, 'x'), false],
    ['an insert without LF in the middle', base, hunk(4, 8, '2'), false],
    ['an insert without LF before the end', base, Buffer.concat([hunk(8, 14, '3'), hunk(14, 14, '\n')]), false],
    ['a fault in the second hunk', base, Buffer.concat([hunk(0, 4, ''), hunk(5, 6, '')]), false],
    ['an insert behind a last line without LF', open, hunk(7, 7, '\nthree\n'), false],
    ['a line behind a last line without LF', open, hunk(7, 7, 'three\n'), false],
  ];
  for (const [title, text, delta, aligned] of cases) {
    it(`${aligned ? 'takes' : 'sees'} ${title}`, () => {
      assert.equal(isLineAligned(Buffer.from(text), delta), aligned);
    });
  }
});
