import assert from 'node:assert/strict';

import { describe, it } from 'mocha';

import type { TextCache } from '../../src/delta/text-cache.js';
import { createTextCache } from '../../src/delta/text-cache.js';
import type { ChunkDecoders } from '../../src/engines/chunk-codec.js';
import { isPromise } from '../../src/engines/engine.js';
import { runSteps } from '../../src/engines/steps.js';
import type { ByteSource } from '../../src/streams/byte-source.js';
import { memorySource } from '../../src/streams/byte-source.js';
import type { ChainOrigin } from '../../src/streams/chain-reader.js';
import { readChain } from '../../src/streams/chain-reader.js';
import { readIndex } from '../../src/streams/read-index.js';
import type { BuiltRevlog, RevisionSpec, RevlogLayout } from '../support/revlog-builder.js';
import { buildRevlog, evolvingTexts, hunk, INLINE, LAYOUTS, richHistory, SPLIT, storeChunk } from '../support/revlog-builder.js';
import { decoders } from '../transforms/support.js';

type Read = readonly [position: number, length: number];

interface Opened extends ChainOrigin {
  /** What was read of the data. */
  readonly reads: Read[];
}

function open(built: BuiltRevlog): Opened {
  const source = memorySource(built.index, 'data/f.i');
  const index = readIndex(source);
  const memory = index.header.inline ? source : memorySource(built.data, 'data/f.d');
  const reads: Read[] = [];
  const data: ByteSource = {
    ...memory,
    read(position, length) {
      reads.push([position, length]);
      return memory.read(position, length);
    },
  };
  return { index, data, path: 'data/f.i', reads };
}

const openSpecs = (specs: readonly RevisionSpec[], layout: RevlogLayout = SPLIT): Opened => open(buildRevlog(layout, specs));

/** The text, which must be there at once. */
function read(rev: number, origin: ChainOrigin, cache: TextCache = createTextCache()): Buffer {
  const text = runSteps(readChain(rev, origin, decoders, cache));
  return isPromise(text) ? assert.fail('it waited') : text;
}

/** A cache that knows what it lent and did not get back. */
function counted(): { cache: TextCache; lent: Set<Buffer> } {
  const own = createTextCache();
  const lent = new Set<Buffer>();
  const cache: TextCache = {
    ...own,
    allocate(bytes) {
      const text = own.allocate(bytes);
      lent.add(text);
      return text;
    },
    copy(bytes) {
      const text = own.copy(bytes);
      lent.add(text);
      return text;
    },
    put(rev, text) {
      lent.delete(text);
      own.put(rev, text);
    },
    giveBack(text) {
      assert.ok(lent.delete(text), 'given back what was not lent');
      own.giveBack(text);
    },
  };
  return { cache, lent };
}

/** Decoders that answer later. */
const lateDecoders: ChunkDecoders = new Map(
  [...decoders].map(([marker, decoder]) => [marker, { decompress: (chunks, limits) => Promise.resolve().then(() => decoder.decompress(chunks, limits)) }]),
);

describe('chain reader', () => {
  for (const [name, layout] of Object.entries(LAYOUTS)) {
    it(`${name}: rebuilds every text, in any order`, () => {
      const specs = richHistory(layout);
      const origin = openSpecs(specs, layout);
      for (const [i] of specs.entries()) {
        const rev = (i * 37) % specs.length;
        assert.deepEqual(read(rev, origin), specs[rev]?.text, `revision ${rev}`);
      }
    });

    it(`${name}: does so with engines that answer later`, async () => {
      const specs = richHistory(layout, 20);
      const origin = openSpecs(specs, layout);
      const cache = createTextCache();
      for (const [rev, { text }] of specs.entries()) assert.deepEqual(await runSteps(readChain(rev, origin, lateDecoders, cache)), text);
    });
  }

  const texts = evolvingTexts(9);
  const on = (rev: number, base: NonNullable<RevisionSpec['base']>): RevisionSpec => ({ text: texts[rev] ?? Buffer.alloc(0), base });

  const chains: readonly (readonly [string, readonly RevisionSpec[]])[] = [
    ['a full text', [on(0, 'full')]],
    ['a delta against nothing', [on(0, 'null')]],
    ['deltas on a delta against nothing', [on(0, 'null'), on(1, 0), on(2, 1)]],
    ['a delta against nothing behind other revisions', [on(0, 'full'), on(1, 'null'), on(2, 1)]],
    ['snapshots', [on(0, 'full'), on(1, 0), on(2, 0), on(3, 2), on(4, 2), on(5, 4), on(6, 0)]],
    ['empty deltas', [on(0, 'full'), on(0, 0), on(0, 1), on(1, 2)]],
    ['an empty full text', [{ text: Buffer.alloc(0) }, { text: Buffer.alloc(0) }, on(1, 1)]],
    ['an empty delta against nothing', [{ text: Buffer.alloc(0), base: 'null' }, on(1, 0)]],
    ['every way to store', [{ ...on(0, 'full'), store: 'u' }, { ...on(1, 0), store: 'zlib' }, { ...on(2, 1), store: 'raw' }, { ...on(3, 2), store: 'u' }, { ...on(4, 3), store: 'zstd' }, { ...on(5, 4), store: 'lz4' }]],
    ['lengths that the index does not say', [{ ...on(0, 'full'), rawSize: -1 }, { ...on(1, 0), rawSize: -1 }, { ...on(2, 1) }, { ...on(3, 2), rawSize: -1 }]],
  ];
  for (const [title, specs] of chains) {
    for (const layout of [SPLIT, INLINE]) {
      it(`reads ${title}, ${layout.inline ? 'inline' : 'split'}`, () => {
        const origin = openSpecs(specs, layout);
        for (const [rev, { text }] of specs.entries()) assert.deepEqual(read(rev, origin), text, `revision ${rev}`);
      });
    }
  }

  it('reads a chain of 50,000 deltas, in spans', () => {
    const current = Buffer.alloc(64, 0x20);
    const specs = Array.from({ length: 50_001 }, (_, rev): RevisionSpec => {
      const place = rev % 64;
      current[place] = 0x30 + (rev % 71);
      return { text: Buffer.from(current), store: 'u', ...(rev === 0 ? {} : { delta: hunk(place, place + 1, Buffer.of(0x30 + (rev % 71))) }) };
    });
    const built = buildRevlog(SPLIT, specs);
    const origin = open(built);
    assert.deepEqual(read(50_000, origin), specs[50_000]?.text);
    assert.ok(origin.reads.every(([, length]) => length <= 1 << 18));
    assert.ok(origin.reads.length < 10, `${origin.reads.length} reads`);
    assert.equal(origin.reads.reduce((sum, [, length]) => sum + length, 0), built.data.length);
  }).timeout(20_000);

  it('does not read what lies between members that are far apart, and reads near ones at once', () => {
    const apart = 1 << 18;
    const near = openSpecs([on(0, 'full'), { ...on(1, 'full'), gap: 1000 }, on(2, 0), on(3, 2)]);
    assert.deepEqual(read(3, near), texts[3]);
    assert.equal(near.reads.length, 1);
    const far = openSpecs([on(0, 'full'), on(1, 'full'), { ...on(2, 0), gap: apart }, on(3, 2)]);
    assert.deepEqual(read(3, far), texts[3]);
    assert.deepEqual(far.reads, [
      [0, far.index.chunkLength(0)],
      [far.index.position(2), far.index.chunkLength(2) + far.index.chunkLength(3)],
    ]);
  });

  it('reads a member that is larger than a span', () => {
    const large = Buffer.alloc(600_000);
    for (let i = 0; i < large.length; i += 4) large.writeUInt32BE((i * 2654435761) >>> 0, i);
    const grown = Buffer.concat([large, Buffer.from('more')]);
    const origin = openSpecs([on(0, 'full'), { text: large, base: 0, store: 'u' }, { text: grown, base: 1 }]);
    assert.ok(read(2, origin).equals(grown));
  });

  describe('with texts that are known', () => {
    const specs = texts.map((text, rev): RevisionSpec => ({ text, base: rev === 0 ? 'full' : rev - 1 }));
    const known = (cache: TextCache, rev: number, text = texts[rev] ?? Buffer.alloc(0)): void => {
      const own = cache.allocate(text.length);
      text.copy(own);
      cache.put(rev, own);
    };

    it('reads only what comes after the last of them', () => {
      const origin = openSpecs(specs);
      const cache = createTextCache();
      known(cache, 1);
      known(cache, 4);
      assert.deepEqual(read(7, origin, cache), texts[7]);
      const start = origin.index.position(5);
      assert.deepEqual(origin.reads, [[start, origin.index.position(7) + origin.index.chunkLength(7) - start]]);
    });

    it('starts from what is known, whatever the file says', () => {
      // Line 0 is another one here: later deltas leave it alone.
      const cache = createTextCache();
      const other = Buffer.from(texts[4]?.toString().replace('line changed in revision 0', 'LINE CHANGED IN REVISION 0') ?? '');
      assert.notDeepEqual(other, texts[4]);
      known(cache, 4, other);
      assert.match(read(5, openSpecs(specs), cache).toString(), /LINE CHANGED IN REVISION 0/);
    });

    it('reads nothing of one that is known itself: gives a copy', () => {
      const origin = openSpecs(specs);
      const cache = createTextCache();
      known(cache, 4);
      const text = read(4, origin, cache);
      assert.deepEqual([text, origin.reads], [texts[4], []]);
      text.fill(0);
      assert.deepEqual(cache.get(4), texts[4]);
    });

    it('puts nothing in, changes nothing, and gives back all memory but that of the text', () => {
      const origin = openSpecs(specs);
      const { cache, lent } = counted();
      known(cache, 2);
      const bytes = cache.bytes;
      const text = read(8, origin, cache);
      assert.deepEqual([...lent], [text]);
      assert.equal(cache.bytes, bytes);
      assert.deepEqual(cache.get(2), texts[2]);
      assert.equal(cache.get(8), undefined);
      cache.giveBack(text);
      assert.deepEqual(read(0, origin, cache), texts[0]);
      assert.equal(lent.size, 1);
    });
  });

  describe('names what is damaged', () => {
    const flipped = (chunk: Buffer, at: number): Buffer => {
      const copy = Buffer.from(chunk);
      copy[at] = (copy[at] ?? 0) ^ 1;
      return copy;
    };
    const sound = storeChunk(Buffer.from('some data'));
    const damage: readonly (readonly [string, Partial<RevisionSpec>, string])[] = [
      ['a marker that is unknown', { chunk: flipped(sound, 0) }, 'CHUNK_MARKER'],
      ['a stream that is damaged', { chunk: flipped(sound, sound.length - 1) }, 'CHUNK_DAMAGED'],
      ['a stream that is cut short', { chunk: sound.subarray(0, -1) }, 'CHUNK_DAMAGED'],
      ['more data than there can be', { delta: Buffer.alloc(1 << 16) }, 'CHUNK_SIZE'],
      ['a delta that makes a longer text', { delta: hunk(0, 0, 'one byte more than it says') }, 'CHUNK_SIZE'],
      ['a delta that makes a shorter text', { delta: hunk(0, 1, '') }, 'CHUNK_SIZE'],
      ['a hunk behind the end of its base', { delta: hunk(100_000, 100_000, '') }, 'DELTA_MALFORMED'],
      ['a hunk that is cut short', { delta: hunk(0, 1, 'x', 2) }, 'DELTA_MALFORMED'],
      ['bytes behind the last hunk', { delta: Buffer.concat([hunk(0, 1, 'x'), Buffer.of(0)]) }, 'DELTA_MALFORMED'],
    ];
    for (const [title, lie, code] of damage) {
      for (const layout of [SPLIT, INLINE]) {
        it(`${title}, ${layout.inline ? 'inline' : 'split'}: ${code}`, async () => {
          const specs = texts.slice(0, 6).map((text, rev): RevisionSpec => ({ text, base: rev === 0 ? 'full' : rev - 1, ...(rev === 3 ? lie : {}) }));
          const origin = openSpecs(specs, layout);
          // Offsets are counted here, not taken from what is tested.
          const chunks = buildRevlog(layout, specs).chunks.slice(0, 3);
          const offset = chunks.reduce((sum, { length }) => sum + length, 0) + (layout.inline ? 4 * 64 : 0);
          const at = { path: 'data/f.i', rev: 3, offset };
          for (const rev of [3, 5]) {
            assert.throws(() => read(rev, origin), { code, at });
            await assert.rejects(async () => runSteps(readChain(rev, origin, lateDecoders, createTextCache())), { code, at });
          }
          assert.deepEqual(read(2, origin), texts[2]);
        });
      }
    }

    it('a full text of another length', () => {
      const origin = openSpecs([on(0, 'full'), { ...on(1, 'full'), rawSize: 5 }, { ...on(2, 'full'), rawSize: 5000 }]);
      assert.throws(() => read(1, origin), { code: 'CHUNK_SIZE', at: { path: 'data/f.i', rev: 1, offset: origin.index.position(1) } });
      assert.throws(() => read(2, origin), { code: 'CHUNK_SIZE', at: { path: 'data/f.i', rev: 2, offset: origin.index.position(2) } });
    });

    it('data that end too early', () => {
      const built = buildRevlog(SPLIT, [on(0, 'full'), on(1, 0)]);
      const origin = open({ ...built, data: built.data.subarray(0, -1) });
      assert.throws(() => read(1, origin), { code: 'DATA_TRUNCATED', at: { path: 'data/f.d', offset: 0 } });
      assert.deepEqual(read(0, origin), texts[0]);
    });

    it('an engine that gives nothing', () => {
      const origin = openSpecs([on(0, 'full')]);
      const silent: ChunkDecoders = new Map([[0x78, { decompress: () => [] }]]);
      assert.throws(() => runSteps(readChain(0, origin, silent, createTextCache())), { code: 'CHUNK_DAMAGED', at: { path: 'data/f.i', rev: 0, offset: 0 } });
    });
  });
});
