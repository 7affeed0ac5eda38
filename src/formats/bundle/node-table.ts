import { randomBytes } from 'node:crypto';

import { asBuffer } from '../bytes.js';
import { NODE } from './changegroup.js';

/** A table as plain data, which crosses threads; where its memory is shared, without being copied. */
export interface NodeTableData {
  readonly nodes: Uint8Array;
  readonly slots: Int32Array;
  readonly length: number;
  readonly seed: number;
}

/**
 * Nodes, numbered in the order in which they are added, and found again: 20 bytes a node and 8 to 16 for finding it, no
 * strings. A node is hashed whole, with a number that is another in each process, so that nobody can make nodes that
 * are slow to find.
 */
export class NodeTable {
  #nodes: Buffer;
  /** Open addressing: numbers, counted from 1; 0: free. A power of two, at most half of it used. */
  #slots: Int32Array;
  #length = 0;
  #seed = SEED;

  /**
   * @param capacity nodes that there is room for at first
   * @param allocate makes its memory, zeroed
   */
  constructor(
    capacity = 64,
    private readonly allocate: (bytes: number) => Uint8Array = (bytes) => new Uint8Array(bytes),
  ) {
    const room = Math.max(capacity, 8);
    this.#nodes = asBuffer(allocate(room * NODE));
    this.#slots = this.#allocateSlots(slotsFor(room));
  }

  /** The table of another thread. Neither may add to it any more. */
  static of({ nodes, slots, length, seed }: NodeTableData): NodeTable {
    const table = new NodeTable(0);
    table.#nodes = asBuffer(nodes);
    table.#slots = slots;
    table.#length = length;
    table.#seed = seed;
    return table;
  }

  /** How many nodes there are. */
  get length(): number {
    return this.#length;
  }

  /**
   * @param bytes the node stands in them, from `at` on; bytes that are not there count as 0
   * @returns its number; -1 where it was not added
   */
  find(bytes: Uint8Array, at = 0): number {
    return (this.#slots[this.#slotOf(bytes, at)] ?? 0) - 1;
  }

  /**
   * Adds a node, which is copied.
   * @param bytes the node stands in them, from `at` on
   * @returns its number: how many there were before; -1 where it is in here already, and nothing was done
   */
  add(bytes: Uint8Array, at = 0): number {
    if (2 * (this.#length + 1) > this.#slots.length) this.#grow();
    const slot = this.#slotOf(bytes, at);
    if (this.#slots[slot] !== 0) return -1;
    const number = this.#length++;
    this.#slots[slot] = number + 1;
    for (let i = 0; i < NODE; i++) this.#nodes[number * NODE + i] = bytes[at + i] ?? 0;
    return number;
  }

  /**
   * @param number 0 to `length` - 1
   * @returns 20 bytes, valid until `clear`
   */
  node(number: number): Buffer {
    return this.#nodes.subarray(number * NODE, (number + 1) * NODE);
  }

  /** All nodes, one after the other, as they lie in the table: valid until the next `add` or `clear`. */
  get nodes(): Buffer {
    return this.#nodes.subarray(0, this.#length * NODE);
  }

  /** As plain data: see {@link NodeTable.of}. */
  get data(): NodeTableData {
    return { nodes: this.#nodes, slots: this.#slots, length: this.#length, seed: this.#seed };
  }

  /** Forgets all nodes; the memory is used again. */
  clear(): void {
    // Few nodes in a large table: their slots alone are emptied.
    if (this.#length * 8 < this.#slots.length) {
      for (let number = this.#length - 1; number >= 0; number--) this.#slots[this.#slotOf(this.#nodes, number * NODE)] = 0;
    } else {
      this.#slots.fill(0);
    }
    this.#length = 0;
  }

  /** Where a node is, or where it would go. */
  #slotOf(bytes: Uint8Array, at: number): number {
    const mask = this.#slots.length - 1;
    for (let slot = hashNode(bytes, at, this.#seed) & mask; ; slot = (slot + 1) & mask) {
      const number = (this.#slots[slot] ?? 0) - 1;
      if (number < 0 || this.#isAt(number, bytes, at)) return slot;
    }
  }

  #isAt(number: number, bytes: Uint8Array, at: number): boolean {
    const from = number * NODE;
    for (let i = 0; i < NODE; i++) if (this.#nodes[from + i] !== (bytes[at + i] ?? 0)) return false;
    return true;
  }

  #grow(): void {
    const nodes = asBuffer(this.allocate(this.#nodes.length * 2));
    nodes.set(this.#nodes);
    this.#nodes = nodes;
    this.#slots = this.#allocateSlots(this.#slots.length * 2);
    for (let number = 0; number < this.#length; number++) this.#slots[this.#slotOf(nodes, number * NODE)] = number + 1;
  }

  #allocateSlots(count: number): Int32Array {
    return new Int32Array(this.allocate(count * Int32Array.BYTES_PER_ELEMENT).buffer);
  }
}

const slotsFor = (nodes: number): number => 2 ** Math.ceil(Math.log2(2 * nodes));

const SEED = randomBytes(4).readInt32LE(0);

function hashNode(bytes: Uint8Array, at: number, seed: number): number {
  let hash = seed;
  for (let end = at + NODE; at < end; at += 4) {
    const word = ((bytes[at] ?? 0) << 24) | ((bytes[at + 1] ?? 0) << 16) | ((bytes[at + 2] ?? 0) << 8) | (bytes[at + 3] ?? 0);
    hash = Math.imul(hash ^ word, 0x9e3779b1);
    hash ^= hash >>> 15;
  }
  return hash;
}
