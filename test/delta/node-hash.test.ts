import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';

import fc from 'fast-check';
import { describe, it } from 'mocha';

import { createNodeHasher, NULL_NODE } from '../../src/delta/node-hash.js';
import { FLAG_CENSORED, FLAG_ELLIPSIS, FLAG_EXTERNAL, isHashed } from '../../src/formats/revision-flags.js';
import { nodeOf } from '../support/revlog-builder.js';

const A = Buffer.alloc(20, 0x0a);
const B = Buffer.alloc(20, 0xb0);

describe('node hash', () => {
  it('is the SHA-1 of 40 zero bytes for an empty text without parents', () => {
    // sha1sum < 40 zero bytes
    assert.equal(createNodeHasher()(NULL_NODE, NULL_NODE, Buffer.alloc(0)).toString('hex'), 'b80de5d138758541c5f05265ad144ab9fa86d1db');
  });

  it('puts the smaller parent first, whichever it is', () => {
    const text = Buffer.from('text');
    const expected = createHash('sha1').update(Buffer.concat([A, B, text])).digest();
    const hashNode = createNodeHasher();
    assert.deepEqual(hashNode(A, B, text), expected);
    assert.deepEqual(hashNode(B, A, text), expected);
    assert.notDeepEqual(hashNode(A, A, text), expected);
  });

  it('compares parents as unsigned bytes, to the last one', () => {
    const low = Buffer.from(A);
    low[19] = 0x7f;
    const high = Buffer.from(A);
    high[19] = 0x80;
    const expected = createHash('sha1').update(Buffer.concat([low, high])).digest();
    assert.deepEqual(createNodeHasher()(high, low, Buffer.alloc(0)), expected);
  });

  it('takes texts of every length with one hasher, growing and shrinking', () => {
    const hashNode = createNodeHasher();
    const MIB = 1 << 20;
    for (const length of [0, 1, 4055, 4056, 4057, 100_000, 3, MIB - 1, MIB, MIB + 1, 3 * MIB, 10, MIB]) {
      const text = Buffer.alloc(length, `text of ${length} bytes`);
      assert.deepEqual(hashNode(B, A, text), nodeOf(A, B, text), String(length));
    }
  });

  it('gives digests that later ones do not overwrite, and leaves what it is given alone', () => {
    const hashNode = createNodeHasher();
    const text = Buffer.from('one');
    const one = hashNode(A, B, text);
    const copy = Buffer.from(one);
    hashNode(A, B, Buffer.from('two'));
    assert.deepEqual(one, copy);
    assert.deepEqual([text.toString(), A, B], ['one', Buffer.alloc(20, 0x0a), Buffer.alloc(20, 0xb0)]);
  });

  it('is what the reference says, for views in the middle of memory too', () => {
    const hashNode = createNodeHasher();
    const node = fc.uint8Array({ minLength: 20, maxLength: 20 });
    fc.assert(
      fc.property(node, node, fc.uint8Array({ maxLength: 9000 }), fc.nat(9), (p1, p2, text, before) => {
        const view = new Uint8Array(Buffer.concat([Buffer.alloc(before, 1), text, Buffer.alloc(5, 2)])).subarray(before, before + text.length);
        assert.deepEqual(hashNode(p1, p2, view), nodeOf(p1, p2, text));
      }),
    );
  });

  it('is not that of the text where it is censored, cut or elsewhere', () => {
    assert.deepEqual([FLAG_CENSORED, FLAG_ELLIPSIS, FLAG_EXTERNAL], [0x8000, 0x4000, 0x2000]);
    for (let bit = 0; bit < 16; bit++) assert.equal(isHashed(1 << bit), bit < 13, `bit ${bit}`);
    assert.equal(isHashed(0), true);
    assert.equal(isHashed(0x9800), false);
    assert.equal(isHashed(0x1fff), true);
  });
});
