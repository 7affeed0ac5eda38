import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

import { describe, it } from 'mocha';

import { nodesOf } from '../../src/delta/node-hash.js';
import { createSpoiltRevisions } from '../../src/delta/spoilt.js';
import type { RevconvertError } from '../../src/errors.js';
import type { Revision, RevisionBatch } from '../../src/formats/record.js';
import { stageOf } from '../../src/streams/stage.js';
import { checkNode, createCheckNodeStep } from '../../src/transforms/check-node.js';
import { collect } from '../streams/support.js';
import { makeRevision, nodeOf, NULL_NODE } from '../support/revlog-builder.js';
import { batch, errorOf } from './support.js';

/** Parents of each revision: a line, merges with the parents in either order, a second parent alone. */
const PARENTS: readonly (readonly [number, number])[] = [[-1, -1], [0, -1], [0, -1], [1, 2], [2, 1], [-1, 4], [5, 5]];

/** A history whose nodes are right; what is said of a revision replaces the truth. */
function history(lies: Readonly<Record<number, Partial<Revision>>> = {}): Revision[] {
  const nodes: Buffer[] = [];
  return PARENTS.map(([p1, p2], rev) => {
    const text = Buffer.from(`text ${rev}`);
    const node = nodeOf(nodes[p1] ?? NULL_NODE, nodes[p2] ?? NULL_NODE, text);
    nodes.push(node);
    return makeRevision({ rev, p1, p2, node, text, position: rev * 10, ...lies[rev] });
  });
}

const indexOf = (revisions: readonly Revision[]): ((rev: number) => Uint8Array) => nodesOf({ node: (rev) => revisions[rev]?.node ?? assert.fail(`no revision ${rev}`) });

const batchOf = (revisions: readonly Revision[]): RevisionBatch => batch(...revisions);

const WRONG = Buffer.alloc(20, 1);

describe('check of nodes', () => {
  const checked = (revisions: readonly Revision[]): Promise<RevconvertError> => errorOf(stageOf(createCheckNodeStep({ nodeOf: indexOf(revisions) })), batchOf(revisions));

  it('lets right nodes pass, whatever the order of the parents', () => {
    const revisions = history();
    const given = batchOf(revisions);
    assert.equal(stageOf(createCheckNodeStep({ nodeOf: indexOf(revisions) }))(given), given);
    assert.ok(given.revisions.every(({ text }) => text !== undefined));
    // The two merges have the parents the other way round, and texts of their own.
    const swapped = history().map((revision) => ({ ...revision, p1: revision.p2, p2: revision.p1 }));
    void stageOf(createCheckNodeStep({ nodeOf: indexOf(swapped) }))(batchOf(swapped));
  });

  it('knows the null revision', () => {
    const nodes = nodesOf({ node: (rev) => Buffer.alloc(20, rev) });
    assert.deepEqual([Buffer.from(nodes(-1)), Buffer.from(nodes(3))], [NULL_NODE, Buffer.alloc(20, 3)]);
  });

  const lies: readonly (readonly [string, Partial<Revision>])[] = [
    ['another text', { text: Buffer.from('text 2!') }],
    ['a text without its last byte', { text: Buffer.from('text ') }],
    ['no text at all', { text: Buffer.alloc(0) }],
    ['another node', { node: WRONG }],
    ['another parent', { p1: 1 }],
    ['one parent more', { p2: 1 }],
    ['one parent less', { p1: -1 }],
    ['flags that say nothing about the text', { text: Buffer.from('other'), flags: 0x1fff }],
  ];
  for (const [title, lie] of lies) {
    it(`refuses ${title}, with the place`, async () => {
      const error = await checked(history({ 2: lie }));
      assert.deepEqual([error.code, error.at], ['NODE_MISMATCH', { path: 'data/f.i', rev: 2, offset: 20 }]);
    });
  }

  it('names both nodes', async () => {
    const revisions = history({ 0: { node: WRONG } });
    const { message } = await checked(revisions);
    const right = nodeOf(NULL_NODE, NULL_NODE, Buffer.from('text 0')).toString('hex');
    assert.equal(message, `parents and text hash to ${right}, the node is ${WRONG.toString('hex')}`);
  });

  for (const flags of [0x8000, 0x4000, 0x2000, 0xb000]) {
    it(`lets a revision pass whose flags (${flags.toString(16)}) say that the node is of something else`, () => {
      const revisions = history({ 2: { text: Buffer.from('tombstone'), flags } });
      void stageOf(createCheckNodeStep({ nodeOf: indexOf(revisions) }))(batchOf(revisions));
    });
  }

  it('lets a revision without text pass', () => {
    const revisions = history({ 2: { text: undefined, node: WRONG }, 3: { text: undefined } });
    void stageOf(createCheckNodeStep({ nodeOf: indexOf(revisions) }))(batchOf(revisions.slice(0, 4)));
  });

  it('goes on where damage is tolerated: such a revision loses its text, and is spoilt', () => {
    const revisions = history({ 2: { text: Buffer.from('other') }, 5: { node: WRONG } });
    const errors: RevconvertError[] = [];
    const spoilt = createSpoiltRevisions();
    const given = batchOf(revisions);
    void stageOf(createCheckNodeStep({ nodeOf: indexOf(revisions), spoilt, onDamage: (error) => errors.push(error) }))(given);
    // 6 is a child of 5: hashed with the wrong node of 5 it is wrong, too.
    assert.deepEqual(errors.map(({ code, at }) => [code, at.rev, at.offset]), [['NODE_MISMATCH', 2, 20], ['NODE_MISMATCH', 5, 50], ['NODE_MISMATCH', 6, 60]]);
    assert.deepEqual(given.revisions.filter(({ text }) => text === undefined).map(({ rev }) => rev), [2, 5, 6]);
    assert.deepEqual([0, 1, 2, 3, 4, 5, 6].filter((rev) => spoilt.has(rev)), [2, 5, 6]);
    assert.ok(given.revisions.every(({ damaged }) => !damaged));
  });

  describe('as a stream', () => {
    /** Through the stream, so many revisions in a batch. */
    const through = (revisions: readonly Revision[], size: number): Promise<RevisionBatch[]> => {
      const batches: RevisionBatch[] = [];
      for (let from = 0; from < revisions.length; from += size) batches.push(batchOf(revisions.slice(from, from + size)));
      return pipeline(Readable.from(batches), checkNode(), (output: AsyncIterable<RevisionBatch>) => collect(Readable.from(output)));
    };

    for (const size of [1, 2, 100]) {
      it(`passes everything on, ${size} at a time`, async () => {
        const revisions = history();
        const batches = await through(revisions, size);
        assert.deepEqual(batches.flatMap((one) => one.revisions), revisions);
        assert.equal(batches.length, Math.ceil(revisions.length / size));
      });

      it(`fails with the place, ${size} at a time`, async () => {
        await assert.rejects(through(history({ 4: { text: Buffer.from('other') } }), size), { code: 'NODE_MISMATCH', at: { path: 'data/f.i', rev: 4, offset: 40 } });
      });
    }

    it('knows parents from long before', async () => {
      const first = makeRevision({ rev: 0, node: nodeOf(NULL_NODE, NULL_NODE, Buffer.from('0')), text: Buffer.from('0') });
      const rest = Array.from({ length: 1000 }, (_, i) => {
        const text = Buffer.from(String(i + 1));
        return makeRevision({ rev: i + 1, p1: 0, node: nodeOf(first.node, NULL_NODE, text), text });
      });
      assert.equal((await through([first, ...rest], 64)).length, 16);
    });

    it('refuses a stream that begins in the middle, or leaves one out', async () => {
      await assert.rejects(through(history().slice(1), 100), { code: 'INTERNAL', at: { path: 'data/f.i', rev: 1 } });
      await assert.rejects(through(history().filter(({ rev }) => rev !== 3), 2), { code: 'INTERNAL', at: { path: 'data/f.i', rev: 4 } });
      await assert.rejects(through([...history(), ...history()], 2), { code: 'INTERNAL', at: { path: 'data/f.i', rev: 0 } });
    });

    it('refuses what was not resolved, unless it is damaged', async () => {
      await assert.rejects(through(history({ 2: { text: undefined } }), 100), { code: 'INTERNAL', message: /not resolved/, at: { path: 'data/f.i', rev: 2 } });
      assert.equal((await through(history({ 2: { text: undefined, damaged: true } }), 100)).length, 1);
    });
  });
});
