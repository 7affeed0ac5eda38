import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { deflateSync, inflateSync } from 'node:zlib';

import { describe, it } from 'mocha';

import { convertBundle } from '../../src/bundles/convert-bundle.js';
import { makeRepository } from '../../src/bundles/make-repository.js';
import type { FilterStep } from '../../src/bundles/options.js';
import { RevconvertError } from '../../src/errors.js';
import { writeBundle } from '../../src/sinks/bundle/write-bundle.js';
import { readBundle } from '../../src/streams/bundle/read-bundle.js';
import { bundle2, i32, partHeader, payload, slices, tinyBundle, tinyChangegroup01 } from '../support/bundle-builder.js';
import { file, packed1, stream2 } from '../support/stream-builder.js';
import { useTempFolder } from '../support/temp-folder.js';

const hasBzip2 = spawnSync('bzip2', ['--version'], { input: '' }).status === 0;

const bzip2 = (bytes: Buffer): Buffer => execFileSync('bzip2', ['-c'], { input: bytes });
const bunzip2 = (bytes: Buffer): Buffer => execFileSync('bzip2', ['-dc'], { input: bytes });

const STREAM_PARAMETERS = { GZ: 'Compression=GZ', BZ: 'Compression=BZ' };
const head2 = (code: keyof typeof STREAM_PARAMETERS): Buffer => Buffer.concat([Buffer.from('HG20'), i32(STREAM_PARAMETERS[code].length), Buffer.from(STREAM_PARAMETERS[code])]);
const BODY2 = tinyBundle().subarray(8);

const FILES = [file('00changelog.i', ''), file('data/a.i', 'x')];

/** Every kind: what stands before the compressed bytes, and what they are without compression. */
const KINDS: readonly { readonly kind: string; readonly head: Buffer; readonly body: Buffer; readonly pack?: (bytes: Buffer) => Buffer; readonly unpack?: (bytes: Buffer) => Buffer }[] = [
  { kind: 'none-v1', head: Buffer.from('HG10UN'), body: tinyChangegroup01() },
  { kind: 'gzip-v1', head: Buffer.from('HG10GZ'), body: tinyChangegroup01(), pack: deflateSync, unpack: inflateSync },
  { kind: 'bzip2-v1', head: Buffer.from('HG10'), body: tinyChangegroup01(), pack: bzip2, unpack: bunzip2 },
  { kind: 'none-v2', head: tinyBundle().subarray(0, 8), body: BODY2 },
  { kind: 'gzip-v2', head: head2('GZ'), body: BODY2, pack: deflateSync, unpack: inflateSync },
  { kind: 'bzip2-v2', head: head2('BZ'), body: BODY2, pack: bzip2, unpack: bunzip2 },
  { kind: 'packed1', head: Buffer.from('HGS1UN'), body: packed1(FILES).subarray(6) },
  { kind: 'stream2', head: stream2(FILES).subarray(0, 8), body: stream2(FILES).subarray(8) },
];

const same = (bytes: Buffer): Buffer => bytes;

const convert = async (bytes: Buffer, to?: string, filters?: readonly FilterStep[]): Promise<Buffer> => buffer((await convertBundle(slices(bytes, 1000), { to, filters })).bytes);

const fails = (code: string, message: RegExp) => (error: unknown): boolean => {
  assert.ok(error instanceof RevconvertError, String(error));
  assert.equal(error.code, code, error.message);
  assert.match(error.message, message);
  return true;
};

describe('convertBundle', () => {
  for (const { kind, head, body, pack = same, unpack = same } of KINDS) {
    it(`leaves ${kind} what it is where no other kind is asked for`, async function () {
      if (kind.startsWith('bzip2') && !hasBzip2) this.skip();
      const made = await convert(Buffer.concat([head, pack(body)]));
      assert.deepEqual(made.subarray(0, head.length), head);
      assert.deepEqual(unpack(made.subarray(head.length)), body);
    });
  }

  it('makes stream2 of packed1, and nothing of it that packed1 is not', async () => {
    assert.deepEqual(await convert(packed1(FILES), 'none-v2;stream=v2'), stream2(FILES));
    assert.deepEqual(await convert(packed1(FILES), 'packed1'), packed1(FILES));
    await assert.rejects(convert(packed1(FILES), 'none-v2'), fails('BUNDLE_HOLDS', /files of a store are no revisions/));
  });

  for (const [name, bytes, part] of [['none-v1', Buffer.concat([Buffer.from('HG10UN'), tinyChangegroup01()]), 'changegroup'], ['packed1', packed1(FILES), 'stream1']] as const) {
    it(`refuses to leave the one part out that ${name} is made of`, async () => {
      await assert.rejects(convert(bytes, undefined, [{ type: 'drop-parts', parts: [part] }]), fails('BUNDLE_HOLDS', /no part of type .*, which the target is made of/));
    });
  }

  it('refuses a mandatory part of a container with headers that is called as the one of a container without', async () => {
    await assert.rejects(convert(bundle2(partHeader('STREAM1', 0), payload(packed1(FILES).subarray(6)))), fails('PART_UNKNOWN', /unknown mandatory part 'stream1'/));
  });
});

describe('makeRepository', () => {
  const at = useTempFolder();

  it('makes a repository of packed1', async () => {
    const outcome = await makeRepository(slices(packed1(FILES), 7), at('made'));
    assert.equal(outcome.from, 'stream');
  });
});

describe('writeBundle', () => {
  it('says who writes bzip2', async function () {
    if (!hasBzip2) this.skip();
    const bytes = Buffer.concat([Buffer.from('HG10'), bzip2(tinyChangegroup01())]);
    await assert.rejects(pipeline(slices(bytes, 100), readBundle(), writeBundle(), (source: AsyncIterable<Buffer>) => buffer(source)), fails('BUNDLE_HOLDS', /bzip2 is written by a program/));
  });
});
