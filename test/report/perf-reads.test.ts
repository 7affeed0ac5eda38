import assert from 'node:assert/strict';

import { describe, it } from 'mocha';

import { Arena } from '../../src/engines/arena.js';
import { loadDecoders } from '../../src/engines/chunk-codec.js';
import { findLongestChain } from '../../src/report/longest-chain.js';
import type { ReadTools, Tally, Visit } from '../../src/report/perf-reads.js';
import { downwards, readChunksInBatches, readChunksSingly, readTexts, upwards } from '../../src/report/perf-reads.js';
import type { BatchOrigin } from '../../src/streams/read-revlog.js';
import { openRevlog } from '../../src/streams/read-revlog.js';
import { Turns } from '../../src/streams/turns.js';
import { assertFails } from '../repository/support.js';
import type { RevisionSpec, RevlogLayout } from '../support/revlog-builder.js';
import { buildRevlog, LAYOUTS, placeRevlog, richHistory, SPLIT, storeChunk } from '../support/revlog-builder.js';
import { useTempFolder } from '../support/temp-folder.js';

const NAME = { path: 'data/f.i' };

async function createTools(): Promise<ReadTools> {
  const memory = new Arena();
  return { decoders: await loadDecoders({ memory }), memory, turns: new Turns(undefined) };
}

interface Visited {
  readonly tally: Tally;
  readonly revs: readonly number[];
  readonly things: readonly Buffer[];
}

type Read = (origin: BatchOrigin, tools: ReadTools, visit: Visit) => Promise<Tally>;

const forward = (every = 1): Read => (origin, tools, visit) => readTexts(upwards(origin.index.length, every), origin, tools, visit);
const inReverse = (every = 1): Read => (origin, tools, visit) => readTexts(downwards(origin.index.length, every), origin, tools, visit);

const sumOf = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
const bytesOf = (parts: readonly Uint8Array[]): number => sumOf(parts.map(({ length }) => length));

describe('what the read benchmarks read', () => {
  const inFolder = useTempFolder();

  async function visitAll(layout: RevlogLayout, specs: readonly RevisionSpec[], read: Read): Promise<Visited> {
    const reader = openRevlog({ ...placeRevlog(inFolder(), buildRevlog(layout, specs)), ...NAME });
    const [revs, things]: [number[], Buffer[]] = [[], []];
    try {
      const tally = await read(reader.origin, await createTools(), (rev, bytes) => {
        revs.push(rev);
        things.push(Buffer.from(bytes));
      });
      assert.equal(tally.revisions, revs.length);
      assert.equal(tally.bytes, bytesOf(things));
      assert.equal(tally.sum, sumOf(things.map((thing) => thing[thing.length >> 1] ?? 0)));
      return { tally, revs, things };
    } finally {
      reader.close();
    }
  }

  for (const [name, layout] of Object.entries(LAYOUTS)) {
    const specs = richHistory(layout, 200);
    const { chunks, deltas } = buildRevlog(layout, specs);
    const texts = specs.map(({ text }) => Buffer.from(text));
    const all = texts.map((_, rev) => rev);

    it(`${name}: every chunk, one by one`, async () => {
      const { tally, revs, things } = await visitAll(layout, specs, readChunksSingly);
      assert.deepEqual(revs, all);
      assert.deepEqual(things, deltas);
      assert.ok(tally.readBytes >= bytesOf(chunks));
    });

    it(`${name}: in batches the same`, async () => {
      const { tally, revs, things } = await visitAll(layout, specs, readChunksInBatches);
      assert.deepEqual([revs, things], [all, deltas]);
      assert.ok(tally.readBytes >= bytesOf(chunks));
    });

    it(`${name}: every text, forward`, async () => {
      const { revs, things } = await visitAll(layout, specs, forward());
      assert.deepEqual([revs, things], [all, texts]);
    });

    it(`${name}: the same texts, in reverse`, async () => {
      const { revs, things } = await visitAll(layout, specs, inReverse());
      assert.deepEqual([revs, things], [[...all].reverse(), [...texts].reverse()]);
    });

    it(`${name}: every seventh text, and the same ones in reverse`, async () => {
      const some = all.filter((rev) => rev % 7 === 0);
      const there = await visitAll(layout, specs, forward(7));
      const back = await visitAll(layout, specs, inReverse(7));
      assert.deepEqual([there.revs, there.things], [some, some.map((rev) => texts[rev])]);
      assert.deepEqual([[...back.revs].reverse(), [...back.things].reverse()], [there.revs, there.things]);
    });
  }

  for (const store of ['zstd', 'lz4', 'u'] as const) {
    it(`${store}: chunks and texts, whether the engine is loaded already or not`, async () => {
      const specs = Array.from({ length: 30 }, (_, rev): RevisionSpec => ({ text: Buffer.from(`text ${rev} `.repeat(5)), store }));
      const { deltas } = buildRevlog(SPLIT, specs);
      assert.deepEqual((await visitAll(SPLIT, specs, readChunksSingly)).things, deltas);
      assert.deepEqual((await visitAll(SPLIT, specs, readChunksInBatches)).things, deltas);
      assert.deepEqual((await visitAll(SPLIT, specs, inReverse())).things, specs.map(({ text }) => text).reverse());
    });
  }

  it('an empty revlog has nothing to read', async () => {
    for (const read of [readChunksSingly, readChunksInBatches, forward(), inReverse(), inReverse(5)]) {
      assert.deepEqual((await visitAll(SPLIT, [], read)).tally, { revisions: 0, readBytes: 0, bytes: 0, sum: 0 });
    }
  });

  it('forward, a chain is applied delta by delta: no chunk is read twice, and small ones not one by one', async () => {
    const specs = Array.from({ length: 3000 }, (_, rev): RevisionSpec => ({ text: Buffer.from(`${'x'.repeat(200)} ${rev}`), store: 'u' }));
    const stored = bytesOf(buildRevlog(SPLIT, specs).chunks);
    assert.equal((await visitAll(SPLIT, specs, forward())).tally.readBytes, stored);
  });

  const DAMAGE: readonly (readonly [title: string, damage: Partial<RevisionSpec>, code: 'CHUNK_DAMAGED' | 'CHUNK_MARKER' | 'CHUNK_SIZE' | 'DELTA_MALFORMED', chunkIsSound: boolean])[] = [
    ['a chunk that is no zlib', { chunk: Buffer.from('xnot zlib at all') }, 'CHUNK_DAMAGED', false],
    ['a chunk of an unknown engine', { chunk: Buffer.from('?what') }, 'CHUNK_MARKER', false],
    ['a delta that is cut short', { delta: Buffer.from([0, 0, 0, 0, 0, 0]) }, 'DELTA_MALFORMED', true],
    ['a delta of another length', { chunk: storeChunk(Buffer.alloc(12)), rawSize: 5000 }, 'CHUNK_SIZE', true],
  ];
  for (const [title, damage, code, chunkIsSound] of DAMAGE) {
    it(`${title}: an error with its place`, async () => {
      const specs = richHistory(SPLIT, 12).map((spec, rev) => (rev === 2 ? { ...spec, ...damage } : spec));
      const expected = { code, path: 'data/f.i', rev: 2 };
      for (const read of chunkIsSound ? [] : [readChunksSingly, readChunksInBatches]) await assertFails(visitAll(SPLIT, specs, read), expected);
      for (const read of [forward(), inReverse()]) await assertFails(visitAll(SPLIT, specs, read), expected);
    });
  }
});

describe('the longest chain', () => {
  const inFolder = useTempFolder();

  const longestOf = (specs: readonly RevisionSpec[]): unknown => {
    const reader = openRevlog(placeRevlog(inFolder(), buildRevlog(SPLIT, specs)));
    reader.close();
    return findLongestChain(reader.index);
  };
  const spec = (base?: RevisionSpec['base']): RevisionSpec => ({ text: Buffer.from('text'), ...(base === undefined ? {} : { base }) });

  it('of no revisions there is none', () => assert.equal(longestOf([]), undefined));

  it('a full text is a chain without deltas', () => assert.deepEqual(longestOf([spec()]), { rev: 0, deltas: 0 }));

  it('a delta against the empty text begins a chain, as a full text does', () => assert.deepEqual(longestOf([spec('null'), spec()]), { rev: 1, deltas: 1 }));

  it('of several it is the last', () => assert.deepEqual(longestOf([spec(), spec(), spec(0), spec('full')]), { rev: 2, deltas: 1 }));

  it('it need not end at the last revision', () => assert.deepEqual(longestOf([spec(), spec(), spec(1), spec('full'), spec()]), { rev: 2, deltas: 2 }));
});
