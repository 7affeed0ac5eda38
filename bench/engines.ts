/**
 * Question: which backend of each engine is the fastest, per chunk?
 *
 *     node dist/bench/engines.js FILE.i [ROUNDS] [CHUNKS]
 *
 * FILE.i: the index of a version-1 revlog, its data inline or in FILE.d. Its chunks are decoded; what comes out is
 * compressed and decompressed again by every backend. Rounds are interleaved over the backends, and the best round
 * of each counts: the machine is shared, and what disturbs it only ever adds time. ROUNDS: default 7; CHUNKS: the
 * most that are used, default 4000.
 *
 * Prints microseconds per chunk, and the size that compression leaves.
 */

import { existsSync, readFileSync } from 'node:fs';

import { syncBackend } from '../src/engines/backends/node-zlib.js';
import { handleBackend } from '../src/engines/backends/node-zlib-handle.js';
import { decodeChunks, encodeChunks, loadDecoders } from '../src/engines/chunk-codec.js';
import type { Backend, ChunkCompressor, ChunkDecompressor, MaybePromise } from '../src/engines/engine.js';
import { ENGINE_NAMES, ENGINES } from '../src/engines/registry.js';

const ENTRY_BYTES = 64;
const INLINE_FLAG = 0x0001_0000;

/** The stored chunks of a revlog, in order, empty ones left out. */
function readChunks(indexPath: string, most: number): Uint8Array[] {
  const index = readFileSync(indexPath);
  const inline = (index.readUInt32BE(0) & INLINE_FLAG) !== 0;
  const dataPath = indexPath.replace(/\.i$/, '.d');
  const data = inline || !existsSync(dataPath) ? index : readFileSync(dataPath);
  const chunks: Uint8Array[] = [];
  let entry = 0;
  for (let rev = 0; entry + ENTRY_BYTES <= index.length && chunks.length < most; rev++) {
    const length = index.readInt32BE(entry + 8);
    const start = inline ? entry + ENTRY_BYTES : rev === 0 ? 0 : index.readUIntBE(entry, 6);
    if (length > 0) chunks.push(new Uint8Array(data.subarray(start, start + length)));
    entry += ENTRY_BYTES + (inline ? length : 0);
  }
  return chunks;
}

interface Runner {
  readonly label: string;
  readonly compressor: ChunkCompressor;
  readonly decompressor: ChunkDecompressor;
  bestCompress: number;
  bestDecompress: number;
  compressedBytes: number;
}

const BATCH = 512;

const inBatches = <T>(items: readonly T[]): T[][] =>
  Array.from({ length: Math.ceil(items.length / BATCH) }, (_, i) => items.slice(i * BATCH, (i + 1) * BATCH));

/** Runs one batch after the other, as the pipeline does; gives the results, and the time in microseconds. */
async function time<In, Out>(
  batches: readonly In[],
  run: (batch: In) => MaybePromise<readonly Out[]>,
): Promise<{ results: Out[]; took: number }> {
  const parts: (readonly Out[])[] = [];
  const started = performance.now();
  for (const batch of batches) {
    const done = run(batch);
    parts.push(done instanceof Promise ? await done : done);
  }
  const took = (performance.now() - started) * 1000;
  return { results: parts.flat(), took };
}

async function makeRunners(): Promise<Runner[]> {
  const extra: Backend[] = [
    { name: 'node:zlib, its handle', load: () => Promise.resolve(handleBackend()) },
    { name: 'node:zlib, inflateSync', load: () => Promise.resolve(syncBackend) },
  ];
  const runners: Runner[] = [];
  for (const name of ENGINE_NAMES.filter((one) => one !== 'none')) {
    const { backends } = ENGINES[name];
    for (const backend of name === 'zlib' ? [...extra, ...backends.slice(1)] : backends) {
      const loaded = await backend.load();
      if (loaded === undefined) {
        console.log(`${name}: ${backend.name} is not installed, left out`);
        continue;
      }
      for (const checksum of backend.name === 'zstd-napi' ? [false, true] : [false]) {
        runners.push({
          label: `${name.padEnd(5)} ${backend.name}${checksum ? ', checksum' : ''}`,
          compressor: loaded.createCompressor({ checksum }),
          decompressor: loaded.createDecompressor(),
          bestCompress: Infinity,
          bestDecompress: Infinity,
          compressedBytes: 0,
        });
      }
    }
  }
  return runners;
}

async function round(runner: Runner, texts: readonly Uint8Array[]): Promise<void> {
  const compressed = await time(inBatches(texts), (batch) => runner.compressor.compress(batch));
  runner.bestCompress = Math.min(runner.bestCompress, compressed.took / texts.length);
  const kept = texts.flatMap((text, i) => {
    const chunk = compressed.results[i];
    return chunk === undefined ? [] : [{ chunk, text }];
  });
  runner.compressedBytes = kept.reduce((sum, { chunk, text }) => sum + chunk.length - text.length, sumOf(texts));
  const batches = inBatches(kept).map((batch) => ({
    chunks: batch.map(({ chunk }) => chunk),
    limits: batch.map(({ text }) => text.length),
  }));
  const decompressed = await time(batches, ({ chunks, limits }) => runner.decompressor.decompress(chunks, limits));
  runner.bestDecompress = Math.min(runner.bestDecompress, decompressed.took / kept.length);
  kept.forEach(({ text }, i) => {
    const result = decompressed.results[i];
    if (!(result instanceof Uint8Array) || Buffer.compare(result, text) !== 0) throw new Error(`${runner.label}: wrong result`);
  });
}

const sumOf = (parts: readonly Uint8Array[]): number => parts.reduce((sum, part) => sum + part.length, 0);

/** What the pipeline does with a revlog on one thread: decode all chunks, encode them with zstd. */
async function timeCodec(chunks: readonly Uint8Array[], rounds: number): Promise<string> {
  const decoders = await loadDecoders();
  const [zstd] = ENGINES.zstd.backends;
  const compressor = (await zstd?.load())?.createCompressor({});
  let decodeBest = Infinity;
  let encodeBest = Infinity;
  const batches = inBatches(chunks).map((own) => ({ own, limits: own.map(() => 2 ** 31) }));
  for (let i = 0; i < rounds; i++) {
    const decoded = await time(batches, ({ own, limits }) => decodeChunks(own, limits, decoders));
    decodeBest = Math.min(decodeBest, decoded.took / chunks.length);
    const texts = decoded.results.filter((one) => one instanceof Uint8Array);
    const encoded = await time(inBatches(texts), (batch) => encodeChunks(batch, compressor));
    encodeBest = Math.min(encodeBest, encoded.took / chunks.length);
  }
  return `chunk codec: decode ${decodeBest.toFixed(2)} us, encode with zstd ${encodeBest.toFixed(2)} us`;
}

async function main(indexPath: string, rounds: number, most: number): Promise<void> {
  const chunks = readChunks(indexPath, most);
  const decoded = await decodeChunks(chunks, chunks.map(() => 2 ** 31), await loadDecoders());
  const texts = decoded.filter((one) => one instanceof Uint8Array).filter((text) => text.length > 0);
  console.log(`${indexPath}: ${chunks.length} chunks, ${sumOf(chunks)} bytes stored, ${sumOf(texts)} decoded`);
  const runners = await makeRunners();
  for (let i = 0; i < rounds; i++) {
    for (const runner of runners) await round(runner, texts);
  }
  console.log(`node ${process.version}, best of ${rounds}; microseconds per chunk`);
  console.log('engine backend                    compress  decompress       bytes');
  for (const { label, bestCompress, bestDecompress, compressedBytes } of runners) {
    const numbers = [bestCompress.toFixed(2).padStart(8), bestDecompress.toFixed(2).padStart(11)].join(' ');
    console.log(`${label.padEnd(33)} ${numbers} ${String(compressedBytes).padStart(11)}`);
  }
  console.log(await timeCodec(chunks, rounds));
}

const [, , indexPath, rounds = '7', most = '4000'] = process.argv;
if (indexPath === undefined) {
  console.error('usage: node dist/bench/engines.js FILE.i [ROUNDS] [CHUNKS]');
  process.exitCode = 2;
} else {
  await main(indexPath, Number(rounds), Number(most));
}
