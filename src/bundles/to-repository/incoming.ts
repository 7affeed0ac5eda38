import { applyDelta } from '../../delta/apply.js';
import type { Numbers } from '../../delta/memory.js';
import { grown, readInt32 } from '../../delta/memory.js';
import { RevconvertError } from '../../errors.js';
import { CHUNK_HEADER, isNullNode,NODE, REVISION_HEADER } from '../../formats/bundle/changegroup.js';
import type { WrittenVersion } from '../../formats/bundle/changegroup-version.js';
import type { Group } from '../../formats/bundle/items.js';
import { groupName } from '../../formats/bundle/items.js';
import type { NodeTable } from '../../formats/bundle/node-table.js';
import { HUNK_HEADER, malformedDelta, MAX_TEXT, patchedSize, readHunkField } from '../../formats/hunks.js';
import type { Revision } from '../../formats/record.js';
import { FULL_TEXT, NULL_BASE } from '../../formats/record.js';
import { FLAG_CENSORED, FLAG_EXTERNAL, FLAG_HAS_META, FLAG_SNAPSHOT, FLAGS_QUALITY } from '../../formats/revision-flags.js';

/** Where the fields of a revision stand in its chunk; -1: it has no such field (source: formats/bundle/changegroup.ts). */
const FIELDS: Readonly<Record<WrittenVersion, { readonly base: number; readonly link: number; readonly flags: number }>> = {
  '01': { base: -1, link: 64, flags: -1 },
  '02': { base: 64, link: 84, flags: -1 },
  '03': { base: 64, link: 84, flags: 104 },
};

const NODE_AT = CHUNK_HEADER;
const P1_AT = NODE_AT + NODE;
const P2_AT = P1_AT + NODE;

/** Some program has set it and none looks at it (Mercurial 6.3 and 7.2: copies of a changeset are known). */
const FLAG_HAS_COPIES = 0x1000;

/** Flags that a store of today's layout can hold; Mercurial refuses others, and those of narrow clones without their extension. */
const KNOWN_FLAGS = FLAG_CENSORED | FLAG_EXTERNAL | FLAG_HAS_COPIES;

/** Flags that tell of the store that a revision comes from; this one has other ways to say that there is metadata. */
const OF_THE_SENDER = FLAG_HAS_META | FLAG_SNAPSHOT | FLAGS_QUALITY;

/** A revision out of a changegroup, as it is on its way into a revlog. A class, so that all have one shape. */
export class IncomingRevision implements Revision {
  linkRev = -1;
  p1 = -1;
  p2 = -1;
  flags = 0;
  rawSize = 0;
  deltaBase = NULL_BASE;
  baseSize = 0;
  readonly position = -1;
  chunk: Uint8Array = EMPTY;
  text: Uint8Array | undefined = undefined;
  damaged = false;
  /** `chunk` is filled, out of `delta` as it came. */
  isEncoded = false;
  /** The text stands in its chunk, behind a header that was read. */
  isInPlace = false;

  constructor(
    readonly rev: number,
    readonly node: Uint8Array,
    public delta: Uint8Array,
  ) {}
}

const EMPTY = new Uint8Array(0);

/** Bytes of chunks that are taken at once, if none is larger. */
const SLICE_BYTES = 1 << 18;

/** What is known of the revisions of a group; one group after the other uses it. */
export interface GroupMemory {
  readonly nodes: NodeTable;
  /** Length of each text. */
  sizes: Numbers;
}

/**
 * Turns the chunks of one group into revisions: nodes become numbers, lengths of texts follow from the hunks.
 * The memory of the chunks is used by the revisions.
 */
export class IncomingGroup {
  /** All flags of the revisions. */
  flags = 0;
  /** What the next delta is against, in version 01; undefined: there was none yet. */
  #previous: Buffer | undefined;

  /**
   * @param changesets those that the group may be linked to; undefined: it is the changelog
   * @param memory is used from its beginning
   */
  constructor(
    private readonly group: Group,
    private readonly changesets: NodeTable | undefined,
    private readonly memory: GroupMemory,
  ) {
    memory.nodes.clear();
  }

  get nodes(): NodeTable {
    return this.memory.nodes;
  }

  /**
   * Takes some of the chunks, about {@link SLICE_BYTES}: what is done with them next finds them in the processor's cache.
   * @param bytes whole chunks, one after the other
   * @param from where the first of them begins
   * @returns where the next begins, and the revisions that were not here yet: as Mercurial does, a second one of the same node is passed over
   * @throws RevconvertError BASE_MISSING, PARENT_MISSING, DELTA_MALFORMED, REVLOG_FLAGS, CHANGEGROUP_MALFORMED, with group and node
   */
  take(bytes: Buffer, from: number, version: WrittenVersion): { readonly revisions: IncomingRevision[]; readonly end: number } {
    const revisions: IncomingRevision[] = [];
    const { buffer } = bytes;
    let at = from;
    while (at < bytes.length && at < from + SLICE_BYTES) {
      const length = readInt32(bytes, at);
      if (length < CHUNK_HEADER + REVISION_HEADER[version] || length > bytes.length - at) {
        throw new RevconvertError('CHANGEGROUP_MALFORMED', `a chunk of ${length} bytes, ${bytes.length - at} are there`, { group: groupName(this.group) });
      }
      const revision = this.#read(bytes, buffer, at, at + length, version);
      if (revision !== undefined) revisions.push(revision);
      at += length;
    }
    this.#previous &&= Buffer.from(this.#previous);
    return { revisions, end: at };
  }

  #read(bytes: Buffer, buffer: ArrayBufferLike, at: number, end: number, version: WrittenVersion): IncomingRevision | undefined {
    const { base, link, flags } = FIELDS[version];
    const previous = this.#previous;
    if (base < 0) this.#previous = bytes.subarray(at + NODE_AT, at + NODE_AT + NODE);
    const linkRev = this.changesets === undefined ? this.nodes.length : this.#find(this.changesets, bytes, at, link, 'PARENT_MISSING', 'its changeset');
    if (this.nodes.find(bytes, at + NODE_AT) >= 0) return undefined;
    if (isNullNode(bytes, at + NODE_AT)) throw this.#error('NODE_MISMATCH', bytes, at, 'the null node is that of no revision');
    const from = bytes.byteOffset + at;
    const revision = new IncomingRevision(
      this.nodes.length,
      new Uint8Array(buffer, from + NODE_AT, NODE),
      new Uint8Array(buffer, from + CHUNK_HEADER + REVISION_HEADER[version], end - at - CHUNK_HEADER - REVISION_HEADER[version]),
    );
    revision.linkRev = linkRev;
    revision.p1 = this.#find(this.nodes, bytes, at, P1_AT, 'PARENT_MISSING', 'its first parent');
    revision.p2 = this.#find(this.nodes, bytes, at, P2_AT, 'PARENT_MISSING', 'its second parent');
    if (flags >= 0) revision.flags = bytes.readUInt16BE(at + flags) & ~OF_THE_SENDER;
    if ((revision.flags & ~KNOWN_FLAGS) !== 0) throw this.#error('REVLOG_FLAGS', bytes, at, `flags 0x${revision.flags.toString(16)}, which a store of today's layout cannot hold`);
    if ((revision.flags & FLAG_EXTERNAL) !== 0 && this.group.kind !== 'filelog') throw this.#error('REVLOG_FLAGS', bytes, at, 'its text is stored elsewhere, as only those of files can be');
    this.flags |= revision.flags;
    this.#setBase(revision, this.#findBase(bytes, at, base, previous));
    this.#measure(revision, bytes, at);
    this.nodes.add(bytes, at + NODE_AT);
    return revision;
  }

  #findBase(bytes: Buffer, at: number, field: number, previous: Buffer | undefined): number {
    if (field < 0 && previous !== undefined) return isNullNode(previous, 0) ? -1 : this.nodes.find(previous, 0);
    return this.#find(this.nodes, bytes, at, field < 0 ? P1_AT : field, 'BASE_MISSING', 'what its delta is against');
  }

  #setBase(revision: IncomingRevision, base: number): void {
    revision.deltaBase = base < 0 ? NULL_BASE : base;
    revision.baseSize = base < 0 ? 0 : (this.memory.sizes[base] ?? 0);
  }

  /** Says how long its text is; a text that is there in full is taken out of its hunk. */
  #measure(revision: IncomingRevision, bytes: Buffer, at: number): void {
    const { delta, baseSize, rev } = revision;
    const size = patchedSize(delta, baseSize);
    if (typeof size !== 'number') throw this.#error('DELTA_MALFORMED', bytes, at, malformedDelta(size).message);
    if (size > MAX_TEXT) throw this.#error('DELTA_MALFORMED', bytes, at, `it makes a text of ${size} bytes; no revlog holds more than ${MAX_TEXT}`);
    revision.rawSize = size;
    this.memory.sizes = grown(this.memory.sizes, rev + 1);
    this.memory.sizes[rev] = size;
    if (revision.deltaBase !== NULL_BASE) return;
    revision.isInPlace = isOneHunk(delta);
    revision.text = revision.isInPlace ? delta.subarray(HUNK_HEADER) : madeOfNothing(delta, size);
    revision.delta = revision.text;
    revision.deltaBase = FULL_TEXT;
  }

  /** @returns -1 for the null node */
  #find(table: NodeTable, bytes: Buffer, at: number, field: number, code: 'BASE_MISSING' | 'PARENT_MISSING', what: string): number {
    const found = table.find(bytes, at + field);
    if (found >= 0 || isNullNode(bytes, at + field)) return found;
    const missing = bytes.toString('hex', at + field, at + field + NODE);
    throw this.#error(code, bytes, at, `${what} is ${missing}, which is not in the bundle before it`);
  }

  #error(code: RevconvertError['code'], bytes: Buffer, at: number, message: string): RevconvertError {
    return new RevconvertError(code, message, { group: groupName(this.group), node: bytes.toString('hex', at + NODE_AT, at + NODE_AT + NODE) });
  }
}

/** Whether a delta against the empty text is one hunk, whose insert is the text. */
const isOneHunk = (delta: Uint8Array): boolean => delta.length >= HUNK_HEADER && readHunkField(delta, 8) === delta.length - HUNK_HEADER;

function madeOfNothing(delta: Uint8Array, size: number): Uint8Array {
  const text = Buffer.allocUnsafe(size);
  applyDelta(EMPTY, delta, text);
  return text;
}
