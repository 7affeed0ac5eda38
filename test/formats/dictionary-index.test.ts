import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

import { describe, it } from 'mocha';

import { RevconvertError } from '../../src/errors.js';
import type { DictionaryIndex } from '../../src/formats/dictionary-index.js';
import { parseDictionaryIndex, ruleFor, serialiseDictionaryIndex, suffixOf } from '../../src/formats/dictionary-index.js';
import { PROJECT_ROOT } from '../support/paths.js';

const SHA = 'ab'.repeat(32);

type Json = Record<string, unknown>;

const entry = (change: Json = {}): Json => ({ id: 1, kind: 'changelog', bytes: 1000, sha256: SHA, ...change });
const sound = (change: Json = {}): Json => ({ version: 1, dictionaries: [entry(), entry({ id: 2, kind: 'any' })], write: { changelog: 1, manifest: 0, filelog: 2, suffixes: { '.c': 2, '.txt': 0 } }, ...change });
const encode = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));

function faultOf(bytes: Uint8Array): RevconvertError {
  try {
    parseDictionaryIndex(bytes);
  } catch (error) {
    assert.ok(error instanceof RevconvertError, String(error));
    return error;
  }
  assert.fail('it was accepted');
}

const without = (key: string): Json => Object.fromEntries(Object.entries(entry()).filter(([name]) => name !== key));

describe('the index of dictionaries', () => {
  describe('that lies', () => {
    const lies: readonly (readonly [title: string, value: unknown, message: RegExp])[] = [
      ['an array', [], /an object is expected, found \[\]/],
      ['null', null, /an object is expected, found null/],
      ['a number', 1, /an object is expected, found 1/],
      ['a string', 'version', /an object is expected/],
      ['no version', sound({ version: undefined }), /version 1 is expected, found nothing/],
      ['a later version', sound({ version: 2 }), /version 1 is expected, found 2/],
      ['version 0', sound({ version: 0 }), /version 1 is expected, found 0/],
      ['a version in words', sound({ version: '1' }), /version 1 is expected, found "1"/],
      ['a version that is true', sound({ version: true }), /version 1 is expected, found true/],
      ['no dictionaries', sound({ dictionaries: undefined }), /a list of dictionaries is expected/],
      ['dictionaries that are an object', sound({ dictionaries: { 1: entry() } }), /a list of dictionaries is expected/],
      ['a dictionary that is null', sound({ dictionaries: [null] }), /ID must be .*, found nothing/],
      ['a dictionary that is an array', sound({ dictionaries: [[1]] }), /ID must be .*, found nothing/],
      ['a dictionary that is a number', sound({ dictionaries: [1] }), /ID must be .*, found nothing/],
      ...[0, 256, -1, 1.5, '1', true, null, [1], 2 ** 32 + 1].map((id) => [`ID ${JSON.stringify(id)}`, sound({ dictionaries: [entry({ id })] }), /ID must be a whole number from 1 to 255, found /] as const),
      ['no ID', sound({ dictionaries: [without('id')] }), /ID must be .*, found nothing/],
      ['an ID twice', sound({ dictionaries: [entry(), entry({ id: 2 }), entry({ bytes: 5 })] }), /dictionary 1 is listed twice/],
      ['no kind', sound({ dictionaries: [without('kind')] }), /dictionary 1: kind must be one of changelog, manifest, filelog, any, found nothing/],
      ['a kind that is none', sound({ dictionaries: [entry({ kind: 'all' })] }), /dictionary 1: kind .*found "all"/],
      ['a kind in a list', sound({ dictionaries: [entry({ kind: ['filelog'] })] }), /dictionary 1: kind .*found \["filelog"\]/],
      ...[-1, 1.5, '1000', null, 2 ** 60].map((bytes) => [`bytes ${JSON.stringify(bytes)}`, sound({ dictionaries: [entry({ bytes })] }), /dictionary 1: bytes must be a whole number, found /] as const),
      ['no bytes', sound({ dictionaries: [without('bytes')] }), /dictionary 1: bytes .*nothing/],
      ...['', 'ab', 'g'.repeat(64), `${SHA}0`, ` ${SHA}`, 12, null].map((sha256) => [`sha256 ${JSON.stringify(sha256)}`, sound({ dictionaries: [entry({ sha256 })] }), /dictionary 1: sha256 must be 64 hexadecimal digits, found /] as const),
      ['no sha256', sound({ dictionaries: [without('sha256')] }), /dictionary 1: sha256 .*nothing/],
      ...[null, [], 1, 'changelog'].map((write) => [`write ${JSON.stringify(write)}`, sound({ write }), /write: an object is expected, found /] as const),
      ...['changelog', 'manifest', 'filelog'].flatMap((kind) =>
        [3, 256, -1, 1.5, '1', true, null, [1]].map((id) => [`a rule of ${kind} to ${JSON.stringify(id)}`, sound({ write: { [kind]: id } }), new RegExp(`write: ${kind}: the ID of a dictionary that is listed is expected, or 0, found `)] as const),
      ),
      ...[null, [], 1].map((suffixes) => [`suffixes ${JSON.stringify(suffixes)}`, sound({ write: { suffixes } }), /write: suffixes: an object is expected, found /] as const),
      ['a rule of a suffix to what is not listed', sound({ write: { suffixes: { '.c': 1, '.h': 9 } } }), /write: suffixes: \.h: the ID of a dictionary that is listed .*found 9/],
      ['a rule of a suffix in words', sound({ write: { suffixes: { '.c': '1' } } }), /write: suffixes: \.c: .*found "1"/],
      ['rules without dictionaries', sound({ dictionaries: [] }), /write: changelog: .*found 1/],
    ];
    for (const [title, value, message] of lies) {
      it(title, () => {
        const fault = faultOf(encode(value));
        assert.equal(fault.code, 'DICTIONARY_INDEX', fault.message);
        assert.match(fault.message, message);
        assert.ok(fault.message.length < 300, 'what was found is not quoted whole');
      });
    }

    const texts: readonly (readonly [title: string, bytes: Uint8Array])[] = [
      ['no bytes', Buffer.alloc(0)],
      ['no JSON', Buffer.from('{"version": 1')],
      ['JSON with something behind it', Buffer.concat([encode(sound()), Buffer.from('x')])],
      ['not UTF-8', Buffer.concat([Buffer.from('{"'), Buffer.from([0xff]), Buffer.from('": 1}')])],
      ['Latin-1', Buffer.from('{"version": 1, "dictionaries": [], "name": "\u00e9"}', 'latin1')],
      ['UTF-16', Buffer.from(JSON.stringify(sound()), 'utf16le')],
      ['a byte order mark, which the extension refuses', Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), encode(sound())])],
    ];
    for (const [title, bytes] of texts) {
      it(title, () => {
        const fault = faultOf(bytes);
        assert.equal(fault.code, 'DICTIONARY_INDEX');
        assert.match(fault.message, /^not JSON in UTF-8: /);
      });
    }
  });

  describe('that is nested as deeply as its bytes allow', () => {
    const deep = '[0]'.replace('0', `${'['.repeat(200_000)}${']'.repeat(200_000)}`);
    const at = (key: string, value: Json = sound()): string => JSON.stringify({ ...value, [key]: 'DEEP' }).replace('"DEEP"', deep);
    const places: readonly (readonly [place: string, text: string])[] = [
      ['the whole', deep],
      ...['version', 'write'].map((key) => [key, at(key)] as const),
      ...['id', 'kind', 'bytes', 'sha256'].map((key) => [key, JSON.stringify(sound({ dictionaries: ['ENTRY'] })).replace('"ENTRY"', at(key, entry()))] as const),
      ...['changelog', 'suffixes'].map((key) => [key, JSON.stringify(sound({ write: 'RULES' })).replace('"RULES"', at(key, {}))] as const),
      ['a suffix', JSON.stringify(sound({ write: { suffixes: 'RULES' } })).replace('"RULES"', at('.c', {}))],
    ];
    for (const [place, text] of places) {
      it(`is refused: ${place}`, () => {
        const fault = faultOf(Buffer.from(text));
        assert.equal(fault.code, 'DICTIONARY_INDEX');
        assert.match(fault.message, /found something nested too deeply$/);
      });
    }
  });

  it('quotes little of what it refuses', () => assert.ok(faultOf(encode(sound({ version: 'x'.repeat(5000) }))).message.length < 200));

  const oddities: readonly (readonly [title: string, value: Json, expected: Partial<DictionaryIndex['write']>])[] = [
    ['no rules', sound({ write: undefined }), { changelog: 0, manifest: 0, filelog: 0, suffixes: new Map() }],
    ['empty rules', sound({ write: {} }), { changelog: 0, manifest: 0, filelog: 0, suffixes: new Map() }],
    ['no dictionaries and no rules', { version: 1, dictionaries: [] }, { changelog: 0 }],
    ['keys that are not known', sound({ later: [1], dictionaries: [entry({ level: 19 })], write: { changelog: 1, tag: 7 } }), { changelog: 1 }],
    ['an empty dictionary', sound({ dictionaries: [entry({ bytes: 0 })], write: {} }), { changelog: 0 }],
    ['a suffix called like a property of every object', sound({ write: { suffixes: { '.__proto__': 1, 'constructor': 2 } } }), { suffixes: new Map([['.__proto__', 1], ['constructor', 2]]) }],
  ];
  for (const [title, value, expected] of oddities) {
    it(`may have ${title}`, () => {
      const { write } = parseDictionaryIndex(encode(value));
      for (const [key, found] of Object.entries(expected)) assert.deepEqual(write[key as keyof typeof write], found);
    });
  }

  it('lists dictionaries by rising ID, whatever the order in the file', () => {
    const { dictionaries } = parseDictionaryIndex(encode(sound({ dictionaries: [255, 2, 100, 1].map((id) => entry({ id })) })));
    assert.deepEqual(dictionaries.map(({ id }) => id), [1, 2, 100, 255]);
  });

  it('is the same after it was written, and written the same', () => {
    const all = Array.from({ length: 255 }, (_, i) => entry({ id: i + 1, kind: ['changelog', 'manifest', 'filelog', 'any'][i % 4], bytes: i }));
    for (const value of [sound(), sound({ write: {} }), sound({ dictionaries: all, write: { manifest: 255, suffixes: { '.z': 3, '.a': 1, '.\u00fc "\\': 2 } } })]) {
      const index = parseDictionaryIndex(encode(value));
      const written = serialiseDictionaryIndex(index);
      assert.deepEqual(parseDictionaryIndex(written), index);
      assert.deepEqual(serialiseDictionaryIndex({ ...index, write: { ...index.write, suffixes: new Map([...index.write.suffixes].reverse()) } }), written);
      assert.equal(written.at(-1), 0x0a);
    }
  });

  it('writes no more than it was given', () => {
    const index = parseDictionaryIndex(encode(sound({ write: { changelog: 1 } })));
    assert.deepEqual(JSON.parse(serialiseDictionaryIndex(index).toString()), sound({ write: { changelog: 1, manifest: 0, filelog: 0 } }));
  });

  it('says by which dictionary a revlog is compressed', () => {
    const { write } = parseDictionaryIndex(encode(sound()));
    const of = (...[kind, path]: [Parameters<typeof ruleFor>[1], string]): number => ruleFor(write, kind, path);
    assert.deepEqual([of('changelog', '00changelog.i'), of('manifest', 'meta/a.c/00manifest.i'), of('filelog', 'a.py'), of('filelog', 'lib/a.c'), of('filelog', 'a.txt')], [1, 0, 2, 2, 0]);
  });
});

/** The path of a tracked file, one character a byte, and its suffix. */
const SUFFIXES: readonly (readonly [path: string, suffix: string | undefined])[] = [
  ['a.py', '.py'],
  ['lib/a.py', '.py'],
  ['a.tar.gz', '.gz'],
  ['A.TXT', '.TXT'],
  ['Makefile', undefined],
  ['lib.d/Makefile', undefined],
  ['lib.d/.hidden', undefined],
  ['.hidden', undefined],
  ['.hidden.py', '.py'],
  ['..py', '.py'],
  ['...', '.'],
  ['a.', '.'],
  ['a..', '.'],
  ['lib/a.', '.'],
  ['.', undefined],
  ['', undefined],
  ['a.b c', '.b c'],
  ['a .bc', '.bc'],
  ['a. ', '. '],
  ['a.b\tc', '.b\tc'],
  ['a.b\x01', '.b\x01'],
  ['a.b\x7f', '.b\x7f'],
  ['a.i', '.i'],
  ['a.d/b', undefined],
  ['\xc3\xa9.py', '.py'],
  ['\xff\xfe.py', '.py'],
  ['a.\xc3\xa9', undefined],
  ['a.p\xff', undefined],
  ['a.\xc3\xa9.py', '.py'],
  ['a.py.\xe2\x80\xa8', undefined],
  ['a\xe2\x80\xa8.py', '.py'],
  ['\x85\xa0.py', '.py'],
  ['d\xc3\xa9.x/b.c', '.c'],
  ['~a.b~', '.b~'],
  ['a.{}', '.{}'],
];

/** Runs the function of the extension alone: nothing else of it can be loaded without Mercurial. */
const PYTHON = `
import ast, json, sys
tree = ast.parse(open(sys.argv[1]).read())
body = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == 'suffix']
names = {}
exec(compile(ast.Module(body, []), 'suffix', 'exec'), names)
print(json.dumps([names['suffix'](path.encode('latin-1')) for path in json.load(sys.stdin)]))
`;

describe('the suffix of a file', () => {
  for (const [path, suffix] of SUFFIXES) {
    it(`${JSON.stringify(path)}: ${suffix === undefined ? 'none' : JSON.stringify(suffix)}`, () => assert.equal(suffixOf(path), suffix));
  }

  it('is what the extension for Mercurial takes it for', function () {
    const paths = [...SUFFIXES.map(([path]) => path), ...Array.from({ length: 256 }, (_, byte) => `a.b${String.fromCharCode(byte)}`), ...Array.from({ length: 256 }, (_, byte) => `${String.fromCharCode(byte)}.b`)];
    const { status, stdout, error } = spawnSync('python3', ['-c', PYTHON, join(PROJECT_ROOT, 'contrib', 'hg', 'revlogdict.py')], { input: JSON.stringify(paths), encoding: 'utf8' });
    if (error !== undefined || status !== 0) this.skip();
    const found = JSON.parse(stdout) as readonly (string | null)[];
    assert.deepEqual(paths.map((path) => suffixOf(path) ?? null), found);
  });
});
