import assert from 'node:assert/strict';

import { describe, it } from 'mocha';

import { BranchCollector } from '../../../src/bundles/from-repository/branch-collector.js';
import { RevconvertError } from '../../../src/errors.js';

const changeset = (date: string): Buffer => Buffer.from(`${'0'.repeat(40)}\nsome one <a b>\n${date}\nfile\n\nwhat was done`, 'latin1');

const CASES: readonly (readonly [title: string, text: Buffer, branch: string, closes: boolean])[] = [
  ['no text', Buffer.alloc(0), 'default', false],
  ['nothing said', changeset('1500000000 -7200'), 'default', false],
  ['other things said', changeset('1500000000 0 amend_source:abc\0source:x'), 'default', false],
  ['a branch', changeset('1500000000 0 branch:stable'), 'stable', false],
  ['a branch closed', changeset('1500000000 0 branch:two words\0close:1'), 'two words', true],
  ['default closed', changeset('1500000000 0 close:1'), 'default', true],
  ['bytes of UTF-8', changeset('1500000000 0 amend:1\0branch:caf\xc3\xa9'), 'caf\xc3\xa9', false],
  ['escapes', changeset('1500000000 0 branch:a\\\\b\\nc\\rd\\0e'), 'a\\b\nc\rd\0e', false],
];

describe('branches of changesets', () => {
  for (const [title, text, branch, closes] of CASES) {
    it(title, () => {
      const collector = new BranchCollector();
      collector.add(7, text);
      const { names, entries } = collector.finish();
      assert.deepEqual(names, [branch]);
      assert.deepEqual([...entries], [7, closes ? 1 : 0]);
    });
  }

  it('are named once', () => {
    const collector = new BranchCollector();
    for (const [rev, index] of [3, 1, 4, 1].entries()) collector.add(rev, CASES[index]?.[1] ?? Buffer.alloc(0));
    const { names, entries } = collector.finish();
    assert.deepEqual(names, ['stable', 'default', 'two words']);
    assert.deepEqual([...entries], [0, 0, 1, 2, 2, 5, 3, 2]);
  });

  it('of a text that is none, are an error with the revision', () => {
    assert.throws(() => new BranchCollector().add(5, Buffer.from('nothing')), (error) => error instanceof RevconvertError && error.code === 'TEXT_MALFORMED' && error.at.rev === 5);
  });
});
