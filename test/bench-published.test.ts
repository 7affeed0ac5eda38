import assert from 'node:assert/strict';

import { describe, it } from 'mocha';

import { beginOf, endOf, replaceSection } from '../bench/published/section.js';

describe('bench:published: the section in RESULTS.md', () => {
  const begin = beginOf('published');
  const end = endOf('published');
  const document = `# Results\n\nbefore\n\n${begin}\nold\n${end}\n\nafter\n`;

  it('replaces what is between the marks and keeps the rest', () => {
    assert.equal(replaceSection(document, 'published', '| new |\n'), `# Results\n\nbefore\n\n${begin}\n\n| new |\n\n${end}\n\nafter\n`);
  });

  it('gives the same again when it is done again', () => {
    const once = replaceSection(document, 'published', 'new');
    assert.equal(replaceSection(once, 'published', 'new'), once);
  });

  it('takes no character of the text for a pattern', () => {
    assert.ok(replaceSection(document, 'published', '$& $1 $$').includes('\n$& $1 $$\n'));
  });

  it('leaves the sections of others alone', () => {
    const other = `${beginOf('other')}\n${endOf('other')}\n`;
    assert.ok(replaceSection(document + other, 'published', 'new').endsWith(other));
  });

  for (const [name, wrong] of [
    ['without the first mark', `a\n${end}\n`],
    ['without the second mark', `a\n${begin}\n`],
    ['with a mark that is there twice', `${document}${end}\n`],
    ['with the marks in the wrong order', `${end}\n${begin}\n`],
  ] as const) {
    it(`refuses a document ${name}`, () => assert.throws(() => replaceSection(wrong, 'published', 'new'), /published: (?:begin|end)/));
  }
});
