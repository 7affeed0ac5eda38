import { IntCollector, NameTable } from './names.js';
import type { References } from './tasks.js';
import { REFERENCE_INTS } from './tasks.js';

/** The tag of a file's name, and that of a folder's. */
export const TAG_FILE = 'f'.charCodeAt(0);
export const TAG_FOLDER = 't'.charCodeAt(0);

/** Where the five numbers of the node stand in an entry. */
export const REFERENCE_NODE = 3;

/** Gathers what the texts of a task name in other revlogs. */
export class ReferenceCollector {
  readonly #names = new NameTable();
  readonly #entries = new IntCollector();

  /**
   * Makes an entry, whose node is to be written by the caller: the five numbers from `at` + {@link REFERENCE_NODE} on.
   * @param part the revlog that names it, by its place in the task
   * @param isSure false: the text is not sound, or not known to be
   */
  add(tag: number, bytes: Buffer, from: number, to: number, part: number, rev: number, isSure: boolean): { readonly ints: Int32Array; readonly at: number } {
    const name = this.#names.numberOf(tag, bytes, from, to);
    const entry = this.#entries.extend(REFERENCE_INTS);
    entry.ints[entry.at] = name;
    entry.ints[entry.at + 1] = part;
    entry.ints[entry.at + 2] = isSure ? rev : -1 - rev;
    return entry;
  }

  /** How many entries there are. */
  get count(): number {
    return this.#entries.length / REFERENCE_INTS;
  }

  /** Says of the entries behind the first `count` that they are not to be relied on. */
  distrust(count: number): void {
    const { ints, at: end } = this.#entries.extend(0);
    for (let at = count * REFERENCE_INTS + 2; at < end; at += REFERENCE_INTS) {
      const rev = ints[at] ?? 0;
      if (rev >= 0) ints[at] = -1 - rev;
    }
  }

  /** Takes the last entry away. */
  drop(): void {
    this.#entries.shrink(REFERENCE_INTS);
  }

  finish(): References {
    return { names: this.#names.toBytes(), entries: this.#entries.toInts() };
  }
}
