/** The choice between chunks with a dictionary and without, and chunks that stay as they are. */
import assert from 'node:assert/strict';
import { Readable } from 'node:stream';

import { before, describe, it } from 'mocha';

import { loadDecoders } from '../../src/engines/chunk-codec.js';
import type { ChunkCompressor, Dictionary } from '../../src/engines/engine.js';
import { loadEngine } from '../../src/engines/registry.js';
import { dictionaryIdOf } from '../../src/engines/zstd-frame.js';
import type { RevconvertError } from '../../src/errors.js';
import type { RevisionBatch } from '../../src/formats/record.js';
import { FULL_TEXT } from '../../src/formats/record.js';
import type { Stage } from '../../src/streams/stage.js';
import { createDecompressStage, decompress } from '../../src/transforms/decompress.js';
import { createDictionaryStage, keepShorter, recompress } from '../../src/transforms/recompress.js';
import { collect } from '../streams/support.js';
import { codeText, requireZstd, trainByProgram, withId } from '../support/dictionary-files.js';
import { storeChunk } from '../support/revlog-builder.js';
import { batch, errorOf } from './support.js';

const hex = (bytes: Uint8Array | undefined): string => Buffer.from(bytes ?? '').toString('hex');
const chunksOf = ({ revisions }: RevisionBatch): string[] => revisions.map(({ chunk }) => hex(chunk));

/** Makes chunks of a letter, as long as the table says for the length of the input. */
const lettered = (letter: string, lengthOf: (input: number) => number | undefined): ChunkCompressor => ({
  compress: (inputs) =>
    inputs.map(({ length }) => {
      const made = lengthOf(length);
      return made === undefined ? undefined : Buffer.from(letter.repeat(made));
    }),
});

const ofLengths = (...lengths: readonly number[]): RevisionBatch =>
  batch(...lengths.map((length, rev) => ({ rev, chunk: Buffer.alloc(length + 1, 'u'), delta: new Uint8Array(length).fill(1), rawSize: length })));

const letters = async (stage: Stage, given: RevisionBatch): Promise<string> => (await stage(given)).revisions.map(({ chunk }) => String.fromCharCode(chunk[0] ?? 0x2d)).join('');

describe('chunks with a dictionary', () => {
  const shorter = lettered('d', (length) => length - 10);
  const longer = lettered('d', (length) => length - 1);
  const plain = lettered('p', (length) => length - 5);

  it('are all made with it where that makes some of the batch shorter', async () => {
    assert.equal(await letters(createDictionaryStage({ compressor: shorter, plain }), ofLengths(30, 40, 50, 60, 70)), 'ddddd');
  });

  it('are all made without it where that makes none shorter, or they are as long', async () => {
    for (const compressor of [longer, lettered('d', (length) => length - 5)]) {
      assert.equal(await letters(createDictionaryStage({ compressor, plain }), ofLengths(30, 40, 50, 60, 70)), 'ppppp');
    }
  });

  it('are tried on chunks from all over the batch, and on the whole of a short one', async () => {
    const tried: number[] = [];
    const noting: ChunkCompressor = { compress: (inputs) => (tried.push(...inputs.map(({ length }) => length)), inputs.map(({ length }) => new Uint8Array(length - 1))) };
    const stage = createDictionaryStage({ compressor: shorter, plain: noting });
    await stage(ofLengths(30, 40, 50, 60, 70, 80, 90, 100));
    assert.deepEqual(tried.splice(0), [50, 90]);
    await stage(ofLengths(30, 40));
    assert.deepEqual(tried.splice(0), [30, 40]);
  });

  it('weighs bytes, not chunks', async () => {
    const compressor = lettered('d', (length) => (length < 100 ? length - 6 : length - 1));
    assert.equal(await letters(createDictionaryStage({ compressor, plain }), ofLengths(50, 500)), 'pp');
  });

  it('counts what cannot be compressed by what it takes raw', async () => {
    assert.equal(await letters(createDictionaryStage({ compressor: shorter, plain: lettered('p', () => undefined) }), ofLengths(30, 40)), 'dd');
    assert.equal(await letters(createDictionaryStage({ compressor: lettered('d', () => undefined), plain }), ofLengths(30, 40)), 'pp');
    assert.equal(await letters(createDictionaryStage({ compressor: lettered('d', () => undefined), plain: lettered('p', () => undefined) }), ofLengths(30, 40)), 'uu');
  });

  it('leaves damaged revisions alone, and does not try them', async () => {
    const given = batch({ rev: 0, chunk: Buffer.from('xx'), damaged: true, rawSize: 9 }, { rev: 1, chunk: Buffer.from('u'), delta: new Uint8Array(40), rawSize: 40 }, { rev: 2, chunk: Buffer.from('yy'), damaged: true, rawSize: 9 });
    assert.equal(await letters(createDictionaryStage({ compressor: shorter, plain }), given), 'xdy');
    const none = batch({ rev: 0, chunk: Buffer.from('xx'), damaged: true, rawSize: 9 });
    assert.equal(await letters(createDictionaryStage({ compressor: shorter, plain }), none), 'x');
    assert.equal(await letters(createDictionaryStage({ compressor: shorter, plain }), batch()), '');
  });

  it('works with empty chunks, and with asynchronous engines', async () => {
    const later = (inner: ChunkCompressor): ChunkCompressor => ({ compress: (inputs) => Promise.resolve(inner.compress(inputs)) });
    const given = batch({ rev: 0, chunk: Buffer.alloc(0), delta: new Uint8Array(0), rawSize: 0 }, { rev: 1, chunk: Buffer.from('u'), delta: new Uint8Array(40), rawSize: 40 });
    assert.equal(await letters(createDictionaryStage({ compressor: later(shorter), plain: later(plain) }), given), '-d');
  });

  it('answers at once where the engine does', () => assert.ok(!(createDictionaryStage({ compressor: shorter, plain })(ofLengths(30, 40)) instanceof Promise)));
});

describe('chunks that stay as they are', () => {
  const inner = (length: number): Stage => (given) => {
    for (const revision of given.revisions) revision.chunk = Buffer.alloc(length, 'n');
    return given;
  };

  it('unless the new ones are shorter', async () => {
    const given = (): RevisionBatch => batch(...[3, 4, 5, 6, 7].map((length, rev) => ({ rev, chunk: Buffer.alloc(length, 'o'), delta: new Uint8Array(9), rawSize: 9 })));
    assert.equal(await letters(keepShorter(inner(5)), given()), 'ooonn');
    assert.equal(await letters(keepShorter((one) => Promise.resolve(inner(5)(one))), given()), 'ooonn');
  });

  it('an empty chunk too', async () => {
    const [kept] = (await keepShorter(inner(0))(batch({ rev: 0, chunk: Buffer.alloc(0), rawSize: 0 }))).revisions;
    assert.equal(kept?.chunk.length, 0);
  });

  it('what a stage leaves alone is the very same', async () => {
    const chunk = Buffer.from('damaged');
    const { revisions } = await keepShorter((given) => given)(batch({ rev: 0, chunk, damaged: true, rawSize: 0 }));
    assert.equal(revisions[0]?.chunk, chunk);
  });
});

describe('zstd dictionaries in stages', function () {
  let seven: Dictionary;
  before(function () {
    requireZstd(this);
    seven = { id: 7, bytes: trainByProgram() };
  });
  const of = (texts: readonly Buffer[]): RevisionBatch => batch(...texts.map((text, rev) => ({ rev, chunk: storeChunk(text), delta: text, deltaBase: FULL_TEXT, rawSize: text.length })));
  const code = Array.from({ length: 10 }, (_, i) => codeText(i));

  it('recompress and decompress, as streams', async () => {
    const [made] = await collect(Readable.from([of(code)]).pipe(recompress({ engine: 'zstd', dictionary: seven })));
    assert.ok(made !== undefined);
    assert.deepEqual([...new Set(made.revisions.map(({ chunk }) => dictionaryIdOf(chunk)))], [7]);
    const again = batch(...made.revisions.map(({ rev, chunk, rawSize }) => ({ rev, chunk, rawSize })));
    const dictionaries = new Map([[7, seven]]);
    const [read] = await collect(Readable.from([again]).pipe(decompress({ dictionaries })));
    assert.deepEqual(read?.revisions.map(({ delta }) => hex(delta)), code.map(hex));
    await assert.rejects(collect(Readable.from([again]).pipe(decompress())), { code: 'DICTIONARY_MISSING', at: { path: 'data/f.i', rev: 0, offset: 0 } });
  });

  it('a batch that gains something is compressed with it, one that does not is not', async () => {
    const engine = await loadEngine('zstd');
    const stage = createDictionaryStage({ compressor: engine.createCompressor({ dictionary: seven }), plain: engine.createCompressor() });
    assert.deepEqual((await stage(of(code))).revisions.map(({ chunk }) => dictionaryIdOf(chunk)), code.map(() => 7));
    // Of one letter: naming the dictionary is all that it does to them.
    const runs = Array.from({ length: 10 }, (_, i) => Buffer.alloc(3000 + i, 'z'));
    assert.deepEqual((await stage(of(runs))).revisions.map(({ chunk }) => dictionaryIdOf(chunk)), runs.map(() => 0));
  });

  for (const [title, given, code_] of [
    ['a dictionary that is not there', () => new Map([[8, { id: 8, bytes: withId(seven.bytes, 8) }]]), 'DICTIONARY_MISSING'],
    ['no dictionaries', () => undefined, 'DICTIONARY_MISSING'],
  ] as const) {
    it(`a chunk that names ${title}: an error with revision and place, or damage`, async () => {
      const [made] = await collect(Readable.from([of(code)]).pipe(recompress({ engine: 'zstd', dictionary: seven })));
      assert.ok(made !== undefined);
      const again = (): RevisionBatch => batch(...made.revisions.map(({ rev, chunk, rawSize }) => ({ rev, chunk, rawSize, position: 100 + rev })));
      const decoders = await loadDecoders({ dictionaries: given() });
      const error = await errorOf(createDecompressStage(decoders), again());
      assert.deepEqual([error.code, error.at], [code_, { path: 'data/f.i', rev: 0, offset: 100 }]);
      const found: RevconvertError[] = [];
      const tolerated = await createDecompressStage(decoders, { onDamage: (one) => found.push(one), untie: true })(again());
      assert.deepEqual(found.map((one) => [one.code, one.at.rev]), code.map((_, rev) => [code_, rev]));
      assert.deepEqual(chunksOf(tolerated), chunksOf(made), 'what cannot be decoded stays as it is');
      assert.ok(tolerated.revisions.every(({ damaged }) => damaged));
    });
  }

  it('a damaged revision that can be decoded is untied from its dictionary, others stay as they are', async () => {
    const engine = await loadEngine('zstd');
    const [tied] = await engine.createCompressor({ dictionary: seven }).compress([codeText(1)]);
    const [free] = await engine.createCompressor().compress([Buffer.concat([codeText(2), codeText(2)])]);
    assert.ok(tied !== undefined && free !== undefined);
    // Both lie about the length of their text.
    const lying = (): RevisionBatch => batch({ rev: 0, chunk: tied, rawSize: codeText(1).length + 1 }, { rev: 1, chunk: free, rawSize: 9999 });
    const decoders = await loadDecoders({ dictionaries: new Map([[7, seven]]) });
    for (const [untie, first] of [[true, Buffer.concat([Buffer.from('u'), codeText(1)])], [false, tied]] as const) {
      const codes: string[] = [];
      const done = await createDecompressStage(decoders, { onDamage: (one) => codes.push(one.code), untie })(lying());
      assert.deepEqual(codes, ['CHUNK_SIZE', 'CHUNK_SIZE']);
      assert.deepEqual(chunksOf(done), [hex(first), hex(free)]);
    }
  });
});
