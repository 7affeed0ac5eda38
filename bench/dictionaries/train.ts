import { loadDecoders } from '../../src/engines/chunk-codec.js';
import type { Dictionary } from '../../src/engines/engine.js';
import { loadEngine } from '../../src/engines/registry.js';
import type { RevlogGroup } from '../../src/repository/dictionaries/groups.js';
import { trainDictionary } from '../../src/repository/dictionaries/program.js';
import type { TrainingTools } from '../../src/repository/dictionaries/train.js';
import type { LoadedBatch, LoadedStore } from './store.js';

/** As a conversion takes them: see src/repository/dictionaries/train.ts. */
const SAMPLE_TIMES = 12;
const MIN_SAMPLE_TOTAL = 1 << 20;
const MAX_SAMPLES = 4096;
const MAX_SAMPLE_BYTES = 128 * 1024;
/** Chunks in one file of samples. */
const RUN = 4;

/** Some chunks of many, spread over them by their bytes. */
export function spreadSamples(batches: readonly LoadedBatch[], count: number): Uint8Array[] {
  const all = batches.flatMap(({ deltas }) => deltas);
  const total = all.reduce((sum, { length }) => sum + length, 0);
  const samples: Uint8Array[] = [];
  let end = 0;
  let next = 0.5;
  for (const delta of all) {
    end += delta.length;
    if (end <= (next * total) / count) continue;
    samples.push(delta.subarray(0, MAX_SAMPLE_BYTES));
    while ((next * total) / count < end) next++;
  }
  return samples;
}

/** The samples that a conversion would take about as many of for a dictionary of this size. */
export function samplesFor(batches: readonly LoadedBatch[], size: number): Uint8Array[] {
  const all = batches.flatMap(({ deltas }) => deltas);
  const mean = Math.max(1, all.reduce((sum, { length }) => sum + Math.min(length, MAX_SAMPLE_BYTES), 0) / Math.max(1, all.length));
  return spreadSamples(batches, Math.min(MAX_SAMPLES, Math.ceil(Math.max(MIN_SAMPLE_TOTAL, SAMPLE_TIMES * size) / mean)));
}

/** Several samples in one, in runs. */
export const inRuns = (samples: readonly Uint8Array[], length: number): Uint8Array[] =>
  Array.from({ length: Math.ceil(samples.length / length) }, (_, i) => Buffer.concat(samples.slice(i * length, (i + 1) * length)));

/** Trains on some chunks as a conversion does. @returns undefined where nothing can be made of them */
export async function trainOn(batches: readonly LoadedBatch[], size: number, id: number): Promise<Dictionary | undefined> {
  const bytes = await trainDictionary({ samples: inRuns(samplesFor(batches, size), RUN), size, id });
  return bytes === undefined ? undefined : { id, bytes };
}

/** What a conversion trains with; a size for each dictionary, or what it chooses itself. */
export const toolsFor = async ({ storeFolder }: LoadedStore, size?: number): Promise<TrainingTools> => ({
  storeFolder,
  size,
  samples: undefined,
  decoders: await loadDecoders(),
  engine: await loadEngine('zstd'),
  checksum: false,
  levels: { changelog: undefined, manifest: undefined, filelog: undefined },
  keepsShorter: false,
  signal: undefined,
});

/** The batches of the revlogs of a group. */
export function batchesOf({ revlogs }: RevlogGroup, { batches }: LoadedStore): LoadedBatch[] {
  const names = new Set(revlogs.map(({ name }) => name));
  return batches.filter(({ path }) => names.has(path));
}
