import assert from 'node:assert/strict';

import fc from 'fast-check';
import { describe, it } from 'mocha';

import {
  type BytePath,
  decodeDirectories,
  decodeStorePath,
  encodeDirectories,
  encodeStorePath,
  type StoreEncoding,
} from '../../src/formats/store-path.js';

const ENCODINGS = ['plain-dir', 'store', 'fncache', 'dotencode'] as const satisfies readonly StoreEncoding[];

const longDirectories = `data/${'LongDir'.repeat(11)}/sub/aux/somefilename_with_caps_ABC.txt.i`;

interface Vector {
  readonly name: BytePath;
  /** Undefined: as the encoding before it. */
  readonly plainDir?: string;
  readonly store?: string;
  readonly fncache?: string;
  readonly dotencode?: string;
}

/** Made with Mercurial 6.3.2. */
const VECTORS: readonly Vector[] = [
  { name: 'data/plain.txt.i' },
  { name: '00changelog.i' },
  { name: 'data/FOO.txt.i', store: 'data/_f_o_o.txt.i' },
  { name: 'data/a.i/b.i', plainDir: 'data/a.i.hg/b.i' },
  { name: 'data/a.i.hg/b.hg/c.d/d.d', plainDir: 'data/a.i.hg.hg/b.hg.hg/c.d.hg/d.d' },
  { name: 'data/a.D/b.i', store: 'data/a._d/b.i' },
  { name: 'data/com1.i', fncache: 'data/co~6d1.i' },
  { name: 'data/com0.i' },
  { name: 'data/com10.i' },
  { name: 'data/aux.foo/lpt9', fncache: 'data/au~78.foo/lp~749' },
  { name: 'data/aux./x.i', fncache: 'data/au~78~2e/x.i' },
  { name: 'data/AUX.i', store: 'data/_a_u_x.i' },
  { name: 'data/x ./y.i', fncache: 'data/x ~2e/y.i' },
  { name: 'data/.i', dotencode: 'data/~2ei' },
  { name: 'data/../x.i', fncache: 'data/.~2e/x.i', dotencode: 'data/~2e~2e/x.i' },
  { name: 'data/ / x.i', fncache: 'data/~20/ x.i', dotencode: 'data/~20/~20x.i' },
  { name: 'data/~_.i', store: 'data/~7e__.i' },
  { name: 'data/\x01\x7e\x7f\xff\\:*?"<>|.i', store: 'data/~01~7e~7f~ff~5c~3a~2a~3f~22~3c~3e~7c.i' },
  { name: "data/a=b;c,d[e]{}`'&%$#@!^+-().i" },
  { name: `data/${'a'.repeat(113)}.i` },
  {
    name: longDirectories,
    store: `data/${'_long_dir'.repeat(11)}/sub/aux/somefilename__with__caps___a_b_c.txt.i`,
    fncache: 'dh/longdirl/sub/au~78/somefilename_with_caps_abc.txt.i103b1876d24dc50fd5d0ae099a8342917e0e4e36.i',
  },
  {
    name: `data/${'x'.repeat(130)}.i`,
    fncache: `dh/${'x'.repeat(75)}aee309e514995bdfa7bd79da2f2a88ac0ea8600d.i`,
  },
  {
    name: `data/${'x'.repeat(130)}.d`,
    fncache: `dh/${'x'.repeat(75)}09610822549c8d140d9b238bb3bccb6940ca356d.d`,
  },
  {
    name: `data/${'x'.repeat(130)}/.i`,
    fncache: 'dh/xxxxxxxx/.ia78794f62bfaa11d7ea61bdaecb62cb7146e5d28',
    dotencode: 'dh/xxxxxxxx/~2eia78794f62bfaa11d7ea61bdaecb62cb7146e5d28',
  },
  {
    name: `data/abcdefg./xxxxxxx h/1234567 8/${'x'.repeat(130)}.i`,
    fncache: `dh/abcdefg~/xxxxxxx_/1234567_/${'x'.repeat(48)}4ab64cdc6b84af711bdd7b4bc1930f9ec7c85ebb.i`,
  },
  {
    name: `data/${'aaaaaaaaaa/'.repeat(7)}b/c/d/e/f/${'x'.repeat(130)}.i`,
    fncache: `dh/${'aaaaaaaa/'.repeat(7)}b/c/d/xxxxxxb29948425028c0ac326190c98f3fd005c14e5569.i`,
  },
  {
    name: `data/${'x'.repeat(130)}.${'e'.repeat(80)}`,
    fncache: `dh/cee487954742861f68d16b59bebc5acc35780e24.${'e'.repeat(80)}`,
  },
];

const expected = ({ name, plainDir = name, store = plainDir, fncache = store, dotencode = fncache }: Vector): Record<StoreEncoding, string> => ({
  'plain-dir': plainDir,
  store,
  fncache,
  dotencode,
});

/** Skewed towards what the rules are about. */
const byteChar = fc.oneof(
  fc.constantFrom('.', ' ', '_', '~', 'A', 'B', 'a', 'b', 'i', 'd', 'h', 'g'),
  fc.integer({ min: 1, max: 255 }).filter((byte) => byte !== 10).map((byte) => String.fromCharCode(byte)),
);
const component = fc.oneof(
  fc.constantFrom('aux', 'con.txt', 'COM1', 'x.i', 'y.d', 'z.hg', '.hg', '. ', 'Makefile.in'),
  fc.string({ unit: byteChar, minLength: 1, maxLength: 24 }).map((text) => text.replaceAll('/', 'x')),
);
const storeName = fc
  .tuple(fc.constantFrom('data', 'meta'), fc.array(component, { minLength: 1, maxLength: 9 }), fc.constantFrom('.i', '.d'))
  .map(([kind, components, suffix]) => `${kind}/${components.join('/')}${suffix}`);
const anyEncoding = fc.constantFrom(...ENCODINGS);

describe('store paths', () => {
  for (const vector of VECTORS) {
    it(`encodes ${JSON.stringify(vector.name.slice(0, 60))}`, () => {
      const actual = Object.fromEntries(ENCODINGS.map((encoding) => [encoding, encodeStorePath(vector.name, encoding)]));
      assert.deepEqual(actual, expected(vector));
    });
  }

  it('hashes a name from 121 bytes on', () => {
    assert.equal(encodeStorePath(`data/${'a'.repeat(113)}.i`, 'dotencode').length, 120);
    assert.match(encodeStorePath(`data/${'a'.repeat(114)}.i`, 'dotencode'), /^dh\/a+[0-9a-f]{40}\.i$/);
  });

  it('hashes a short name whose escapes make it long', () => {
    assert.match(encodeStorePath(`data/${'Z'.repeat(60)}.i`, 'fncache'), /^dh\/z{60}\.i[0-9a-f]{40}\.i$/);
  });

  const UNDECODABLE: readonly (readonly [why: string, diskName: string, encoding: StoreEncoding])[] = [
    ['hashed', 'dh/xad86b3fab08cb9dcbe17214645ae012f080a64741.i', 'dotencode'],
    ['upper case', 'data/Foo.i', 'store'],
    ['a tilde that begins no escape', 'data/a~b.i', 'store'],
    ['an escape of what needs none', 'data/~61.i', 'store'],
    ['an escape in upper case', 'data/~FF.i', 'store'],
    ['a reserved name', 'data/aux.i', 'fncache'],
    ['a leading dot', 'data/.x.i', 'dotencode'],
    ['an underscore that begins no escape', 'data/undo_1.i', 'fncache'],
    ['a directory that looks like a revlog', 'data/a.i/b.i', 'plain-dir'],
    ['a name too long not to be hashed', `data/${'a'.repeat(114)}.i`, 'fncache'],
  ];
  for (const [why, diskName, encoding] of UNDECODABLE) {
    it(`does not decode ${why} (${encoding})`, () => assert.equal(decodeStorePath(diskName, encoding), undefined));
  }

  it('decodes what it encoded, unless hashed', () => {
    fc.assert(
      fc.property(storeName, anyEncoding, (name, encoding) => {
        const diskName = encodeStorePath(name, encoding);
        assert.equal(decodeStorePath(diskName, encoding), diskName.startsWith('dh/') ? undefined : name);
      }),
      { numRuns: 2000 },
    );
  });

  it('decodes only what encodes to the same again', () => {
    fc.assert(
      fc.property(storeName, anyEncoding, (diskName, encoding) => {
        const name = decodeStorePath(diskName, encoding);
        if (name !== undefined) assert.equal(encodeStorePath(name, encoding), diskName);
      }),
      { numRuns: 2000 },
    );
  });

  it('makes names of 120 bytes at most that no system refuses', () => {
    fc.assert(
      fc.property(storeName, (name) => {
        const diskName = encodeStorePath(name, 'dotencode');
        assert.ok(diskName.length <= 120 || /[0-9a-f]{40}\.[^/]*$/.test(diskName), diskName);
        assert.match(diskName, /^[ -~]+$/);
        assert.doesNotMatch(diskName, /[A-Z\\:*?"<>|]|[. ](?:\/|$)|\/[. ]|\/(?:aux|con|prn|nul|com[1-9]|lpt[1-9])(?:[./]|$)/);
      }),
      { numRuns: 2000 },
    );
  });

  it('decodes directories that it encoded', () => {
    fc.assert(fc.property(storeName, (name) => assert.equal(decodeDirectories(encodeDirectories(name)), name)));
  });
});
