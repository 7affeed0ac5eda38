import assert from 'node:assert/strict';
import { truncateSync } from 'node:fs';

import { describe, it } from 'mocha';

import type { RevisionBatch } from '../../src/formats/record.js';
import { readRevlog } from '../../src/streams/read-revlog.js';
import { assertNoDescriptors, CAN_LIST_DESCRIPTORS, descriptorsIn } from '../support/descriptors.js';
import { buildRevlog, placeRevlog, richHistory, SPLIT } from '../support/revlog-builder.js';
import { useTempFolder } from '../support/temp-folder.js';
import { closed, collect, expectedRevisions, fulls, plain, revisionsOf, revsOf } from './support.js';

describe('a revlog as a stream', () => {
  const inFolder = useTempFolder();
  const NAME = { path: 'data/f.i' };

  it('gives the batches in order and closes its files', async () => {
    const specs = richHistory(SPLIT);
    const built = buildRevlog(SPLIT, specs);
    const stream = readRevlog({ ...placeRevlog(inFolder(), built), ...NAME, limits: { maxRevisions: 7 } });
    assert.deepEqual(plain(revisionsOf(await collect(stream))), expectedRevisions(SPLIT, specs, built));
    await closed(stream);
    assertNoDescriptors(inFolder());
  });

  it('ends at once where there are no revisions', async () => {
    assert.deepEqual(await collect(readRevlog(placeRevlog(inFolder(), buildRevlog(SPLIT, [])))), []);
  });

  it('opens nothing before it is read', async () => {
    const stream = readRevlog(placeRevlog(inFolder(), buildRevlog(SPLIT, fulls([1]))));
    assertNoDescriptors(inFolder());
    stream.destroy();
    await closed(stream);
    assertNoDescriptors(inFolder());
  });

  it('an index that is wrong is the error of the stream', async () => {
    const specs = fulls([10, 10]).map((spec, rev) => (rev === 1 ? { ...spec, p1: 1 } : spec));
    const stream = readRevlog({ ...placeRevlog(inFolder(), buildRevlog(SPLIT, specs)), ...NAME });
    await assert.rejects(collect(stream), { code: 'INDEX_ENTRY', at: { path: 'data/f.i', rev: 1, offset: 64 } });
    await closed(stream);
    assertNoDescriptors(inFolder());
  });

  it('missing files are the error of the stream', async () => {
    const stream = readRevlog({ indexFile: inFolder('none.i'), dataFile: inFolder('none.d') });
    await assert.rejects(collect(stream), { code: 'SYSTEM', at: { path: inFolder('none.i') } });
    await closed(stream);
  });

  it('data that becomes shorter while it is read is an error in its place', async () => {
    const files = placeRevlog(inFolder(), buildRevlog(SPLIT, fulls(Array<number>(20).fill(50_000))));
    const stream = readRevlog({ ...files, ...NAME, limits: { maxRevisions: 1 } });
    const seen: number[] = [];
    const reading = (async () => {
      for await (const batch of stream as AsyncIterable<RevisionBatch>) {
        if (seen.length === 0) truncateSync(files.dataFile, 600_000);
        seen.push(...revsOf([batch]));
      }
    })();
    await assert.rejects(reading, { code: 'DATA_TRUNCATED', at: { path: 'data/f.d', offset: 600_000 } });
    await closed(stream);
    assertNoDescriptors(inFolder());
  });

  it('closes its files where the reader stops early, or destroys it', async function () {
    if (!CAN_LIST_DESCRIPTORS) {
      this.skip();
    }
    const files = placeRevlog(inFolder(), buildRevlog(SPLIT, fulls(Array<number>(50).fill(10))));
    const broken = readRevlog({ ...files, limits: { maxRevisions: 1 } });
    for await (const batch of broken as AsyncIterable<RevisionBatch>) {
      assert.deepEqual(revsOf([batch]), [0]);
      assert.equal(descriptorsIn(inFolder()).length, 2);
      break;
    }
    await closed(broken);
    assertNoDescriptors(inFolder());

    const destroyed = readRevlog({ ...files, limits: { maxRevisions: 1 } });
    destroyed.once('data', () => destroyed.destroy(new Error('no more')));
    await assert.rejects(collect(destroyed), /no more/);
    await closed(destroyed);
    assertNoDescriptors(inFolder());
  });
});
