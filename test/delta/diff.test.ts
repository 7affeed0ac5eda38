import assert from 'node:assert/strict';

import fc from 'fast-check';
import { describe, it } from 'mocha';

import { isLineAligned } from '../../src/delta/align.js';
import { createDiffer } from '../../src/delta/diff.js';
import { HUNK_HEADER } from '../../src/formats/hunks.js';
import { applyHunks, hunk } from '../support/revlog-builder.js';
import { applyChecked, diffTexts } from './one-delta.js';
import { editedLines, listHunks, looseBytes, looseLines, manifests, referenceDiff } from './reference.js';

const differ = createDiffer();

const BYTES = { lines: false };
const LINES = { lines: true };

const latin = (text: string): Buffer => Buffer.from(text, 'latin1');

/** Makes the delta, checks that it makes the text and is as it should be, and gives it. */
function checkedDiff(base: Uint8Array, text: Uint8Array, lines: boolean): Buffer {
  const delta = Buffer.from(differ.diff(base, text, { lines }));
  assert.ok(Buffer.from(text).equals(applyChecked(base, delta)), 'the delta makes another text');
  assert.ok(delta.length <= HUNK_HEADER + text.length, 'larger than a full replacement');
  if (lines) assert.ok(isLineAligned(base, delta), 'not aligned');
  else checkEdges(base, delta);
  let last = -HUNK_HEADER;
  for (const { start, end, insert } of listHunks(delta)) {
    assert.ok(start - last >= HUNK_HEADER, 'hunks that should be one');
    assert.ok(end > start || insert.length > 0, 'an idle hunk');
    last = end;
  }
  return delta;
}

/** No hunk replaces a byte by the same, at its beginning or its end. */
function checkEdges(base: Uint8Array, delta: Uint8Array): void {
  for (const { start, end, insert } of listHunks(delta)) {
    if (start === end || insert.length === 0) continue;
    assert.notEqual(base[start], insert[0], 'begins with what it replaces');
    assert.notEqual(base[end - 1], insert[insert.length - 1], 'ends with what it replaces');
  }
}

const node = (digit: string): string => digit.repeat(40);

const MANIFEST = `a\0${node('1')}\nb/c\0${node('2')}\nb/d\0${node('3')}x\nz\0${node('4')}\n`;

interface Case {
  readonly title: string;
  readonly base: string;
  readonly text: string;
  /** By bytes. */
  readonly bytes: Buffer;
  /** By lines. */
  readonly lines: Buffer;
}

const NONE = Buffer.alloc(0);

const CASES: readonly Case[] = [
  { title: 'equal texts', base: 'a\nb\n', text: 'a\nb\n', bytes: NONE, lines: NONE },
  { title: 'empty texts', base: '', text: '', bytes: NONE, lines: NONE },
  { title: 'a text from nothing', base: '', text: 'a\nb', bytes: hunk(0, 0, 'a\nb'), lines: hunk(0, 0, 'a\nb') },
  { title: 'nothing from a text', base: 'a\nb', text: '', bytes: hunk(0, 3, ''), lines: hunk(0, 3, '') },
  { title: 'a byte of a line', base: 'one\ntwo\n', text: 'one\ntao\n', bytes: hunk(5, 6, 'a'), lines: hunk(4, 8, 'tao\n') },
  { title: 'a line added at the end', base: 'one\n', text: 'one\ntwo\n', bytes: hunk(4, 4, 'two\n'), lines: hunk(4, 4, 'two\n') },
  { title: 'a line behind one without LF', base: 'one', text: 'one\ntwo', bytes: hunk(3, 3, '\ntwo'), lines: hunk(0, 3, 'one\ntwo') },
  { title: 'the LF of the last line', base: 'a\nb', text: 'a\nb\n', bytes: hunk(3, 3, '\n'), lines: hunk(2, 3, 'b\n') },
  { title: 'a last line that loses its LF', base: 'a\nb\n', text: 'a\nb', bytes: hunk(3, 4, ''), lines: hunk(2, 4, 'b') },
  { title: 'a line of several alike', base: 'a\na\na\n', text: 'a\na\n', bytes: hunk(4, 6, ''), lines: hunk(4, 6, '') },
  {
    title: 'a file changed',
    base: MANIFEST,
    text: MANIFEST.replace('2222', '2f22'),
    bytes: hunk(48, 49, 'f'),
    lines: hunk(43, 88, `b/c\0${node('2').replace('2222', '2f22')}\n`),
  },
  {
    title: 'a file added and one removed',
    base: MANIFEST,
    text: MANIFEST.replace(/b\/d.*\n/, '').replace('a\0', `A\0${node('9')}\na\0`),
    bytes: Buffer.concat([hunk(0, 0, `A\0${node('9')}\n`), hunk(88, 134, '')]),
    lines: Buffer.concat([hunk(0, 0, `A\0${node('9')}\n`), hunk(88, 134, '')]),
  },
  {
    title: 'places with less than 12 bytes between them',
    base: 'aXbcdefghijklY\n',
    text: 'a1bcdefghijkl2\n',
    bytes: hunk(1, 14, '1bcdefghijkl2'),
    lines: hunk(0, 15, 'a1bcdefghijkl2\n'),
  },
  {
    title: 'lines with 12 bytes between them',
    base: 'X\nbcdefghijkl\nY\n',
    text: '1\nbcdefghijkl\n2\n',
    bytes: Buffer.concat([hunk(0, 1, '1'), hunk(14, 15, '2')]),
    lines: Buffer.concat([hunk(0, 2, '1\n'), hunk(14, 16, '2\n')]),
  },
];

describe('delta: diff', () => {
  for (const { title, base, text, bytes, lines } of CASES) {
    it(`${title}, by bytes`, () => {
      assert.deepEqual(checkedDiff(latin(base), latin(text), false).toString('latin1'), bytes.toString('latin1'));
    });
    it(`${title}, by lines`, () => {
      assert.deepEqual(checkedDiff(latin(base), latin(text), true).toString('latin1'), lines.toString('latin1'));
    });
  }

  const pairs = {
    'loose bytes': fc.tuple(looseBytes, looseBytes),
    'loose lines': fc.tuple(looseLines, looseLines),
    'lines edited': editedLines,
    'manifests': manifests,
    'lines and bytes': fc.tuple(looseLines, looseBytes),
  } satisfies Record<string, fc.Arbitrary<readonly [Buffer, Buffer]>>;
  for (const [title, pair] of Object.entries(pairs)) {
    it(`makes sound and tight deltas of ${title}`, () => {
      const check = ([base, text]: readonly [Buffer, Buffer]): void => {
        checkedDiff(base, text, false);
        checkedDiff(base, text, true);
      };
      fc.assert(fc.property(pair, check), { numRuns: 500 });
    });
  }

  it('takes byte arrays that are not Buffers, at any place of their memory', () => {
    const base = new Uint8Array(latin('..one\ntwo\n')).subarray(2);
    const text = new Uint8Array(latin('...one\n2\n')).subarray(3);
    assert.deepEqual(Buffer.from(diffTexts(base, text, BYTES)), hunk(4, 7, '2'));
    assert.deepEqual(Buffer.from(diffTexts(base, text, LINES)), hunk(4, 8, '2\n'));
  });

  it('gives deltas that later calls leave alone', () => {
    const [one, two] = [latin('a\nb\n'), latin('a\nc\n')];
    const delta = differ.diff(one, two, LINES);
    const before = Buffer.from(delta);
    differ.diff(two, latin('something else\n'), LINES);
    assert.deepEqual(Buffer.from(delta), before);
  });

  it('does not depend on what came before', () => {
    fc.assert(
      fc.property(editedLines, looseLines, ([base, text], other) => {
        for (const options of [BYTES, LINES]) {
          differ.diff(other, base, options);
          assert.deepEqual(differ.diff(base, text, options), diffTexts(base, text, options));
        }
      }),
      { numRuns: 50 },
    );
  });

  it('finds where long texts differ, wherever that is', () => {
    const base = Buffer.alloc(3 << 20, 'a line of the text\n');
    const places = [0, 1, 31, 32, 33, 511, 513, 514, 4095, 4096, 40_000, 1 << 20, base.length - 40, base.length - 1].filter((at) => base[at] !== 10);
    for (const at of places) {
      const text = Buffer.from(base);
      text[at] = 1;
      assert.deepEqual(Buffer.from(differ.diff(base, text, BYTES)), hunk(at, at + 1, '\x01'), `at ${at}`);
      const start = at - (at % 19);
      const insert = text.subarray(start, start + 19);
      assert.deepEqual(Buffer.from(differ.diff(base, text, LINES)), hunk(start, Math.min(start + 19, base.length), insert), `at ${at}`);
    }
  });

  it('copies what is longer inside of a line, and of bytes without lines', () => {
    const line = latin(Array.from({ length: 2000 }, (_, i) => `item ${i}, `).join(''));
    const edited = Buffer.concat([latin('[start '), line.subarray(0, 5000), latin(' here '), line.subarray(5030), latin('end]')]);
    const delta = checkedDiff(line, edited, false);
    assert.ok(delta.length < 120, `${delta.length} bytes`);
  });

  describe('next to the smallest delta of whole lines', () => {
    const margin = (best: number): number => best * 1.1 + HUNK_HEADER;

    it('is the reference sound', () => {
      fc.assert(fc.property(editedLines, ([base, text]) => {
        const delta = referenceDiff(base, text);
        assert.deepEqual(applyHunks(base, delta), text);
        assert.ok(isLineAligned(base, delta));
      }), { numRuns: 50 });
    });

    it('manifests: never larger', () => {
      fc.assert(fc.property(manifests, ([base, text]) => {
        assert.equal(checkedDiff(base, text, true).length, referenceDiff(base, text).length);
      }), { numRuns: 60 });
    });

    it('lines edited: all together at most 10 % larger by lines, smaller by bytes', () => {
      let [byReference, byLines, byBytes] = [0, 0, 0];
      for (const [base, text] of fc.sample(editedLines, { numRuns: 100, seed: 1 })) {
        byReference += referenceDiff(base, text).length;
        byLines += checkedDiff(base, text, true).length;
        byBytes += checkedDiff(base, text, false).length;
      }
      assert.ok(byLines <= margin(byReference), `${byLines} bytes, reference ${byReference}`);
      assert.ok(byBytes < byReference, `${byBytes} bytes, reference ${byReference}`);
    });
  });
});
