import { compareLevels } from './changelog-levels.js';
import { pairRatio, seconds, SHORT_RUNS, timeReads } from './read-times.js';
import type { Claim, Grid, Reproduction } from './reproduction.js';
import { grouped, isLonger, percent } from './reproduction.js';
import type { Workspace } from './workspace.js';

const EVERY = 1000;
const CHANGELOG = '00changelog.i';
const MANIFEST = '00manifest.i';

/** What was read, and how many times as long zstd took as zlib. */
interface ReadRow {
  readonly name: string;
  readonly published: readonly [zlib: string, zstd: string, ratio: string];
  readonly times: readonly (readonly number[])[];
}

/** Table 5: is zstd faster, and is it smaller? */
export async function reproduceZlibZstd({ medium, convert, remove, rounds }: Workspace): Promise<Reproduction> {
  // Both are written by us, so that nothing differs but the compression.
  const zlib = await convert(medium, { to: 'zlib' });
  const zstd = await convert(medium, { to: 'zstd' });
  const times = await timeReads([zlib.folder, zstd.folder], { changelog: true, manifest: true, every: EVERY, runs: rounds * SHORT_RUNS });
  const levels = await compareLevels(zlib.folder, rounds * SHORT_RUNS);
  remove(zlib.folder, zstd.folder);
  const reads: readonly ReadRow[] = [
    { name: 'changelog, chunks one by one', published: ['2.03', '1.87', '0.92'], times: times(CHANGELOG, 'chunks') },
    { name: 'changelog, chunks in batches', published: ['', '', ''], times: times(CHANGELOG, 'chunks, in batches') },
    { name: 'manifest, chunks one by one', published: ['2.72', '2.04', '0.75'], times: times(MANIFEST, 'chunks') },
    { name: 'manifest, chunks in batches', published: ['', '', ''], times: times(MANIFEST, 'chunks, in batches') },
    { name: 'texts of every 1,000th manifest', published: ['34.3', '24.1', '0.70'], times: times(MANIFEST, 'texts forward') },
  ];
  const sizes = { zlib: zlib.summary.bytesAfter, zstd: zstd.summary.bytesAfter };
  return {
    title: '5. zlib against zstd',
    about:
      'The same deltas, compressed with zlib (level 6) and zstd (level 3). Seconds, median (range); published: a larger history. The published figures are of a store whose deltas each engine chose for itself. ' +
      'Below, the chunks of the changelog compressed again in batches, at levels 1 and 3, and decompressed.',
    grids: [
      {
        head: ['', 'published: zlib', 'zstd', 'zstd to zlib', 'ours: zlib', 'zstd', 'zstd to zlib'],
        rows: [
          ...reads.map(({ name, published, times: [a, b] }) => [name, ...published, seconds(a), seconds(b), pairRatio(b, a).toFixed(2)]),
          ['store, bytes', '1,638,852,492', '1,680,601,332', '1.025', grouped(sizes.zlib), grouped(sizes.zstd), (sizes.zstd / sizes.zlib).toFixed(3)],
        ],
      },
      levelGrid(levels),
    ],
    claims: [readClaim(reads), sizeClaim(sizes), levelClaim(levels)],
  };
}

type Levels = Awaited<ReturnType<typeof compareLevels>>;

const levelGrid = (levels: Levels): Grid => ({
  head: ['changelog, zstd level', 'bytes', 'compress s', 'decompress s'],
  rows: levels.map(({ level, bytes, compress, decompress }) => [String(level), grouped(bytes), seconds(compress), seconds(decompress)]),
});

function readClaim(rows: readonly ReadRow[]): Claim {
  const found = rows.map(({ name, times: [zlib, zstd] }) => ({ name, ratio: pairRatio(zstd, zlib) }));
  const list = (some: typeof found): string => some.map(({ name, ratio }) => `${name} ${ratio.toFixed(2)}`).join(', ');
  const slower = found.filter(({ ratio }) => ratio >= 1);
  return {
    holds: slower.length === 0,
    yes: `everything is read faster with zstd (times as long as with zlib: ${list(found)})`,
    no: `not everything is read faster with zstd (times as long as with zlib: ${list(slower)}), for where chunks are small what a call costs decides`,
  };
}

function sizeClaim({ zlib, zstd }: { readonly zlib: number; readonly zstd: number }): Claim {
  const change = percent(zstd / zlib - 1);
  return { holds: zstd > zlib, yes: `the store is larger with zstd (${change}; published 2.5 %)`, no: `the store is smaller with zstd (${change}), which the published one was not` };
}

/** Sizes that are no farther apart than this are the same. */
const SAME_SIZE = 0.01;

function levelClaim([one, three]: Levels): Claim {
  const bytes = (one?.bytes ?? NaN) / (three?.bytes ?? NaN) - 1;
  const ratio = pairRatio(one?.compress, three?.compress);
  const found = `level 1 makes the changelog ${percent(Math.abs(bytes))} ${bytes < 0 ? 'smaller' : 'larger'} than level 3 in ${ratio.toFixed(2)} of the time`;
  const isSame = Math.abs(bytes) <= SAME_SIZE;
  return {
    holds: isSame && isLonger(1, ratio),
    yes: found,
    no: `${found}, ${isSame ? 'so it is hardly faster: at chunks of 240 bytes most of the time is the same at all levels' : 'so the size is not the same'}`,
  };
}
