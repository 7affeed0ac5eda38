import assert from 'node:assert/strict';

import fc from 'fast-check';
import { describe, it } from 'mocha';

import { RevconvertError } from '../../src/errors.js';
import type { RevlogHeader } from '../../src/formats/revlog-header.js';
import { encodeRevlogHeader, parseRevlogHeader } from '../../src/formats/revlog-header.js';

const NOTHING: RevlogHeader = { version: 1, inline: false, generaldelta: false, filelogMeta: false, deltaInfo: false };

const hex = (word: number): string => `0x${word.toString(16).padStart(8, '0')}`;

describe('revlog header', () => {
  const accepted: readonly (readonly [number, string, Partial<RevlogHeader>])[] = [
    [0x00000000, 'version 0', { version: 0 }],
    [0x00000001, 'a split changelog', {}],
    [0x00010001, 'an inline changelog', { inline: true }],
    [0x00020001, 'a split filelog', { generaldelta: true }],
    [0x00030001, 'an inline filelog', { inline: true, generaldelta: true }],
    [0x00040001, 'bit 18', { filelogMeta: true }],
    [0x00080001, 'bit 19', { deltaInfo: true }],
    [0x000a0001, 'a split manifest of Mercurial 7.2', { generaldelta: true, deltaInfo: true }],
    [0x000b0001, 'an inline manifest of Mercurial 7.2', { inline: true, generaldelta: true, deltaInfo: true }],
    [0x000e0001, 'a split filelog of Mercurial 7.2', { generaldelta: true, filelogMeta: true, deltaInfo: true }],
    [0x000f0001, 'an inline filelog of Mercurial 7.2', { inline: true, generaldelta: true, filelogMeta: true, deltaInfo: true }],
  ];
  for (const [word, title, fields] of accepted) {
    it(`reads and writes ${hex(word)}, ${title}`, () => {
      const header = { ...NOTHING, ...fields };
      assert.deepEqual(parseRevlogHeader(word), header);
      assert.equal(encodeRevlogHeader(header), word);
    });
  }

  const versions: readonly (readonly [number, RegExp])[] = [
    [0x0000dead, /revlog version 2 .*exp-revlogv2/],
    [0xffffdead, /revlog version 2 .*exp-revlogv2/],
    [0x0000d34d, /changelog-v2 .*exp-changelog-v2/],
    [0x0003d34d, /changelog-v2 .*exp-changelog-v2/],
    [0x00000002, /version 0x0002/],
    [0x00000100, /version 0x0100/],
    [0x00030003, /version 0x0003/],
    [0x0000ffff, /version 0xffff/],
    [0xffffffff, /version 0xffff/],
  ];
  for (const [word, message] of versions) {
    it(`refuses the version in ${hex(word)}`, () => {
      assert.throws(() => parseRevlogHeader(word), { code: 'REVLOG_VERSION', message, at: {} });
    });
  }

  for (let bit = 16; bit < 32; bit++) {
    const flag = 2 ** bit;
    const named = `unknown flags 0x${(2 ** (bit - 16)).toString(16).padStart(4, '0')} `;
    it(`refuses bit ${bit} in version 0`, () => {
      assert.throws(() => parseRevlogHeader(flag), { code: 'REVLOG_FLAGS', message: new RegExp(`^${named}.*version 0 `), at: {} });
    });
    if (bit < 20) continue;
    it(`refuses bit ${bit} in version 1, beside bits that are known`, () => {
      assert.throws(() => parseRevlogHeader(flag + 0x00030001), {
        code: 'REVLOG_FLAGS',
        message: new RegExp(`^${named}.*version 1 `),
        at: {},
      });
    });
  }

  it('either refuses a word, or writes the same word again', () => {
    const words = fc.tuple(fc.nat({ max: 0xffff }), fc.oneof(fc.constantFrom(0, 1), fc.nat({ max: 0xffff })));
    fc.assert(
      fc.property(words, ([flags, version]) => {
        const word = flags * 0x10000 + version;
        const known = version === 1 ? flags < 16 : version === 0 && flags === 0;
        if (known) {
          assert.equal(encodeRevlogHeader(parseRevlogHeader(word)), word);
          return;
        }
        const code = version > 1 ? 'REVLOG_VERSION' : 'REVLOG_FLAGS';
        assert.throws(() => parseRevlogHeader(word), (error) => error instanceof RevconvertError && error.code === code);
      }),
    );
  });
});
