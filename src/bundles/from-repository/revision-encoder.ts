import { RevconvertError } from '../../errors.js';
import { CHUNK_HEADER, NODE, REVISION_HEADER } from '../../formats/bundle/changegroup.js';
import type { WrittenVersion } from '../../formats/bundle/changegroup-version.js';
import { HUNK_HEADER, MAX_TEXT } from '../../formats/hunks.js';
import { FULL_TEXT } from '../../formats/record.js';
import { FLAG_CENSORED, FLAG_ELLIPSIS, FLAG_EXTERNAL, FLAG_HAS_META, FLAG_SNAPSHOT, FLAGS_QUALITY } from '../../formats/revision-flags.js';
import type { RevlogIndex } from '../../formats/revlog-index.js';
import { ENTRY_SIZE, NODE_AT } from '../../formats/revlog-index.js';
import type { ChunkMemory } from './chunk-memory.js';
import type { DeltaBatch } from './delta-batch.js';

export interface EncoderOptions {
  readonly version: WrittenVersion;
  /** For messages. */
  readonly path: string;
  /** Of the revlog. */
  readonly index: RevlogIndex;
  /** Entries of the changelog's index. */
  readonly changelog: Uint8Array;
  /** The changeset that brings a revision. */
  readonly linkOf: (rev: number) => number;
}

/** Flags that say how a revlog stores a revision, or what the order of the parents says in a changegroup. */
const FLAGS_OF_STORE = FLAG_HAS_META | FLAG_SNAPSHOT | FLAGS_QUALITY;

/**
 * Flags that a version must have room for: without them a receiver takes a text for another. A censored one is known by its
 * text, but not in version 01, where the next delta is against it: Mercurial 6.3 refuses what it wrote itself then, and 7.2
 * makes a damaged repository of it.
 */
const FLAGS_NEEDED: Readonly<Record<WrittenVersion, number>> = { '01': FLAG_ELLIPSIS | FLAG_EXTERNAL | FLAG_CENSORED, '02': FLAG_ELLIPSIS | FLAG_EXTERNAL, '03': 0 };

/** Makes the chunks of revisions, as they stand in a changegroup (formats/bundle/changegroup.ts). */
export class RevisionEncoder {
  readonly #nodes: Uint8Array;

  constructor(private readonly options: EncoderOptions) {
    this.#nodes = options.index.table;
  }

  /**
   * The chunks of a batch, one after the other.
   * @param batch in version 01, where bases are not said, they must be those that the version implies
   * @returns memory of `memory`
   * @throws RevconvertError BUNDLE_HOLDS where the version has no room for a flag; ENTRY_RANGE; LINKREV
   */
  encode({ from, bases, deltas }: DeltaBatch, memory: ChunkMemory): Uint8Array {
    const header = CHUNK_HEADER + REVISION_HEADER[this.options.version];
    let bytes = 0;
    for (let i = 0; i < deltas.length; i++) {
      const size = header + hunksSize(bases[i] ?? 0, deltas[i] ?? NOTHING);
      if (size > MAX_TEXT) throw new RevconvertError('ENTRY_RANGE', `a chunk of ${size} bytes cannot be said in a changegroup`, { path: this.options.path, rev: from + i });
      bytes += size;
    }
    const target = memory.allocate(bytes);
    let at = 0;
    for (let i = 0; i < deltas.length; i++) {
      const delta = deltas[i] ?? NOTHING;
      const base = bases[i] ?? 0;
      const end = at + header + hunksSize(base, delta);
      writeInt32(target, at, end - at);
      this.#writeHeader(from + i, base, target, at + CHUNK_HEADER);
      at += header;
      if (isWholeText(base, delta)) {
        // The text against the null revision: start and end of what it replaces are 0.
        writeInt32(target, at + 8, delta.length);
        at += HUNK_HEADER;
      }
      target.set(delta, at);
      at = end;
    }
    return target;
  }

  /** Null nodes are zeros, which is what the memory holds. */
  #writeHeader(rev: number, base: number, target: Uint8Array, at: number): void {
    const { version, index, changelog, linkOf } = this.options;
    const [p1, p2, flags] = [index.p1(rev), index.p2(rev), index.flags(rev)];
    // Metadata in front of the text is said by a first parent that is null, but where the revlog has a flag for it.
    const swaps = (flags & FLAG_HAS_META) !== 0 && index.header.filelogMeta && p2 < 0;
    this.#writeNode(rev, target, at);
    this.#writeNode(swaps ? p2 : p1, target, at + NODE);
    this.#writeNode(swaps ? p1 : p2, target, at + 2 * NODE);
    let next = at + 3 * NODE;
    if (version !== '01') {
      this.#writeNode(base, target, next);
      next += NODE;
    }
    copyNode(changelog, linkOf(rev), target, next);
    if (version === '03') {
      const sent = flags & ~FLAGS_OF_STORE;
      target[next + NODE] = sent >> 8;
      target[next + NODE + 1] = sent & 0xff;
    } else if ((flags & FLAGS_NEEDED[version]) !== 0) {
      throw new RevconvertError('BUNDLE_HOLDS', `changegroups of version ${version} have no room for its flags 0x${flags.toString(16)}: give a v2 bundle with cg.version=03`, { path: this.options.path, rev });
    }
  }

  #writeNode(rev: number, target: Uint8Array, at: number): void {
    if (rev >= 0) copyNode(this.#nodes, rev, target, at);
  }
}

const NOTHING = new Uint8Array(0);

/** A full text that is not empty takes a hunk. */
const isWholeText = (base: number, delta: Uint8Array): boolean => base === FULL_TEXT && delta.length > 0;

const hunksSize = (base: number, delta: Uint8Array): number => delta.length + (isWholeText(base, delta) ? HUNK_HEADER : 0);

function writeInt32(target: Uint8Array, at: number, value: number): void {
  target[at] = value >>> 24;
  target[at + 1] = value >>> 16;
  target[at + 2] = value >>> 8;
  target[at + 3] = value;
}

/** Twenty bytes: a loop takes less than a call. */
function copyNode(table: Uint8Array, rev: number, target: Uint8Array, at: number): void {
  const from = rev * ENTRY_SIZE + NODE_AT;
  for (let i = 0; i < NODE; i++) target[at + i] = table[from + i] ?? 0;
}
