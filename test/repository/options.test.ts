/** Each rule for the options of a conversion: what is refused, and what the defaults are. */
import assert from 'node:assert/strict';
import { availableParallelism } from 'node:os';

import { describe, it } from 'mocha';

import { PRESETS } from '../../src/delta/policy.js';
import { resolvePolicy } from '../../src/delta/policy-input.js';
import type { ConvertOptions, ErrorCode } from '../../src/index.js';
import { convertRepository } from '../../src/index.js';
import { DEFAULT_LOCK_TIMEOUT, fillOptions } from '../../src/repository/options.js';
import { buildRepository } from '../support/repository-builder.js';
import { assertFails, assertThrows, picture, Scratch } from './support.js';

const BAD: readonly (readonly [title: string, options: ConvertOptions, code: ErrorCode, message: RegExp])[] = [
  ['no jobs', { jobs: 0 }, 'USAGE', /jobs must be a whole number from 1 to 256, found 0/],
  ['half a job', { jobs: 1.5 }, 'USAGE', /jobs .* found 1\.5/],
  ['too many jobs', { jobs: 257 }, 'USAGE', /jobs .* found 257/],
  ['jobs that are no number', { jobs: Number.NaN }, 'USAGE', /jobs .* found NaN/],
  ['a negative timeout', { lockTimeout: -1 }, 'USAGE', /lock-timeout must be a number of seconds, 0 or more, found -1/],
  ['an endless timeout', { lockTimeout: Infinity }, 'USAGE', /lock-timeout .* found Infinity/],
  ['an unknown check', JSON.parse('{"check":"full"}') as ConvertOptions, 'USAGE', /check must be one of none, chunks, found full/],
  ['an unknown way to compute deltas', JSON.parse('{"redelta":"some"}') as ConvertOptions, 'USAGE', /redelta must be one of never, parent, multibase, all, fulladd, found some/],
  ['a policy while all deltas are kept', { policy: { preset: 'smallest' } }, 'USAGE', /a policy .* has no effect without --redelta parent, multibase, all or fulladd/],
  ['an empty policy while all deltas are kept', { redelta: 'never', policy: {} }, 'USAGE', /policy .* has no effect/],
  ['a policy with an unknown key', JSON.parse('{"redelta":"all","policy":{"sparce":true}}') as ConvertOptions, 'POLICY', /^sparce: .* did you mean sparse\?/],
  ['a policy that is none', JSON.parse('{"redelta":"all","policy":3}') as ConvertOptions, 'POLICY', /the policy must be an object, found 3/],
  ['a list with a policy that is none', JSON.parse('{"redelta":"all","policy":[{},null]}') as ConvertOptions, 'POLICY', /the policy must be an object, found null/],
  ['a policy that contradicts itself', { redelta: 'all', policy: { filelog: { sparse: true, generaldelta: false } } }, 'POLICY', /filelog\.sparse/],
  ['generaldelta declined, and asked for', { redelta: 'all', generaldelta: false, policy: { generaldelta: true } }, 'POLICY', /generaldelta: true contradicts the option generaldelta: false/],
  ['generaldelta declined, and snapshots asked for', { redelta: 'all', generaldelta: false, policy: { sparse: true } }, 'POLICY', /sparse: true, generaldelta: false/],
  ['an unknown engine', JSON.parse('{"to":"brotli"}') as ConvertOptions, 'ENGINE_UNKNOWN', /brotli.*none, zlib, zstd, lz4/],
  ['a name of every object', JSON.parse('{"to":"constructor"}') as ConvertOptions, 'ENGINE_UNKNOWN', /constructor/],
  ['a level above the range', { to: 'zstd', level: 23 }, 'LEVEL', /zstd .* 1 to 22, found 23|zstd .*, found 23/],
  ['a level below the range', { to: 'zlib', level: -1 }, 'LEVEL', /zlib .* found -1/],
  ['half a level', { to: 'zlib', level: 1.5 }, 'LEVEL', /zlib .* found 1\.5/],
  ['a level for an engine without levels', { to: 'lz4', level: 1 }, 'LEVEL', /lz4 has no levels, found 1/],
  ...['3', 'null', '[]', '{}', '{"files":null}', '{"files":{"all":3}}', '{"from":3}', '{"from":"x","files":{}}'].map((dictionaries): (typeof BAD)[number] => [`dictionaries ${dictionaries}`, JSON.parse(`{"to":"zstd","dictionaries":${dictionaries}}`) as ConvertOptions, 'USAGE', /dictionar/]),
  ['a level for one kind', { to: 'zstd', levels: { manifest: 99 } }, 'LEVEL', /zstd .* found 99/],
];

/** Rules that need the source: its engine is the default. */
const BAD_WITH_SOURCE: readonly (readonly [title: string, options: ConvertOptions, code: ErrorCode, message: RegExp])[] = [
  ['a level that the engine of the source has not', { level: 19 }, 'LEVEL', /zlib .* found 19/],
  ['a checksum for an engine without them', { to: 'zlib', checksum: true }, 'USAGE', /checksum/],
  ['a checksum for the engine of the source', { checksum: true }, 'USAGE', /checksum.* not zlib/],
  ['generaldelta declined where the source has it', { to: 'zstd', generaldelta: false }, 'USAGE', /no-generaldelta/],
];

describe('options', () => {
  for (const [title, options, code, message] of BAD) {
    it(`${title}: ${code}`, () => assertThrows(() => fillOptions(options), { code, message }));
  }

  it('the defaults', () => {
    assert.deepEqual(fillOptions({}), {
      to: undefined,
      level: undefined,
      levels: {},
      checksum: false,
      jobs: Math.min(availableParallelism(), 256),
      check: 'chunks',
      redelta: 'never',
      policy: resolvePolicy(),
      dictionaries: { choice: undefined, size: undefined, samples: undefined },
      generaldelta: true,
      keepGoing: false,
      lock: true,
      lockTimeout: DEFAULT_LOCK_TIMEOUT,
      signal: undefined,
      onProgress: undefined,
      onNotice: undefined,
    });
  });

  it('the ends of each range are accepted', () => {
    for (const jobs of [1, 256]) assert.equal(fillOptions({ jobs }).jobs, jobs);
    assert.equal(fillOptions({ lockTimeout: 0 }).lockTimeout, 0);
    for (const level of [0, 9]) assert.equal(fillOptions({ to: 'zlib', level }).level, level);
    assert.equal(fillOptions({ to: 'zstd', level: 22 }).level, 22);
  });

  it('the options given are not changed', () => {
    const options = Object.freeze({ to: 'zstd', levels: Object.freeze({ filelog: 1 }) } as const);
    assert.deepEqual(fillOptions(options).levels, { filelog: 1 });
  });
});

describe('options for new deltas', () => {
  it('the default policy is Mercurial\'s', () => {
    const { redelta, policy } = fillOptions({ redelta: 'all' });
    assert.equal(redelta, 'all');
    assert.deepEqual([policy.manifest, policy.filelog], [PRESETS.mercurial.manifest, PRESETS.mercurial.filelog]);
    assert.equal(policy.changelog.deltas, false);
  });

  it('multibase tries both parents', () => {
    const options = { policy: { preset: 'mercurial-3.7' } } as const;
    assert.equal(fillOptions({ ...options, redelta: 'parent' }).policy.filelog.parents, 'one');
    assert.equal(fillOptions({ ...options, redelta: 'multibase' }).policy.filelog.parents, 'both');
  });

  it('of several policies a later one wins, and generaldelta is declined over all but the last', () => {
    const policy = [{ sparse: true, filelog: { maxChainLength: 3 } }, { maxChainLength: 5 }] as const;
    assert.deepEqual(fillOptions({ redelta: 'all', policy }).policy, resolvePolicy({ maxChainLength: 5 }));
    const declined = fillOptions({ redelta: 'all', policy, generaldelta: false }).policy;
    assert.deepEqual(declined, resolvePolicy({ maxChainLength: 5, generaldelta: false }));
    assert.deepEqual(fillOptions({ redelta: 'all', generaldelta: false }).policy, resolvePolicy({ generaldelta: false }));
  });
});

describe('options that only the source shows to be wrong', () => {
  const scratch = Scratch.use();
  for (const [title, options, code, message] of BAD_WITH_SOURCE) {
    it(`${title}: ${code}, and nothing is written`, async () => {
      buildRepository(scratch.at('src'));
      const before = picture(scratch.root);
      await assertFails(convertRepository(scratch.at('src'), scratch.at('dst'), options), { code, message });
      assert.deepEqual(picture(scratch.root), before);
    });
  }
});
