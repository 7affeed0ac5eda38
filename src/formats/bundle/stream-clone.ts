import { RevconvertError } from '../../errors.js';
import type { BytePath } from '../store-path.js';
import { decodeDirectories, encodeDirectories } from '../store-path.js';
import type { PartData } from './items.js';
import type { PartHeader } from './part-header.js';
import { partName, partParameter } from './part-header.js';

/**
 * Stream clones: the files of a store, as they lie there (source: what Mercurial 6.3 and 7.2 write and take).
 *
 * `packed1` is a bundle of its own (`stream1` here: what stands behind its first six bytes, `HGS1UN`):
 *
 *      0  u64  files
 *      8  u64  bytes of all files
 *     16  u16  length of the requirements, with their NUL
 *     18  the requirements, with commas between them; NUL
 *         for each file: its name, with directories encoded as in an fncache, NUL, its size in decimal, LF; its bytes
 *
 * `stream2` is a part of bundle 2 with the parameters `bytecount`, `filecount` and `requirements` (escaped as in a URI, with
 * commas between them). For each file:
 *
 *      0  `s`: of the store, `c`: of the cache
 *      1  length of the name, size: unsigned LEB128
 *         the name, not encoded; the file's bytes
 *
 * The requirements are those that say how revlogs are stored. How files are named is the receiver's choice.
 */
export type StreamVersion = 'stream1' | 'stream2';

export interface StreamHeader {
  readonly files: number;
  /** Of all files together. */
  readonly bytes: number;
  /** As they stand there; not checked. */
  readonly requirements: readonly string[];
}

export interface StreamEntry {
  readonly place: 'store' | 'cache';
  /** What the store calls it, not encoded: `data/dir/File.i`, `00changelog.d`, `phaseroots`. */
  readonly name: BytePath;
  readonly bytes: number;
}

/** Bytes of a stream1 header but for the requirements. */
export const STREAM1_FIXED = 18;

/** The longest name: more than any file system has room for. */
export const MAX_NAME = 8192;

const SEVEN_BITS = 0x80;
const NUL = '\0';

/** @returns the header of a packed1 bundle, behind `HGS1UN` */
export function encodeStreamHeader({ files, bytes, requirements }: StreamHeader): Buffer {
  const list = Buffer.from(requirements.join(',') + NUL, 'latin1');
  const fixed = Buffer.alloc(STREAM1_FIXED);
  fixed.writeBigUInt64BE(BigInt(files), 0);
  fixed.writeBigUInt64BE(BigInt(bytes), 8);
  fixed.writeUInt16BE(list.length, 16);
  return Buffer.concat([fixed, list]);
}

/** Bytes that the value of a part's parameter may have. */
const MAX_VALUE = 255;

/**
 * The header of a stream2 part, as Mercurial writes it.
 * @throws RevconvertError BUNDLE_HOLDS: more requirements than it has room for
 */
export function streamPartHeader({ files, bytes, requirements }: StreamHeader, id: number): PartHeader {
  const list = encodeURIComponent(requirements.join(','));
  if (list.length > MAX_VALUE) throw new RevconvertError('BUNDLE_HOLDS', `stream2 has room for ${MAX_VALUE} bytes of requirements, and there are ${list.length}`);
  const mandatoryParameters = [
    { name: 'bytecount', value: String(bytes) },
    { name: 'filecount', value: String(files) },
    { name: 'requirements', value: list },
  ];
  return { type: 'stream2', id, mandatory: true, mandatoryParameters, advisoryParameters: [] };
}

/** The part that all of a packed1 bundle counts as. */
export const STREAM1_PART: PartHeader = { type: 'stream1', id: 0, mandatory: true, mandatoryParameters: [], advisoryParameters: [] };

/**
 * The header of a stream2 part.
 * @throws RevconvertError PART_MALFORMED
 */
export function parseStreamPartHeader(part: PartHeader): StreamHeader {
  const bad = (message: string): RevconvertError => new RevconvertError('PART_MALFORMED', message, { part: partName(part) });
  const value = (name: string): string => {
    const found = partParameter(part, name);
    if (found === undefined) throw bad(`the parameter ${name} is missing`);
    return found;
  };
  const count = (name: string): number => {
    const text = value(name);
    const number = parseCount(text);
    if (number === undefined) throw bad(`${name} must be a number, found ${JSON.stringify(text)}`);
    return number;
  };
  const escaped = value('requirements');
  return { bytes: count('bytecount'), files: count('filecount'), requirements: splitRequirements(decodeEscapes(escaped), bad) };
}

function decodeEscapes(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** @throws what `bad` makes, where there is something that no requirement is made of */
export function splitRequirements(text: string, bad: (message: string) => RevconvertError): readonly string[] {
  const names = text === '' ? [] : text.split(',');
  const wrong = names.find((name) => !/^[0-9A-Za-z][!-~]*$/.test(name));
  if (wrong === undefined) return names;
  throw bad(`a requirement is made of letters, digits and signs, found ${JSON.stringify(wrong)}`);
}

/** A decimal number without sign, in which every digit counts; undefined: it is none, or too large. */
export function parseCount(text: string): number | undefined {
  const number = /^\d{1,16}$/.test(text) ? Number(text) : NaN;
  return Number.isSafeInteger(number) ? number : undefined;
}

/** @returns what stands in front of a file's bytes */
export function encodeStreamEntry({ place, name, bytes }: StreamEntry, version: StreamVersion): Buffer {
  if (version === 'stream1') return Buffer.from(`${encodeDirectories(name)}${NUL}${bytes}\n`, 'latin1');
  return Buffer.concat([Buffer.from(place === 'store' ? 's' : 'c'), encodeLeb128(name.length), encodeLeb128(bytes), Buffer.from(name, 'latin1')]);
}

function encodeLeb128(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= SEVEN_BITS; rest = Math.floor(rest / SEVEN_BITS)) bytes.push((rest % SEVEN_BITS) | SEVEN_BITS);
  return Buffer.from([...bytes, rest]);
}

/** What was read, and where it ends; undefined: it is not all there yet. */
export type Found<T> = { readonly value: T; readonly end: number } | undefined;

/** Bytes of the longest LEB128 that is read: 56 bits. */
const MAX_LEB128 = 8;

/** @throws what `bad` makes: it is longer than any size */
export function readLeb128(bytes: Buffer, at: number, bad: (message: string) => RevconvertError): Found<number> {
  let value = 0;
  for (let i = 0; i < MAX_LEB128; i++) {
    const byte = bytes[at + i];
    if (byte === undefined) return undefined;
    value += (byte % SEVEN_BITS) * SEVEN_BITS ** i;
    if (!Number.isSafeInteger(value)) break;
    if (byte < SEVEN_BITS) return { value, end: at + i + 1 };
  }
  throw bad('a length is more than any file has');
}

const NO_NAME = /[\0\n]/;

/**
 * Checks and decodes a name.
 * @param written as it stands in the stream
 * @throws what `bad` makes: it would lead out of the store, or cannot be a name
 */
export function decodeStreamName(written: string, place: StreamEntry['place'], version: StreamVersion, bad: (message: string) => RevconvertError): BytePath {
  const components = written.split('/');
  if (NO_NAME.test(written) || components.some((one) => one === '' || one === '.' || one === '..')) throw bad(`${JSON.stringify(written)} is no name of a file in a store`);
  if (place === 'cache' && components.length > 1) throw bad(`${JSON.stringify(written)} is no name of a cache`);
  return version === 'stream1' ? decodeDirectories(written) : written;
}

/** Bytes of a piece of a stream2 payload, as Mercurial cuts it. */
const FRAME_BYTES = 32768;

/** Bytes of a payload as the pieces that they are framed in; only the last may be smaller than Mercurial's. */
export function framed(bytes: Buffer): PartData[] {
  const pieces: PartData[] = [];
  for (let at = 0; at < bytes.length; at += FRAME_BYTES) pieces.push({ type: 'data', bytes: bytes.subarray(at, at + FRAME_BYTES) });
  return pieces;
}
