import assert from 'node:assert/strict';

import { describe, it } from 'mocha';

import { Arena, BLOCK_BYTES, MAX_RESERVE, ownBuffer, trim } from '../../src/engines/arena.js';

describe('arena', () => {
  it('hands out bytes that do not overlap, over several blocks', () => {
    const arena = new Arena();
    const views = Array.from({ length: 600 }, (_, i) => arena.allocate(1 + ((i * 613) % 2000)).fill(i % 251));
    views.forEach((view, i) => assert.ok(view.every((byte) => byte === i % 251)));
    assert.ok(new Set(views.map(({ buffer }) => buffer)).size > 1);
  });

  it('gives large outputs a buffer of their own', () => {
    const arena = new Arena();
    const small = arena.allocate(10);
    const large = arena.allocate(MAX_RESERVE + 1);
    assert.equal(small.buffer.byteLength, BLOCK_BYTES);
    assert.equal(large.buffer.byteLength, MAX_RESERVE + 1);
    assert.equal(arena.allocate(MAX_RESERVE).buffer, small.buffer);
  });

  it('peeks at what stays free, and takes back', () => {
    const arena = new Arena();
    arena.reserve(100);
    const peeked = arena.peek(100);
    assert.equal(arena.take(60).byteOffset, peeked.byteOffset);
    arena.giveBack(60);
    assert.equal(arena.take(10).byteOffset, peeked.byteOffset);
    assert.equal(arena.remaining, BLOCK_BYTES - 10);
  });

  it('trims by copying only where much is wasted', () => {
    const buffer = ownBuffer(100);
    assert.equal(trim(buffer, 75).buffer, buffer.buffer);
    assert.equal(trim(buffer, 74).buffer.byteLength, 74);
    assert.equal(trim(ownBuffer(0), 0).length, 0);
  });
});
