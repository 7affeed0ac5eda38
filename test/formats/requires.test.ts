import assert from 'node:assert/strict';

import { describe, it } from 'mocha';

import { RevconvertError } from '../../src/errors.js';
import { checkRequirements, findRequirement, parseRequires, REQUIREMENTS, serialiseRequires } from '../../src/formats/requires.js';

const bytes = (text: string): Buffer => Buffer.from(text, 'latin1');

const MODERN = ['dotencode', 'fncache', 'generaldelta', 'revlog-compression-zstd', 'revlogv1', 'share-safe', 'sparserevlog', 'store'];

describe('requires', () => {
  describe('parse', () => {
    /** Each was given to Mercurial 6.3.2 and 7.2.4. */
    const ACCEPTED: readonly (readonly [what: string, text: string, names: readonly string[]])[] = [
      ['one per line', 'revlogv1\nstore\n', ['revlogv1', 'store']],
      ['no newline at the end', 'revlogv1\nstore', ['revlogv1', 'store']],
      ['CRLF', 'revlogv1\r\nstore\r\n', ['revlogv1', 'store']],
      ['CR', 'revlogv1\rstore\r', ['revlogv1', 'store']],
      ['a name twice', 'store\nstore\n', ['store']],
      ['an empty file', '', []],
      ['a space at the end, which belongs to the name', 'store \n', ['store ']],
      ['a form feed, which is no line end', 'store\fx\n', ['store\fx']],
      ['a first digit', '1x\n', ['1x']],
    ];
    for (const [what, text, names] of ACCEPTED) {
      it(`accepts ${what}`, () => assert.deepEqual([...parseRequires(bytes(text))], names));
    }

    const CORRUPT: readonly (readonly [what: string, text: string, message: RegExp])[] = [
      ['an empty line at the end', 'store\n\n', /line 2 .* is empty/],
      ['an empty first line', '\nstore\n', /line 1 .* is empty/],
      ['CR CR LF', 'store\r\r\nfncache\n', /line 2 .* is empty/],
      ['a leading space', ' store\n', /line 1 .* does not begin/],
      ['a leading dash', 'store\n-x\n', /line 2 .*: -x$/],
      ['a leading underscore', '_x\n', /line 1/],
      ['a letter that is not ASCII', '\xe9\n', /line 1 .*: \\xe9$/],
      ['a control character', '\x1b[31m\n', /line 1 .*: \\x1b\[31m$/],
    ];
    for (const [what, text, message] of CORRUPT) {
      it(`refuses ${what}`, () => {
        assert.throws(() => parseRequires(bytes(text)), { name: 'RevconvertError', code: 'REQUIRES_CORRUPT', message });
      });
    }
  });

  it('writes names sorted, each once, one per line', () => {
    assert.equal(serialiseRequires(['store', 'fncache', 'store']).toString(), 'fncache\nstore\n');
    assert.equal(serialiseRequires(new Set()).length, 0);
  });

  it('knows each requirement once, by a name that a requires file can hold', () => {
    const names = REQUIREMENTS.map(({ name }) => name);
    assert.equal(new Set(names).size, names.length);
    assert.deepEqual([...parseRequires(serialiseRequires(names))], [...names].sort());
  });

  it('holds in the working copy what Mercurial 6.3 and 7.2 hold there', () => {
    const names = REQUIREMENTS.filter(({ place }) => place === 'working-copy').map(({ name }) => name);
    assert.deepEqual(names.sort(), ['dirstate-tracked-key-v1', 'dirstate-v2', 'exp-sparse', 'relshared', 'share-safe', 'shared']);
  });

  it('finds the row of a requirement', () => {
    assert.equal(findRequirement('dirstate-v2')?.action, 'pass');
    assert.equal(findRequirement('toString'), undefined);
  });

  describe('check', () => {
    const ACCEPTED: readonly (readonly string[])[] = [
      [],
      MODERN,
      REQUIREMENTS.filter(({ action }) => action !== 'refuse').map(({ name }) => name),
      ['compenginezstd', 'exp-compression-zstd', 'exp-compression-none', 'exp-compression-zlib', 'lz4revlog'],
      ['shared', 'relshared', 'fileindex-v1'],
    ];
    for (const names of ACCEPTED) {
      it(`accepts ${names.slice(0, 5).join(', ') || 'no requirements'}`, () => checkRequirements(new Set(names)));
    }

    const REFUSED: readonly (readonly [names: readonly string[], message: RegExp])[] = [
      [['frobnicate'], /: frobnicate \(unknown\)$/],
      [['store '], /: store {2}\(unknown\)$/],
      [['a\x1b[2J\x9b'], /: a\\x1b\[2J\\x9b \(unknown\)$/],
      [['exp-revlogv2.2'], /exp-revlogv2\.2 \(revlog v2, /],
      [['exp-revlogv2.9'], /exp-revlogv2\.9 \(revlog v2, /],
      [['exp-changelog-v2'], /exp-changelog-v2 \(changelog-v2, /],
      [['exp-compression-brotli'], /exp-compression-brotli \(an unknown compression engine\)/],
      [['exp-sqlite-comp-001=zstd'], /SQLite/],
      [['exp-very-fragile-and-unsafe-plain-store-encoding'], /not encoded/],
      [['zzz', 'git', 'lz4revlog'], /: git \(.*\), zzz \(unknown\)$/],
    ];
    for (const [names, message] of REFUSED) {
      it(`refuses ${JSON.stringify(names.join(', '))} and says why`, () => {
        assert.throws(() => checkRequirements(new Set([...MODERN, ...names])), { code: 'UNKNOWN_REQUIREMENT', message });
      });
    }

    it('refuses every row that says so', () => {
      for (const { name } of REQUIREMENTS.filter(({ action }) => action === 'refuse')) {
        assert.throws(() => checkRequirements(new Set([name])), RevconvertError, name);
      }
    });

    it('refuses dictionaries of zstd without zstd', () => {
      checkRequirements(new Set(['exp-revlog-zstd-dictionary.1', 'revlog-compression-zstd']));
      assert.throws(() => checkRequirements(new Set(['exp-revlog-zstd-dictionary.1'])), { code: 'REQUIRES_CORRUPT', message: /not revlog-compression-zstd as well/ });
    });

    it('tells an interrupted upgrade apart, whatever else is required', () => {
      assert.throws(() => checkRequirements(new Set(['upgradeinprogress', 'frobnicate'])), { code: 'INTERRUPTED_UPGRADE' });
    });
  });
});
