/** The texts that `verify` reads: changesets, lines of manifests, metadata of files, narrow patterns. */
import assert from 'node:assert/strict';

import { describe, it } from 'mocha';

import { findChangesetFields } from '../../src/formats/changeset-text.js';
import { findCopySource, hasMeta, isPointer, isTombstone } from '../../src/formats/filelog-meta.js';
import { readHexNode, wordsToHex } from '../../src/formats/hex-node.js';
import type { ManifestLine } from '../../src/formats/manifest-text.js';
import { findManifestLine, isBefore } from '../../src/formats/manifest-text.js';
import { parseNarrowspec } from '../../src/formats/narrowspec.js';

const NODE = '0123456789abcdef0123456789abcdef01234567';

describe('nodes as digits', () => {
  it('are read as five numbers, and written again', () => {
    const words = new Int32Array(7);
    assert.ok(readHexNode(Buffer.from(`xx${NODE}`), 2, words, 1));
    assert.deepEqual([...words], [0, 0x01234567, 0x89abcdef | 0, 0x01234567, 0x89abcdef | 0, 0x01234567, 0]);
    assert.equal(wordsToHex(words, 1), NODE);
  });

  it('are read in upper case too', () => {
    const words = new Int32Array(5);
    assert.ok(readHexNode(Buffer.from(NODE.toUpperCase()), 0, words, 0));
    assert.equal(wordsToHex(words), NODE);
  });

  for (const [title, text] of [['a letter that is no digit', `${NODE.slice(1)}g`], ['a byte over 127', `${NODE.slice(1)}\xe9`], ['an early end', NODE.slice(1)]] as const) {
    it(`are refused: ${title}`, () => assert.equal(readHexNode(Buffer.from(text, 'latin1'), 0, new Int32Array(5), 0), false));
  }
});

describe('changesets', () => {
  const files = (text: string): string | undefined => {
    const fields = findChangesetFields(Buffer.from(text));
    return typeof fields === 'string' ? undefined : text.slice(fields.filesStart, fields.filesEnd);
  };
  const SOUND: readonly (readonly [title: string, text: string, files: string])[] = [
    ['with files', `${NODE}\nme\n0 0\na\nb\n\ntext`, 'a\nb\n'],
    ['without files', `${NODE}\nme\n0 0\n\ntext`, ''],
    ['with more behind the date', `${NODE}\nme\n1500000000 -7200 branch:x\na\n\n`, 'a\n'],
    ['with a date before 1970', `${NODE}\nme\n-1 0\na\n\ntext`, 'a\n'],
    ['with a date in parts of a second', `${NODE}\nme\n1117209600.5 0\na\n\ntext`, 'a\n'],
    ['with an empty line in the description', `${NODE}\nme\n0 0\na\n\none\n\ntwo`, 'a\n'],
    ['that is empty', '', ''],
  ];
  for (const [title, text, expected] of SOUND) it(`sound: one ${title}`, () => assert.equal(files(text), expected));
  for (const text of ['x', `${NODE.slice(1)}\nme\n0 0\n\n`, `${NODE}\nme`, `${NODE}\nme\nnoon 0\n\n`, `${NODE}\nme\n0 0\na\nb`, `${NODE}\nme\n0 0\n`]) {
    it(`malformed: ${JSON.stringify(text.replace(NODE, '…'))}`, () => assert.equal(typeof findChangesetFields(Buffer.from(text)), 'string'));
  }
});

describe('lines of manifests', () => {
  const find = (text: string, at = 0): ManifestLine | string => {
    const line = { pathEnd: 0, nodeAt: 0, flag: 0, end: 0 };
    return findManifestLine(Buffer.from(text, 'latin1'), at, line) ?? line;
  };

  it('have their parts found', () => {
    assert.deepEqual(find(`a/b\0${NODE}\nc`), { pathEnd: 3, nodeAt: 4, flag: 0, end: 45 });
    assert.deepEqual(find(`xx\na/b\0${NODE}x\n`, 3), { pathEnd: 6, nodeAt: 7, flag: 'x'.charCodeAt(0), end: 49 });
  });

  for (const text of ['', 'a', 'a\nb\0', `\0${NODE}\n`, `a\0${NODE}`, `a\0${NODE}x`, `a\0${NODE}q\n`, `a\0${NODE}lx\n`, `a\0${NODE.slice(1)}\n`, `a\0${NODE}00\n`]) {
    it(`malformed: ${JSON.stringify(text.replace(NODE, '…'))}`, () => assert.equal(typeof find(text), 'string'));
  }

  const ORDER: readonly (readonly [a: string, b: string, before: boolean])[] = [
    ['a', 'b', true],
    ['b', 'a', false],
    ['a', 'a', false],
    ['a', 'ab', true],
    ['a/b', 'a.b', false],
    ['\xe9', 'z', false],
  ];
  for (const [a, b, expected] of ORDER) {
    it(`${JSON.stringify(a)} ${expected ? 'comes' : 'does not come'} before ${JSON.stringify(b)}`, () => {
      assert.equal(isBefore(Buffer.from(`${a}\0${NODE}\n${b}\0${NODE}\n`, 'latin1'), 0, a.length + 42), expected);
    });
  }
});

describe('metadata of files', () => {
  it('says what a file was copied from', () => {
    const words = new Int32Array(5);
    assert.deepEqual(findCopySource(Buffer.from(`\x01\ncopy: a\xe9\ncopyrev: ${NODE}\n\x01\ntext`, 'latin1'), words), { path: 'a\xe9' });
    assert.equal(wordsToHex(words), NODE);
  });

  for (const fields of ['', 'copy: a\n', `copyrev: ${NODE}\n`, 'other: x\n']) {
    it(`no copy: ${JSON.stringify(fields)}`, () => assert.equal(findCopySource(Buffer.from(`\x01\n${fields}\x01\n`), new Int32Array(5)), undefined));
  }
  for (const text of ['\x01\n', '\x01\ncopy: a\n', '\x01\nnothing\n\x01\n', '\x01\ncopy: a\ncopyrev: 12\n\x01\n']) {
    it(`malformed: ${JSON.stringify(text)}`, () => assert.equal(typeof findCopySource(Buffer.from(text), new Int32Array(5)), 'string'));
  }

  it('is told from text, tombstones and pointers', () => {
    assert.deepEqual(['\x01\n', '\x01', '', 'x\x01\n'].map((text) => hasMeta(Buffer.from(text))), [true, false, false, false]);
    assert.deepEqual(['\x01\ncensored: \n\x01\n', '\x01\ncopy: a\n\x01\n', 'censored: '].map((text) => isTombstone(Buffer.from(text))), [true, false, false]);
    assert.deepEqual(['version https://git-lfs', 'text'].map((text) => isPointer(Buffer.from(text))), [true, false]);
  });
});

describe('narrow patterns', () => {
  const isInside = parseNarrowspec('[include]\npath:src\nrootfilesin:doc\nrootfilesin:.\n[exclude]\npath:src/big\n');
  const rows: readonly (readonly [path: string, inside: boolean])[] = [
    ['src', true],
    ['src/a.c', true],
    ['src/lib/a.c', true],
    ['src2/a.c', false],
    ['src/big/a.bin', false],
    ['src/bigger', true],
    ['doc/a.txt', true],
    ['doc/more/a.txt', false],
    ['README', true],
    ['other/README', false],
  ];
  for (const [path, inside] of rows) it(`${path} is ${inside ? 'inside' : 'outside'}`, () => assert.equal(isInside(path), inside));

  it('the root has all, nothing has none', () => {
    assert.equal(parseNarrowspec('[include]\npath:.\n')('a/b'), true);
    assert.equal(parseNarrowspec('')('a'), false);
  });
});
