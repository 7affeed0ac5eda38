import assert from 'node:assert/strict';

import fc from 'fast-check';
import { describe, it } from 'mocha';

import { applyDelta } from '../../src/delta/apply.js';
import { createNodeHasher, hashInPlace, NODE_HEADROOM, NULL_NODE } from '../../src/delta/node-hash.js';
import { patchInPlace } from '../../src/delta/patch-in-place.js';
import { createTextCache } from '../../src/delta/text-cache.js';
import { patchedSize } from '../../src/formats/hunks.js';
import { hunk } from '../support/repository-builder.js';

/** Hunks in order: what each skips, replaces and inserts. */
const hunksArbitrary = fc.array(fc.record({ skip: fc.nat(40), replaced: fc.nat(40), inserted: fc.uint8Array({ maxLength: 60 }) }), { maxLength: 8 });

interface Case {
  readonly base: Buffer;
  readonly delta: Buffer;
  readonly made: Buffer;
}

function caseOf(text: Uint8Array, hunks: readonly { readonly skip: number; readonly replaced: number; readonly inserted: Uint8Array }[]): Case {
  const base = Buffer.from(text);
  let at = 0;
  const parts: Buffer[] = [];
  for (const { skip, replaced, inserted } of hunks) {
    const start = Math.min(base.length, at + skip);
    at = Math.min(base.length, start + replaced);
    parts.push(hunk(start, at, Buffer.from(inserted)));
  }
  const delta = Buffer.concat(parts);
  const size = patchedSize(delta, base.length);
  assert.ok(typeof size === 'number');
  const made = Buffer.alloc(size);
  assert.equal(applyDelta(base, delta, made), size);
  return { base, delta, made };
}

/** The text in memory that has room in front and behind. */
function withRoom(text: Buffer, behind: number): Buffer {
  const memory = new ArrayBuffer(NODE_HEADROOM + text.length + behind);
  const copy = Buffer.from(memory, NODE_HEADROOM, text.length);
  text.copy(copy);
  return copy;
}

describe('patchInPlace', () => {
  it('makes what applyDelta makes, or leaves the base as it is', () => {
    let inPlace = 0;
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), hunksArbitrary, fc.nat(400), (text, hunks, room) => {
        const { base, delta, made } = caseOf(text, hunks);
        const own = withRoom(base, room);
        const patched = patchInPlace(own, delta);
        if (patched === undefined) assert.deepEqual(own, base);
        else {
          assert.deepEqual(patched, made);
          assert.equal(patched.buffer, own.buffer);
          inPlace++;
        }
      }),
      { numRuns: 2000 },
    );
    assert.ok(inPlace > 200, `${inPlace} of 2000`);
  });

  const always: readonly (readonly [title: string, delta: Buffer, made: string])[] = [
    ['nothing', Buffer.alloc(0), 'one two three'],
    ['a line of the same length', hunk(4, 7, Buffer.from('2nd')), 'one 2nd three'],
    ['a shorter one', hunk(4, 7, Buffer.from('2')), 'one 2 three'],
    ['a longer one', hunk(4, 7, Buffer.from('second')), 'one second three'],
    ['two that grow', Buffer.concat([hunk(0, 3, Buffer.from('first')), hunk(8, 13, Buffer.from('number three'))]), 'first two number three'],
    ['two that shrink', Buffer.concat([hunk(0, 3, Buffer.from('1')), hunk(8, 13, Buffer.from('3'))]), '1 two 3'],
    ['everything', hunk(0, 13, Buffer.from('x')), 'x'],
  ];
  for (const [title, delta, made] of always) {
    it(`replaces ${title}`, () => assert.equal(patchInPlace(withRoom(Buffer.from('one two three'), 20), delta)?.toString(), made));
  }

  it('does not write behind the memory', () => {
    assert.equal(patchInPlace(withRoom(Buffer.from('one'), 2), hunk(3, 3, Buffer.from('more'))), undefined);
  });
});

describe('hashInPlace', () => {
  it('gives the node that parents and text have, whichever parent is larger or missing', () => {
    const hashNode = createNodeHasher();
    const node = fc.uint8Array({ minLength: 20, maxLength: 20 });
    fc.assert(
      fc.property(node, node, fc.uint8Array({ maxLength: 200 }), fc.constantFrom([0, 1], [1, 0], [0, 0], [-1, 0], [0, -1], [-1, -1]), (a, b, text, [p1 = -1, p2 = -1]) => {
        const table = Buffer.concat([Buffer.of(9, 9), a, Buffer.of(7), b]);
        const nodes = { table, at: 2, stride: 21 };
        const nodeOf = (rev: number): Uint8Array => (rev < 0 ? NULL_NODE : rev === 0 ? a : b);
        const found = hashInPlace(nodes, p1, p2, withRoom(Buffer.from(text), 0));
        assert.equal(found, hashNode(nodeOf(p1), nodeOf(p2), text).toString('latin1'));
      }),
    );
  });
});

describe('a text cache with room in front', () => {
  it('leaves it free, and gives a text to who takes it', () => {
    const cache = createTextCache({ headroom: NODE_HEADROOM });
    const text = cache.allocate(100);
    assert.ok(text.byteOffset >= NODE_HEADROOM);
    cache.put(3, text);
    assert.equal(cache.bytes, 256);
    assert.equal(cache.take(3), text);
    assert.deepEqual([cache.take(3), cache.get(3), cache.bytes], [undefined, undefined, 0]);
    cache.giveBack(text);
    assert.equal(cache.allocate(90).buffer, text.buffer, 'used again');
  });
});
