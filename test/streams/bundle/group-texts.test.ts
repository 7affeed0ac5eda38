import assert from 'node:assert/strict';

import { describe, it } from 'mocha';

import { NULL_BASE } from '../../../src/formats/record.js';
import { GroupRecords, NO_TEXT, OUTSIDE_BASE, UNKNOWN_SIZE } from '../../../src/streams/bundle/group-records.js';
import { createGroupTexts } from '../../../src/streams/bundle/group-texts.js';
import { hunk } from '../../support/bundle-builder.js';
import type { MadeRevision } from '../../support/changegroup-items.js';
import { makeRevisions, patch, readTexts } from '../../support/changegroup-items.js';
import { createRandom } from '../../support/random.js';

/** A group in which every revision changes some lines of an earlier one. */
function randomGroup(count: number, seed: number): MadeRevision[] {
  const random = createRandom(seed);
  const made: MadeRevision[] = [{ text: Array.from({ length: 200 }, (_, i) => `line ${i}\n`).join('') }];
  while (made.length < count) {
    const base = random(4) === 0 ? random(made.length) : made.length - 1;
    const from = Buffer.from(made[base]?.text ?? '');
    const start = random(from.length);
    const delta = hunk(start, start + random(Math.min(40, from.length - start) + 1), `inserted ${random(1000)}\n`);
    made.push({ text: patch(from, delta), p1: base, base, delta });
  }
  return made;
}

describe('texts of the group that passes', () => {
  for (const [name, cache, spool] of [
    ['with room for all', undefined, undefined],
    ['with room for few texts, and deltas in a file', 10_000, 500],
    ['with room for nothing', 0, 0],
  ] as const) {
    it(`gives the text of any revision, ${name}`, () => {
      const revisions = makeRevisions(randomGroup(400, 7));
      const expected = [...readTexts(revisions).values()].slice(1);
      const records = new GroupRecords(spool);
      const texts = createGroupTexts(records, cache);
      const random = createRandom(3);
      for (const [i, revision] of revisions.entries()) {
        assert.equal(records.add(revision), i);
        const [one, other] = [random(i + 1), random(i + 1)];
        // Two that are asked for one after the other are valid at the same time.
        const [first, second] = [texts.textOf(one), texts.textOf(other)];
        assert.ok(expected[one]?.equals(first ?? Buffer.from('?')));
        assert.ok(expected[other]?.equals(second ?? Buffer.from('?')));
        assert.equal(records.size(i), expected[i]?.length);
      }
      records.close();
    });
  }

  it('builds a chain of many revisions at its end only', () => {
    const revisions = makeRevisions(randomGroup(3000, 11));
    const records = new GroupRecords();
    const texts = createGroupTexts(records);
    for (const revision of revisions) records.add(revision);
    const expected = readTexts(revisions).get(Buffer.from(revisions.at(-1)?.node ?? '').toString('hex'));
    assert.ok(expected?.equals(texts.textOf(2999) ?? Buffer.from('?')));
  });

  it('knows no text that is built on a revision from outside', () => {
    const outside = Buffer.alloc(20, 0xee);
    const records = new GroupRecords();
    const texts = createGroupTexts(records);
    const revisions = makeRevisions([
      { text: 'known' },
      { text: 'a', base: outside, delta: hunk(5, 5, 'x') },
      { text: 'b', base: 1, delta: hunk(6, 6, 'y') },
      { text: 'known too', base: 0 },
    ]);
    for (const revision of revisions) records.add(revision);
    assert.deepEqual([0, 1, 2, 3].map((number) => records.base(number)), [NULL_BASE, OUTSIDE_BASE, 1, 0]);
    assert.deepEqual([0, 1, 2, 3].map((number) => records.size(number)), [5, UNKNOWN_SIZE, UNKNOWN_SIZE, 9]);
    assert.deepEqual([0, 1, 2, 3].map((number) => texts.textOf(number)?.toString()), ['known', undefined, undefined, 'known too']);
    assert.equal(records.fault(1), undefined);
  });

  it('knows no text that is built on a malformed delta, and says what is wrong', () => {
    const records = new GroupRecords();
    const texts = createGroupTexts(records);
    const revisions = makeRevisions([{ text: 'abc' }, { text: 'x', base: 0, delta: hunk(2, 4, 'x') }, { text: 'y', base: 1, delta: hunk(0, 1, 'y') }]);
    for (const revision of revisions) records.add(revision);
    assert.deepEqual([0, 1, 2].map((number) => records.size(number)), [3, NO_TEXT, NO_TEXT]);
    assert.equal(texts.textOf(2), undefined);
    assert.equal(records.fault(1)?.message, 'hunk ends at 4, its base at 3');
    assert.equal(records.fault(2), undefined);
  });

  it('leaves out a revision whose node was there before', () => {
    const records = new GroupRecords();
    const [one] = makeRevisions([{ text: 'one' }]);
    assert.ok(one !== undefined);
    assert.equal(records.add(one), 0);
    assert.equal(records.add({ ...one, delta: hunk(0, 0, 'other') }), 0);
    assert.equal(records.length, 1);
    assert.equal(createGroupTexts(records).textOf(0)?.toString(), 'one');
  });

  it('forgets all with the next group', () => {
    const records = new GroupRecords();
    const texts = createGroupTexts(records);
    for (const text of ['first', 'second']) {
      const [one] = makeRevisions([{ text }]);
      assert.ok(one !== undefined);
      assert.equal(records.add(one), 0);
      assert.equal(texts.textOf(0)?.toString(), text);
      records.clear();
      texts.clear();
      assert.equal(records.find(one.node), -1);
    }
  });
});
