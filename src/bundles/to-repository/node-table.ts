import { randomFillSync } from 'node:crypto';

import { readInt32 } from '../../delta/memory.js';
import type { NodeColumn } from '../../delta/node-hash.js';
import { NODE } from '../../formats/bundle/changegroup.js';
import { asBuffer } from '../../formats/bytes.js';

/** A table as plain data; where its memory is shared it crosses threads without being copied. It does not change any more. */
export interface SharedNodes {
  readonly nodes: Uint8Array;
  readonly slots: Int32Array;
  readonly multipliers: Int32Array;
  readonly length: number;
}

/** 32-bit numbers of a node. */
const WORDS = NODE / 4;

/**
 * Multipliers of the hash, one for each word of a node. Odd, and other ones in each process: nodes of a bundle are what its
 * maker wrote, and must not be able to meet in one slot.
 */
const MULTIPLIERS = randomFillSync(new Int32Array(WORDS)).map((value) => value | 1);

const FIRST_CAPACITY = 64;

/** To clear more slots would cost more than to make new ones. */
const MAX_KEPT_SLOTS = 1 << 12;

/** Revisions by their nodes, numbered in the order in which they came: open addressing over one buffer, no strings. */
export class NodeTable {
  #nodes: Buffer;
  /** 1 more than the number; 0: free. At most half are taken. */
  #slots: Int32Array;
  #multipliers: Int32Array;
  #length = 0;

  /**
   * @param allocate makes its memory, zeroed
   * @param given the table of another thread; nothing may be added to it
   */
  constructor(
    private readonly allocate: (bytes: number) => Uint8Array = (bytes) => new Uint8Array(bytes),
    given?: SharedNodes,
  ) {
    this.#nodes = asBuffer(given?.nodes ?? allocate(FIRST_CAPACITY * NODE));
    this.#slots = given?.slots ?? this.#allocateSlots(FIRST_CAPACITY * 2);
    this.#multipliers = given?.multipliers ?? MULTIPLIERS;
    this.#length = given?.length ?? 0;
  }

  get length(): number {
    return this.#length;
  }

  /** @returns the number of the node that stands in `bytes` from `at` on; -1: it is not here */
  find(bytes: Buffer, at: number): number {
    const slots = this.#slots;
    const mask = slots.length - 1;
    for (let slot = this.#slotFor(bytes, at); ; slot = (slot + 1) & mask) {
      const rev = (slots[slot] ?? 0) - 1;
      if (rev < 0 || this.#isAt(rev, bytes, at)) return rev;
    }
  }

  /** Adds a node that is not here. @returns its number */
  add(bytes: Buffer, at: number): number {
    const rev = this.#length++;
    if (this.#nodes.length < this.#length * NODE) this.#grow();
    const nodes = this.#nodes;
    // So few bytes are copied faster in a loop than by a call.
    for (let i = 0, to = rev * NODE; i < NODE; i++) nodes[to + i] = bytes[at + i] ?? 0;
    this.#enter(rev);
    return rev;
  }

  /** The node of a revision, as it lies in the table. */
  node(rev: number): Buffer {
    return this.#nodes.subarray(rev * NODE, (rev + 1) * NODE);
  }

  /** All nodes, as they lie in the table; valid until the next `add`. */
  get column(): NodeColumn {
    return { table: this.#nodes, at: 0, stride: NODE };
  }

  /** Forgets all nodes: those of another revlog come next. Memory is used again, where there is not too much of it. */
  clear(): void {
    this.#length = 0;
    if (this.#slots.length > MAX_KEPT_SLOTS) {
      this.#nodes = asBuffer(this.allocate(FIRST_CAPACITY * NODE));
      this.#slots = this.#allocateSlots(FIRST_CAPACITY * 2);
    } else {
      this.#slots.fill(0);
    }
  }

  /** The table for other threads. Nothing may be added any more. */
  share(): SharedNodes {
    return { nodes: this.#nodes, slots: this.#slots, multipliers: this.#multipliers, length: this.#length };
  }

  /** Where the search for a node begins: the upper bits of its hash, which depend on all of its bits. */
  #slotFor(bytes: Buffer, at: number): number {
    const multipliers = this.#multipliers;
    let hash = 0;
    for (let word = 0; word < WORDS; word++) hash = (hash + Math.imul(readInt32(bytes, at + 4 * word), multipliers[word] ?? 1)) | 0;
    return hash >>> (Math.clz32(this.#slots.length) + 1);
  }

  #isAt(rev: number, bytes: Buffer, at: number): boolean {
    const own = this.#nodes;
    const from = rev * NODE;
    for (let i = 0; i < NODE; i++) if (own[from + i] !== bytes[at + i]) return false;
    return true;
  }

  #enter(rev: number): void {
    const slots = this.#slots;
    const mask = slots.length - 1;
    let slot = this.#slotFor(this.#nodes, rev * NODE);
    while (slots[slot] !== 0) slot = (slot + 1) & mask;
    slots[slot] = rev + 1;
  }

  #grow(): void {
    const capacity = (this.#nodes.length / NODE) * 2;
    const nodes = asBuffer(this.allocate(capacity * NODE));
    nodes.set(this.#nodes);
    this.#nodes = nodes;
    this.#slots = this.#allocateSlots(capacity * 2);
    for (let rev = 0; rev < this.#length - 1; rev++) this.#enter(rev);
  }

  #allocateSlots(count: number): Int32Array {
    return new Int32Array(this.allocate(count * Int32Array.BYTES_PER_ELEMENT).buffer);
  }
}

/** Whether the null node stands there. */
export function isNullNode(bytes: Buffer, at: number): boolean {
  for (let i = 0; i < NODE; i++) if (bytes[at + i] !== 0) return false;
  return true;
}
