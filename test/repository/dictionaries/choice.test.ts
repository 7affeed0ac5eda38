import assert from 'node:assert/strict';

import { describe, it } from 'mocha';

import type { DictionaryChoice, DictionaryOptions } from '../../../src/repository/dictionaries/choice.js';
import { fillDictionaryOptions, parseDictionaryChoice } from '../../../src/repository/dictionaries/choice.js';
import { fillOptions } from '../../../src/repository/options.js';
import { assertThrows } from '../support.js';

describe('the choice of dictionaries', () => {
  const parsed: readonly (readonly [text: string, choice: DictionaryChoice])[] = [
    ['none', 'none'],
    ['keep', 'keep'],
    ['auto', 'auto'],
    ['refresh', 'refresh'],
    ['add', 'add'],
    ['from:repo', { from: 'repo' }],
    ['from:a,b=c', { from: 'a,b=c' }],
    ['my.zdict', { files: { all: 'my.zdict' } }],
    ['./auto', { files: { all: './auto' } }],
    ['AUTO', { files: { all: 'AUTO' } }],
    ['all=x', { files: { all: 'x' } }],
    ['manifest=m', { files: { manifest: 'm' } }],
    ['changelog=c,manifest=m,filelog=f', { files: { changelog: 'c', manifest: 'm', filelog: 'f' } }],
    ['all=x,.py=p,.c=c', { files: { 'all': 'x', '.py': 'p', '.c': 'c' } }],
    ['.c++=x', { files: { '.c++': 'x' } }],
    ['.a-b=x', { files: { '.a-b': 'x' } }],
    ['manifest=a=b', { files: { manifest: 'a=b' } }],
    ['.py=a b', { files: { '.py': 'a b' } }],
    ['./odd=name', { files: { all: './odd=name' } }],
    ['a,b', { files: { all: 'a,b' } }],
    ['manifest=', { files: { all: 'manifest=' } }],
    ['/d/é.zdict', { files: { all: '/d/é.zdict' } }],
  ];
  for (const [text, choice] of parsed) {
    it(`--dict '${text}'`, () => {
      assert.deepEqual(parseDictionaryChoice(text), choice);
      assert.deepEqual(fillDictionaryOptions({ dictionaries: choice }), { choice, size: undefined, samples: undefined });
    });
  }

  for (const [text, message] of [
    ['', /a file is expected/],
    ['manifest=a,manifest=b', /manifest is given twice/],
    ['.c=a,.h=b,.c=a', /\.c is given twice/],
    ['.tar.gz=x', /'\.tar\.gz'/],
    ['manifest=m,.a/b=x', /'\.a\/b'/],
    ['odd=name', /found 'odd'/],
    ['manifest=a,b', /all is KIND=FILE,KIND=FILE or nothing is/],
    ['auto,.py=x', /all is KIND=FILE,KIND=FILE or nothing is/],
  ] as const) {
    it(`--dict '${text}' is wrong`, () => assertThrows(() => parseDictionaryChoice(text), { code: 'USAGE', message }));
  }

  const wrong: readonly (readonly [title: string, options: DictionaryOptions, message: RegExp])[] = [
    ['another word', { dictionaries: 'best' as 'auto' }, /one of none, keep, auto, refresh, add, .*found 'best'/],
    ['the word from: alone', { dictionaries: parseDictionaryChoice('from:') }, /the folder of the other repository is missing/],
    ['no files', { dictionaries: { files: {} } }, /no dictionary file is given/],
    ['a kind that is none', { dictionaries: { files: { manifests: 'x' } } }, /found 'manifests'/],
    ['a suffix without its dot', { dictionaries: { files: { py: 'x' } } }, /found 'py'/],
    ['a suffix that no file has', { dictionaries: { files: { '.tar.gz': 'x' } } }, /found '\.tar\.gz'/],
    ['a suffix that is not ASCII', { dictionaries: { files: { '.é': 'x' } } }, /found '\.é'/],
    ['a name of every object', { dictionaries: { files: { constructor: 'x' } } }, /found 'constructor'/],
    ['a size without training', { dictionarySize: 1000 }, /no effect without --dict auto, refresh or add/],
    ['a size with files', { dictionaries: { files: { all: 'x' } }, dictionarySize: 1000 }, /no effect/],
    ['samples with keep', { dictionaries: 'keep', dictionarySamples: 100 }, /no effect/],
    ['samples with none', { dictionaries: 'none', dictionarySamples: 100 }, /no effect/],
    ...[255, 0, -1, 1.5, NaN, Infinity, 16 * 1024 * 1024 + 1].map((dictionarySize) => [`a size of ${dictionarySize}`, { dictionaries: 'auto', dictionarySize }, /dict-size must be a whole number from 256 to 16777216, found /] as const),
    ...[15, 0, -1, 16.5, NaN, 100_001].map((dictionarySamples) => [`${dictionarySamples} samples`, { dictionaries: 'auto', dictionarySamples }, /dict-samples must be a whole number from 16 to 100000, found /] as const),
  ];
  for (const [title, options, message] of wrong) {
    it(`${title} is wrong`, () => assertThrows(() => fillDictionaryOptions(options), { code: 'USAGE', message }));
  }

  for (const dictionaries of ['auto', 'refresh', 'add'] as const) {
    it(`--dict ${dictionaries} takes sizes and samples at both ends`, () => {
      for (const [size, samples] of [[256, 16], [16 * 1024 * 1024, 100_000]] as const) {
        assert.deepEqual(fillDictionaryOptions({ dictionaries, dictionarySize: size, dictionarySamples: samples }), { choice: dictionaries, size, samples });
      }
    });
  }

  for (const dictionaries of ['refresh', 'add'] as const) {
    it(`--dict ${dictionaries} does not go with new deltas`, () => {
      assertThrows(() => fillOptions({ dictionaries, redelta: 'all' }), { code: 'USAGE', message: new RegExp(`--dict ${dictionaries} keeps chunks`) });
      assert.equal(fillOptions({ dictionaries, redelta: 'never' }).dictionaries.choice, dictionaries);
    });
  }
});
