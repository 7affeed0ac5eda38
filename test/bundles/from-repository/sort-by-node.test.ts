import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';

import { describe, it } from 'mocha';

import { sortByNode } from '../../../src/bundles/from-repository/sort-by-node.js';

/** Index entries of which only the node is there. */
function tableOf(nodes: readonly Buffer[]): Buffer {
  const table = Buffer.alloc(nodes.length * 64);
  for (const [rev, node] of nodes.entries()) node.copy(table, rev * 64 + 32);
  return table;
}

const plainly = (nodes: readonly Buffer[], revs: readonly number[]): number[] => [...revs].sort((a, b) => Buffer.compare(nodes[a] ?? Buffer.alloc(0), nodes[b] ?? Buffer.alloc(0)));

describe('revisions by node', () => {
  it('are sorted by all bytes, whatever they begin with', () => {
    const nodes = Array.from({ length: 2000 }, (_, i) => {
      const node = createHash('sha1').update(String(i)).digest();
      // Some begin like others: with the same four bytes, or the same eighteen.
      if (i % 3 === 0) node.fill(0xab, 0, i % 2 === 0 ? 4 : 18);
      node.writeUInt16BE((i * 617) % 2000, 18);
      return node;
    });
    const revs = nodes.map((_, rev) => (rev * 7) % nodes.length).filter((rev) => rev % 5 !== 0);
    assert.deepEqual([...sortByNode(tableOf(nodes), Int32Array.from(revs))], plainly(nodes, revs));
  });

  it('leaves what it is given as it was', () => {
    const revs = Int32Array.from([0, 1]);
    assert.deepEqual([...sortByNode(tableOf([Buffer.alloc(20, 2), Buffer.alloc(20, 1)]), revs)], [1, 0]);
    assert.deepEqual([...revs], [0, 1]);
  });
});
