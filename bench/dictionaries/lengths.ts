import { median } from '../measure.js';
import { percent } from '../published/reproduction.js';
import type { EncodedBatches } from './codec.js';
import { timeCodecs } from './codec.js';
import type { Part } from './part.js';
import { bytes, change } from './part.js';
import type { LoadedBatch } from './store.js';
import { choiceOf, countChunks, filterRevisions, readSet } from './store.js';
import type { Workspace } from './workspace.js';

/** Bytes of a decompressed chunk, from each to the next. */
const BOUNDS = [1, 64, 128, 256, 512, 1024, 4096, 16_384, 65_536] as const;

const ZSTD_MARKER = 0x28;

/** What a dictionary does to chunks of which length. */
export async function measureLengths({ stored, loaded, rounds }: Workspace): Promise<Part> {
  const { batches } = await loaded('medium');
  const choice = choiceOf(readSet(stored('medium', 'dictionaries').folder));
  const rows: string[][] = [];
  for (const [i, from] of BOUNDS.entries()) {
    const to = BOUNDS[i + 1] ?? Infinity;
    const own = filterRevisions(batches, ({ delta }) => delta !== undefined && delta.length >= from && delta.length < to);
    if (own.length === 0) continue;
    const [plain, dictionary] = await timeCodecs(own, [{}, { choice }], { rounds, compress: false });
    if (plain === undefined || dictionary === undefined) continue;
    const each = (seconds: readonly number[]): string => ((median(seconds) * 1e6) / countChunks(own)).toFixed(2);
    rows.push([
      to === Infinity ? `${bytes(from)} and more` : `${bytes(from)} to ${bytes(to - 1)}`,
      bytes(countChunks(own)),
      bytes(plain.bytes),
      bytes(dictionary.bytes),
      change(dictionary.bytes, plain.bytes),
      rawShare(plain.chunks, own),
      rawShare(dictionary.chunks, own),
      each(plain.decompress),
      each(dictionary.decompress),
    ]);
  }
  return {
    name: 'lengths',
    title: 'Short chunks and long ones',
    isTimed: true,
    about:
      'Chunks of medium.hg by their decompressed length: bytes without and with the dictionaries of `--dict auto`, the share that is stored raw because compression does not make it shorter, and microseconds to read one, in batches, in memory, one thread (medians).',
    grids: [{ head: ['length', 'chunks', 'bytes without', 'with', 'change', 'raw without', 'raw with', 'µs a chunk without', 'with'], rows }],
  };
}

const rawShare = (chunks: EncodedBatches, batches: readonly LoadedBatch[]): string => percent(chunks.flat().filter((chunk) => chunk[0] !== ZSTD_MARKER).length / countChunks(batches));

