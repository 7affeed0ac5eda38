import assert from 'node:assert/strict';

import { describe, it } from 'mocha';

import { selectParts } from '../../../src/transforms/bundle/select-parts.js';
import { runStage } from '../../support/changegroup-items.js';
import { items, words } from '../../support/part-items.js';

/** What comes, the types that are left out, what is left, what is told of. */
const CASES: readonly (readonly [title: string, before: string, out: readonly string[], after: string, told: readonly string[]])[] = [
  ['nothing is left out', '(a x y ) (B g r ) end', [], '(a x y ) (B g r ) end', []],
  ['a part, with all that is in it', '(a x y ) (b z ) end', ['a'], '(b z ) end', ['a']],
  ['a changegroup', '(CHANGEGROUP=02 g r g ) (b z ) end', ['changegroup'], '(b z ) end', ['changegroup']],
  ['each part of a type', '(a x ) (b y ) (a z ) end', ['a'], '(b y ) end', ['a', 'a']],
  ['all parts', '(a x ) (b y ) end', ['a', 'b'], 'end', ['a', 'b']],
  ['one that has nothing in it', '(a ) (b ) end', ['a'], '(b ) end', ['a']],
  ['one that interrupts', '(a x !(b y ) z ) end', ['b'], '(a x z ) end', ['b']],
  ['what is interrupted: the other stands on its own', '(a x !(b y ) z ) (c ) end', ['a'], '(b y ) (c ) end', ['a']],
  ['both', '(a x !(b y ) z ) end', ['a', 'b'], 'end', ['a', 'b']],
  ['the innermost of three', '(a x !(b y !(c z ) y ) x ) end', ['c'], '(a x !(b y y ) x ) end', ['c']],
  ['the middle of three: the innermost interrupts the outer one', '(a x !(b y !(c z ) y ) x ) end', ['b'], '(a x !(c z ) x ) end', ['b']],
  ['the outer two of three', '(a x !(b y !(c z ) y ) x ) end', ['a', 'b'], '(c z ) end', ['a', 'b']],
  ['two that interrupt, one after the other', '(a x !(b y ) !(c z ) x ) end', ['a'], '(b y ) (c z ) end', ['a']],
];

describe('selectParts', () => {
  for (const [title, before, out, after, told] of CASES) {
    it(`leaves out: ${title}`, () => {
      const heard: string[] = [];
      const given = items(before, { parameters: [{ name: 'a', value: 'b' }] });
      const made = runStage(selectParts(({ type }) => !out.includes(type), ({ type }) => heard.push(type)), given);
      assert.equal(words(made), after);
      assert.deepEqual(made[0], given[0]);
      assert.deepEqual(heard, told);
    });
  }
});
