import assert from 'node:assert/strict';

import { describe, it } from 'mocha';

import { createPartFilter } from '../../src/bundles/part-filter.js';
import { readBundleItems } from '../../src/streams/bundle/read-bundle.js';
import { throughStages } from '../../src/streams/bundle/stage.js';
import { bundle2, i32, partHeader, slices } from '../support/bundle-builder.js';

const BUNDLE = bundle2(...['a', 'b', 'c'].flatMap((type, id) => [partHeader(type, id), i32(0)]));

const cases = [
  { type: 'drop-parts', parts: ['b'], left: 'ac', notices: [] },
  { type: 'drop-parts', parts: ['b', 'bb'], left: 'ac', notices: ['bb'] },
  { type: 'drop-parts', parts: ['x'], left: 'abc', notices: ['x'] },
  { type: 'only-parts', parts: ['a', 'c'], left: 'ac', notices: [] },
  { type: 'only-parts', parts: ['a', 'd'], left: 'a', notices: ['d'] },
  { type: 'only-parts', parts: ['x', 'y'], left: '', notices: ['x', 'y'] },
] as const;

describe('filters by the type of parts', () => {
  for (const { type, parts, left, notices } of cases) {
    it(`${type} ${parts.join(' ')}: leaves ${left || 'nothing'}, and names what is not there`, async () => {
      const said: string[] = [];
      let found = '';
      for await (const items of throughStages(readBundleItems(slices(BUNDLE, 9)), [createPartFilter({ type, parts }, (notice) => said.push(notice))])) {
        for (const item of items) if (item.type === 'part') found += item.part.type;
      }
      assert.equal(found, left);
      assert.deepEqual(said, notices.map((part) => `there is no part of type ${part} in the bundle`));
    });
  }
});
