import assert from 'node:assert/strict';

import { describe, it } from 'mocha';

import { RevconvertError } from '../../../src/errors.js';
import type { PartHeader } from '../../../src/formats/bundle/part-header.js';
import { encodePartHeader, parsePartHeader } from '../../../src/formats/bundle/part-header.js';
import { partHeader } from '../../support/bundle-builder.js';

const withoutLength = (header: Buffer): Buffer => header.subarray(4);

const cases: readonly (readonly [what: string, bytes: Buffer, part: PartHeader])[] = [
  ['nothing but a type', partHeader('output', 3), { type: 'output', id: 3, mandatory: false, mandatoryParameters: [], advisoryParameters: [] }],
  [
    'parameters of both kinds',
    partHeader('CHANGEGROUP', 0, [['version', '02']], [['nbchanges', '7'], ['targetphase', '1']]),
    {
      type: 'changegroup',
      id: 0,
      mandatory: true,
      mandatoryParameters: [{ name: 'version', value: '02' }],
      advisoryParameters: [{ name: 'nbchanges', value: '7' }, { name: 'targetphase', value: '1' }],
    },
  ],
  ['an empty value, a number over 2^31', partHeader('b2x:x', 0xfffffffe | 0, [['a', '']]), { type: 'b2x:x', id: 0xfffffffe, mandatory: false, mandatoryParameters: [{ name: 'a', value: '' }], advisoryParameters: [] }],
  ['bytes that are no ASCII in a value', partHeader('pushvars', 1, [], [['k', '\xe9\xff']]), { type: 'pushvars', id: 1, mandatory: false, mandatoryParameters: [], advisoryParameters: [{ name: 'k', value: '\xe9\xff' }] }],
];

const isMalformed = (error: unknown): boolean => error instanceof RevconvertError && error.code === 'PART_MALFORMED';

describe('headers of parts', () => {
  for (const [what, bytes, part] of cases) {
    it(`reads and writes ${what}`, () => {
      assert.deepEqual(parsePartHeader(withoutLength(bytes)), part);
      assert.deepEqual(encodePartHeader(part), withoutLength(bytes));
    });

    it(`refuses it cut short anywhere, and with a byte more: ${what}`, () => {
      const header = withoutLength(bytes);
      for (let length = 0; length < header.length; length++) assert.throws(() => parsePartHeader(header.subarray(0, length)), isMalformed, `${length} bytes`);
      assert.throws(() => parsePartHeader(Buffer.concat([header, Buffer.from([0])])), isMalformed);
    });
  }

  it('a single upper-case letter makes a part mandatory', () => {
    assert.equal(parsePartHeader(withoutLength(partHeader('obsMarkers', 0))).mandatory, true);
  });

  it('refuses a name that comes twice, and a type that is none', () => {
    assert.throws(() => parsePartHeader(withoutLength(partHeader('output', 0, [['a', '1']], [['a', '2']]))), isMalformed);
    for (const type of ['', 'a b', '\xe9', 'x\n']) assert.throws(() => parsePartHeader(withoutLength(partHeader(type, 0))), isMalformed, JSON.stringify(type));
  });
});
