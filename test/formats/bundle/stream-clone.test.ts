import assert from 'node:assert/strict';

import { describe, it } from 'mocha';

import type { ErrorPlace } from '../../../src/errors.js';
import { RevconvertError } from '../../../src/errors.js';
import { parsePartHeader } from '../../../src/formats/bundle/part-header.js';
import type { StreamEntry, StreamHeader } from '../../../src/formats/bundle/stream-clone.js';
import { encodeStreamEntry, encodeStreamHeader, parseStreamPartHeader, streamPartHeader } from '../../../src/formats/bundle/stream-clone.js';
import type { StreamEvent } from '../../../src/formats/bundle/stream-parser.js';
import { StreamParser } from '../../../src/formats/bundle/stream-parser.js';
import type { BuiltFile, Claims } from '../../support/stream-builder.js';
import { file, packed1, REQUIREMENTS, stream2Header, stream2Payload } from '../../support/stream-builder.js';

const FILES: readonly BuiltFile[] = [file('data/a.i', 'first'), file('data/Dir.i.hg/\xe9.i', ''), file('data/big.d', Buffer.alloc(300, 7)), file('00changelog.i', 'x')];
const PLAIN: readonly BuiltFile[] = [...FILES.map((one) => ({ ...one, name: one.name.replace('.i.hg/', '.i/') })), file('tags2', 'cached', { place: 'c' })];
const total = (files: readonly BuiltFile[]): number => files.reduce((sum, { bytes }) => sum + bytes.length, 0);
const headerOf = (files: readonly BuiltFile[]): StreamHeader => ({ files: files.length, bytes: total(files), requirements: REQUIREMENTS });

/** What is behind `HGS1UN`. */
const packedPayload = (files: readonly BuiltFile[], claims?: Claims): Buffer => packed1(files, claims).subarray(6);

/** Reads a payload in slices of one size. */
function parse(parser: StreamParser, bytes: Buffer, slice = bytes.length): StreamEvent[] {
  const events: StreamEvent[] = [];
  for (let at = 0; at < bytes.length; at += slice) events.push(...parser.push(Buffer.from(bytes.subarray(at, at + slice))));
  parser.finish();
  return events;
}

/** The files that events tell of, whole. */
function filesOf(events: readonly StreamEvent[]): (StreamEntry & { readonly content: string })[] {
  const found: { entry: StreamEntry; pieces: Buffer[] }[] = [];
  for (const event of events) {
    if (event.type === 'file') found.push({ entry: event.entry, pieces: [] });
    if (event.type === 'bytes') found.at(-1)?.pieces.push(event.bytes);
  }
  return found.map(({ entry, pieces }) => ({ ...entry, content: Buffer.concat(pieces).toString('latin1') }));
}

const expected = (files: readonly BuiltFile[]): (StreamEntry & { readonly content: string })[] =>
  files.map(({ name, bytes, place }) => ({ place: place === 'c' ? 'cache' : 'store', name, bytes: bytes.length, content: bytes.toString('latin1') }));

const fails = (code: string, at: ErrorPlace, message: RegExp) => (error: unknown): boolean => {
  assert.ok(error instanceof RevconvertError, String(error));
  assert.equal(error.code, code, error.message);
  assert.match(error.message, message);
  assert.deepEqual(error.at, at);
  return true;
};

const packed = (): StreamParser => new StreamParser('stream1 (0)');
const part2 = (files: readonly BuiltFile[], claims: Partial<StreamHeader> = {}): StreamParser => new StreamParser('stream2 (0)', { ...headerOf(files), ...claims });

/** Where a file's header stands in `packedPayload`; the last: where the payload ends. */
const FIXED = 18 + REQUIREMENTS.join(',').length + 1;

describe('StreamParser', () => {
  for (const slice of [1, 7, 64, 65536]) {
    it(`reads packed1 in slices of ${slice}: names are decoded`, () => {
      const events = parse(packed(), packedPayload(FILES), slice);
      assert.deepEqual(events[0], { type: 'header', header: headerOf(FILES) });
      assert.deepEqual(filesOf(events), expected(PLAIN.slice(0, -1)));
    });

    it(`reads stream2 in slices of ${slice}`, () => {
      assert.deepEqual(filesOf(parse(part2(PLAIN), stream2Payload(PLAIN), slice)), expected(PLAIN));
    });
  }

  it('reads one that holds nothing', () => {
    assert.deepEqual(parse(packed(), packedPayload([], { requirements: [] })), [{ type: 'header', header: { files: 0, bytes: 0, requirements: [] } }]);
    assert.deepEqual(parse(part2([]), Buffer.alloc(0)), []);
  });

  it('holds nothing of what it gave out', () => {
    const bytes = Buffer.from(stream2Payload([file('data/a.i', Buffer.alloc(1000, 1))]));
    const parser = part2([file('data/a.i', Buffer.alloc(1000, 1))]);
    const [, piece] = parser.push(bytes);
    assert.ok(piece?.type === 'bytes' && piece.bytes.buffer === bytes.buffer);
  });

  it('reads lengths over 4 GiB', () => {
    const size = 2 ** 40 + 5;
    const parser = new StreamParser('stream2 (0)', { files: 1, bytes: size, requirements: [] });
    assert.deepEqual(parser.push(stream2Payload([file('data/a.i', '', { size })])), [{ type: 'file', entry: { place: 'store', name: 'data/a.i', bytes: size } }]);
  });

  it('says of packed1 that was cut at any byte that it was, and where', () => {
    const bytes = packedPayload(FILES);
    for (let end = 0; end < bytes.length; end++) {
      for (const slice of [1, 7, 1000]) {
        assert.throws(() => parse(packed(), bytes.subarray(0, end), slice), fails('BUNDLE_TRUNCATED', { part: 'stream1 (0)', offset: 6 + end }, /./), `${end} in slices of ${slice}`);
      }
    }
  });

  it('says of a stream2 payload that ends at any byte that it is malformed, and where', () => {
    const bytes = stream2Payload(PLAIN);
    for (let end = 0; end < bytes.length; end++) {
      assert.throws(() => parse(part2(PLAIN), bytes.subarray(0, end), 7), fails('PART_MALFORMED', { part: 'stream2 (0)', offset: end }, /./), String(end));
    }
  });

  const lies1: readonly (readonly [string, Buffer, string, number, RegExp])[] = [
    ['more files than came', packedPayload(FILES, { files: 5 }), 'BUNDLE_TRUNCATED', packed1(FILES).length, /^5 files are announced, 4 came$/],
    ['fewer files than came', packedPayload(FILES, { files: 3 }), 'BUNDLE_TRAILING', packed1(FILES.slice(0, 3)).length, /^more bytes follow behind the 3 files/],
    ['more bytes than came', packedPayload(FILES, { bytes: 307 }), 'PART_MALFORMED', packed1(FILES).length, /^307 bytes of files are announced, 306 came$/],
    ['fewer bytes than came', packedPayload(FILES, { bytes: 305 }), 'PART_MALFORMED', packed1(FILES.slice(0, 3)).length, /there are 306; 305 are announced/],
    ['a size that is a byte too small', packedPayload([file('data/a.i', 'first', { size: 4 })]), 'BUNDLE_TRAILING', 6 + FIXED + 11 + 4, /^more bytes follow behind the 1 files/],
    ['a size that is no number', packedPayload([file('data/a.i', 'first', { size: -1 })], { bytes: 0 }), 'PART_MALFORMED', 6 + FIXED, /NUL and its size are expected, found "data\/a\.i\\u0000-1"/],
    ['a count of files beyond all numbers', packedPayload([], { files: 2n ** 63n }), 'PART_MALFORMED', 6, /more than any store has/],
    ['requirements without an end', Buffer.concat([packedPayload([], { requirements: [] }).subarray(0, 17), Buffer.from([1, 65])]), 'PART_MALFORMED', 6, /do not end with NUL/],
    ['requirements of no length', packedPayload([], { requirements: [] }).subarray(0, 17).fill(0, 16), 'BUNDLE_TRUNCATED', 6 + 17, /17 bytes of its header/],
    ['a requirement with a line in it', packedPayload([], { requirements: ['a\nb'] }), 'PART_MALFORMED', 6, /found "a\\nb"/],
    ['rubbish in the place of a name', Buffer.concat([packedPayload([], { files: 1, bytes: 9 }), Buffer.alloc(9000, 65)]), 'PART_MALFORMED', 6 + FIXED, /without an end of line/],
  ];
  for (const [title, bytes, code, offset, message] of lies1) {
    it(`packed1 with ${title}: ${code}`, () => {
      for (const slice of [1, 64, 65536]) assert.throws(() => parse(packed(), bytes, slice), fails(code, { part: 'stream1 (0)', offset }, message));
    });
  }

  for (const name of ['../a.i', 'data/../../a.i', '/etc/passwd', 'data//a.i', 'data/./a.i', '', 'data/', '..']) {
    it(`does not take ${JSON.stringify(name)} for a name`, () => {
      assert.throws(() => parse(packed(), packedPayload([file(name, 'x')])), fails('PART_MALFORMED', { part: 'stream1 (0)', offset: 6 + FIXED }, /is no name of a file in a store/));
      assert.throws(() => parse(part2([file(name, 'x')]), stream2Payload([file(name, 'x')])), fails('PART_MALFORMED', { part: 'stream2 (0)', offset: 0 }, /is no name of a file in a store/));
    });
  }

  const lies2: readonly (readonly [string, Buffer, RegExp])[] = [
    ['a name with NUL', stream2Payload([file('data/\0.i', 'x')]), /is no name/],
    ['a name with LF', stream2Payload([file('data/\n.i', 'x')]), /is no name/],
    ['a cache in a folder', stream2Payload([file('a/b', 'x', { place: 'c' })]), /is no name of a cache/],
    ['an unknown place', stream2Payload([file('data/a.i', 'x', { place: 'x' })]), /begins with s or c, found "x"/],
    ['a name of a GiB', Buffer.concat([Buffer.from('s'), Buffer.from([0x80, 0x80, 0x80, 0x80, 4]), Buffer.from([1])]), /has 1073741824 bytes; 8192 are the most/],
    ['a length that does not end', Buffer.concat([Buffer.from('s'), Buffer.alloc(20, 0xff)]), /more than any file has/],
    ['a size beyond all numbers', Buffer.concat([Buffer.from('s\x01'), Buffer.alloc(7, 0xff), Buffer.from([0x7f])]), /more than any file has/],
  ];
  for (const [title, bytes, message] of lies2) {
    it(`stream2 with ${title}: PART_MALFORMED`, () => {
      for (const slice of [1, 65536]) assert.throws(() => parse(part2([file('x', 'x')]), bytes, slice), fails('PART_MALFORMED', { part: 'stream2 (0)', offset: 0 }, message));
    });
  }

  it('stream2 with more behind the last file: PART_MALFORMED', () => {
    const bytes = stream2Payload(PLAIN);
    assert.throws(() => parse(part2(PLAIN, { files: 4 }), bytes), fails('PART_MALFORMED', { part: 'stream2 (0)', offset: stream2Payload(PLAIN.slice(0, 4)).length }, /behind the 4 files/));
  });
});

describe('headers of stream clones', () => {
  it('are written as packed1 has them', () => {
    const header = headerOf(FILES);
    assert.deepEqual(encodeStreamHeader(header), packedPayload(FILES).subarray(0, FIXED));
    assert.equal(encodeStreamEntry({ place: 'store', name: 'data/Dir.i/\xe9.i', bytes: 12 }, 'stream1').toString('latin1'), 'data/Dir.i.hg/\xe9.i\x0012\n');
  });

  it('are written as stream2 has them', () => {
    assert.deepEqual(encodeStreamEntry({ place: 'cache', name: 'tags2', bytes: 300 }, 'stream2'), stream2Payload([file('tags2', '', { place: 'c', size: 300 })]));
    assert.deepEqual(encodeStreamEntry({ place: 'store', name: 'data/\xe9.i', bytes: 2 ** 45 }, 'stream2'), stream2Payload([file('data/\xe9.i', '', { size: 2 ** 45 })]));
    const written = stream2Header({ files: 4, bytes: 306, requirements: REQUIREMENTS });
    assert.deepEqual(streamPartHeader(headerOf(FILES), 0), parsePartHeader(written.subarray(4)));
    assert.deepEqual(parseStreamPartHeader(parsePartHeader(written.subarray(4))), headerOf(FILES));
  });

  for (const [name, value, message] of [
    ['bytecount', '-1', /bytecount must be a number, found "-1"/],
    ['filecount', '0x10', /filecount must be a number/],
    ['filecount', '9007199254740993', /filecount must be a number/],
    ['requirements', '../a', /found "\.\.\/a"/],
    ['requirements', 'a,,b', /found ""/],
  ] as const) {
    it(`refuses ${name}=${value}`, () => {
      const part = streamPartHeader(headerOf(FILES), 3);
      const wrong = { ...part, mandatoryParameters: part.mandatoryParameters.map((one) => (one.name === name ? { name, value } : one)) };
      assert.throws(() => parseStreamPartHeader(wrong), fails('PART_MALFORMED', { part: 'stream2 (3)' }, message));
      const without = { ...part, mandatoryParameters: part.mandatoryParameters.filter((one) => one.name !== name) };
      assert.throws(() => parseStreamPartHeader(without), fails('PART_MALFORMED', { part: 'stream2 (3)' }, /is missing/));
    });
  }

  it('that are too long for a parameter are refused', () => {
    assert.throws(() => streamPartHeader({ files: 1, bytes: 1, requirements: Array.from({ length: 40 }, (_, i) => `requirement-${i}`) }, 0), fails('BUNDLE_HOLDS', {}, /room for 255 bytes/));
  });
});
