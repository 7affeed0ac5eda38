/** Shared by the tests of the engines: one chunk at a time, faults by code, texts to compress. */

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';

import fc from 'fast-check';

import { type CompressorOptions, DecodeFault, type LoadedBackend } from '../../src/engines/engine.js';
import { type ErrorCode, RevconvertError } from '../../src/errors.js';

export const bytes = (hex: string): Uint8Array => Uint8Array.from(Buffer.from(hex.replace(/\s/g, ''), 'hex'));

export const hex = (data: Uint8Array): string => Buffer.from(data).toString('hex');

export const latin1 = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text, 'latin1'));

export const concat = (...parts: readonly Uint8Array[]): Uint8Array => Uint8Array.from(Buffer.concat(parts));

/** The byte at an offset (from the end where negative) with its bits flipped. */
export function flipped(data: Uint8Array, offset: number, mask = 0xff): Uint8Array {
  const copy = Uint8Array.from(data);
  const at = offset < 0 ? copy.length + offset : offset;
  copy[at] = (copy[at] ?? 0) ^ mask;
  return copy;
}

/** Text that compresses, of exactly `length` bytes. */
export const compressible = (length: number): Uint8Array => latin1('abcdefgh-'.repeat(length / 9 + 1).slice(0, length));

/** Bytes that do not compress. */
export function noise(length: number): Uint8Array {
  const data = new Uint8Array(length);
  let state = 0x2545f491;
  for (let i = 0; i < length; i++) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    data[i] = state;
  }
  return data;
}

export async function compressOne(
  backend: LoadedBackend,
  input: Uint8Array,
  options: CompressorOptions = {},
): Promise<Uint8Array | undefined> {
  const results = await backend.createCompressor(options).compress([input]);
  assert.equal(results.length, 1);
  return results[0];
}

export async function decompressOne(
  backend: LoadedBackend,
  chunk: Uint8Array,
  limit = 2 ** 31,
): Promise<Uint8Array | DecodeFault> {
  const [result] = await backend.createDecompressor().decompress([chunk], [limit]);
  assert.ok(result !== undefined);
  return result;
}

export function assertFault(result: unknown, code: DecodeFault['code'], message?: RegExp): void {
  assert.ok(result instanceof DecodeFault, `expected a ${code} fault, found ${String(result)}`);
  assert.equal(result.code, code, result.message);
  if (message !== undefined) assert.match(result.message, message);
}

export function assertBytes(result: unknown, expected: Uint8Array): void {
  assert.ok(result instanceof Uint8Array, result instanceof DecodeFault ? result.message : String(result));
  assert.equal(Buffer.compare(result, expected), 0, `found ${result.length} bytes, expected ${expected.length}`);
}

/** For `assert.throws` and `assert.rejects`. */
export const hasCode =
  (code: ErrorCode, ...words: readonly string[]) =>
  (error: unknown): boolean => {
    assert.ok(error instanceof RevconvertError, String(error));
    assert.equal(error.code, code);
    for (const word of words) assert.ok(error.message.includes(word), `'${word}' is not in: ${error.message}`);
    return true;
  };

/** Runs a decoder on something hostile; the buffers it leaves or makes must be small. */
export async function assertSmall(run: () => Promise<void>, mostBytes = 32 << 20): Promise<void> {
  const before = process.memoryUsage();
  await run();
  const after = process.memoryUsage();
  assert.ok(after.arrayBuffers - before.arrayBuffers < mostBytes, 'array buffers grew too much');
  assert.ok(after.rss - before.rss < 4 * mostBytes, 'resident memory grew too much');
}

/** Texts of many sizes, some that compress and some that do not. */
export const texts = fc.array(
  fc.oneof(
    fc.uint8Array({ maxLength: 200 }),
    fc.uint8Array({ minLength: 30, maxLength: 70 }),
    fc
      .tuple(fc.uint8Array({ minLength: 1, maxLength: 40 }), fc.integer({ min: 1, max: 3000 }))
      .map(([part, times]) => Uint8Array.from({ length: part.length * times }, (_, i) => part[i % part.length] ?? 0)),
  ),
  { maxLength: 20 },
);

/** Output of a program; undefined where it is not there or fails. */
export function runProgram(program: string, args: readonly string[], input: Uint8Array): Uint8Array | undefined {
  const { status, stdout, error } = spawnSync(program, args, { input, maxBuffer: 64 << 20 });
  return error !== undefined || status !== 0 ? undefined : Uint8Array.from(stdout);
}

/** Compresses all, decompresses what was kept, and compares. */
export async function assertRoundTrip(backend: LoadedBackend, inputs: readonly Uint8Array[], options: CompressorOptions = {}): Promise<void> {
  const filled = inputs.filter((input) => input.length > 0);
  const chunks = await backend.createCompressor(options).compress(filled);
  assert.equal(chunks.length, filled.length);
  const kept = filled.flatMap((text, i) => {
    const chunk = chunks[i];
    return chunk === undefined ? [] : [{ text, chunk }];
  });
  for (const { text, chunk } of kept) assert.ok(chunk.length < text.length);
  const results = await backend.createDecompressor().decompress(
    kept.map(({ chunk }) => chunk),
    kept.map(({ text }) => text.length),
  );
  kept.forEach(({ text }, i) => {
    assertBytes(results[i], text);
  });
}
