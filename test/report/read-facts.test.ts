import assert from 'node:assert/strict';

import { describe, it } from 'mocha';

import { loadDecoders } from '../../src/engines/chunk-codec.js';
import { measureTexts, readFirstBytes, visitChunks } from '../../src/report/read-facts.js';
import type { ByteSource } from '../../src/streams/byte-source.js';
import { memorySource } from '../../src/streams/byte-source.js';
import { readIndex } from '../../src/streams/read-index.js';
import type { RevlogReader } from '../../src/streams/read-revlog.js';
import { createReader } from '../../src/streams/read-revlog.js';
import { Turns } from '../../src/streams/turns.js';
import type { BuiltRevlog, RevisionSpec } from '../support/revlog-builder.js';
import { buildRevlog, evolvingTexts, INLINE, LAYOUTS, richHistory, SPLIT, V0 } from '../support/revlog-builder.js';
import { chunkOf, revision } from './support.js';

interface Watched {
  readonly reader: RevlogReader;
  /** Lengths of the reads of chunk data. */
  readonly reads: number[];
}

/** A reader that remembers what it read of its chunks. */
function watch({ index, data }: BuiltRevlog): Watched {
  const source = memorySource(index, 'f.i');
  const opened = readIndex(source);
  const reader = createReader(source, opened, { path: 'f.i', kind: 'filelog', openData: () => memorySource(data, 'f.d') });
  const reads: number[] = [];
  const watched: ByteSource = {
    ...reader.origin.data,
    read(position, length) {
      reads.push(length);
      return reader.origin.data.read(position, length);
    },
  };
  return {
    reads,
    reader: { ...reader, origin: { ...reader.origin, data: watched } },
  };
}

const noTurns = (): Turns => new Turns(undefined);
const markers = (...letters: readonly string[]): number[] => letters.map((letter) => letter.charCodeAt(0));

describe('first bytes of chunks', () => {
  for (const [name, layout] of Object.entries(LAYOUTS)) {
    it(`are those of the chunks: ${name}`, async () => {
      const built = buildRevlog(layout, richHistory(layout, 200));
      const { reader } = watch(built);
      assert.deepEqual([...(await readFirstBytes(reader, noTurns()))], built.chunks.map((chunk) => chunk[0] ?? 0));
    });
  }

  it('come in one read where they lie close together', async () => {
    const { reader, reads } = watch(buildRevlog(SPLIT, Array.from({ length: 100 }, (_, rev) => revision(10, 10, { chunk: chunkOf(10, 'u(x'[rev % 3]) }))));
    const firstBytes = await readFirstBytes(reader, noTurns());
    assert.deepEqual([...firstBytes.subarray(0, 4)], markers('u', '(', 'x', 'u'));
    assert.deepEqual(reads, [991]);
  });

  it('are all that is read of large chunks', async () => {
    for (const layout of [SPLIT, INLINE]) {
      const sizes = [500_000, 70_000, 3, 65_000, 1_000_000];
      const { reader, reads } = watch(buildRevlog(layout, sizes.map((size, rev) => revision(size, 10, { chunk: chunkOf(size, 'abcde'[rev]) }))));
      assert.deepEqual([...(await readFirstBytes(reader, noTurns()))], markers('a', 'b', 'c', 'd', 'e'));
      const between = layout.inline ? 64 : 0;
      assert.deepEqual(reads, [1, 1, 65_003 + 2 * between + 1]);
    }
  });

  it('are none where nothing is stored, also at the end of the file', async () => {
    const { reader, reads } = watch(buildRevlog(SPLIT, [revision(0, 0), revision(4, 4), revision(0, 4), revision(0, 4)]));
    assert.deepEqual([...(await readFirstBytes(reader, noTurns()))], [0, ...markers('x'), 0, 0]);
    assert.deepEqual(reads, [1]);
    const { reader: empty, reads: noReads } = watch(buildRevlog(SPLIT, [revision(0, 0), revision(0, 0)]));
    assert.deepEqual([...(await readFirstBytes(empty, noTurns()))], [0, 0]);
    assert.deepEqual(noReads, []);
  });
});

describe('beginnings of chunks', () => {
  for (const [name, layout] of Object.entries(LAYOUTS)) {
    it(`are shown, each once, those that are shorter whole: ${name}`, async () => {
      const built = buildRevlog(layout, richHistory(layout, 200));
      for (const wanted of [1, 2, 10, 200]) {
        const { reader } = watch(built);
        const seen = new Map<number, string>();
        const visit = (rev: number, bytes: Uint8Array, at: number): void => {
          const length = Math.min(wanted, built.chunks[rev]?.length ?? 0);
          assert.ok(!seen.has(rev) && bytes.length >= at + length);
          seen.set(rev, Buffer.from(bytes.subarray(at, at + length)).toString('hex'));
        };
        await visitChunks(reader, wanted, visit, noTurns());
        const expected = built.chunks.flatMap((chunk, rev): [number, string][] => (chunk.length === 0 ? [] : [[rev, chunk.subarray(0, wanted).toString('hex')]]));
        assert.deepEqual([...seen], expected);
      }
    });
  }

  it('are all that is read of large chunks', async () => {
    const sizes = [500_000, 70_000, 3, 65_000, 1_000_000];
    const { reader, reads } = watch(buildRevlog(SPLIT, sizes.map((size) => revision(size, 10, { chunk: chunkOf(size) }))));
    await visitChunks(reader, 10, () => undefined, noTurns());
    assert.deepEqual(reads, [10, 10, 65_003 + 10]);
  });
});

describe('lengths of texts', () => {
  it('are left to the index where it says them', async () => {
    const { reader } = watch(buildRevlog(SPLIT, evolvingTexts(5).map((text) => ({ text }))));
    const load = (): never => assert.fail('nothing is to be decompressed');
    assert.equal(await measureTexts(reader, load, noTurns()), undefined);
  });

  it('are measured where it leaves one open, and in version 0', async () => {
    const texts = evolvingTexts(40);
    const layouts = [
      { layout: V0, specs: texts.map((text): RevisionSpec => ({ text })) },
      { layout: SPLIT, specs: texts.map((text, rev): RevisionSpec => ({ text, ...(rev % 7 === 3 ? { rawSize: -1 } : {}) })) },
    ];
    for (const { layout, specs } of layouts) {
      const { reader } = watch(buildRevlog(layout, specs));
      assert.deepEqual([...((await measureTexts(reader, () => loadDecoders(), noTurns())) ?? [])], texts.map(({ length }) => length));
    }
  });
});

describe('turns', () => {
  it('end the work once it is cancelled', async () => {
    const controller = new AbortController();
    const turns = new Turns(controller.signal);
    await turns.give();
    controller.abort();
    await assert.rejects(turns.give(), { code: 'CANCELLED' });
  });
});
