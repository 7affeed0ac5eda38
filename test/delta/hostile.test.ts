/** Texts that make a diff slow which is not careful. None of these may take longer than some reading of the text. */
import assert from 'node:assert/strict';

import { describe, it } from 'mocha';

import { createDiffer } from '../../src/delta/diff.js';
import { createRandom } from '../support/random.js';
import { applyChecked } from './one-delta.js';

const COUNT = 100_000;

const repeat = (text: string, count: number): Buffer => Buffer.alloc(Buffer.byteLength(text) * count, text);

const lines = (line: (i: number) => string, count = COUNT): Buffer =>
  Buffer.from(Array.from({ length: count }, (_, i) => `${line(i)}\n`).join(''));

const random = createRandom(1);

const noise = (length: number, without = -1): Buffer =>
  Buffer.from(Uint8Array.from({ length }, () => random(256)).map((byte) => (byte === without ? 0 : byte)));

const between = (text: Buffer): Buffer => Buffer.concat([Buffer.from('begin'), text, Buffer.from('end')]);

/** Lines of equal length whose sums with factor 31, a usual hash, are all equal. */
const colliding = lines((i) => Array.from({ length: 16 }, (_, bit) => ((i >> bit) & 1 ? 'Aa' : 'BB')).join(''), 1 << 16);

const numbered = lines((i) => `line ${i}`);
const noisy = noise(1 << 20, 10);

const CASES: Readonly<Record<string, () => readonly [base: Buffer, text: Buffer, most?: number]>> = {
  'one long line against another': () => [Buffer.alloc(5 << 20, 'ab'), Buffer.alloc(5 << 20, 'abc')],
  'equal lines, a few more of them': () => [repeat('same\n', COUNT), between(repeat('same\n', COUNT + 100)), 600],
  'equal lines, twice as many': () => [repeat('same\n', COUNT), between(repeat('same\n', 2 * COUNT))],
  'nothing but LF': () => [repeat('\n', 3 << 20), between(repeat('\n', 2 << 20)), 100],
  'a text repeated': () => [repeat('a b\nc d\ne f\n', 80_000), between(repeat('e f\na b\nc d\nX\n', 80_000))],
  'two lines by turns': () => [repeat('a\nb\n', COUNT), between(repeat('b\na\na\n', COUNT))],
  'two lines at random': () => [lines(() => `${random(2)}`), lines(() => `${random(2)}`)],
  'lines that are all different': () => [lines((i) => `left ${i * 7}`), lines((i) => `right ${i * 11}`)],
  'lines in the reverse order': () => [numbered, lines((i) => `line ${COUNT - 1 - i}`)],
  'lines at random places': () => [numbered, lines(() => `line ${random(COUNT)}`)],
  'a large block moved': () => [numbered, Buffer.concat([numbered.subarray(500_000), numbered.subarray(0, 500_000)])],
  'every other line changed': () => [numbered, lines((i) => (i % 2 === 0 ? `line ${i}` : `lime ${i}`))],
  'noise without LF': () => [noisy, noise(1 << 20, 10)],
  'noise without LF, some bytes changed': () => [noisy, noisy.map((byte, i) => (i % 50_000 === 7 ? byte ^ 255 : byte)) as Buffer, 500],
  'noise, moved by some bytes': () => [noisy, Buffer.concat([noise(50), noisy.subarray(0, 500_000), noise(20), noisy.subarray(500_007)]), 200],
  'lines of equal hash': () => [colliding, between(Buffer.concat([colliding.subarray(33 * 9), colliding.subarray(0, 33 * 5)]))],
  'lines of equal hash in the reverse order': () => [colliding, lines((i) => Array.from({ length: 16 }, (_, bit) => ((i >> bit) & 1 ? 'BB' : 'Aa')).join(''), 1 << 16)],
  'paths that are all equal': () => [lines((i) => `p\0${i}`), between(lines((i) => `p\0${i + 1}`))],
  'paths out of order': () => [lines((i) => `${i % 1000}\0${i}`), between(lines((i) => `${i % 999}\0${i}`))],
};

describe('delta: hostile texts', () => {
  const differ = createDiffer();
  for (const [title, create] of Object.entries(CASES)) {
    for (const byLines of [false, true]) {
      it(`${title}, by ${byLines ? 'lines' : 'bytes'}`, function () {
        this.timeout(60_000);
        const [base, text, most] = create();
        const delta = differ.diff(base, text, { lines: byLines });
        assert.ok(Buffer.compare(applyChecked(base, delta), text) === 0);
        assert.ok(delta.length <= text.length + 12);
        if (!byLines && most !== undefined) assert.ok(delta.length <= most, `${delta.length} bytes`);
      });
    }
  }
});
