import assert from 'node:assert/strict';

import { describe, it } from 'mocha';

import { readDictionaryId, withDictionaryId } from '../../src/formats/zstd-dictionary.js';

const bytes = (hex: string): Uint8Array => Uint8Array.from(Buffer.from(hex.replaceAll(' ', ''), 'hex'));

describe('the header of a zstd dictionary', () => {
  const cases: readonly (readonly [title: string, hex: string, id: number | undefined])[] = [
    ['an ID of one byte', '37a430ec 07000000 00', 7],
    ['the largest ID that a store may use', '37a430ec ff000000 00', 255],
    ['an ID of four bytes, without a sign', '37a430ec feffffff 00', 0xfffffffe],
    ['an ID of zero', '37a430ec 00000000 00', 0],
    ['nothing behind the header', '37a430ec 07000000', undefined],
    ['a header that is cut short', '37a430ec 0700', undefined],
    ['no bytes', '', undefined],
    ['the magic number of a frame', '28b52ffd 07000000 00', undefined],
    ['the magic number the other way round', 'ec30a437 07000000 00', undefined],
    ['raw content', '6120646963 74696f6e617279', undefined],
  ];
  for (const [title, hex, id] of cases) {
    it(`${title}: ${id ?? 'no dictionary'}`, () => assert.equal(readDictionaryId(bytes(hex)), id));
  }

  it('is read where the bytes are part of a larger buffer', () => {
    const larger = Buffer.from('ffffff37a430ec0900000000', 'hex');
    assert.equal(readDictionaryId(larger.subarray(3)), 9);
  });

  for (const id of [1, 255, 0x12345678, 0xffffffff]) {
    it(`gets another ID, ${id}, and nothing else changes`, () => {
      const given = bytes('37a430ec 07000000 010203');
      const changed = withDictionaryId(given, id);
      assert.equal(readDictionaryId(changed), id);
      assert.equal(Buffer.from(changed.subarray(8)).toString('hex'), '010203');
      assert.equal(changed.length, given.length);
      assert.equal(readDictionaryId(given), 7, 'the given one stays as it is');
    });
  }
});
