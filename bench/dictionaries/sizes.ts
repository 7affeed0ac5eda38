import { groupName, groupRevlogs, largeSuffixes } from '../../src/repository/dictionaries/groups.js';
import type { GroupEstimate } from '../../src/repository/dictionaries/train.js';
import { estimateGroup, trainFor } from '../../src/repository/dictionaries/train.js';
import { median } from '../measure.js';
import type { Grid } from '../published/reproduction.js';
import { encodedBytes, timeCodecs } from './codec.js';
import type { Part } from './part.js';
import { bytes } from './part.js';
import type { LoadedBatch, LoadedStore } from './store.js';
import { batchesOf, toolsFor, trainOn } from './train.js';
import type { Workspace } from './workspace.js';

/** What `zstd --train` makes where nothing is asked for. */
const USUAL_BYTES = 112_640;
const DIVISORS = [320, 160, 80, 40, 20, 10, 5] as const;

interface Tried {
  readonly gain: number;
  readonly bytes: number;
  readonly decompress: number;
}

/** What size is right? */
export async function measureSizes({ loaded, rounds }: Workspace): Promise<Part> {
  const store = await loaded('medium');
  const plainTools = await toolsFor(store);
  const rows: string[][] = [];
  const totals = [undefined, ...DIVISORS].map(() => ({ gain: 0, bytes: 0, decompress: 0 }));
  let withoutSeconds = 0;
  for (const group of groupRevlogs(store.revlogs, largeSuffixes(store.revlogs))) {
    const batches = batchesOf(group, store);
    const [without] = await timeCodecs(batches, [{}], { rounds, compress: false });
    const plain = without?.bytes ?? NaN;
    withoutSeconds += median(without?.decompress ?? []);
    const estimate = await estimateGroup(group, plainTools);
    const tried: Tried[] = [];
    for (const size of [USUAL_BYTES, ...DIVISORS.map((divisor) => Math.round(estimate.plainBytes / divisor))]) {
      tried.push(await tryDictionary(await train(size, estimate), batches, plain, rounds));
    }
    for (const [i, one] of tried.entries()) {
      const total = totals[i];
      if (total === undefined) continue;
      total.gain += one.gain;
      total.bytes += one.bytes;
      total.decompress += one.decompress;
    }
    const best = Math.max(...tried.map(({ gain }) => gain));
    rows.push([groupName(group), bytes(plain), ...tried.map(({ gain }) => (gain === best ? `**${bytes(gain)}**` : bytes(gain)))]);

    async function train(size: number, known: GroupEstimate): Promise<Uint8Array | undefined> {
      const trained = await trainFor(group, 1, known, await toolsFor(store, size));
      return 'why' in trained ? undefined : trained.bytes;
    }
  }
  rows.push(['all', '', ...totals.map(({ gain }) => bytes(gain))]);
  rows.push(['dictionaries', '', ...totals.map((total) => bytes(total.bytes))]);
  rows.push(['decompressing all, s', withoutSeconds.toFixed(3), ...totals.map(({ decompress }) => decompress.toFixed(3))]);
  return {
    name: 'sizes',
    title: 'What size is right',
    isTimed: true,
    about:
      'medium.hg, level 3. A dictionary of each size for each group, trained as `--dict auto` trains it: of 112,640 bytes, which is what `zstd --train` makes where no size is asked for, and of a part of what the group takes without (index entries counted). ' +
      'What it gains: bytes of chunks without it, less bytes with it, less its own. The best of each group is bold. The last row: seconds to decompress all chunks in batches, in memory, one thread; under "chunks" those without a dictionary. ' +
      'The second table has sizes around 261,645 bytes: zstd chooses the tables of its compressor by the size of the dictionary, and has larger ones where that is more than 256 KiB less 499 bytes. The gain is counted in the same way; samples are other ones.',
    grids: [{ head: ['group', 'chunks', '112,640', ...DIVISORS.map((divisor) => `1/${divisor}`)], rows }, await stepGrid(store)],
  };
}

/** Sizes around the step in zstd's choice of parameters: it looks whether the dictionary and 499 bytes are more than 256 KiB. */
const STEP = 256 * 1024 - 499;
const NEAR_STEP = [65_536, USUAL_BYTES, 180_000, 240_000, STEP, STEP + 1, 300_000, 400_000] as const;

async function stepGrid(store: LoadedStore): Promise<Grid> {
  const groups = groupRevlogs(store.revlogs, largeSuffixes(store.revlogs));
  const rows: string[][] = [];
  for (const group of groups) {
    const batches = batchesOf(group, store);
    const plain = await encodedBytes(batches);
    const cells: string[] = [];
    for (const size of NEAR_STEP) {
      const dictionary = await trainOn(batches, size, 1);
      const gain = plain - (await encodedBytes(batches, { choice: () => dictionary })) - (dictionary?.bytes.length ?? 0);
      cells.push(bytes(gain));
    }
    rows.push([groupName(group), ...cells]);
  }
  return { head: ['dictionary of', ...NEAR_STEP.map(bytes)], rows };
}

async function tryDictionary(dictionary: Uint8Array | undefined, batches: readonly LoadedBatch[], plain: number, rounds: number): Promise<Tried> {
  const own = dictionary === undefined ? undefined : { id: 1, bytes: dictionary };
  const [found] = await timeCodecs(batches, [{ choice: () => own }], { rounds, compress: false });
  const size = dictionary?.length ?? 0;
  return { gain: plain - (found?.bytes ?? (await encodedBytes(batches))) - size, bytes: size, decompress: median(found?.decompress ?? []) };
}
