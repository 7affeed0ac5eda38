/** Policy files: what is no policy is refused with the file's name and the place in it. */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';

import { describe, it } from 'mocha';

import { findJsonFault } from '../../src/repository/json-fault.js';
import { readPolicyFile } from '../../src/repository/read-policy.js';
import { assertThrows, isRoot, Scratch } from './support.js';

const FAULTS: readonly (readonly [text: string, line: number, column: number, message: RegExp])[] = [
  ['', 1, 1, /^a value is expected, found the end of the text$/],
  [' \n ', 2, 2, /^a value is expected, found the end/],
  ['{', 1, 2, /^a key in double quotes, or }.* found the end/],
  ['[', 1, 2, /^a value or \].* found the end/],
  ['{a: 1}', 1, 2, /^a key in double quotes, or } is expected, found "a: 1}"$/],
  ["{'a': 1}", 1, 2, /^a key/],
  ['{"a" 1}', 1, 6, /^a colon is expected, found "1"$/],
  ['{"a": }', 1, 7, /^a value is expected, found "}"$/],
  ['{"a": tru}', 1, 7, /found "tru}"$/],
  ['{"a": truefalse}', 1, 7, /found "truefalse}"$/],
  ['{"a": 01}', 1, 7, /^a value is expected, found "01}"$/],
  ['{"a": .5}', 1, 7, /^a value/],
  ['{"a": 1.}', 1, 7, /^a value/],
  ['{"a": +1}', 1, 7, /^a value/],
  ['{"a": NaN}', 1, 7, /^a value/],
  ['{"a": "tab\there"}', 1, 7, /^a value/],
  ['{"a": "\\x"}', 1, 7, /^a value/],
  ['{"a": "open}', 1, 7, /^a value/],
  ['{"a": 1,}', 1, 9, /^a key in double quotes is expected, found "}"$/],
  ['{"a": 1,\r\n  "b": 2 "c": 3}', 2, 10, /^a comma, or the end .* found "\\"c\\""$/],
  ['[1,\n2,\n]', 3, 1, /^a value is expected, found "\]"$/],
  ['[1}', 1, 3, /^a comma/],
  ['{"a": 1]', 1, 8, /^a comma/],
  ['{"a": [1, 2', 1, 12, /^a comma, .* found the end/],
  ['{} x', 1, 4, /^the end of the text is expected, found "x"$/],
  ['{}{}', 1, 3, /^the end of the text/],
  ['{} // why', 1, 4, /^the end of the text/],
  ['\u00a0{}', 1, 1, /^a value/],
  ['{"a": 1, "\\u0061": 2}', 1, 10, /^the key "\\u0061" is there twice$/],
  ['{"a": {"b": 1,\n"b": 1}}', 2, 1, /^the key "b" is there twice$/],
];

const SOUND = ['{}', '[]', ' {"a":[1,-2.5e+3,"\\u00e9\\n\u007f",true,false,null,{"a":{"a":[]}},[[]]],"b":0}\r\n', '"x"', '0', '-0.1E5', '[{"a":1},{"a":1}]'];

describe('the fault of a text that is no JSON', () => {
  for (const [text, line, column, message] of FAULTS) {
    it(`${JSON.stringify(text)}: line ${line}, column ${column}`, () => {
      const fault = findJsonFault(text);
      assert.deepEqual([fault?.line, fault?.column], [line, column]);
      assert.match(fault?.message ?? '', message);
      if (!message.source.includes('twice')) assert.throws(() => JSON.parse(text), SyntaxError);
    });
  }

  for (const text of SOUND) {
    it(`none: ${JSON.stringify(text)}`, () => {
      JSON.parse(text);
      assert.equal(findJsonFault(text), undefined);
    });
  }

  it('every beginning of a sound text has one', () => {
    const text = '{"a":[1,"\\u00e9",{"b":true},[]],"c":{}}';
    for (let length = 0; length < text.length; length++) assert.equal(findJsonFault(text.slice(0, length))?.line, 1, text.slice(0, length));
  });

  it('depth and length are no trouble', () => {
    assert.equal(findJsonFault('['.repeat(1 << 20))?.column, (1 << 20) + 1);
    assert.equal(findJsonFault(`"${'x'.repeat(1 << 20)}"`), undefined);
  });
});

const FILES: readonly (readonly [title: string, content: string | Uint8Array, message: RegExp])[] = [
  ['no JSON', '{\n  "sparse": true,\n}', /^not JSON: line 3, column 1: a key in double quotes is expected, found "}"$/],
  ['an empty one', '', /^not JSON: line 1, column 1: /],
  ['no object', '[]', /^the policy must be an object, found a list$/],
  ['an unknown key', '{"manifest": {"maxChainLenght": 1}}', /^manifest\.maxChainLenght: .* did you mean manifest\.maxChainLength\?$/],
  ['a contradiction', '{"sparse": true, "generaldelta": false}', /^sparse: true, generaldelta: false: /],
  ['a key twice', '{"sparse": true, "sparse": false}', /^not JSON: line 1, column 18: the key "sparse" is there twice$/],
  ['no UTF-8', Uint8Array.of(0x7b, 0xff, 0x7d), /^not UTF-8$/],
  ['too large a file', ' '.repeat((1 << 20) + 1), /^1048577 bytes; at most 1048576 are expected$/],
];

describe('policy files', () => {
  const scratch = Scratch.use();
  for (const [title, content, message] of FILES) {
    it(`${title}: POLICY, with the file's name`, () => {
      writeFileSync(scratch.at('policy.json'), content);
      assertThrows(() => readPolicyFile(scratch.at('policy.json')), { code: 'POLICY', path: 'policy.json', message });
    });
  }

  it('a file that is not there, and a folder: POLICY', () => {
    assertThrows(() => readPolicyFile(scratch.at('none.json')), { code: 'POLICY', path: 'none.json', message: /^there is no such file$/ });
    mkdirSync(scratch.at('folder'));
    assertThrows(() => readPolicyFile(scratch.at('folder')), { code: 'POLICY', path: 'folder', message: /^not a regular file$/ });
  });

  it('a file that may not be read: PERMISSION', function () {
    if (isRoot) this.skip(); // root may read everything
    writeFileSync(scratch.at('secret.json'), '{}', { mode: 0 });
    assertThrows(() => readPolicyFile(scratch.at('secret.json')), { code: 'PERMISSION', path: 'secret.json' });
  });

  it('a sound one, as it is written, also with a byte order mark', () => {
    const policy = { preset: 'smallest', maxChainLength: null, filelog: { sparse: false } };
    for (const start of ['', '\ufeff']) {
      writeFileSync(scratch.at('policy.json'), start + JSON.stringify(policy, undefined, 2));
      assert.deepEqual(readPolicyFile(scratch.at('policy.json')), policy);
    }
  });
});
