import assert from 'node:assert/strict';

import { describe, it } from 'mocha';

import type { RevlogKind } from '../../../src/formats/record.js';
import { filePathOf, groupName, groupRevlogs, largeSuffixes } from '../../../src/repository/dictionaries/groups.js';
import type { RevlogSource } from '../../../src/repository/discover.js';

const MB = 1 << 20;

function revlog(name: string, bytes: number, kind: RevlogKind = 'filelog'): RevlogSource {
  return { name, kind, indexPath: name, dataPath: `${name.slice(0, -1)}d`, indexBytes: bytes, dataBytes: 0, listed: true };
}
const file = (path: string, bytes: number): RevlogSource => revlog(`data/${path}.i`, bytes);

const told = (revlogs: readonly RevlogSource[], suffixes: readonly string[]): Record<string, string[]> =>
  Object.fromEntries(groupRevlogs(revlogs, suffixes).map((group) => [`${group.kind} ${groupName(group)}`, group.revlogs.map(({ name }) => name)]));

const store = [
  revlog('00changelog.i', MB, 'changelog'),
  revlog('00manifest.i', 2 * MB, 'manifest'),
  revlog('meta/lib.c/00manifest.i', 10, 'manifest'),
  file('a.c', 5 * MB),
  file('lib/b.c', MB),
  file('c.py', 3 * MB),
  file('readme', MB),
  file('.hidden', 10),
];

describe('groups of revlogs', () => {
  it('a suffix is large by its part of all filelogs, and from half a MiB on', () => {
    assert.deepEqual(largeSuffixes(store), ['.c', '.py']);
    assert.deepEqual(largeSuffixes([file('a.c', MB / 2), file('b.d', MB / 2 - 1)]), ['.c']);
    assert.deepEqual(largeSuffixes([file('a.c', 15 * MB), file('b.d', MB), file('c.e', MB - 1)]), ['.c'], 'a sixteenth');
    assert.deepEqual(largeSuffixes([file('a.c', 14 * MB), file('b.d', MB)]), ['.c', '.d']);
  });

  it('none is where all filelogs have it, and none where there are none', () => {
    assert.deepEqual(largeSuffixes([file('a.c', 5 * MB), file('b.c', MB)]), []);
    assert.deepEqual(largeSuffixes([]), []);
    assert.deepEqual(largeSuffixes(store.slice(0, 3)), []);
  });

  it('a suffix that cannot be shown, or is not ASCII, gets no group', () => {
    assert.deepEqual(largeSuffixes([file('a.b c', MB), file('a.', MB), file('a.\x1b[1m', MB), file('a.\xe9', MB), file('a.c', MB)]), ['.c']);
  });

  it('every revlog is in one group, the largest group first', () => {
    const groups = groupRevlogs(store, ['.c', '.py']);
    assert.deepEqual(groups.map(groupName), ['.c', '.py', 'manifest', 'changelog', 'filelog'].sort((a, b) => ['.c', '.py', 'manifest', 'filelog', 'changelog'].indexOf(a) - ['.c', '.py', 'manifest', 'filelog', 'changelog'].indexOf(b)));
    assert.deepEqual(groups.flatMap(({ revlogs }) => revlogs).map(({ name }) => name).sort(), store.map(({ name }) => name).sort());
    assert.deepEqual(told(store, ['.c', '.py']), {
      'filelog .c': ['data/a.c.i', 'data/lib/b.c.i'],
      'filelog .py': ['data/c.py.i'],
      'manifest manifest': ['00manifest.i', 'meta/lib.c/00manifest.i'],
      'changelog changelog': ['00changelog.i'],
      'filelog filelog': ['data/.hidden.i', 'data/readme.i'],
    });
  });

  it('without suffixes there is one for each kind; groups without a revlog are left out', () => {
    assert.deepEqual(Object.keys(told(store, [])).sort(), ['changelog changelog', 'filelog filelog', 'manifest manifest']);
    assert.deepEqual(told([file('a.c', 1)], ['.c', '.h']), { 'filelog .c': ['data/a.c.i'] });
    assert.deepEqual(groupRevlogs([], ['.c']), []);
  });

  it('the order is the same, whatever the order of revlogs of the same size', () => {
    const equal = [revlog('00manifest.i', 5, 'manifest'), revlog('00changelog.i', 5, 'changelog'), file('a.c', 5)];
    assert.deepEqual(groupRevlogs([...equal].reverse(), ['.c']).map(groupName), groupRevlogs(equal, ['.c']).map(groupName));
  });

  it('the tracked file of a filelog is named without what the store adds', () => {
    assert.deepEqual(['data/a/b.c.i', 'data/.i.i', 'data/x.i/y.i', '00manifest.i'].map(filePathOf), ['a/b.c', '.i', 'x.i/y', '00manifest.i']);
  });
});
