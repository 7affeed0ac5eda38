import { NODE_WORDS } from '../../formats/hex-node.js';
import type { BytePath } from '../../formats/store-path.js';
import { splitNames } from './names.js';
import type { ChangesetColumns } from './tasks.js';
import { CUT, UNREADABLE } from './tasks.js';

/** Those of a part of the changelog. */
interface Part {
  readonly columns: ChangesetColumns;
  /** Numbers of the files of each, sorted. */
  readonly files: Int32Array;
  /** Where those of each begin. */
  readonly starts: Int32Array;
}

/** What all changesets say: the manifest that each names, and its files. */
export class Changesets {
  readonly #parts: Part[] = [];
  readonly #names: BytePath[] = [];
  readonly #numbers = new Map<BytePath, number>();
  /** The first changeset that lists a file. */
  readonly #firsts: number[] = [];

  /** Takes in those of a part of the changelog; parts come in any order. */
  add(columns: ChangesetColumns): void {
    const numbers = splitNames(columns.names).map((name) => this.#numberFor(name.slice(1)));
    const files = columns.files.map((local) => numbers[local] ?? -1);
    const count = columns.fileCounts.length;
    const starts = new Int32Array(count + 1);
    for (let i = 0; i < count; i++) {
      const start = starts[i] ?? 0;
      const end = start + Math.max(0, columns.fileCounts[i] ?? 0);
      starts[i + 1] = end;
      for (let at = start; at < end; at++) this.#seen(files[at] ?? -1, columns.from + i);
      files.subarray(start, end).sort();
    }
    this.#parts.push({ columns, files, starts });
    this.#parts.sort((a, b) => a.columns.from - b.columns.from);
  }

  /** The number of a file; -1: no changeset lists it. */
  fileNumber(path: BytePath): number {
    return this.#numbers.get(path) ?? -1;
  }

  /** Every file that changesets list, with the first one that does. */
  *listedFiles(): Generator<{ readonly path: BytePath; readonly first: number }, void, void> {
    for (const [number, path] of this.#names.entries()) yield { path, first: this.#firsts[number] ?? 0 };
  }

  /** Whether a changeset could be read. */
  isReadable(rev: number): boolean {
    const part = this.#partOf(rev);
    return part !== undefined && (part.columns.fileCounts[rev - part.columns.from] ?? UNREADABLE) !== UNREADABLE;
  }

  /** Whether a changeset stands for others that were cut away: its files are not all that belong to it. */
  isCut(rev: number): boolean {
    const part = this.#partOf(rev);
    return part?.columns.fileCounts[rev - part.columns.from] === CUT;
  }

  /** Whether there are such changesets. */
  get hasCut(): boolean {
    return this.#parts.some(({ columns }) => columns.fileCounts.includes(CUT));
  }

  /** Whether a changeset lists a file, by its number. */
  lists(rev: number, file: number): boolean {
    const part = this.#partOf(rev);
    if (part === undefined || file < 0) return false;
    const i = rev - part.columns.from;
    let low = part.starts[i] ?? 0;
    let high = part.starts[i + 1] ?? 0;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((part.files[middle] ?? 0) < file) low = middle + 1;
      else high = middle;
    }
    return low < (part.starts[i + 1] ?? 0) && part.files[low] === file;
  }

  /** Where the node of the manifest that a changeset names stands; undefined: it names none, or cannot be read. */
  manifestOf(rev: number): { readonly words: Int32Array; readonly at: number } | undefined {
    const part = this.#partOf(rev);
    if (part === undefined) return undefined;
    const words = part.columns.manifests;
    const at = (rev - part.columns.from) * NODE_WORDS;
    for (let word = 0; word < NODE_WORDS; word++) if (words[at + word] !== 0) return { words, at };
    return undefined;
  }

  #partOf(rev: number): Part | undefined {
    for (const part of this.#parts) if (rev >= part.columns.from && rev < part.columns.from + part.columns.fileCounts.length) return part;
    return undefined;
  }

  #numberFor(path: BytePath): number {
    const known = this.#numbers.get(path);
    if (known !== undefined) return known;
    const number = this.#names.push(path) - 1;
    this.#numbers.set(path, number);
    return number;
  }

  #seen(file: number, rev: number): void {
    this.#firsts[file] = Math.min(this.#firsts[file] ?? Infinity, rev);
  }
}
