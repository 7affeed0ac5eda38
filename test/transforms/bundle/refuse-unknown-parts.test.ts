import assert from 'node:assert/strict';

import { describe, it } from 'mocha';

import { refuseUnknownParts } from '../../../src/transforms/bundle/refuse-unknown-parts.js';
import { runStage } from '../../support/changegroup-items.js';
import { items, words } from '../../support/part-items.js';

/** All that Mercurial writes or says, as `hg help internals.bundle2` names them. */
const KNOWN = [
  'changegroup', 'stream2', 'obsmarkers', 'phase-heads', 'bookmarks', 'hgtagsfnodes', 'cache:rev-branch-cache', 'listkeys', 'pushkey', 'pushvars', 'output', 'remote-changegroup', 'replycaps',
  'reply:changegroup', 'reply:pushkey', 'check:heads', 'check:updated-heads', 'check:phases', 'error:abort', 'error:pushraced',
] as const;

describe('refuseUnknownParts', () => {
  for (const type of KNOWN) {
    it(`${type} passes, mandatory or not`, () => {
      for (const word of [type, type.toUpperCase()]) assert.equal(words(runStage(refuseUnknownParts(), items(`(${word} x ) end`))), `(${word} x ) end`);
    });
  }

  for (const type of ['unknown', 'changegroup2', 'check', 'x:reply:', 'b2x:infinitepush']) {
    it(`${type} passes where it is advisory, and is refused by its name where it is mandatory`, () => {
      assert.equal(words(runStage(refuseUnknownParts(), items(`(a (${type} x ) ) end`))), `(a (${type} x ) ) end`);
      for (const word of [type.toUpperCase(), type.replace(/^./, (letter) => letter.toUpperCase())]) {
        assert.throws(() => runStage(refuseUnknownParts(), items(`(output ) (${word} x ) end`)), { code: 'PART_UNKNOWN', message: `unknown mandatory part '${type}'`, at: { part: `${type} (0)` } });
      }
    });
  }

  for (const word of ['stream3-exp', 'STREAM3-EXP']) {
    it(`${word} is refused by its name`, () => {
      assert.throws(() => runStage(refuseUnknownParts(), items(`(${word} ) end`)), { code: 'PART_UNKNOWN', message: /stream clone of version 3 \(stream3-exp\)/, at: { part: 'stream3-exp (0)' } });
    });
  }

  it('one that interrupts is refused too', () => {
    assert.throws(() => runStage(refuseUnknownParts(), items('(output x !(NEW y ) x ) end')), { code: 'PART_UNKNOWN' });
  });
});
