/**
 * Tiny revlogs for tests, true ones and lying ones. Shares no code with what is tested: every byte is written here.
 * Each revision is described by its text; any field of its entry can be replaced by a lie.
 */
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';

import type { Revision } from '../../src/formats/record.js';

/** How a chunk is stored. 'raw' is the data itself, which only a leading NUL byte makes legal. */
export type StoreAs = 'zlib' | 'zstd' | 'lz4' | 'u' | 'raw';

export interface RevisionSpec {
  readonly text: Uint8Array;
  /** What the chunk applies to. @default full text for revision 0, the revision before for the others */
  readonly base?: number | 'full' | 'null';
  /** @default zlib; nothing where the data is empty */
  readonly store?: StoreAs;
  /** @default the revision before */
  readonly p1?: number;
  /** @default -1 */
  readonly p2?: number;
  /** @default the revision */
  readonly linkRev?: number;
  readonly flags?: number;
  /** Bytes before the chunk that belong to nobody. */
  readonly gap?: number;
  // what replaces the truth
  readonly delta?: Uint8Array;
  readonly chunk?: Uint8Array;
  readonly offset?: number;
  readonly chunkLength?: number;
  readonly rawSize?: number;
  readonly baseField?: number;
  readonly node?: Uint8Array;
  /** Version 0 only, where parents are nodes. */
  readonly p1Node?: Uint8Array;
  readonly p2Node?: Uint8Array;
}

export interface RevlogLayout {
  readonly version: 0 | 1;
  readonly inline: boolean;
  readonly generaldelta: boolean;
  /** Instead of the word that says the above. */
  readonly headerWord?: number;
}

export interface BuiltRevlog {
  readonly index: Buffer;
  /** Empty where the revlog is inline. */
  readonly data: Buffer;
  /** Each chunk as stored. */
  readonly chunks: readonly Buffer[];
  /** Each chunk decompressed. */
  readonly deltas: readonly Buffer[];
  readonly nodes: readonly Buffer[];
  /** Offset of each chunk as its entry says. */
  readonly offsets: readonly number[];
}

/** Every version and layout that is read. */
export const LAYOUTS: Readonly<Record<string, RevlogLayout>> = {
  'version 0': { version: 0, inline: false, generaldelta: false },
  'version 1, inline': { version: 1, inline: true, generaldelta: false },
  'version 1, split': { version: 1, inline: false, generaldelta: false },
  'version 1, inline, generaldelta': { version: 1, inline: true, generaldelta: true },
  'version 1, split, generaldelta': { version: 1, inline: false, generaldelta: true },
};

export const INLINE: RevlogLayout = { version: 1, inline: true, generaldelta: true };
export const SPLIT: RevlogLayout = { version: 1, inline: false, generaldelta: true };
export const V0: RevlogLayout = { version: 0, inline: false, generaldelta: false };

export const NULL_NODE = Buffer.alloc(20);

/** SHA-1 of the parents, the lesser first, and the text. */
export function nodeOf(p1: Uint8Array, p2: Uint8Array, text: Uint8Array): Buffer {
  const [least, most] = Buffer.compare(p1, p2) <= 0 ? [p1, p2] : [p2, p1];
  return createHash('sha1').update(least).update(most).update(text).digest();
}

const i32 = (...values: readonly number[]): Buffer => {
  const bytes = Buffer.alloc(4 * values.length);
  values.forEach((value, i) => bytes.writeInt32BE(value, 4 * i));
  return bytes;
};

/** One hunk; `length` is a lie where it is given. */
export const hunk = (start: number, end: number, insert: Uint8Array | string, length?: number): Buffer => {
  const bytes = Buffer.from(insert);
  return Buffer.concat([i32(start, end, length ?? bytes.length), bytes]);
};

/** The reference: applies hunks that are known to be valid. */
export function applyHunks(base: Uint8Array, delta: Uint8Array): Buffer {
  const hunks = Buffer.from(delta);
  const parts: Uint8Array[] = [];
  let from = 0;
  for (let at = 0; at < hunks.length; ) {
    const insertEnd = at + 12 + hunks.readInt32BE(at + 8);
    parts.push(base.subarray(from, hunks.readInt32BE(at)), hunks.subarray(at + 12, insertEnd));
    from = hunks.readInt32BE(at + 4);
    at = insertEnd;
  }
  return Buffer.concat([...parts, base.subarray(from)]);
}

/** One hunk for what differs between the common beginning and the common end; nothing where all is equal. */
export function diff(base: Uint8Array, text: Uint8Array): Buffer {
  const least = Math.min(base.length, text.length);
  let start = 0;
  while (start < least && base[start] === text[start]) start++;
  let tail = 0;
  while (tail < least - start && base[base.length - 1 - tail] === text[text.length - 1 - tail]) tail++;
  const insert = text.subarray(start, text.length - tail);
  return start === base.length - tail && insert.length === 0 ? Buffer.alloc(0) : hunk(start, base.length - tail, insert);
}

/** A zstd frame of one raw block, by hand. @param data up to 255 bytes */
function zstdFrame(data: Uint8Array): Buffer {
  const block = Buffer.alloc(3);
  block.writeUIntLE((data.length << 3) | 1, 0, 3);
  return Buffer.concat([Buffer.from('28b52ffd20', 'hex'), Buffer.of(data.length), block, data]);
}

/** '4', the length, and an LZ4 block that is all literals, by hand. */
function lz4Chunk(data: Uint8Array): Buffer {
  const head = Buffer.alloc(5);
  head.write('4', 'latin1');
  head.writeUInt32LE(data.length, 1);
  if (data.length < 15) return Buffer.concat([head, Buffer.of(data.length << 4), data]);
  const rest = data.length - 15;
  return Buffer.concat([head, Buffer.of(0xf0), Buffer.alloc(Math.floor(rest / 255), 255), Buffer.of(rest % 255), data]);
}

/** The chunk that holds some data. */
export function storeChunk(data: Uint8Array, as: StoreAs = 'zlib'): Buffer {
  if (data.length === 0) return Buffer.alloc(0);
  if (as === 'zlib') return deflateSync(data);
  if (as === 'zstd') return zstdFrame(data);
  if (as === 'lz4') return lz4Chunk(data);
  return as === 'u' ? Buffer.concat([Buffer.from('u'), data]) : Buffer.from(data);
}

export interface EntryFields {
  readonly offset: number;
  readonly flags: number;
  readonly chunkLength: number;
  readonly rawSize: number;
  readonly baseField: number;
  readonly linkRev: number;
  readonly p1: number;
  readonly p2: number;
  readonly node: Uint8Array;
}

/** The 64 bytes of a version 1 entry. */
export function entryV1(fields: EntryFields): Buffer {
  const offsetAndFlags = Buffer.alloc(8);
  offsetAndFlags.writeBigUInt64BE((BigInt(fields.offset) << 16n) | BigInt(fields.flags));
  return Buffer.concat([
    offsetAndFlags,
    i32(fields.chunkLength, fields.rawSize, fields.baseField, fields.linkRev, fields.p1, fields.p2),
    fields.node,
    Buffer.alloc(12),
  ]);
}

function entryV0(fields: EntryFields, p1Node: Uint8Array, p2Node: Uint8Array): Buffer {
  const offset = Buffer.alloc(4);
  offset.writeUInt32BE(fields.offset);
  return Buffer.concat([offset, i32(fields.chunkLength, fields.baseField, fields.linkRev), p1Node, p2Node, fields.node]);
}

const headerWordOf = ({ version, inline, generaldelta, headerWord }: RevlogLayout): number =>
  headerWord ?? version + (inline ? 0x10000 : 0) + (generaldelta ? 0x20000 : 0);

/** What a revision stores, and the base field that says so. */
function deltaOfSpec(spec: RevisionSpec, rev: number, texts: readonly Uint8Array[]): { delta: Buffer; base: number } {
  const base = spec.base ?? (rev === 0 ? 'full' : rev - 1);
  if (base === 'full') return { delta: Buffer.from(spec.text), base: rev };
  if (base === 'null') return { delta: diff(Buffer.alloc(0), spec.text), base: -1 };
  return { delta: diff(texts[base] ?? Buffer.alloc(0), spec.text), base };
}

/** The fields that depend on nothing but the description. */
const ownFields = ({ p1, p2, linkRev, flags, rawSize, text }: RevisionSpec, rev: number): Omit<EntryFields, 'offset' | 'chunkLength' | 'baseField' | 'node'> => ({
  p1: p1 ?? rev - 1,
  p2: p2 ?? -1,
  linkRev: linkRev ?? rev,
  flags: flags ?? 0,
  rawSize: rawSize ?? text.length,
});

/** Builds a revlog; without generaldelta a delta is against the revision before, and the base field is the chain's start. */
export function buildRevlog(layout: RevlogLayout, specs: readonly RevisionSpec[]): BuiltRevlog {
  const texts = specs.map(({ text }) => text);
  const entries: Buffer[] = [];
  const [chunks, deltas, nodes, offsets]: [Buffer[], Buffer[], Buffer[], number[]] = [[], [], [], []];
  const data: Buffer[] = [];
  let end = 0;
  let chainStart = -1;
  specs.forEach((spec, rev) => {
    const truth = deltaOfSpec(spec, rev, texts);
    if (truth.base === rev || truth.base === -1) chainStart = truth.base;
    const own = ownFields(spec, rev);
    const [p1Node, p2Node] = [spec.p1Node ?? nodes[own.p1] ?? NULL_NODE, spec.p2Node ?? nodes[own.p2] ?? NULL_NODE];
    const delta = Buffer.from(spec.delta ?? truth.delta);
    const chunk = Buffer.from(spec.chunk ?? storeChunk(delta, spec.store));
    const gap = Buffer.alloc(spec.gap ?? 0, 'GAP');
    const fields: EntryFields = {
      ...own,
      offset: spec.offset ?? end + gap.length,
      chunkLength: spec.chunkLength ?? chunk.length,
      baseField: spec.baseField ?? (layout.generaldelta ? truth.base : chainStart),
      node: spec.node ?? nodeOf(p1Node, p2Node, spec.text),
    };
    const entry = layout.version === 0 ? entryV0(fields, p1Node, p2Node) : entryV1(fields);
    if (rev === 0) entry.writeUInt32BE(headerWordOf(layout));
    entries.push(entry);
    chunks.push(chunk);
    deltas.push(delta);
    nodes.push(Buffer.from(fields.node));
    offsets.push(fields.offset);
    data.push(Buffer.concat([gap, chunk]));
    end += gap.length + chunk.length;
  });
  const index = Buffer.concat(layout.inline ? entries.flatMap((entry, rev) => [entry, ...data.slice(rev, rev + 1)]) : entries);
  return { index, data: layout.inline ? Buffer.alloc(0) : Buffer.concat(data), chunks, deltas, nodes, offsets };
}

/** Writes a revlog as `<name>.i` and, where it has data of its own, `<name>.d`. */
export function placeRevlog(folder: string, { index, data }: BuiltRevlog, name = 'f'): { indexFile: string; dataFile: string } {
  const files = { indexFile: join(folder, `${name}.i`), dataFile: join(folder, `${name}.d`) };
  writeFileSync(files.indexFile, index);
  if (data.length > 0) writeFileSync(files.dataFile, data);
  return files;
}

/** Texts that change a little from one to the next; some are empty, some equal the one before. */
export function evolvingTexts(count: number, lines = 20): Buffer[] {
  const texts: Buffer[] = [];
  const current = Array.from({ length: lines }, (_, i) => `line ${i}`);
  for (let rev = 0; rev < count; rev++) {
    if (rev % 11 !== 5) current[(rev * 7) % lines] = `line changed in revision ${rev}, ${'x'.repeat(rev % 40)}`;
    texts.push(rev % 13 === 9 ? Buffer.alloc(0) : Buffer.from(`${current.join('\n')}\n`));
  }
  return texts;
}

/** A history that has everything that is legal: merges, odd parents, flags, gaps, every kind of base that the layout can say. */
export function richHistory({ version, inline, generaldelta }: RevlogLayout, count = 60): RevisionSpec[] {
  return evolvingTexts(count).map((text, rev): RevisionSpec => {
    const flags = version === 1 && rev % 10 === 4 ? 0x1000 : 0;
    const spec: RevisionSpec = { text, linkRev: 2 * rev + 1, flags, gap: rev % 12 === 2 && !inline ? 5 : 0 };
    if (rev % 8 === 3) return { ...spec, base: 'full', store: 'u', p1: rev - 3, p2: rev - 2 };
    if (rev % 8 === 6) return { ...spec, p1: -1, p2: rev - 1, ...(generaldelta ? { base: rev - 4 } : {}) };
    if (rev % 16 === 8 && generaldelta) return { ...spec, base: 'null' };
    if (rev % 9 === 7) return { ...spec, store: 'u', ...(version === 1 ? { rawSize: -1 } : {}) };
    return spec;
  });
}

/** A record as a stage may be given it; what is not said is harmless. */
export function makeRevision(fields: Partial<Revision> & { readonly rev: number }): Revision {
  return {
    node: nodeOf(NULL_NODE, NULL_NODE, Buffer.from(`revision ${fields.rev}`)),
    p1: fields.rev - 1,
    p2: -1,
    linkRev: fields.rev,
    flags: 0,
    rawSize: -1,
    deltaBase: -1,
    baseSize: 0,
    position: 0,
    chunk: new Uint8Array(0),
    delta: undefined,
    text: undefined,
    damaged: false,
    ...fields,
  };
}
