/** Stream clones made by hand, byte by byte, from what Mercurial writes: nothing of src is used. */
import { bundle2, partHeader, payload } from './bundle-builder.js';

export interface BuiltFile {
  /** As it is written: with directories encoded in packed1, not encoded in stream2. */
  readonly name: string;
  readonly bytes: Buffer;
  /** @default 's' */
  readonly place?: string;
  /** What is said of its size. @default the truth */
  readonly size?: number;
}

export interface Claims {
  readonly files?: number | bigint;
  readonly bytes?: number | bigint;
  /** @default REQUIREMENTS */
  readonly requirements?: readonly string[];
}

export const REQUIREMENTS: readonly string[] = ['generaldelta', 'revlogv1', 'sparserevlog'];

const total = (files: readonly BuiltFile[]): number => files.reduce((sum, { bytes, size }) => sum + (size ?? bytes.length), 0);

const u64 = (value: number | bigint): Buffer => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(value));
  return bytes;
};

/** A whole packed1 bundle. */
export function packed1(files: readonly BuiltFile[], claims: Claims = {}): Buffer {
  const requirements = Buffer.from(`${(claims.requirements ?? REQUIREMENTS).join(',')}\0`);
  const length = Buffer.from([requirements.length >> 8, requirements.length & 255]);
  const bodies = files.flatMap(({ name, bytes, size }) => [Buffer.from(`${name}\0${size ?? bytes.length}\n`, 'latin1'), bytes]);
  return Buffer.concat([Buffer.from('HGS1UN'), u64(claims.files ?? files.length), u64(claims.bytes ?? total(files)), length, requirements, ...bodies]);
}

export function leb128(value: number): Buffer {
  const bytes: number[] = [];
  let rest = BigInt(value);
  do {
    const low = Number(rest & 127n);
    rest >>= 7n;
    bytes.push(rest > 0n ? low | 128 : low);
  } while (rest > 0n);
  return Buffer.from(bytes);
}

/** The payload of a stream2 part. */
export const stream2Payload = (files: readonly BuiltFile[]): Buffer =>
  Buffer.concat(files.flatMap(({ name, bytes, place = 's', size }) => [Buffer.from(place), leb128(name.length), leb128(size ?? bytes.length), Buffer.from(name, 'latin1'), bytes]));

export const stream2Header = (claims: Required<Claims>, type = 'STREAM2'): Buffer =>
  partHeader(type, 0, [
    ['bytecount', String(claims.bytes)],
    ['filecount', String(claims.files)],
    ['requirements', claims.requirements.join('%2C')],
  ]);

/** A whole bundle 2 with a stream2 part, and others behind it. */
export const stream2 = (files: readonly BuiltFile[], claims: Claims = {}, ...others: readonly Buffer[]): Buffer => {
  const header = stream2Header({ files: claims.files ?? files.length, bytes: claims.bytes ?? total(files), requirements: claims.requirements ?? REQUIREMENTS });
  return bundle2(header, payload(stream2Payload(files)), ...others);
};

export const file = (name: string, bytes: Buffer | string, more: Partial<BuiltFile> = {}): BuiltFile => ({ name, bytes: Buffer.from(bytes), ...more });
