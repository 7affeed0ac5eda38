import { NODE } from '../../formats/bundle/changegroup.js';
import type { ChangegroupRevision } from '../../formats/bundle/items.js';

/** What a verification has to know of the revisions of a group, beside what `GroupRecords` knows, by their number. */
export class GroupColumns {
  /** 40 bytes a revision: its parents. */
  #parents = Buffer.alloc(0);
  #flags = new Uint16Array(0);
  #offsets = new Float64Array(0);

  get parents(): Buffer {
    return this.#parents;
  }

  set(number: number, { p1, p2, flags, offset }: ChangegroupRevision): void {
    if (number >= this.#flags.length) this.#grow(Math.max(64, number * 2));
    this.#parents.set(p1, number * 2 * NODE);
    this.#parents.set(p2, (number * 2 + 1) * NODE);
    this.#flags[number] = flags;
    this.#offsets[number] = offset;
  }

  flags(number: number): number {
    return this.#flags[number] ?? 0;
  }

  offset(number: number): number {
    return this.#offsets[number] ?? -1;
  }

  #grow(count: number): void {
    const parents = Buffer.allocUnsafeSlow(count * 2 * NODE);
    const flags = new Uint16Array(count);
    const offsets = new Float64Array(count);
    parents.set(this.#parents);
    flags.set(this.#flags);
    offsets.set(this.#offsets);
    this.#parents = parents;
    this.#flags = flags;
    this.#offsets = offsets;
  }
}
