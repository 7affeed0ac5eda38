/** Bundles made by hand, byte by byte, from `hg help internals.bundle2` and `internals.changegroups`: nothing of src is used. */
import { createHash } from 'node:crypto';

export const NULL = Buffer.alloc(20);

export const i32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
};

const u16 = (value: number): Buffer => Buffer.from([value >> 8, value & 255]);

/** A chunk of a changegroup. */
export const chunk = (...data: readonly Buffer[]): Buffer => {
  const bytes = Buffer.concat(data);
  return Buffer.concat([i32(4 + bytes.length), bytes]);
};

export const EMPTY_CHUNK = i32(0);

/** One hunk. */
export const hunk = (from: number, to: number, text: Buffer | string): Buffer => {
  const bytes = Buffer.from(text);
  return Buffer.concat([i32(from), i32(to), i32(bytes.length), bytes]);
};

/** The node of a text with these parents. */
export const nodeOf = (p1: Buffer, p2: Buffer, text: Buffer | string): Buffer => {
  const [first, second] = p1.compare(p2) > 0 ? [p2, p1] : [p1, p2];
  return createHash('sha1').update(first).update(second).update(text).digest();
};

export interface BuiltRevision {
  readonly node: Buffer;
  readonly p1?: Buffer;
  readonly p2?: Buffer;
  readonly base?: Buffer;
  readonly link: Buffer;
  readonly flags?: number;
  readonly delta: Buffer;
}

export const revision = (version: '01' | '02' | '03' | '05', { node, p1 = NULL, p2 = NULL, base = NULL, link, flags = 0, delta }: BuiltRevision): Buffer => {
  if (version === '01') return chunk(node, p1, p2, link, delta);
  if (version === '02') return chunk(node, p1, p2, base, link, delta);
  if (version === '03') return chunk(node, p1, p2, base, link, u16(flags), delta);
  return chunk(Buffer.from([0]), node, p1, p2, base, link, u16(flags), delta);
};

/** A group: its revisions, and the empty chunk behind them. */
export const group = (...revisions: readonly Buffer[]): Buffer => Buffer.concat([...revisions, EMPTY_CHUNK]);

export const namedGroup = (name: string, ...revisions: readonly Buffer[]): Buffer => Buffer.concat([chunk(Buffer.from(name, 'latin1')), group(...revisions)]);

type Pairs = readonly (readonly [string, string])[];

/** The header of a part, its length included. */
export function partHeader(type: string, id: number, mandatory: Pairs = [], advisory: Pairs = []): Buffer {
  const pairs = [...mandatory, ...advisory];
  const header = Buffer.concat([
    Buffer.from([type.length]),
    Buffer.from(type, 'latin1'),
    i32(id),
    Buffer.from([mandatory.length, advisory.length]),
    Buffer.from(pairs.flatMap(([name, value]) => [name.length, value.length])),
    Buffer.from(pairs.map(([name, value]) => name + value).join(''), 'latin1'),
  ]);
  return Buffer.concat([i32(header.length), header]);
}

/** A payload in frames of at most so many bytes. */
export function payload(bytes: Buffer, frame = 32768): Buffer {
  const frames: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += frame) {
    const some = bytes.subarray(at, at + frame);
    frames.push(i32(some.length), some);
  }
  return Buffer.concat([...frames, i32(0)]);
}

/** A whole uncompressed bundle 2 of these parts, each its header and payload. */
export const bundle2 = (...parts: readonly Buffer[]): Buffer => Buffer.concat([Buffer.from('HG20'), i32(0), ...parts, i32(0)]);

/** A little history: two changesets, of which the second changes the one file, and all that a changegroup says of it. */
export function tinyHistory(): { readonly changesets: readonly BuiltRevision[]; readonly manifests: readonly BuiltRevision[]; readonly file: readonly BuiltRevision[]; readonly name: string } {
  const texts = ['one\n', 'one\ntwo\n'] as const;
  const f0 = nodeOf(NULL, NULL, texts[0]);
  const f1 = nodeOf(f0, NULL, texts[1]);
  const lines = [f0, f1].map((node) => `a.txt\0${node.toString('hex')}\n`) as [string, string];
  const m0 = nodeOf(NULL, NULL, lines[0]);
  const m1 = nodeOf(m0, NULL, lines[1]);
  const changes = [m0, m1].map((node, i) => `${node.toString('hex')}\nsomebody <s@example.org>\n${i} 0\na.txt\n\nchange ${i}`) as [string, string];
  const c0 = nodeOf(NULL, NULL, changes[0]);
  const c1 = nodeOf(c0, NULL, changes[1]);
  return {
    changesets: [
      { node: c0, link: c0, delta: hunk(0, 0, changes[0]) },
      { node: c1, p1: c0, link: c1, delta: hunk(0, 0, changes[1]) },
    ],
    manifests: [
      { node: m0, link: c0, delta: hunk(0, 0, lines[0]) },
      { node: m1, p1: m0, base: m0, link: c1, delta: hunk(0, lines[0].length, lines[1]) },
    ],
    file: [
      { node: f0, link: c0, delta: hunk(0, 0, texts[0]) },
      { node: f1, p1: f0, base: f0, link: c1, delta: hunk(4, 4, 'two\n') },
    ],
    name: 'a.txt',
  };
}

/** That history as a changegroup of version 02 or 03. */
export function tinyChangegroup(version: '02' | '03' = '02'): Buffer {
  const { changesets, manifests, file, name } = tinyHistory();
  const write = (one: BuiltRevision): Buffer => revision(version, one);
  return Buffer.concat([
    group(...changesets.map(write)),
    group(...manifests.map(write)),
    ...(version === '03' ? [EMPTY_CHUNK] : []),
    namedGroup(name, ...file.map(write)),
    EMPTY_CHUNK,
  ]);
}

/** The same as a changegroup of version 01: each delta against the revision before, in which the second changeset replaces the text of the first. */
export function tinyChangegroup01(): Buffer {
  const { changesets, manifests, file, name } = tinyHistory();
  const [c0, c1] = changesets as [BuiltRevision, BuiltRevision];
  const previous = { ...c1, delta: Buffer.concat([i32(0), i32(c0.delta.length - 12), c1.delta.subarray(8)]) };
  const write = (one: BuiltRevision): Buffer => revision('01', one);
  return Buffer.concat([group(write(c0), write(previous)), group(...manifests.map(write)), namedGroup(name, ...file.map(write)), EMPTY_CHUNK]);
}

/** It as a bundle 2. */
export const tinyBundle = (version: '02' | '03' = '02'): Buffer =>
  bundle2(Buffer.concat([partHeader('CHANGEGROUP', 0, [['version', version]], [['nbchanges', '2']]), payload(tinyChangegroup(version))]));

/** Bytes in slices of one size, the last one shorter. */
export async function* slices(bytes: Buffer, size: number): AsyncGenerator<Buffer, void, void> {
  await Promise.resolve();
  for (let at = 0; at < bytes.length; at += size) yield Buffer.from(bytes.subarray(at, at + size));
}
