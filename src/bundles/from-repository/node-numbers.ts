import { asBuffer } from '../../formats/bytes.js';
import type { RevlogIndex } from '../../formats/revlog-index.js';
import { ENTRY_SIZE, NODE_AT, NODE_BYTES } from '../../formats/revlog-index.js';

/** The revisions of a revlog by number and by node. */
export class NodeNumbers {
  readonly #table: Buffer;
  #revs: Map<string, number> | undefined;

  constructor(private readonly index: RevlogIndex) {
    this.#table = asBuffer(index.table);
  }

  get length(): number {
    return this.index.length;
  }

  /** 20 bytes, one character each. */
  nodeOf(rev: number): string {
    const at = rev * ENTRY_SIZE + NODE_AT;
    return this.#table.toString('latin1', at, at + NODE_BYTES);
  }

  /** @param node 20 bytes, one character each @returns undefined where there is none of this node */
  revOf(node: string): number | undefined {
    this.#revs ??= new Map(Array.from({ length: this.length }, (_, rev) => [this.nodeOf(rev), rev]));
    return this.#revs.get(node);
  }

  parentsOf(rev: number): readonly [number, number] {
    return [this.index.p1(rev), this.index.p2(rev)];
  }
}
