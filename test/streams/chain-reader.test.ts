import assert from 'node:assert/strict';

import { describe, it } from 'mocha';

import { createTextCache } from '../../src/delta/text-cache.js';
import type { ChunkDecoders } from '../../src/engines/chunk-codec.js';
import { loadDecoders } from '../../src/engines/chunk-codec.js';
import { runSteps } from '../../src/engines/steps.js';
import { readChain } from '../../src/streams/chain-reader.js';
import { openRevlog } from '../../src/streams/read-revlog.js';
import { assertFails } from '../repository/support.js';
import type { RevisionSpec } from '../support/revlog-builder.js';
import { buildRevlog, evolvingTexts, hunk, INLINE, LAYOUTS, placeRevlog, richHistory, SPLIT } from '../support/revlog-builder.js';
import { useTempFolder } from '../support/temp-folder.js';

/** Lines of 40 bytes, one of which differs in each text. */
const largeTexts = (count: number, lines: number): Buffer[] => {
  const text = Buffer.from('a line of text, and what is behind it.. \n'.repeat(lines));
  return Array.from({ length: count }, (_, rev) => {
    text.write(`changed ${rev}`, ((rev * 7919) % lines) * 41);
    return Buffer.from(text);
  });
};

describe('reading a chain', () => {
  const inFolder = useTempFolder();
  let decoders: ChunkDecoders | undefined;

  /** Opens a revlog of these texts; gives the text of a revision, by its chain. */
  async function withRevlog<T>(specs: readonly RevisionSpec[], work: (textOf: (rev: number, known?: ReadonlyMap<number, Buffer>) => Promise<Buffer>) => Promise<T>, layout = SPLIT): Promise<T> {
    const reader = openRevlog({ ...placeRevlog(inFolder(), buildRevlog(layout, specs)), path: 'data/f.i' });
    const own = (decoders ??= await loadDecoders());
    try {
      return await work(async (rev, known) => {
        const cache = createTextCache();
        for (const [one, text] of known ?? []) {
          const copy = cache.allocate(text.length);
          text.copy(copy);
          cache.put(one, copy);
        }
        const text = Buffer.from(await runSteps(readChain(rev, reader.origin, own, cache)));
        for (const [one, before] of known ?? []) assert.deepEqual(cache.get(one), before, 'a text of the cache stays as it is');
        return text;
      });
    } finally {
      reader.close();
    }
  }

  const assertTexts = (specs: readonly RevisionSpec[], layout = SPLIT): Promise<void> =>
    withRevlog(
      specs,
      async (textOf) => {
        for (const [rev, { text }] of specs.entries()) assert.ok((await textOf(rev)).equals(text), `rev ${rev}`);
      },
      layout,
    );

  for (const [name, layout] of Object.entries(LAYOUTS)) {
    it(`${name}: every text, whatever its base`, () => assertTexts(richHistory(layout, 120), layout));
  }

  it('long chains of small texts', () => assertTexts(evolvingTexts(150).map((text) => ({ text }))));

  it('short chains of large texts, and long ones', () => assertTexts(largeTexts(24, 8000).map((text) => ({ text }))));

  it('on a text that is known already, which stays as it is', async () => {
    const texts = evolvingTexts(60);
    await withRevlog(texts.map((text) => ({ text })), async (textOf) => {
      for (const from of [0, 3, 41, 55, 58, 59]) {
        assert.deepEqual(await textOf(59, new Map([[from, texts[from] ?? Buffer.alloc(0)]])), texts[59], `from ${from}`);
      }
    });
  });

  it('does not read what a known text is built on', async () => {
    const texts = evolvingTexts(6);
    const specs = texts.map((text, rev): RevisionSpec => (rev === 1 ? { text, chunk: Buffer.from('?') } : { text }));
    await withRevlog(specs, async (textOf) => assert.deepEqual(await textOf(5, new Map([[2, texts[2] ?? Buffer.alloc(0)]])), texts[5]));
  });

  it('more bytes of deltas than are held at once', async () => {
    const texts = Array.from({ length: 14 }, (_, rev) => Buffer.alloc(1 << 20, rev));
    await withRevlog(texts.map((text): RevisionSpec => ({ text })), async (textOf) => assert.ok((await textOf(13)).equals(texts[13] ?? Buffer.alloc(0))), INLINE);
  });

  it('of two faults the first is reported, however the deltas are applied', async () => {
    const specs = evolvingTexts(40).map((text, rev): RevisionSpec => {
      if (rev === 17) return { text, delta: hunk(0, 1 << 30, '') };
      return rev === 18 ? { text, chunk: Buffer.from('?') } : { text };
    });
    await withRevlog(specs, async (textOf) => {
      for (const rev of [17, 18, 39]) await assertFails(textOf(rev), { code: 'DELTA_MALFORMED', path: 'data/f.i', rev: 17 });
      await textOf(16);
    });
  });
});
