import assert from 'node:assert/strict';

import { describe, it } from 'mocha';

import { DecodeFault } from '../../src/engines/engine.js';
import { type FrameHeader, measureFrame, readFrameHeader, withContentSize } from '../../src/engines/zstd-frame.js';
import { assertFault, bytes, hex } from './support.js';

function headerOf(frame: Uint8Array): FrameHeader {
  const header = readFrameHeader(frame);
  assert.ok(!(header instanceof DecodeFault), header instanceof DecodeFault ? header.message : '');
  return header;
}

describe('zstd frame headers', () => {
  const cases: readonly (readonly [string, string, Partial<FrameHeader>])[] = [
    ['single segment, size of 1 byte', '20 ff', { headerBytes: 6, contentSize: 255, windowBytes: 255 }],
    ['single segment, size of 2 bytes', '60 0100', { headerBytes: 7, contentSize: 257 }],
    ['single segment, size of 4 bytes', 'a0 00000100', { headerBytes: 9, contentSize: 65_536 }],
    ['single segment, size of 8 bytes', 'e0 0000010000000000', { headerBytes: 13, contentSize: 65_536 }],
    ['window, no size', '00 58', { headerBytes: 6, contentSize: undefined, windowBytes: 2_097_152 }],
    ['window, size of 2 bytes', '40 58 0000', { headerBytes: 8, contentSize: 256 }],
    ['window, size of 8 bytes', 'c0 58 0000000001000000', { headerBytes: 14, contentSize: 2 ** 32 }],
    ['the smallest window', '00 00', { windowBytes: 1024 }],
    ['a window with a mantissa', '00 07', { windowBytes: 1920 }],
    ['the largest window accepted', '00 88', { windowBytes: 2 ** 27 }],
    ['a checksum', '24 05', { checksum: true, dictionaryId: 0 }],
    ['a dictionary ID of 0 in 4 bytes', '23 00000000 05', { headerBytes: 10, contentSize: 5, dictionaryId: 0 }],
  ];
  for (const [title, header, expected] of cases) {
    it(`reads ${title}`, () => {
      const found = headerOf(bytes(`28b52ffd ${header}`));
      assert.deepEqual({ ...found, ...expected }, found);
    });
  }

  it('refuses every header that is cut short', () => {
    for (const [, header] of cases) {
      const whole = bytes(`28b52ffd ${header}`);
      for (let length = 0; length < whole.length; length++) {
        assertFault(readFrameHeader(whole.subarray(0, length)), 'CHUNK_DAMAGED', /header/);
      }
    }
  });

  it('measures blocks', () => {
    // raw 2 (2 bytes), RLE 1000 (1 byte), compressed 3 (at most the window, 1024), then 2 bytes of something else
    const frame = bytes('28b52ffd 0000 100000 6162 421f00 61 1d0000 000000 7878');
    assert.deepEqual(measureFrame(frame, headerOf(frame)), { end: frame.length - 2, minContent: 1002, maxContent: 2026 });
  });

  const rewritten: readonly (readonly [string, string, number, string])[] = [
    ['a small content', '28b52ffd 0058 290000 68656c6c6f', 5, '28b52ffd 2005 290000 68656c6c6f'],
    ['one of 256 bytes', '28b52ffd 0058 030800 61', 256, '28b52ffd 600000 030800 61'],
    ['one of 65792 bytes', '28b52ffd 0058 03080861', 65_792, '28b52ffd a000010100 03080861'],
    ['one larger than its window', '28b52ffd 0000 02200061 03200061', 2048, '28b52ffd 40000007 02200061 03200061'],
    ['a checksum', '28b52ffd 0458 010000 99e9d851', 0, '28b52ffd 2400 010000 99e9d851'],
    ['nothing where it is there already', '28b52ffd 2005 290000 68656c6c6f', 5, '28b52ffd 2005 290000 68656c6c6f'],
  ];
  for (const [title, frame, size, expected] of rewritten) {
    it(`puts the content size into a header: ${title}`, () => {
      const given = bytes(frame);
      const found = withContentSize(given, headerOf(given), size);
      assert.equal(hex(found), hex(bytes(expected)));
      assert.equal(headerOf(found).contentSize, size);
    });
  }
});
