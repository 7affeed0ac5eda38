/** Plain ways to make deltas and texts, to compare the fast ones with, and arbitrary texts to try them on. */
import fc from 'fast-check';

import { HUNK_HEADER } from '../../src/formats/hunks.js';
import { hunk } from '../support/revlog-builder.js';

/** The lines of a text, each with its LF. */
export const splitLines = (text: Uint8Array): string[] =>
  Buffer.from(text).toString('latin1').split(/(?<=\n)/).filter((line) => line !== '');

interface Step {
  /** Bytes of the delta from here to the end. */
  readonly cost: number;
  /** What to do with the next line. */
  readonly action: 'keep' | 'drop' | 'insert' | 'open' | 'end';
}

const cheapest = (steps: readonly Step[]): Step => steps.reduce((best, step) => (step.cost < best.cost ? step : best));

/**
 * The smallest delta of whole lines that there is, found by trying everything: for every place in both texts, inside of a
 * hunk and between hunks, the cheapest way on from there.
 */
export function referenceDiff(base: Uint8Array, text: Uint8Array): Buffer {
  const [a, b] = [splitLines(base), splitLines(text)];
  const key = (i: number, j: number): number => i * (b.length + 1) + j;
  const [between, inside] = [new Map<number, Step>(), new Map<number, Step>()];
  const cost = (steps: Map<number, Step>, i: number, j: number): number => steps.get(key(i, j))?.cost ?? Infinity;
  for (let i = a.length; i >= 0; i--) {
    for (let j = b.length; j >= 0; j--) {
      const [line, other] = [a[i], b[j]];
      const on: Step[] = [{ cost: Infinity, action: 'end' }];
      if (line === undefined && other === undefined) on.push({ cost: 0, action: 'end' });
      if (line !== undefined && line === other) on.push({ cost: cost(between, i + 1, j + 1), action: 'keep' });
      inside.set(key(i, j), cheapest([
        ...on,
        { cost: line === undefined ? Infinity : cost(inside, i + 1, j), action: 'drop' },
        { cost: other === undefined ? Infinity : cost(inside, i, j + 1) + other.length, action: 'insert' },
      ]));
      between.set(key(i, j), cheapest([...on, { cost: cost(inside, i, j) + HUNK_HEADER, action: 'open' }]));
    }
  }
  return follow(a, b, (i, j, open) => (open ? inside : between).get(key(i, j))?.action ?? 'end');
}

/** Makes the delta that the actions say. */
function follow(a: readonly string[], b: readonly string[], next: (i: number, j: number, open: boolean) => Step['action']): Buffer {
  const hunks: Buffer[] = [];
  let [i, j, at, start, insert, open] = [0, 0, 0, 0, '', false];
  for (;;) {
    const action = next(i, j, open);
    if (open && (action === 'keep' || action === 'end')) {
      hunks.push(hunk(start, at, Buffer.from(insert, 'latin1')));
      open = false;
    }
    if (action === 'end') return Buffer.concat(hunks);
    if (action === 'open') [start, insert, open] = [at, '', true];
    if (action === 'keep' || action === 'drop') at += a[i++]?.length ?? 0;
    if (action === 'insert') insert += b[j] ?? '';
    if (action === 'keep' || action === 'insert') j++;
  }
}

/** Places of the hunks of a delta. */
export function listHunks(delta: Uint8Array): { start: number; end: number; insert: Buffer }[] {
  const bytes = Buffer.from(delta);
  const hunks: { start: number; end: number; insert: Buffer }[] = [];
  for (let at = 0; at < bytes.length; ) {
    const next = at + HUNK_HEADER + bytes.readInt32BE(at + 8);
    hunks.push({ start: bytes.readInt32BE(at), end: bytes.readInt32BE(at + 4), insert: bytes.subarray(at + HUNK_HEADER, next) });
    at = next;
  }
  return hunks;
}

/** Bytes of few values, LF and NUL among them, so that much is equal by chance. */
export const looseBytes = fc.array(fc.constantFrom(0, 10, 10, 97, 98, 255), { maxLength: 60 }).map((bytes) => Buffer.from(bytes));

const WORDS = ['', '}', '  return;', 'the same line', 'a line that is longer than any hunk header', 'if (x) {', 'value = 1', 'value = 2'];

const looseLine = fc.oneof(fc.constantFrom(...WORDS), fc.nat({ max: 500 }).map((n) => `line number ${n} of a text`));

/** A text of lines, some of them several times; the last may lack its LF. */
export const looseLines = fc
  .tuple(fc.array(looseLine, { maxLength: 25 }), fc.constantFrom('', '\n'))
  .map(([lines, end]) => Buffer.from(lines.join('\n') + (lines.length > 0 ? end : '')));

/** A text and another that was made from it by changing, removing, inserting and repeating some lines. */
export const editedLines = fc
  .tuple(fc.array(looseLine, { minLength: 1, maxLength: 60 }), fc.array(fc.tuple(fc.nat(), fc.nat({ max: 3 }), fc.array(looseLine, { maxLength: 3 })), { maxLength: 6 }))
  .map(([lines, edits]) => {
    const edited = [...lines];
    for (const [where, removed, inserted] of edits) edited.splice(where % (edited.length + 1), removed, ...inserted);
    const toText = (all: readonly string[]): Buffer => Buffer.from(all.map((line) => `${line}\n`).join(''));
    return [toText(lines), toText(edited)] as const;
  });

/** Two manifests with many files in common. */
export const manifests = fc
  .array(fc.tuple(fc.nat({ max: 400 }), fc.constantFrom('both', 'changed', 'base', 'text'), fc.constantFrom('', 'x', 'l')), { maxLength: 60 })
  .map((files) => {
    const all = new Map(files.map(([number, where, flag]) => [`dir${number % 7}/file${number}`, { number, where, flag }]));
    const sorted = [...all].sort(([a], [b]) => (a < b ? -1 : 1));
    const toText = (side: 'base' | 'text'): Buffer =>
      Buffer.from(
        sorted
          .filter(([, { where }]) => where === side || where === 'both' || where === 'changed')
          .map(([path, { number, where, flag }]) => `${path}\0${(where === 'changed' && side === 'text' ? 'f' : 'a').repeat(8)}${String(number).padStart(32, '0')}${flag}\n`)
          .join(''),
      );
    return [toText('base'), toText('text')] as const;
  });

/** Hunks in order for a base of some length; they may touch, insert at one place, or do nothing. */
export const looseDelta = (baseSize: number): fc.Arbitrary<Buffer> =>
  fc
    .tuple(fc.array(fc.nat({ max: baseSize }), { maxLength: 16 }), fc.array(fc.uint8Array({ maxLength: 8 }), { minLength: 8, maxLength: 8 }))
    .map(([cuts, inserts]) => {
      const places = cuts.sort((a, b) => a - b);
      return Buffer.concat(
        inserts.flatMap((insert, i) => {
          const [start, end] = places.slice(2 * i, 2 * i + 2);
          return start === undefined || end === undefined ? [] : [hunk(start, end, insert)];
        }),
      );
    });
