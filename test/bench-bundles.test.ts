import assert from 'node:assert/strict';

import { describe, it } from 'mocha';

import { answerChangelog } from '../bench/bundles/changelog-answer.js';
import { publishedClaims } from '../bench/bundles/published-cpu.js';
import { bodyOffset } from '../bench/bundles/recompress.js';
import { makeBundle } from '../bench/bundles/synthetic-bundle.js';
import type { Result } from '../bench/bundles/turns.js';
import { compareResults, ratio } from '../bench/bundles/turns.js';
import { quoted } from '../bench/measure.js';
import { verifyBundle } from '../src/bundles/verify/verify-bundle.js';
import { readBundleItems } from '../src/streams/bundle/read-bundle.js';
import { nodeOf, NULL, slices } from './support/bundle-builder.js';

const result = (name: string, walls: readonly number[], bytes?: number): Result => ({ name, bytes, runs: walls.map((wall) => ({ wall, cpu: 2 * wall, memory: 100 })) });

/** The chunks of a payload that is whole: lengths without their own four bytes. */
function chunksOf(changegroup: Buffer): Buffer[] {
  const chunks: Buffer[] = [];
  for (let at = 0; at < changegroup.length; ) {
    const length = changegroup.readInt32BE(at);
    chunks.push(changegroup.subarray(at + 4, at + Math.max(4, length)));
    at += Math.max(4, length);
  }
  return chunks;
}

/** What the frames of the only part hold. */
function payloadOf(bundle: Buffer): Buffer {
  const frames: Buffer[] = [];
  let at = 12 + bundle.readInt32BE(8);
  for (let length = bundle.readInt32BE(at); length > 0; length = bundle.readInt32BE(at)) {
    frames.push(bundle.subarray(at + 4, at + 4 + length));
    at += 4 + length;
  }
  assert.equal(bundle.length - at, 8, 'an empty frame and an empty part header end it');
  return Buffer.concat(frames);
}

describe('bench:bundles', () => {
  it('compares runs pair by pair with one of the commands', () => {
    const [own, other] = [result('own', [1, 2, 4], 1234), result('other', [2, 4, 4], 5678)];
    assert.equal(ratio(own, other, 'wall'), 2);
    assert.deepEqual(compareResults([own, other], other, 'bytes'), {
      head: ['command', 'wall s', 'times as fast', 'CPU s', 'times less', 'peak MB', 'bytes'],
      rows: [
        ['own', '2.00 (1.00-4.00)', '2.00', '4.00 (2.00-8.00)', '2.00', '100 (100-100)', '1,234'],
        ['other', '4.00 (2.00-4.00)', '1.00', '8.00 (4.00-8.00)', '1.00', '100 (100-100)', '5,678'],
      ],
    });
  });

  it('says nothing of bytes where nothing is made', () => {
    assert.deepEqual(compareResults([result('own', [1])], result('other', [1])).rows, [['own', '1.00 (1.00-1.00)', '1.00', '2.00 (2.00-2.00)', '1.00', '100 (100-100)']]);
  });

  it('finds what is compressed in a bundle', () => {
    assert.equal(bodyOffset(Buffer.from('HG20\0\0\0\x0eCompression=GZxyz')), 22);
    assert.equal(bodyOffset(Buffer.from('HG20\0\0\0\0xyz')), 8);
  });

  it('lets no shell look into a word', () => assert.equal(quoted(['a b', "it's", '$x']), String.raw`'a b' 'it'\''s' '$x'`));

  it('keeps the parts of the published conclusion apart', () => {
    const holds = (theirs: readonly number[], ours: readonly number[]): boolean[] => publishedClaims(theirs, ours, [0.95, 0.6]).map((claim) => claim.holds);
    assert.deepEqual(holds([0.9, 0.6], [1.05, 0.5]), [true, true]);
    assert.deepEqual(holds([0.9, 0.6], [1.2, 0.98]), [false, false]);
  });

  it('fills the answer about full texts', () => {
    const figures = { full: [1100, 330, 440], parent: [1000, 300, 400], previous: [1000, 340, 400], whole: [10_100, 3000, 4040], wholeSending: 1, makingParent: 2, makingPrevious: 4, receivingParent: 1.25, receivingPrevious: 1 };
    const answer = answerChangelog({ ...figures, sending: 0.8 });
    assert.match(answer, /1,100 bytes, which is \+10\.0 % uncompressed, -2\.9 % as zstd, \+10\.0 % as gzip against deltas to the previous/);
    assert.match(answer, /of a bundle of everything that is \+1\.0 % uncompressed, -0\.3 % as zstd, \+1\.0 % as gzip/);
    assert.match(answer, /takes 0\.25 of .* \(0\.50 of .* in 1\.00 of the processor time \(0\.80\); Mercurial makes its share .* 0\.80 of the time .* \(published: 1\.13\), and a bundle/);
    assert.match(answerChangelog({ ...figures, sending: NaN }), /\(0\.80\); Mercurial makes a bundle of everything in 1\.00/);
  });
});

describe('bench:bundles: the made-up bundle', () => {
  const bundle = Buffer.concat([...makeBundle(400_000)]);

  it('is as long as it should be, and the same each time', () => {
    assert.ok(bundle.length >= 400_000 && bundle.length < 450_000, `${bundle.length}`);
    assert.ok(Buffer.concat([...makeBundle(400_000)]).equals(bundle));
  });

  it('is a bundle 2 with frames of about 32 KiB, and ends as one', () => {
    assert.equal(bundle.toString('latin1', 0, 4), 'HG20');
    assert.ok(bundle.toString('latin1', 12, 60).includes('CHANGEGROUP'));
    assert.ok(payloadOf(bundle).length > 399_000);
  });

  it('begins with changesets that Mercurial can read, each a delta against nothing', () => {
    const chunks = chunksOf(payloadOf(bundle));
    const changesets = chunks.slice(0, chunks.findIndex(({ length }) => length === 0));
    assert.equal(changesets.length, 103);
    let previous: Buffer = NULL;
    for (const chunk of changesets.slice(0, 15)) {
      const field = (at: number): Buffer => chunk.subarray(at, at + 20);
      const [node, p1, p2, base, link] = [field(0), field(20), field(40), field(60), field(80)] as const;
      const text = chunk.subarray(112);
      assert.ok(base.equals(NULL) && p2.equals(NULL));
      assert.ok(p1.equals(previous));
      assert.ok(node.equals(nodeOf(p1, NULL, text)) && link.equals(node));
      assert.match(text.toString('latin1'), /^0{40}\nsomebody <somebody@example.org>\n0 0\n\n[a-z ]+$/);
      previous = node;
    }
  });

  it('has right nodes, on branches too', async () => {
    const report = await verifyBundle(readBundleItems(slices(bundle, 65_536)));
    assert.equal(report.sound, true);
    assert.deepEqual(report.warnings, []);
  });
});
