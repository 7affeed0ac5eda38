import assert from 'node:assert/strict';

import { describe, it } from 'mocha';

import type { BundleCompression, Container } from '../../../src/formats/bundle/items.js';
import { retarget } from '../../../src/transforms/bundle/retarget.js';
import { runStage } from '../../support/changegroup-items.js';
import { items, start, words } from '../../support/part-items.js';

interface Target {
  readonly container: Container;
  readonly compression: BundleCompression;
}

const V1: Target = { container: 'HG10', compression: 'zlib' };
const V2: Target = { container: 'HG20', compression: 'zstd' };
const PACKED: Target = { container: 'HGS1', compression: 'none' };
const AS_IT_IS = undefined;

/** `from`: the container of the source. */
const PASS: readonly (readonly [title: string, target: Target | undefined, from: Container, before: string, after: string, told: readonly string[]])[] = [
  ['into a bundle of version 2 everything passes', V2, 'HG20', '(CHANGEGROUP=02 g r ) (PHASE-HEADS x ) (new y !(output z ) ) end', '(CHANGEGROUP=02 g r ) (PHASE-HEADS x ) (new y !(output z ) ) end', []],
  ['nothing is a bundle of version 2 too', V2, 'HG10', 'end', 'end', []],
  ['a stream clone stays one', V2, 'HG20', '(STREAM2 x ) end', '(STREAM2 x ) end', []],
  ['into version 1: the changegroup', V1, 'HG20', '(CHANGEGROUP=01 g r ) end', '(CHANGEGROUP=01 g r ) end', []],
  ['into version 1: caches go', V1, 'HG20', '(hgtagsfnodes x ) (CHANGEGROUP=01 g r ) (cache:rev-branch-cache y ) end', '(CHANGEGROUP=01 g r ) end', ['hgtagsfnodes', 'cache:rev-branch-cache']],
  ['into version 1: what two programs say goes', V1, 'HG20', '(REPLYCAPS x ) (check:heads x ) (PUSHVARS x ) (CHANGEGROUP=01 g r ) (output y ) end', '(CHANGEGROUP=01 g r ) end', ['replycaps', 'check:heads', 'pushvars', 'output']],
  ['into version 1: what is not known, and advisory, goes', V1, 'HG20', '(CHANGEGROUP=01 g r ) (new y ) end', '(CHANGEGROUP=01 g r ) end', ['new']],
  ['into version 1: what interrupts goes', V1, 'HG20', '(CHANGEGROUP=01 g !(output y ) r ) end', '(CHANGEGROUP=01 g r ) end', ['output']],
  ['as it is: version 2', AS_IT_IS, 'HG20', '(CHANGEGROUP=02 g ) (PHASE-HEADS x ) end', '(CHANGEGROUP=02 g ) (PHASE-HEADS x ) end', []],
  ['as it is: version 1', AS_IT_IS, 'HG10', '(CHANGEGROUP=01 g ) end', '(CHANGEGROUP=01 g ) end', []],
  ['as it is: packed1', AS_IT_IS, 'HGS1', '(STREAM1 x ) end', '(STREAM1 x ) end', []],
  ['packed1 into packed1', PACKED, 'HGS1', '(STREAM1 x ) end', '(STREAM1 x ) end', []],
];

const REFUSE: readonly (readonly [title: string, target: Target | undefined, from: Container, before: string, message: RegExp, part?: string])[] = [
  ...['obsmarkers', 'phase-heads', 'bookmarks', 'listkeys', 'pushkey', 'remote-changegroup'].map((type) => [`${type} in version 1`, V1, 'HG20', `(CHANGEGROUP=01 g ) (${type} x ) end`, new RegExp(`a part of type ${type} has no room.*: --drop-part ${type} leaves it out`), `${type} (0)`] as const),
  ['a mandatory part that is not known, in version 1', V1, 'HG20', '(CHANGEGROUP=01 g ) (NEW x ) end', /--drop-part new/, 'new (0)'],
  ['a stream clone in version 1', V1, 'HG20', '(STREAM2 x ) end', /unpack it \(--to-repo\) and bundle that/, 'stream2 (0)'],
  ['a changegroup in packed1', PACKED, 'HG20', '(CHANGEGROUP=02 g ) end', /unpack it \(--to-repo\)/, 'changegroup (0)'],
  ['packed1 in version 2', V2, 'HGS1', '(STREAM1 x ) end', /packed1\) are no part of a bundle of version 2/],
  ['two changegroups in version 1', V1, 'HG20', '(CHANGEGROUP=01 g ) (CHANGEGROUP=01 g ) end', /two parts of type changegroup/, 'changegroup (0)'],
  ['version 1 without a changegroup', V1, 'HG20', '(output x ) end', /no part of type changegroup/],
  ['version 1, as it is, that has lost its changegroup', AS_IT_IS, 'HG10', 'end', /no part of type changegroup/],
  ['packed1, as it is, that has lost its files', AS_IT_IS, 'HGS1', 'end', /no part of type stream1/],
];

describe('retarget', () => {
  const parameters = [{ name: 'a', value: 'b' }];

  for (const [title, target, container, before, after, told] of PASS) {
    it(title, () => {
      const heard: string[] = [];
      const made = runStage(retarget(target, ({ type }) => heard.push(type)), items(before, { container, compression: 'bzip2', parameters: container === 'HG20' ? parameters : [] }));
      assert.equal(words(made), after);
      assert.deepEqual(heard, told);
      const expected = target ?? { container, compression: 'bzip2' };
      assert.deepEqual(made[0], start({ ...expected, parameters: expected.container === 'HG20' && container === 'HG20' ? parameters : [] }));
    });
  }

  for (const [title, target, container, before, message, part] of REFUSE) {
    it(`${title}: refused`, () => {
      assert.throws(() => runStage(retarget(target, () => undefined), items(before, { container })), { code: 'BUNDLE_HOLDS', message, at: part === undefined ? {} : { part } });
    });
  }
});
