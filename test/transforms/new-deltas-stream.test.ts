/** resolveText, checkNode and recomputeDelta in a pipeline of one's own, from files to files. */
import assert from 'node:assert/strict';
import { pipeline } from 'node:stream/promises';

import { describe, it } from 'mocha';

import type { RevisionBatch } from '../../src/index.js';
import { checkNode, decompress, PRESETS, readRevlog, recomputeDelta, resolveText, RevconvertError, writeRevlog } from '../../src/index.js';
import { readBack, Scratch } from '../repository/support.js';
import { isNodeRight, referenceTexts } from '../support/reference-texts.js';
import { buildRepository } from '../support/repository-builder.js';

const NAME = 'data/split.txt.i';

describe('new deltas in a pipeline of streams', function () {
  this.timeout(30_000);
  const scratch = Scratch.use();

  const build = (commits = 40): { indexFile: string; dataFile: string } => {
    const { inStore } = buildRepository(scratch.at('src'), { commits, textBytes: 4000 });
    return { indexFile: inStore(NAME), dataFile: inStore(NAME.replace(/i$/, 'd')) };
  };

  for (const [title, cache] of [['', undefined], [', with room for two texts', 0]] as const) {
    it(`every text is what it was and matches its node${title}`, async () => {
      const files = build();
      const indexFile = scratch.at('made.i');
      await pipeline(
        readRevlog(files),
        decompress(),
        resolveText({ revlog: files, maxCacheBytes: cache }),
        checkNode(),
        recomputeDelta({ engine: 'zstd', policy: PRESETS.mercurial.filelog, maxCacheBytes: cache }),
        writeRevlog({ indexFile }),
      );
      const [from, to] = [await readBack(files.indexFile), await readBack(indexFile)];
      const texts = referenceTexts(from);
      assert.deepEqual(referenceTexts(to), texts);
      for (const [rev, text] of texts.entries()) assert.ok(isNodeRight(to, rev, text ?? assert.fail()));
      assert.deepEqual(to.map(({ node, p1, linkRev }) => [Buffer.from(node), p1, linkRev]), from.map(({ node, p1, linkRev }) => [Buffer.from(node), p1, linkRev]));
      assert.ok(to.some(({ deltaBase }) => deltaBase >= 0));
    });
  }

  it('resolveText fills every text, and each stays after the next', async () => {
    const files = build();
    const found: Buffer[] = [];
    const held: Uint8Array[] = [];
    await pipeline(readRevlog(files), decompress(), resolveText(), async (batches: AsyncIterable<RevisionBatch>) => {
      for await (const { revisions } of batches) for (const { text } of revisions) held.push(text ?? assert.fail());
    });
    for (const text of held) found.push(Buffer.from(text));
    assert.deepEqual(found, referenceTexts(await readBack(files.indexFile)));
  });

  it('checkNode and recomputeDelta without texts are an error of the pipeline', async () => {
    const files = build(3);
    for (const stage of [checkNode(), recomputeDelta({ engine: 'zstd' })]) {
      const run = pipeline(readRevlog(files), decompress(), stage, async (batches: AsyncIterable<RevisionBatch>) => {
        for await (const { revisions } of batches) assert.ok(revisions.length > 0);
      });
      await assert.rejects(run, (error) => error instanceof RevconvertError && error.code === 'INTERNAL');
    }
  });
});
