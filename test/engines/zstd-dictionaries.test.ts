/** Frames with dictionaries. The second implementation, to read and to write them, is the zstd program. */
import assert from 'node:assert/strict';

import { before, describe, it } from 'mocha';

import { Arena } from '../../src/engines/arena.js';
import { mongodbZstdBackend } from '../../src/engines/backends/mongodb-zstd.js';
import { loadZstdNapi } from '../../src/engines/backends/zstd-napi.js';
import type { CompressorOptions, Dictionaries, Dictionary, LoadedBackend } from '../../src/engines/engine.js';
import { DecodeFault } from '../../src/engines/engine.js';
import { dictionaryIdOf, readFrameHeader } from '../../src/engines/zstd-frame.js';
import { codeText, requireZstd, trainByProgram, withBadTables, withId, zstdWith } from '../support/dictionary-files.js';
import { assertBytes, assertFault, assertSmall, bytes, concat, flipped, hasCode, hex, noise } from './support.js';

const backend = await loadZstdNapi();

const mapOf = (...dictionaries: readonly Dictionary[]): Dictionaries => new Map(dictionaries.map((one) => [one.id, one]));

describe('zstd with dictionaries', function () {
  let zstd: LoadedBackend;
  let seven: Dictionary;
  before(function () {
    requireZstd(this);
    if (backend === undefined) this.skip();
    zstd = backend;
    seven = { id: 7, bytes: trainByProgram({ id: 7 }) };
  });

  const texts = Array.from({ length: 60 }, (_, i) => codeText(i, 1 + (i % 9)));

  async function pack(input: Uint8Array, options: CompressorOptions): Promise<Uint8Array> {
    const [chunk] = await zstd.createCompressor(options).compress([input]);
    assert.ok(chunk !== undefined);
    return chunk;
  }

  async function unpack(chunk: Uint8Array, dictionaries: Dictionaries, limit = 1 << 30): Promise<Uint8Array | DecodeFault> {
    const [found] = await zstd.createDecompressor({ dictionaries }).decompress([chunk], [limit]);
    assert.ok(found !== undefined);
    return found;
  }

  for (const level of [1, 3, 12, 19, 22]) {
    it(`names its dictionary in one byte, and the size of its content, at level ${level}; the zstd program reads it`, async () => {
      const chunks = await zstd.createCompressor({ dictionary: seven, level }).compress(texts);
      for (const [i, chunk] of chunks.entries()) {
        const text = texts[i] ?? Buffer.alloc(0);
        assert.ok(chunk !== undefined && chunk.length < text.length);
        const header = readFrameHeader(chunk);
        assert.ok(!(header instanceof DecodeFault));
        assert.deepEqual([header.dictionaryId, header.contentSize, header.checksum, dictionaryIdOf(chunk)], [7, text.length, false, 7]);
        assert.equal((chunk[4] ?? 0) & 3, 1, 'one byte of ID');
        if (i % 15 === 0) assertBytes(zstdWith(seven.bytes, ['-d'], chunk).output, text);
        assertBytes(await unpack(chunk, mapOf(seven)), text);
      }
    });
  }

  it('makes chunks that are much smaller than without', async () => {
    const sizeOf = async (options: CompressorOptions): Promise<number> => {
      const chunks = await zstd.createCompressor(options).compress(texts);
      return chunks.reduce((sum, chunk, i) => sum + (chunk ?? texts[i] ?? []).length, 0);
    };
    assert.ok((await sizeOf({ dictionary: seven })) < 0.6 * (await sizeOf({})));
  });

  it('writes checksums where they are asked for, and notices wrong ones', async () => {
    const chunk = await pack(codeText(5), { dictionary: seven, checksum: true });
    assertBytes(await unpack(chunk, mapOf(seven)), codeText(5));
    assertBytes(zstdWith(seven.bytes, ['-d'], chunk).output, codeText(5));
    assertFault(await unpack(flipped(chunk, -1), mapOf(seven)), 'CHUNK_DAMAGED', /check/i);
  });

  it('reads what the zstd program writes: with an ID, without one, without the size of the content', async () => {
    const text = codeText(3, 40);
    for (const args of [['-3'], ['-19', '--no-check'], ['-3', '--no-content-size'], ['-1', '--no-content-size', '--no-check']]) {
      const { status, output } = zstdWith(seven.bytes, args, text);
      assert.equal(status, 0);
      assert.equal(dictionaryIdOf(output), 7);
      assertBytes(await unpack(output, mapOf(seven)), text);
      assertBytes(await unpack(concat(output, bytes('00')), mapOf(seven)), text);
    }
    for (const id of [300, 70_000, 0xfffffff0]) {
      const { output } = zstdWith(withId(seven.bytes, id), ['-3'], text);
      assert.equal(dictionaryIdOf(output), id);
      assertBytes(await unpack(output, mapOf({ id, bytes: withId(seven.bytes, id) })), text);
    }
  });

  it('reads chunks with several dictionaries, and without, in any order', async () => {
    const others = [{ id: 1, bytes: withId(trainByProgram({ seed: 5000 }), 1) }, { id: 255, bytes: withId(seven.bytes, 255) }];
    const all = [...others, seven];
    const chunks: Uint8Array[] = [];
    for (const [i, text] of texts.entries()) chunks.push(await pack(Buffer.concat([text, text]), { dictionary: [...all, undefined][i % 4] }));
    assert.deepEqual(chunks.slice(0, 4).map(dictionaryIdOf), [1, 255, 7, 0]);
    const found = await zstd.createDecompressor({ dictionaries: mapOf(...all) }).decompress(chunks, chunks.map(() => 10_000));
    texts.forEach((text, i) => assertBytes(found[i], Buffer.concat([text, text])));
  });

  it('gives a chunk the same bytes, whatever came before', async () => {
    const used = zstd.createCompressor({ dictionary: seven });
    await used.compress([...texts, noise(100_000), Buffer.alloc(300_000, 'abc def ')]);
    const again = await used.compress(texts);
    for (const [i, text] of texts.entries()) assert.equal(hex(again[i] ?? bytes('')), hex(await pack(text, { dictionary: seven })), `text ${i}`);
  });

  it('leaves alone what is too short, and what does not get shorter', async () => {
    const compressor = zstd.createCompressor({ dictionary: seven });
    const content = Buffer.from(seven.bytes).subarray(-60);
    assert.deepEqual(await compressor.compress([content.subarray(0, 19), noise(300), noise(20)]), [undefined, undefined, undefined]);
    const [short] = await compressor.compress([content.subarray(40, 60)]);
    if (short !== undefined) assert.ok(short.length < 20);
  });

  it('never writes over a result, of whatever size', async () => {
    const large = [codeText(1, 900), Buffer.concat([codeText(2, 3000), noise(80_000), codeText(3, 3000)]), Buffer.concat([codeText(4, 30_000), noise(4 << 20)])];
    const inputs = [...texts, ...large];
    const compressor = zstd.createCompressor({ dictionary: seven });
    const chunks = (await compressor.compress(inputs)).map((chunk) => chunk ?? assert.fail('not compressed'));
    const before = chunks.map(hex);
    await compressor.compress(inputs.map((input) => Buffer.concat([input, input])));
    assert.deepEqual(chunks.map(hex), before);
    const decompressor = zstd.createDecompressor({ dictionaries: mapOf(seven) });
    const results = await decompressor.decompress(chunks, inputs.map(({ length }) => length));
    await decompressor.decompress([...chunks].reverse(), [...inputs].reverse().map(({ length }) => length));
    inputs.forEach((input, i) => assertBytes(results[i], input));
  });

  it('puts results where they are asked for', async () => {
    const memory = new Arena();
    const [chunk] = await zstd.createCompressor({ dictionary: seven, memory }).compress([codeText(1)]);
    assert.ok(chunk?.buffer === memory.block.buffer);
    const [text] = await zstd.createDecompressor({ dictionaries: mapOf(seven), memory }).decompress([chunk], [10_000]);
    assert.ok(text instanceof Uint8Array && text.buffer === memory.block.buffer);
  });

  describe('that cannot be read', () => {
    let chunk: Uint8Array;
    before(async () => {
      chunk = await pack(codeText(9, 20), { dictionary: seven });
    });

    it('a dictionary that is not there is a fault that names it and its file; the other chunks are read', async () => {
      const plain = await pack(codeText(9, 20), {});
      for (const dictionaries of [undefined, new Map(), mapOf({ id: 8, bytes: withId(seven.bytes, 8) })]) {
        const [missing, read] = await zstd.createDecompressor({ dictionaries }).decompress([chunk, plain], [10_000, 10_000]);
        assertFault(missing, 'DICTIONARY_MISSING', /dictionary with ID 7 \(revlog-dictionaries\/7\.zdict\)/);
        assertBytes(read, codeText(9, 20));
      }
    });

    it('an ID that no store has is a fault too', async () => {
      assertFault(await unpack(bytes('28b52ffd 220102 05 290000 68656c6c6f'), mapOf(seven)), 'DICTIONARY_MISSING', /ID 513 /);
      assertFault(await unpack(bytes('28b52ffd 23010000ff 05 290000 68656c6c6f'), mapOf(seven)), 'DICTIONARY_MISSING', /ID 4278190081 /);
    });

    it('another dictionary under its ID: a fault or other bytes, never a crash; with a checksum always a fault', async () => {
      const other = { id: 7, bytes: trainByProgram({ seed: 9000 }) };
      const found = await unpack(chunk, mapOf(other));
      assert.ok(found instanceof DecodeFault || !Buffer.from(found).equals(codeText(9, 20)));
      const checked = await pack(codeText(9, 20), { dictionary: seven, checksum: true });
      assertFault(await unpack(checked, mapOf(other)), 'CHUNK_DAMAGED');
    });

    it('a dictionary whose tables are rubbish is a fault that names it, again and again; frames without one are read', async () => {
      const bad = { id: 7, bytes: withBadTables(seven.bytes) };
      const plain = await pack(codeText(9, 20), {});
      const decompressor = zstd.createDecompressor({ dictionaries: mapOf(bad) });
      for (let i = 0; i < 3; i++) {
        const [fault, read] = await decompressor.decompress([chunk, plain], [10_000, 10_000]);
        assertFault(fault, 'DICTIONARY_DAMAGED', /dictionary with ID 7 \(revlog-dictionaries\/7\.zdict\): its tables are damaged/);
        assertBytes(read, codeText(9, 20));
      }
    });

    it('a dictionary with another ID in its bytes is a fault', async () => {
      assert.ok((await unpack(chunk, mapOf({ id: 7, bytes: withId(seven.bytes, 9) }))) instanceof DecodeFault);
    });

    it('a compressor whose dictionary zstd does not take says so, and which', async () => {
      for (const input of [codeText(1), Buffer.concat([codeText(2, 3000), noise(80_000)])]) {
        await assert.rejects(async () => zstd.createCompressor({ dictionary: { id: 7, bytes: withBadTables(seven.bytes) } }).compress([input]), hasCode('DICTIONARY_DAMAGED', 'ID 7', '7.zdict'));
      }
    });

    it('any damage of a chunk is a fault, or bytes within the limit', async () => {
      const decompressor = zstd.createDecompressor({ dictionaries: mapOf(seven) });
      for (let at = 0; at < chunk.length; at++) {
        for (const damagedChunk of [flipped(chunk, at), flipped(chunk, at, 1), chunk.subarray(0, at)]) {
          if (damagedChunk.length === 0) continue;
          const [found] = await decompressor.decompress([damagedChunk], [5000]);
          assert.ok(found instanceof DecodeFault || (found !== undefined && found.length <= 5000));
        }
      }
      assertBytes((await decompressor.decompress([chunk], [5000]))[0], codeText(9, 20));
    });
  });

  describe('limits', () => {
    it('a chunk of exactly the limit is read, one byte more is a fault', async () => {
      const text = codeText(9, 20);
      for (const args of [[], ['--no-content-size']]) {
        const { output } = zstdWith(seven.bytes, args, text);
        assertBytes(await unpack(output, mapOf(seven), text.length), text);
        assertFault(await unpack(output, mapOf(seven), text.length - 1), 'CHUNK_SIZE');
        assertFault(await unpack(output, mapOf(seven), 0), 'CHUNK_SIZE');
      }
    });

    it('a bomb is a fault, and takes no memory', async () => {
      const bomb = await pack(Buffer.alloc(64 << 20, 'bomb'), { dictionary: seven });
      const { output } = zstdWith(seven.bytes, ['--no-content-size'], Buffer.alloc(64 << 20, 'bomb'));
      await assertSmall(async () => {
        assertFault(await unpack(bomb, mapOf(seven), 100_000), 'CHUNK_SIZE');
        assertFault(await unpack(output, mapOf(seven), 100_000), 'CHUNK_SIZE');
      });
      assert.equal(dictionaryIdOf(output), 7);
    });

    it('large texts come back, alone and among small ones', async () => {
      const large = Buffer.concat([codeText(1, 20_000), noise(300_000), codeText(1, 20_000)]);
      const chunks = (await zstd.createCompressor({ dictionary: seven }).compress([codeText(1), large, codeText(2)])).map((chunk) => chunk ?? assert.fail('not compressed'));
      const found = await zstd.createDecompressor({ dictionaries: mapOf(seven) }).decompress(chunks, [10_000, 1 << 30, 10_000]);
      [codeText(1), large, codeText(2)].forEach((text, i) => assertBytes(found[i], text));
      assertBytes(zstdWith(seven.bytes, ['-d'], chunks[1] ?? large).output, large);
    });
  });
});

describe('zstd by @mongodb-js/zstd, which has no dictionaries', () => {
  const mongodb = mongodbZstdBackend({ compress: (data) => Promise.resolve(data), decompress: () => Promise.reject(new Error('it must not be asked')) });
  const dictionary: Dictionary = { id: 7, bytes: bytes('37a430ec 07000000 00') };
  const frame = bytes('28b52ffd 2107 05 290000 68656c6c6f');

  it('does not compress with one: ENGINE_MISSING, which names the package that does', () => {
    assert.throws(() => mongodb.createCompressor({ dictionary }), hasCode('ENGINE_MISSING', 'zstd-napi'));
  });

  it('does not read with one: ENGINE_MISSING where the dictionary is there, a fault where it is not', async () => {
    await assert.rejects(async () => mongodb.createDecompressor({ dictionaries: mapOf(dictionary) }).decompress([frame], [100]), hasCode('ENGINE_MISSING', 'zstd-napi'));
    for (const dictionaries of [undefined, mapOf({ ...dictionary, id: 8 })]) {
      const [found] = await mongodb.createDecompressor({ dictionaries }).decompress([frame], [100]);
      assertFault(found, 'DICTIONARY_MISSING', /ID 7 /);
    }
  });
});

describe('the dictionary that a chunk names', () => {
  const cases: readonly (readonly [title: string, hex: string, id: number])[] = [
    ['a single segment, one byte', '28b52ffd 2107 05 290000 68656c6c6f', 7],
    ['a single segment, two bytes', '28b52ffd 220102 05 290000 68656c6c6f', 513],
    ['a single segment, four bytes', '28b52ffd 23010000ff 05 290000 68656c6c6f', 0xff000001],
    ['a window, one byte', '28b52ffd 0158ff 290000 68656c6c6f', 255],
    ['a window, two bytes', '28b52ffd 02580102 290000 68656c6c6f', 513],
    ['a window, four bytes', '28b52ffd 035801000080 290000 68656c6c6f', 0x80000001],
    ['a window, a content size of four bytes', '28b52ffd 815809 05000000 290000 68656c6c6f', 9],
    ['a content size of eight bytes', '28b52ffd e109 0500000000000000 290000 68656c6c6f', 9],
    ['a checksum', '28b52ffd 2507 05 290000 68656c6c6f a36d9f88', 7],
    ['none', '28b52ffd 2005 290000 68656c6c6f', 0],
    ['none, with a window', '28b52ffd 0058 290000 68656c6c6f', 0],
    ['an ID of 0', '28b52ffd 2100 05 290000 68656c6c6f', 0],
    ['no bytes', '', 0],
    ['a magic number alone', '28b52ffd', 0],
    ['an ID that is cut off', '28b52ffd 21', 0],
    ['a marker alone', '28', 0],
    ['another magic number', '28b52ffc 2107 05 290000', 0],
    ['a skippable frame', '502a4d18 21070000 00', 0],
    ['raw', '75 28b52ffd 2107', 0],
    ['zlib', '789c 2107210721', 0],
  ];
  for (const [title, chunk, id] of cases) {
    it(`${title}: ${id}`, () => assert.equal(dictionaryIdOf(bytes(chunk)), id));
  }

  it('is read where the chunk is part of a larger buffer', () => {
    assert.equal(dictionaryIdOf(concat(bytes('ffff'), bytes('28b52ffd 2107 05')).subarray(2)), 7);
  });

  it('agrees with the whole header on all descriptors', () => {
    for (let descriptor = 0; descriptor < 256; descriptor++) {
      const chunk = concat(bytes('28b52ffd'), Uint8Array.of(descriptor, ...Array.from({ length: 20 }, (_, i) => i + 1)));
      const header = readFrameHeader(chunk);
      if (!(header instanceof DecodeFault)) assert.equal(dictionaryIdOf(chunk), header.dictionaryId, `descriptor ${descriptor}`);
    }
  });
});
