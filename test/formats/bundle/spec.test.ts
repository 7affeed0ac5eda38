import assert from 'node:assert/strict';

import { describe, it } from 'mocha';

import { RevconvertError } from '../../../src/errors.js';
import type { BundleSpec } from '../../../src/formats/bundle/spec.js';
import { parseBundleSpec } from '../../../src/formats/bundle/spec.js';

type Expected = readonly [spec: string, expected: Partial<BundleSpec>];

const good: readonly Expected[] = [
  ['none-v1', { container: 'HG10', compression: 'none', version: '01', content: 'changegroup' }],
  ['gzip-v1', { container: 'HG10', compression: 'zlib' }],
  ['bzip2-v1', { container: 'HG10', compression: 'bzip2' }],
  ['none-v2', { container: 'HG20', compression: 'none', version: undefined }],
  ['gzip-v2', { container: 'HG20', compression: 'zlib' }],
  ['bzip2-v2', { container: 'HG20', compression: 'bzip2' }],
  ['zstd-v2', { container: 'HG20', compression: 'zstd', level: undefined }],
  ['zstd', { container: 'HG20', compression: 'zstd' }],
  ['v1', { container: 'HG10', compression: 'bzip2' }],
  ['v2', { container: 'HG20', compression: 'bzip2' }],
  ['zstd-v3', { container: 'HG20', compression: 'zstd', version: '03' }],
  ['zstd-v2;level=19;changegroup.version=03', { level: 19, version: '03' }],
  ['zstd-v2;cg.version=02;phases=yes;obsolescence=1', { version: '02', phases: true, obsolescence: true }],
  ['none-v2;tagsfnodescache=no;revbranchcache=false', { tagsFnodesCache: false, revBranchCache: false }],
  ['none-v2;obsolescence=true;obsolescence-mandatory=no', { obsolescenceMandatory: false }],
  ['none-v2;cg%2Eversion=0%33', { version: '03' }],
  ['none-packed1', { container: 'HGS1', content: 'stream', compression: 'none' }],
  ['packed1', { container: 'HGS1', content: 'stream' }],
  ['none-v2;stream=v2', { container: 'HG20', content: 'stream' }],
  ['none-streamv2', { container: 'HG20', content: 'stream', compression: 'none' }],
];

const bad = [
  '', 'zstd-v1', 'zstd-v4', 'lzma-v2', 'v2-zstd', 'none-v2;cg.version=04', 'none-v1;cg.version=02', 'none-v2;level=x', 'none-v2;level', 'none-v2;colour=red',
  'none-v2;phases=maybe', 'none-v2;phases=constructor', 'none-v2;obsolescence=__proto__', 'none-v2;stream=v3-exp', 'none-streamv3-exp', 'gzip-packed1', 'none-v2;cg.version=%zz', 'none-v2;', 'none-v2;changegroup=no', 'toString-v2', 'none-constructor',
];

describe('bundle specifications', () => {
  for (const [text, expected] of good) {
    it(`reads ${text}`, () => {
      const spec = parseBundleSpec(text);
      for (const [key, value] of Object.entries(expected)) assert.equal(spec[key as keyof BundleSpec], value, key);
    });
  }

  for (const text of bad) {
    it(`refuses ${JSON.stringify(text)}`, () => {
      assert.throws(() => parseBundleSpec(text), (error) => error instanceof RevconvertError && error.code === 'BUNDLE_SPEC' && error.message.includes(text));
    });
  }
});
