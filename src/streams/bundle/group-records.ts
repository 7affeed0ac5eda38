import type { Numbers } from '../../delta/memory.js';
import { grown } from '../../delta/memory.js';
import { isNullNode } from '../../formats/bundle/changegroup.js';
import type { ChangegroupRevision } from '../../formats/bundle/items.js';
import { NodeTable } from '../../formats/bundle/node-table.js';
import type { HunkFault } from '../../formats/hunks.js';
import { MAX_TEXT, patchedSize } from '../../formats/hunks.js';
import { NULL_BASE } from '../../formats/record.js';
import { ByteSpool } from './byte-spool.js';

/** In the place of a base: it did not come before in the group. */
export const OUTSIDE_BASE = -3;

/** In the place of the length of a text: nobody knows, since it is built on one from outside of the group. */
export const UNKNOWN_SIZE = -1;
/** In the place of the length of a text: there is none, since a delta that it is made of is malformed. */
export const NO_TEXT = -2;

/**
 * The revisions of one group that have passed, by number, from 0: their nodes, and what they are deltas against, in typed
 * arrays; their deltas in memory up to a limit, in a temporary file beyond it.
 */
export class GroupRecords {
  readonly #nodes = new NodeTable();
  readonly #spool: ByteSpool;
  #bases: Numbers = new Int32Array(0);
  #sizes: Numbers = new Int32Array(0);
  #lengths: Numbers = new Int32Array(0);
  #positions = new Float64Array(0);

  /** @param memoryBytes of deltas. @default 64 MiB */
  constructor(memoryBytes?: number) {
    this.#spool = new ByteSpool(memoryBytes);
  }

  /** How many there are. */
  get length(): number {
    return this.#nodes.length;
  }

  /** The number of a revision; -1 where it did not come before. */
  find(node: Uint8Array): number {
    return this.#nodes.find(node);
  }

  /**
   * Takes in the next revision of the group. One whose node was there before is left out.
   * @returns its number; that of the one before it with the same node
   * @throws RevconvertError NO_SPACE, PERMISSION, SYSTEM where the temporary file cannot be written
   */
  add({ node, base, delta }: ChangegroupRevision): number {
    const number = this.#nodes.length;
    const baseNumber = this.baseNumber(base);
    if (this.#nodes.add(node) < 0) return this.#nodes.find(node);
    this.#reserve(number + 1);
    this.#bases[number] = baseNumber;
    this.#lengths[number] = delta.length;
    this.#positions[number] = this.#spool.append(delta);
    this.#sizes[number] = this.#sizeOf(delta, baseNumber);
    return number;
  }

  /** The number of a base: of a revision that came before, NULL_BASE, or OUTSIDE_BASE. */
  baseNumber(base: Uint8Array): number {
    const found = this.#nodes.find(base);
    return found >= 0 ? found : isNullNode(base) ? NULL_BASE : OUTSIDE_BASE;
  }

  /** @returns 20 bytes, valid until `clear` */
  node(number: number): Buffer {
    return this.#nodes.node(number);
  }

  /** What the delta of a revision is against: a number, NULL_BASE, or OUTSIDE_BASE. */
  base(number: number): number {
    return this.#bases[number] ?? OUTSIDE_BASE;
  }

  /** Length of the text in bytes; UNKNOWN_SIZE; NO_TEXT. */
  size(number: number): number {
    return this.#sizes[number] ?? UNKNOWN_SIZE;
  }

  /** Length of the text that a node stands for: 0 for the null node, UNKNOWN_SIZE where it did not come before. */
  baseSize(node: Uint8Array): number {
    return this.#sizeOfBase(this.baseNumber(node));
  }

  /** Bytes of the delta. */
  deltaLength(number: number): number {
    return this.#lengths[number] ?? 0;
  }

  /** The delta of a revision, valid until `clear`. */
  delta(number: number): Buffer {
    return this.#spool.read(this.#positions[number] ?? 0, this.#lengths[number] ?? 0);
  }

  /** What is wrong with the delta of a revision; undefined where it is sound as far as can be known. */
  fault(number: number): HunkFault | undefined {
    const found = measure(this.delta(number), Math.max(this.#sizeOfBase(this.base(number)), UNKNOWN_SIZE));
    return typeof found === 'number' ? undefined : found;
  }

  /** Forgets all: the next group begins. */
  clear(): void {
    this.#nodes.clear();
    this.#spool.clear();
  }

  /** Removes the temporary file. */
  close(): void {
    this.#nodes.clear();
    this.#spool.close();
  }

  #sizeOf(delta: Uint8Array, base: number): number {
    const baseSize = this.#sizeOfBase(base);
    if (baseSize === NO_TEXT) return NO_TEXT;
    const size = measure(delta, baseSize);
    return typeof size === 'number' ? size : NO_TEXT;
  }

  #sizeOfBase(base: number): number {
    return base === NULL_BASE ? 0 : base < 0 ? UNKNOWN_SIZE : this.size(base);
  }

  #reserve(count: number): void {
    this.#bases = grown(this.#bases, count);
    this.#sizes = grown(this.#sizes, count);
    this.#lengths = grown(this.#lengths, count);
    if (this.#positions.length >= count) return;
    const positions = new Float64Array(this.#bases.length);
    positions.set(this.#positions);
    this.#positions = positions;
  }
}

function measure(delta: Uint8Array, baseSize: number): number | HunkFault {
  const size = patchedSize(delta, baseSize);
  return typeof size === 'number' && size > MAX_TEXT ? { at: 0, message: `it makes a text of ${size} bytes, which no index can say` } : size;
}
