import assert from 'node:assert/strict';

import { describe, it } from 'mocha';

import { parseFileIndexDocket, parseFileIndexPaths } from '../../src/formats/fileindex.js';

const hex = (text: string): Buffer => Buffer.from(text.replaceAll(/\s/g, ''), 'hex');

/**
 * A repository of Mercurial 7.2.4 with the files `f0`, `x.d/aux` and, in the second commit, `a\xff\xe9.txt`, made with
 * `hg init --config format.use-fileindex-v1=yes`.
 */
const docketBytes = hex(`
  66696c65 696e6465 782d7631 00000013 00000020 00000025
  30656635 37663861 37633235 66393063 32643632 39636166
  00000010 00000010 00000000 00000000 00000000`);
const listBytes = hex('663000 782e642f61757800 61ffe92e74787400');
const metaBytes = hex('0000000000000000 0000000000020000 0000000300070003 0000000b00070000');

const changed = (bytes: Buffer, at: number, ...values: number[]): Buffer => {
  const copy = Buffer.from(bytes);
  copy.set(values, at);
  return copy;
};

describe('file index', () => {
  const docket = parseFileIndexDocket(docketBytes);

  it('reads the docket', () => {
    assert.deepEqual(docket, {
      list: { fileName: 'fileindex-list.0ef57f8a', usedBytes: 19 },
      meta: { fileName: 'fileindex-meta.7c25f90c', usedBytes: 32 },
      tree: { fileName: 'fileindex-tree.2d629caf', usedBytes: 37 },
    });
  });

  it('reads the paths in the order of their tokens', () => {
    assert.deepEqual(parseFileIndexPaths(docket, listBytes, metaBytes), ['f0', 'x.d/aux', 'a\xff\xe9.txt']);
  });

  it('leaves out what a writer has appended but not recorded', () => {
    const list = Buffer.concat([listBytes, Buffer.from('new\0')]);
    const meta = Buffer.concat([metaBytes, hex('0000001300030000')]);
    assert.equal(parseFileIndexPaths(docket, list, meta).length, 3);
  });

  it('does not rely on the NUL between paths', () => {
    const packed = { ...docket, list: { ...docket.list, usedBytes: 2 }, meta: { ...docket.meta, usedBytes: 24 } };
    const meta = hex('0000000000000000 0000000000010000 0000000100010000');
    assert.deepEqual(parseFileIndexPaths(packed, Buffer.from('ab'), meta), ['a', 'b']);
  });

  const BAD_DOCKETS: readonly (readonly [why: string, bytes: Buffer, offset: number])[] = [
    ['another marker', changed(docketBytes, 11, 0x32), 0],
    ['an empty file', Buffer.alloc(0), 0],
    ['a torn docket', docketBytes.subarray(0, 67), 67],
    ['an id that leaves the folder', changed(docketBytes, 32, 0x2e, 0x2e, 0x2f), 32],
  ];
  for (const [why, bytes, offset] of BAD_DOCKETS) {
    it(`refuses ${why}`, () => {
      assert.throws(() => parseFileIndexDocket(bytes), { code: 'FNCACHE_CORRUPT', at: { offset } });
    });
  }

  const BAD_PARTS: readonly (readonly [why: string, list: Buffer, meta: Buffer, offset: number])[] = [
    ['a list shorter than recorded', listBytes.subarray(1), metaBytes, 18],
    ['a meta file shorter than recorded', listBytes, metaBytes.subarray(8), 24],
    ['a path that ends outside of the list', listBytes, changed(metaBytes, 29, 9), 24],
    ['a path that begins outside of the list', listBytes, changed(metaBytes, 8, 0x7f, 0xff), 8],
    ['an empty path', listBytes, changed(metaBytes, 13, 0), 8],
    ['a path across a NUL', listBytes, changed(metaBytes, 13, 5), 8],
  ];
  for (const [why, list, meta, offset] of BAD_PARTS) {
    it(`refuses ${why}`, () => {
      assert.throws(() => parseFileIndexPaths(docket, list, meta), { code: 'FNCACHE_CORRUPT', at: { offset } });
    });
  }

  it('refuses a meta file of no whole number of entries', () => {
    const torn = { ...docket, meta: { ...docket.meta, usedBytes: 31 } };
    assert.throws(() => parseFileIndexPaths(torn, listBytes, metaBytes), { code: 'FNCACHE_CORRUPT', at: { offset: 31 } });
  });
});
