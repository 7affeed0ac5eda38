/** Shared by the tests of compressed streams: sources cut in any way, and what comes out of one. */

import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';

import { type ErrorCode, RevconvertError } from '../../../src/errors.js';

/** Slices of a length. */
export async function* slices(data: Uint8Array, length: number): AsyncGenerator<Uint8Array, void, void> {
  for (let at = 0; at < data.length; at += length) yield await Promise.resolve(data.subarray(at, at + length));
}

/** Slices that each come a while after the one before. */
export async function* slowly(data: Uint8Array, length: number, milliseconds: number): AsyncGenerator<Uint8Array, void, void> {
  for await (const slice of slices(data, length)) {
    await delay(milliseconds);
    yield slice;
  }
}

/** All that a stream gives out, and what it throws then. */
export interface Outcome {
  readonly bytes: Buffer;
  readonly sizes: readonly number[];
  readonly error: unknown;
}

/** Takes everything. Fails where a piece is written to after it was given out. */
export async function collect(stream: AsyncIterable<Buffer>): Promise<Outcome> {
  const pieces: Buffer[] = [];
  const copies: Buffer[] = [];
  let error: unknown;
  try {
    for await (const piece of stream) {
      pieces.push(piece);
      copies.push(Buffer.from(piece));
    }
  } catch (thrown) {
    error = thrown;
  }
  pieces.forEach((piece, i) => {
    assert.ok(copies[i]?.equals(piece), `piece ${i} was written to after it was given out`);
  });
  return { bytes: Buffer.concat(copies), sizes: pieces.map(({ length }) => length), error };
}

/** What a sound stream gives out. */
export async function whole(stream: AsyncIterable<Buffer>): Promise<Buffer> {
  const { bytes, error } = await collect(stream);
  assert.ifError(error);
  return bytes;
}

export function assertCode(error: unknown, code: ErrorCode, ...words: readonly string[]): void {
  assert.ok(error instanceof RevconvertError, `expected ${code}, found ${String(error)}`);
  assert.equal(error.code, code, error.message);
  for (const word of words) assert.ok(error.message.includes(word), `'${word}' is not in: ${error.message}`);
}

/** A source that notes when it is closed, and can wait for ever behind what it has. */
export class WatchedSource {
  closed = false;
  /** Pieces that were fetched. */
  fetched = 0;

  async *pieces(data: Uint8Array, length: number, thenWait = false): AsyncGenerator<Uint8Array, void, void> {
    try {
      for await (const slice of slices(data, length)) {
        this.fetched++;
        yield slice;
      }
      if (thenWait) await new Promise(() => undefined);
    } finally {
      this.closed = true;
    }
  }
}
