import type { Parameter } from '../part-header.js';
import type { EntryFormat } from './entry-format.js';
import { hexNode } from './entry-format.js';

/** A marker: one changeset gave way to others. Nodes are hexadecimal: 40 digits, or 64. */
export interface ObsMarker {
  readonly predecessor: string;
  readonly successors: readonly string[];
  readonly flags: number;
  /** Parents of the predecessor; undefined: not said. */
  readonly parents: readonly string[] | undefined;
  /** When, in seconds since 1970. */
  readonly seconds: number;
  /** The time zone, in seconds west of Greenwich. */
  readonly zone: number;
  /** As it stands there. Latin-1: one character a byte. */
  readonly metadata: readonly Parameter[];
}

/**
 * The payload of an obsmarkers part, which is what a store's `obsstore` holds (source: what Mercurial 6.3 and 7.2 write, and print of it):
 * u8 version, then markers.
 *
 * Version 0:
 *
 *      0  u8   successors
 *      1  u32  length of the metadata
 *      5  u8   flags
 *      6  20 bytes predecessor, 20 bytes a successor, metadata: `name:value` with NUL between them; the date (`date`: seconds and zone)
 *         and the parents (`p1`, `p2`; `p0` alone: it is known that there are none) stand there too
 *
 * Version 1:
 *
 *      0  u32  length of the marker, with this
 *      4  f64  seconds
 *     12  i16  zone, in minutes
 *     14  u16  flags; bit 1: nodes have 32 bytes
 *     16  u8   successors
 *     17  u8   parents; 3: not said
 *     18  u8   pieces of metadata
 *     19  predecessor, successors, parents; for each piece u8 length of its name, u8 of its value; names and values
 */
export const OBSMARKER_VERSIONS: readonly EntryFormat<ObsMarker>[] = [
  { headBytes: 6, lengthOf: (head) => 26 + 20 * head.readUInt8(0) + head.readUInt32BE(1), decode: decodeVersion0 },
  { headBytes: 4, lengthOf: (head) => head.readUInt32BE(0), decode: decodeVersion1 },
];

function decodeVersion0(entry: Buffer): ObsMarker | string {
  const count = entry.readUInt8(0);
  const metadataAt = 26 + 20 * count;
  const pairs: Parameter[] = [];
  for (const text of entry.toString('latin1', metadataAt).split('\0')) {
    if (text === '') continue;
    const colon = text.indexOf(':');
    if (colon < 0) return `metadata of a marker is made of names and values, found ${JSON.stringify(text)}`;
    pairs.push({ name: text.slice(0, colon), value: text.slice(colon + 1) });
  }
  const find = (name: string): string | undefined => pairs.find((pair) => pair.name === name)?.value;
  const date = /^(-?[\d.]+(?:e[+-]?\d+)?) (-?\d+)$/.exec(find('date') ?? '0 0');
  if (date === null) return `the date of a marker is made of seconds and a time zone, found ${JSON.stringify(find('date'))}`;
  const named = ['p1', 'p2'].flatMap((name) => find(name) ?? []);
  return {
    predecessor: hexNode(entry, 6),
    successors: nodes(entry, 26, count, 20),
    flags: entry.readUInt8(5),
    parents: named.length === 0 && find('p0') === undefined ? undefined : named,
    seconds: Number(date[1]),
    zone: Number(date[2]),
    metadata: pairs.filter(({ name }) => !['date', 'p1', 'p2'].includes(name)),
  };
}

const HEAD_1 = 19;
const LONG_NODES = 2;
const NOT_SAID = 3;

function decodeVersion1(entry: Buffer): ObsMarker | string {
  if (entry.length < HEAD_1) return `a marker of ${entry.length} bytes is too short for its head`;
  const flags = entry.readUInt16BE(14);
  const [successors, parents, pieces] = [entry.readUInt8(16), entry.readUInt8(17), entry.readUInt8(18)];
  const width = (flags & LONG_NODES) !== 0 ? 32 : 20;
  const parentCount = parents === NOT_SAID ? 0 : parents;
  const successorsAt = HEAD_1 + width;
  const parentsAt = successorsAt + successors * width;
  const sizesAt = parentsAt + parentCount * width;
  let at = sizesAt + 2 * pieces;
  if (at > entry.length) return `a marker of ${entry.length} bytes is too short for ${successors} successors, ${parentCount} parents and ${pieces} pieces of metadata`;
  const metadata: Parameter[] = [];
  for (let i = 0; i < pieces; i++) {
    const valueAt = at + entry.readUInt8(sizesAt + 2 * i);
    const end = valueAt + entry.readUInt8(sizesAt + 2 * i + 1);
    metadata.push({ name: entry.toString('latin1', at, valueAt), value: entry.toString('latin1', valueAt, end) });
    at = end;
  }
  if (at !== entry.length) return `a marker of ${entry.length} bytes ends at ${at}`;
  return {
    predecessor: hexNode(entry, HEAD_1, width),
    successors: nodes(entry, successorsAt, successors, width),
    flags,
    parents: parents === NOT_SAID ? undefined : nodes(entry, parentsAt, parentCount, width),
    seconds: entry.readDoubleBE(4),
    zone: entry.readInt16BE(12) * 60,
    metadata,
  };
}

const nodes = (bytes: Buffer, at: number, count: number, width: number): string[] => Array.from({ length: count }, (_, i) => hexNode(bytes, at + i * width, width));
