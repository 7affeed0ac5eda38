import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';

import { describe, it } from 'mocha';

import { NodeTable } from '../../../src/formats/bundle/node-table.js';

const nodeOf = (number: number): Buffer => createHash('sha1').update(`${number}`).digest();

describe('NodeTable', () => {
  it('numbers nodes in the order in which they are added, and finds them', () => {
    const table = new NodeTable();
    for (let i = 0; i < 10_000; i++) assert.equal(table.add(nodeOf(i)), i);
    assert.equal(table.length, 10_000);
    for (let i = 0; i < 10_000; i++) {
      assert.equal(table.find(nodeOf(i)), i);
      assert.deepEqual(table.node(i), nodeOf(i));
    }
    assert.equal(table.find(nodeOf(10_000)), -1);
    assert.equal(table.find(Buffer.alloc(20)), -1);
  });

  it('says that a node is there already, and keeps its number', () => {
    const table = new NodeTable();
    table.add(nodeOf(1));
    table.add(nodeOf(2));
    assert.equal(table.add(nodeOf(1)), -1);
    assert.equal(table.length, 2);
    assert.equal(table.find(nodeOf(1)), 0);
  });

  it('takes nodes from the middle of other bytes', () => {
    const table = new NodeTable();
    const bytes = Buffer.concat([Buffer.from('abc'), nodeOf(7), nodeOf(8)]);
    assert.equal(table.add(bytes, 3), 0);
    assert.equal(table.find(nodeOf(7)), 0);
    assert.equal(table.find(bytes, 23), -1);
  });

  it('keeps a copy', () => {
    const table = new NodeTable();
    const node = nodeOf(1);
    table.add(node);
    node.fill(0);
    assert.deepEqual(table.node(0), nodeOf(1));
  });

  it('can hold the null node, and nodes that differ in their last byte', () => {
    const table = new NodeTable();
    const nodes = Array.from({ length: 256 }, (_, i) => Buffer.concat([Buffer.alloc(19), Buffer.from([i])]));
    assert.deepEqual(nodes.map((node) => table.add(node)), nodes.map((_, i) => i));
    assert.deepEqual(nodes.map((node) => table.find(node)), nodes.map((_, i) => i));
  });

  it('finds in another thread what was added in this one', () => {
    const table = new NodeTable(8, (bytes) => new Uint8Array(new SharedArrayBuffer(bytes)));
    for (let i = 0; i < 1000; i++) table.add(nodeOf(i));
    const other = NodeTable.of({ ...table.data, seed: table.data.seed });
    assert.equal(other.length, 1000);
    for (let i = 0; i < 1000; i++) assert.equal(other.find(nodeOf(i)), i);
    assert.equal(other.find(nodeOf(1000)), -1);
    assert.ok(table.data.nodes.buffer instanceof SharedArrayBuffer && table.data.slots.buffer instanceof SharedArrayBuffer);
    assert.deepEqual(table.nodes.subarray(20, 40), nodeOf(1));
  });

  for (const count of [3, 1000]) {
    it(`forgets ${count} nodes, and begins anew`, () => {
      const table = new NodeTable(500);
      for (let i = 0; i < count; i++) table.add(nodeOf(i));
      table.clear();
      assert.equal(table.length, 0);
      for (let i = 0; i < count; i++) assert.equal(table.find(nodeOf(i)), -1);
      assert.equal(table.add(nodeOf(5)), 0);
      assert.equal(table.find(nodeOf(5)), 0);
    });
  }
});
