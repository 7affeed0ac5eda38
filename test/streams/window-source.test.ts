import assert from 'node:assert/strict';

import fc from 'fast-check';
import { describe, it } from 'mocha';

import type { ByteSource } from '../../src/streams/byte-source.js';
import { memorySource } from '../../src/streams/byte-source.js';
import { windowSource } from '../../src/streams/window-source.js';
import { assertThrows } from '../repository/support.js';

describe('a source with a window', () => {
  const bytes = Buffer.from(Array.from({ length: 100 }, (_, i) => i));
  const reads: (readonly [number, number])[] = [];
  const source: ByteSource = {
    ...memorySource(bytes, 'f.d'),
    read(position, length) {
      reads.push([position, length]);
      return bytes.subarray(position, position + length);
    },
  };

  /** The reads that are made of the source for those asked for. */
  const readsFor = (...asked: readonly (readonly [position: number, length: number])[]): (readonly [number, number])[] => {
    reads.length = 0;
    const windowed = windowSource(source, 16);
    for (const [position, length] of asked) assert.deepEqual(windowed.read(position, length), bytes.subarray(position, position + length));
    return [...reads];
  };

  it('reads a window once, in either direction', () => assert.deepEqual(readsFor([20, 4], [24, 8], [16, 2], [31, 1], [32, 1]), [[16, 16], [32, 16]]));

  it('reads over several windows at once', () => assert.deepEqual(readsFor([20, 20], [16, 32]), [[16, 32]]));

  it('the last window ends with the source', () => assert.deepEqual(readsFor([99, 1], [96, 4]), [[96, 4]]));

  it('gives what the source has, whatever is asked', () => {
    const range = fc.tuple(fc.nat(100), fc.nat(100)).map(([a, b]) => [Math.min(a, b), Math.abs(a - b)] as const);
    fc.assert(fc.property(fc.array(range), (asked) => void readsFor(...asked)));
  });

  it('beyond the end it fails as the source does', () => {
    assertThrows(() => windowSource(memorySource(bytes, 'f.d'), 16).read(90, 11), { code: 'DATA_TRUNCATED', path: 'f.d' });
  });
});
