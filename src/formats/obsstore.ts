import { RevconvertError } from '../errors.js';
import { asBuffer } from './bytes.js';

/**
 * Obsolescence markers, as `store/obsstore` and the part `obsmarkers` of a bundle hold them: a byte for the version, then
 * markers (source: what Mercurial 6.3 and 7.2 write). All numbers are big-endian.
 *
 *     version 1   0  u32  bytes of the marker, these four included
 *                 4  f64  seconds, i16 minutes of the time zone
 *                14  u16  flags; 2: nodes have 32 bytes
 *                16  u8   successors, u8 parents (3: they are not recorded), u8 pairs of metadata
 *                19  the node that is obsolete, the successors, the parents
 *                    u8 length of the key, u8 length of the value, for each pair; then keys and values
 *
 *     version 0   0  u8   successors
 *                 1  u32  bytes of metadata
 *                 5  u8   flags
 *                 6  the node that is obsolete, the successors
 *                    metadata: `key:value`, NUL between pairs; parents are p1 and p2, in hexadecimal (p0: they are recorded, and there are none)
 */
export interface ObsoleteMarkers {
  readonly version: 0 | 1;
  readonly markers: readonly ObsoleteMarker[];
}

/** One marker. Nodes are strings of one character a byte. */
export interface ObsoleteMarker {
  readonly precursor: string;
  /** None: it was pruned. */
  readonly successors: readonly string[];
  /** Of the precursor; none where they are not recorded. */
  readonly parents: readonly string[];
  /** The marker as it stands. */
  readonly bytes: Uint8Array;
}

const NODE = 20;
const LONG_NODE = 32;
const USES_LONG_NODES = 2;
const NO_PARENTS_RECORDED = 3;

/** @throws RevconvertError TEXT_MALFORMED where it ends inside a marker, or is of another version */
export function parseObsoleteMarkers(bytes: Uint8Array): ObsoleteMarkers {
  const buffer = asBuffer(bytes);
  const version = buffer[0] ?? 1;
  if (version !== 0 && version !== 1) throw new RevconvertError('TEXT_MALFORMED', `obsolescence markers of version ${version}; 0 and 1 are known`);
  const markers: ObsoleteMarker[] = [];
  for (let at = 1; at < buffer.length; ) {
    const marker = version === 1 ? readMarker(buffer, at) : readOldMarker(buffer, at);
    markers.push(marker);
    at += marker.bytes.length;
  }
  return { version, markers };
}

const cutShort = (offset: number): RevconvertError => new RevconvertError('TEXT_MALFORMED', 'an obsolescence marker is cut short', { offset });

const HEADER = 19;

function readMarker(buffer: Buffer, start: number): ObsoleteMarker {
  const size = start + HEADER <= buffer.length ? buffer.readUInt32BE(start) : 0;
  const successorCount = buffer[start + 16] ?? 0;
  const parentField = buffer[start + 17] ?? 0;
  const node = start + HEADER <= buffer.length && (buffer.readUInt16BE(start + 14) & USES_LONG_NODES) !== 0 ? LONG_NODE : NODE;
  const parentCount = parentField === NO_PARENTS_RECORDED ? 0 : parentField;
  const end = start + size;
  let at = start + HEADER;
  if (end > buffer.length || at + node * (1 + successorCount + parentCount) > end) throw cutShort(start);
  const next = (): string => buffer.toString('latin1', at, (at += node));
  const precursor = next();
  const successors = Array.from({ length: successorCount }, next);
  const parents = Array.from({ length: parentCount }, next);
  return { precursor, successors, parents, bytes: buffer.subarray(start, end) };
}

const OLD_HEADER = 6;

function readOldMarker(buffer: Buffer, start: number): ObsoleteMarker {
  if (start + OLD_HEADER > buffer.length) throw cutShort(start);
  const successorCount = buffer[start] ?? 0;
  const metadataAt = start + OLD_HEADER + NODE * (1 + successorCount);
  const end = metadataAt + buffer.readUInt32BE(start + 1);
  if (end > buffer.length) throw cutShort(start);
  const nodeAt = (index: number): string => buffer.toString('latin1', start + OLD_HEADER + NODE * index, start + OLD_HEADER + NODE * (index + 1));
  const fields = buffer.toString('latin1', metadataAt, end).split('\0');
  const parents = fields.filter((field) => /^p[12]:[0-9a-f]{40}$/.test(field)).map((field) => Buffer.from(field.slice(3), 'hex').toString('latin1'));
  const successors = Array.from({ length: successorCount }, (_, index) => nodeAt(index + 1));
  return { precursor: nodeAt(0), successors, parents, bytes: buffer.subarray(start, end) };
}
