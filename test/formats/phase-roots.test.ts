import assert from 'node:assert/strict';

import { describe, it } from 'mocha';

import { RevconvertError } from '../../src/errors.js';
import { parsePhaseRoots } from '../../src/formats/phase-roots.js';

describe('phase roots', () => {
  it('are a phase and a node a line', () => {
    assert.deepEqual(parsePhaseRoots(`1 ${'61'.repeat(20)}\n96 ${'ff'.repeat(20)}\n`), [
      { phase: 1, node: 'a'.repeat(20) },
      { phase: 96, node: '\xff'.repeat(20) },
    ]);
    assert.deepEqual(parsePhaseRoots(''), []);
  });

  for (const line of ['1', `1 ${'61'.repeat(19)}`, `x ${'61'.repeat(20)}`, `-1 ${'61'.repeat(20)}`]) {
    it(`refuses ${JSON.stringify(line)}`, () => {
      assert.throws(() => parsePhaseRoots(`${line}\n`), (error) => error instanceof RevconvertError && error.code === 'TEXT_MALFORMED');
    });
  }
});
