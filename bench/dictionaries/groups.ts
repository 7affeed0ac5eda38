import { performance } from 'node:perf_hooks';

import type { Dictionary } from '../../src/engines/engine.js';
import { groupName, groupRevlogs, largeSuffixes } from '../../src/repository/dictionaries/groups.js';
import { estimateGroup, trainFor } from '../../src/repository/dictionaries/train.js';
import { median } from '../measure.js';
import { percent } from '../published/reproduction.js';
import { timeCodecs } from './codec.js';
import type { Part } from './part.js';
import { bytes, change, rate, speedup, times } from './part.js';
import { choiceOf, countChunks, deltaBytes, groupBatches, readSet } from './store.js';
import { batchesOf, toolsFor } from './train.js';
import type { Workspace } from './workspace.js';

/** What the dictionary of each group gains, in bytes and in speed, and what it costs to train. */
export async function measureGroups({ stored, loaded, rounds }: Workspace): Promise<Part> {
  const store = await loaded('medium');
  const set = readSet(stored('medium', 'dictionaries').folder);
  const choice = choiceOf(set);
  const sizes: string[][] = [];
  const speeds: string[][] = [];
  for (const { name, batches } of groupBatches(store.batches, set)) {
    const [plain, dictionary] = await timeCodecs(batches, [{}, { choice }], { rounds });
    if (plain === undefined || dictionary === undefined) continue;
    const own = new Map(batches.flatMap((batch) => choice(batch) ?? []).map((one) => [one.id, one]));
    const size = [...own.values()].reduce((sum, one) => sum + one.bytes.length, 0);
    const all = deltaBytes(batches);
    const chunks = countChunks(batches);
    sizes.push([name, bytes(chunks), bytes(all / chunks), bytes(plain.bytes), bytes(dictionary.bytes), change(dictionary.bytes, plain.bytes), bytes(size), bytes(plain.bytes - dictionary.bytes - size)]);
    const speed = (figure: 'compress' | 'decompress'): string[] => [rate(all, plain[figure]), rate(all, dictionary[figure]), times(speedup(dictionary[figure], plain[figure]))];
    speeds.push([name, ...speed('decompress'), ...speed('compress')]);
  }
  return {
    name: 'groups',
    title: 'What the dictionary of each group gains',
    isTimed: true,
    about:
      'medium.hg, zstd level 3, with the dictionaries of `--dict auto`. Bytes are those of the chunks, without index entries. The gain is what is left of it when the dictionary is paid for. ' +
      'Speeds are megabytes of decompressed chunks a second, on one thread, in memory, in batches and in turns: medians; times as fast: the median of the ratios pair by pair.',
    grids: [
      { head: ['group', 'chunks', 'mean length', 'without', 'with', 'change', 'dictionary', 'gain'], rows: sizes },
      { head: ['group', 'decompression: MB/s without', 'with', 'times as fast', 'compression: MB/s without', 'with', 'times as fast'], rows: speeds },
    ],
  };
}

/** What training costs, against compressing everything once. */
export async function measureTraining({ loaded, rounds }: Workspace): Promise<Part> {
  const store = await loaded('medium');
  const tools = await toolsFor(store);
  const rows: string[][] = [];
  const sums = { train: 0, compress: 0 };
  for (const group of groupRevlogs(store.revlogs, largeSuffixes(store.revlogs))) {
    const seconds: number[] = [];
    let found: { readonly dictionary: Dictionary; readonly samples: number } | undefined;
    for (let round = 0; round < rounds; round++) {
      const started = performance.now();
      const estimate = await estimateGroup(group, tools);
      const trained = await trainFor(group, 1, estimate, tools);
      seconds.push((performance.now() - started) / 1000);
      if (!('why' in trained)) found = { dictionary: trained, samples: trained.samples };
    }
    if (found === undefined) continue;
    const { dictionary, samples } = found;
    const [own] = await timeCodecs(batchesOf(group, store), [{ choice: () => dictionary }], { rounds });
    const train = median(seconds);
    const compress = median(own?.compress ?? []);
    sums.train += train;
    sums.compress += compress;
    rows.push([groupName(group), bytes(samples), bytes(dictionary.bytes.length), train.toFixed(2), compress.toFixed(2), percent(train / compress)]);
  }
  rows.push(['all', '', '', sums.train.toFixed(2), sums.compress.toFixed(2), percent(sums.train / sums.compress)]);
  return {
    name: 'training',
    title: 'What training costs',
    isTimed: true,
    about:
      'medium.hg. Training is all that `--dict auto` does for a group: reading and decompressing samples, estimating what they take without, running `zstd --train-fastcover`, estimating what they take with. ' +
      'Against it: compressing every chunk of the group once with that dictionary, level 3. One thread each; seconds, medians.',
    grids: [{ head: ['group', 'samples', 'dictionary', 'training s', 'compressing all s', 'training to compressing'], rows }],
  };
}
