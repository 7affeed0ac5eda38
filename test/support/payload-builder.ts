/** Payloads of parts made by hand, byte by byte; the formats: `hg help internals.bundle2`, and what Mercurial prints of these. */
import { i32 } from './bundle-builder.js';

/** A node whose bytes are all the same. */
export const same = (byte: number, width = 20): Buffer => Buffer.alloc(width, byte);

export const phaseHead = (phase: number, node: Buffer): Buffer => Buffer.concat([i32(phase), node]);

export const bookmark = (name: string, node: Buffer): Buffer => Buffer.concat([node, Buffer.from([name.length >> 8, name.length & 255]), Buffer.from(name, 'latin1')]);

export const branch = (name: string, open: readonly Buffer[], closed: readonly Buffer[]): Buffer =>
  Buffer.concat([i32(name.length), i32(open.length), i32(closed.length), Buffer.from(name, 'latin1'), ...open, ...closed]);

export interface BuiltMarker {
  readonly predecessor: Buffer;
  readonly successors?: readonly Buffer[];
  readonly parents?: readonly Buffer[];
  readonly flags?: number;
  readonly seconds?: number;
  /** Minutes west of Greenwich. */
  readonly minutes?: number;
  readonly metadata?: readonly (readonly [string, string])[];
}

/** A marker of version 1. */
export function marker1({ predecessor, successors = [], parents, flags = 0, seconds = 0, minutes = 0, metadata = [] }: BuiltMarker): Buffer {
  const fixed = Buffer.alloc(15);
  fixed.writeDoubleBE(seconds, 0);
  fixed.writeInt16BE(minutes, 8);
  fixed.writeUInt16BE(flags, 10);
  fixed.set([successors.length, parents === undefined ? 3 : parents.length, metadata.length], 12);
  const body = Buffer.concat([
    fixed,
    predecessor,
    ...successors,
    ...(parents ?? []),
    Buffer.from(metadata.flatMap(([name, value]) => [name.length, value.length])),
    Buffer.from(metadata.map(([name, value]) => name + value).join(''), 'latin1'),
  ]);
  return Buffer.concat([i32(4 + body.length), body]);
}

/** A marker of version 0. @param text its metadata: `name:value`, NUL between them */
export const marker0 = (predecessor: Buffer, successors: readonly Buffer[], flags: number, text: string): Buffer =>
  Buffer.concat([Buffer.from([successors.length]), i32(text.length), Buffer.from([flags]), predecessor, ...successors, Buffer.from(text, 'latin1')]);
