import assert from 'node:assert/strict';

import { describe, it } from 'mocha';

import { RevconvertError } from '../../../src/errors.js';
import { parseBundleSpec } from '../../../src/formats/bundle/spec.js';
import { writeBundleBytes } from '../../../src/sinks/bundle/write-bundle.js';
import { readBundleItems } from '../../../src/streams/bundle/read-bundle.js';
import { throughStages } from '../../../src/streams/bundle/stage.js';
import { createStreamStage } from '../../../src/transforms/bundle/convert-stream.js';
import { bundle2, partHeader, payload, slices, tinyBundle } from '../../support/bundle-builder.js';
import type { BuiltFile } from '../../support/stream-builder.js';
import { file, packed1, stream2, stream2Header } from '../../support/stream-builder.js';

const FILES: readonly BuiltFile[] = [file('data/a.i', 'first'), file('data/Dir.i.hg/b.i', ''), file('data/big.d', Buffer.alloc(300_000, 'large')), file('00changelog.i', 'x')];
const PLAIN = FILES.map((one) => ({ ...one, name: one.name.replace('.i.hg/', '.i/') }));

async function convert(bytes: Buffer, to: string | undefined, slice = 65536): Promise<Buffer> {
  const stage = createStreamStage(to === undefined ? undefined : parseBundleSpec(to));
  const written: Buffer[] = [];
  for await (const piece of writeBundleBytes(throughStages(readBundleItems(slices(bytes, slice)), [stage]))) written.push(piece);
  return Buffer.concat(written);
}

const refusal = (code: string, message: RegExp) => (error: unknown): boolean => {
  assert.ok(error instanceof RevconvertError, String(error));
  assert.equal(error.code, code, error.message);
  assert.match(error.message, message);
  return true;
};

describe('createStreamStage', () => {
  for (const slice of [1, 7, 65536]) {
    it(`makes stream2 of packed1, framed as Mercurial does, in slices of ${slice}`, async () => {
      assert.deepEqual(await convert(packed1(FILES), 'none-v2;stream=v2', slice), stream2(PLAIN));
    });
  }

  it('leaves both kinds as they are where nothing else is asked for', async () => {
    for (const to of [undefined, 'packed1']) assert.deepEqual(await convert(packed1(FILES), to), packed1(FILES));
    for (const to of [undefined, 'none-streamv2']) assert.deepEqual(await convert(stream2(PLAIN), to), stream2(PLAIN));
  });

  it('changes the compression around stream2, there and back', async () => {
    const zipped = await convert(stream2(PLAIN), 'gzip-v2;stream=v2');
    assert.equal(zipped.toString('latin1', 0, 22), 'HG20\0\0\0\x0eCompression=GZ');
    assert.ok(zipped.length < 3000);
    assert.deepEqual(await convert(zipped, 'none-v2;stream=v2'), stream2(PLAIN));
  });

  it('makes a bundle that holds nothing', async () => {
    assert.deepEqual(await convert(packed1([]), 'none-v2;stream=v2'), stream2([]));
  });

  it('lets a changegroup pass where one is asked for', async () => {
    assert.deepEqual(await convert(tinyBundle(), 'none-v2'), tinyBundle());
  });

  const PHASES = Buffer.concat([partHeader('phase-heads', 1), payload(Buffer.alloc(24))]);
  const refusals: readonly (readonly [string, Buffer, string | undefined, string, RegExp])[] = [
    ['stream2 to packed1', stream2(PLAIN), 'packed1', 'BUNDLE_HOLDS', /packed1 says first how many files.*--to-repo.*--from-repo --stream/],
    ['packed1 to a changegroup', packed1(FILES), 'zstd-v2', 'BUNDLE_HOLDS', /files of a store are no revisions.*--to-repo.*--from-repo/],
    ['stream2 to a changegroup', stream2(PLAIN), 'gzip-v1', 'BUNDLE_HOLDS', /files of a store are no revisions/],
    ['a changegroup to packed1', tinyBundle(), 'packed1', 'BUNDLE_HOLDS', /revisions are no files of a store.*--to-repo.*--from-repo --stream/],
    ['a changegroup to stream2', tinyBundle(), 'none-v2;stream=v2', 'BUNDLE_HOLDS', /revisions are no files of a store/],
    ['another part to packed1', bundle2(PHASES), 'packed1', 'BUNDLE_HOLDS', /--drop-part/],
    ['stream3-exp', bundle2(stream2Header({ files: 0, bytes: 0, requirements: [] }, 'STREAM3-EXP'), payload(Buffer.alloc(0))), undefined, 'PART_UNKNOWN', /stream3-exp is a stream clone of a version/],
    ['two stream clones', stream2(PLAIN, {}, stream2Header({ files: 0, bytes: 0, requirements: [] }), payload(Buffer.alloc(0))), undefined, 'PART_MALFORMED', /a second stream clone/],
    ['packed1 that was cut', packed1(FILES).subarray(0, -1), 'none-v2;stream=v2', 'BUNDLE_TRUNCATED', /ends 1 bytes before the end of file 4 of 4/],
    ['counts that lie', stream2(PLAIN, { files: 5 }), 'zstd-v2;stream=v2', 'PART_MALFORMED', /5 files are announced, 4 came/],
  ];
  for (const [title, bytes, to, code, message] of refusals) {
    it(`refuses ${title}: ${code}`, async () => {
      await assert.rejects(convert(bytes, to), refusal(code, message));
    });
  }

  it('reads on behind a part that interrupts the stream clone', async () => {
    const whole = stream2(PLAIN);
    const at = whole.indexOf('data/big.d') - 20;
    // The frame of the first 32 KiB is cut in two, and a whole part stands between them.
    const frame = whole.indexOf(Buffer.from([0, 0, 0x80, 0]));
    const first = at - frame - 4;
    const i32 = (value: number): Buffer => {
      const bytes = Buffer.alloc(4);
      bytes.writeInt32BE(value);
      return bytes;
    };
    const interrupt = Buffer.concat([i32(-1), partHeader('output', 9), payload(Buffer.from('hello'))]);
    const bytes = Buffer.concat([whole.subarray(0, frame), i32(first), whole.subarray(frame + 4, at), interrupt, i32(32768 - first), whole.subarray(at)]);
    assert.ok((await convert(bytes, undefined)).includes('hello'));
    await assert.rejects(convert(Buffer.concat([bytes.subarray(0, at + interrupt.length), i32(5), bytes.subarray(at + interrupt.length + 8)]), undefined), RevconvertError);
  });
});
