import assert from 'node:assert/strict';

import { describe, it } from 'mocha';

import { ByteFeed } from '../../../src/streams/bundle/byte-feed.js';

const BYTES = Buffer.from(Array.from({ length: 5000 }, (_, i) => (i * 7 + (i >> 8)) & 255));

const feedOf = (bytes: Buffer, slice: number): ByteFeed => {
  const feed = new ByteFeed();
  for (let at = 0; at < bytes.length; at += slice) feed.push(Buffer.from(bytes.subarray(at, at + slice)));
  return feed;
};

describe('ByteFeed', () => {
  for (const slice of [1, 2, 7, 64, 5000]) {
    it(`gives the bytes in any sizes out of slices of ${slice}`, () => {
      const feed = feedOf(BYTES, slice);
      const taken: Buffer[] = [];
      for (let size = 0; feed.available > 0; size = (size * 3 + 1) % 101) {
        const position = feed.position;
        assert.equal(position, BYTES.length - feed.available);
        taken.push(feed.take(Math.min(size, feed.available)) ?? Buffer.from('missing'));
      }
      assert.deepEqual(Buffer.concat(taken), BYTES);
      assert.equal(feed.position, BYTES.length);
    });

    it(`gives what lies together out of slices of ${slice}`, () => {
      const feed = feedOf(BYTES, slice);
      const taken: Buffer[] = [];
      for (let some = feed.takeSome(3); some !== undefined; some = feed.takeSome(3)) {
        assert.ok(some.length >= 1 && some.length <= 3);
        taken.push(some);
      }
      assert.deepEqual(Buffer.concat(taken), BYTES);
    });

    it(`reads numbers ahead out of slices of ${slice}`, () => {
      const feed = feedOf(BYTES, slice);
      for (let at = 0; at + 4 <= BYTES.length; at += 13) {
        assert.equal(feed.peekInt32(), BYTES.readInt32BE(at));
        feed.take(Math.min(13, feed.available));
      }
    });
  }

  it('takes nothing where there is too little', () => {
    const feed = feedOf(BYTES.subarray(0, 3), 1);
    assert.equal(feed.take(4), undefined);
    assert.equal(feed.peekInt32(), undefined);
    assert.equal(feed.available, 3);
    assert.deepEqual(feed.take(3), BYTES.subarray(0, 3));
    assert.equal(feed.takeSome(1), undefined);
  });

  it('knows where pieces stand that do not follow each other', () => {
    const feed = new ByteFeed();
    feed.push(Buffer.from('ab'), 100);
    feed.push(Buffer.from('cd'), 200);
    assert.equal(feed.position, 100);
    assert.deepEqual(feed.take(3), Buffer.from('abc'));
    assert.equal(feed.position, 201);
    feed.take(1);
    assert.equal(feed.position, 202);
  });

  it('copies nothing of what lies in one piece', () => {
    const feed = new ByteFeed();
    feed.push(BYTES);
    assert.equal(feed.take(100)?.buffer, BYTES.buffer);
  });
});
