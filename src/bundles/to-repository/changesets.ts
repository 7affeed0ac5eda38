import { readInt32 } from '../../delta/memory.js';
import { CHUNK_HEADER, NODE } from '../../formats/bundle/changegroup.js';
import type { NodeTableData } from '../../formats/bundle/node-table.js';
import { NodeTable } from '../../formats/bundle/node-table.js';
import { sharedMemory } from '../../repository/shared-memory.js';

const NODE_AT = CHUNK_HEADER;

/** The changesets of a bundle, by number and by node, and their parents. They are numbered as they come, each node once. */
export class Changesets {
  readonly #nodes = new NodeTable(undefined, sharedMemory);
  /** Two for each: numbers, -1 where there is none. */
  #parents = new Int32Array(128);

  get length(): number {
    return this.#nodes.length;
  }

  /** @param bytes whole chunks of a changegroup of version 01, 02 or 03: they begin alike */
  add(bytes: Buffer): void {
    for (let at = 0; at + NODE_AT + 3 * NODE <= bytes.length; ) {
      this.#addOne(bytes, at + NODE_AT);
      const length = readInt32(bytes, at);
      // Whoever builds the changelog says what is wrong with it.
      if (length <= CHUNK_HEADER) return;
      at += length;
    }
  }

  /** @param at where node, p1 and p2 stand */
  #addOne(bytes: Buffer, at: number): void {
    if (this.#nodes.find(bytes, at) >= 0) return;
    const p1 = this.#nodes.find(bytes, at + NODE);
    const p2 = this.#nodes.find(bytes, at + 2 * NODE);
    const rev = this.#nodes.add(bytes, at);
    if (2 * rev + 1 >= this.#parents.length) {
      const larger = new Int32Array(this.#parents.length * 2);
      larger.set(this.#parents);
      this.#parents = larger;
    }
    this.#parents[2 * rev] = p1;
    this.#parents[2 * rev + 1] = p2;
  }

  /** @returns the number of a changeset; -1: it is not here */
  find(node: Buffer): number {
    return this.#nodes.find(node);
  }

  /** The node of a changeset in hexadecimal. */
  hex(rev: number): string {
    return this.#nodes.node(rev).toString('hex');
  }

  /** A parent of a changeset: the first for 0, the second for 1; -1: it has none. */
  parent(rev: number, which: 0 | 1): number {
    return this.#parents[2 * rev + which] ?? -1;
  }

  /** All nodes for other threads. Nothing may be added any more. */
  share(): NodeTableData {
    return this.#nodes.data;
  }
}
