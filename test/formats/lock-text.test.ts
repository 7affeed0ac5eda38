import assert from 'node:assert/strict';

import fc from 'fast-check';
import { describe, it } from 'mocha';

import { formatLockText, parseLockText } from '../../src/formats/lock-text.js';

describe('lock texts', () => {
  const READ: readonly (readonly [text: string, host: string, pid: number])[] = [
    ['box:12820', 'box', 12820],
    ['box/effffffc:12820', 'box/effffffc', 12820],
    ['build.example.org:1\n', 'build.example.org', 1],
  ];
  for (const [text, host, pid] of READ) {
    it(`reads ${JSON.stringify(text)}`, () => assert.deepEqual(parseLockText(text), { host, pid }));
  }

  const GARBAGE = ['', '\n', 'box', 'box:', ':12', 'box:0', 'box:-1', 'box:12x', 'box: 12', 'box:1:2', 'box:12\n\n', 'a\nb:12', 'box:12345678901'];
  for (const text of GARBAGE) {
    it(`does not read ${JSON.stringify(text)}`, () => assert.equal(parseLockText(text), undefined));
  }

  it('reads what it wrote', () => {
    const host = fc.string({ minLength: 1 }).filter((name) => !/[:\r\n]/.test(name));
    fc.assert(
      fc.property(host, fc.integer({ min: 1, max: 2 ** 31 - 1 }), (name, pid) => {
        assert.deepEqual(parseLockText(formatLockText({ host: name, pid })), { host: name, pid });
      }),
    );
  });
});
