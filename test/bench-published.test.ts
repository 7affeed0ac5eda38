import assert from 'node:assert/strict';

import { describe, it } from 'mocha';

import { BEGIN, END, replaceSection } from '../bench/published/section.js';

describe('bench:published: the section in RESULTS.md', () => {
  const document = `# Results\n\nbefore\n\n${BEGIN}\nold\n${END}\n\nafter\n`;

  it('replaces what is between the marks and keeps the rest', () => {
    assert.equal(replaceSection(document, '| new |\n'), `# Results\n\nbefore\n\n${BEGIN}\n\n| new |\n\n${END}\n\nafter\n`);
  });

  it('gives the same again when it is done again', () => {
    const once = replaceSection(document, 'new');
    assert.equal(replaceSection(once, 'new'), once);
  });

  it('takes no character of the text for a pattern', () => {
    assert.ok(replaceSection(document, '$& $1 $$').includes('\n$& $1 $$\n'));
  });

  for (const [name, wrong] of [
    ['without the first mark', `a\n${END}\n`],
    ['without the second mark', `a\n${BEGIN}\n`],
    ['with a mark that is there twice', `${document}${END}\n`],
    ['with the marks in the wrong order', `${END}\n${BEGIN}\n`],
  ] as const) {
    it(`refuses a document ${name}`, () => assert.throws(() => replaceSection(wrong, 'new'), /published: (?:begin|end)/));
  }
});
