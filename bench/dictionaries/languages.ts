import { storeBytes } from '../store-bytes.js';
import { timeCodecs } from './codec.js';
import type { Part } from './part.js';
import { bytes, change, speedup, times } from './part.js';
import { timeStoreReads } from './read-store.js';
import { choiceOf, readSet } from './store.js';
import type { Workspace } from './workspace.js';
import { HISTORIES } from './workspace.js';

/** A small store is read in a fraction of the time: as many more runs. */
const RUNS_EACH_ROUND = 3;

/** Do dictionaries help histories that are not in English, as much? */
export async function measureLanguages({ repository, stored, loaded, rounds }: Workspace): Promise<Part> {
  const sizes: string[][] = [];
  const speeds: string[][] = [];
  for (const { name, title } of HISTORIES) {
    const [plain, dictionaries] = [stored(name, 'plain'), stored(name, 'dictionaries')];
    sizes.push([title, bytes(storeBytes(repository(name))), bytes(plain.total), bytes(dictionaries.store), bytes(dictionaries.dictionaries), bytes(dictionaries.total), change(dictionaries.total, plain.total), change(dictionaries.store, plain.store)]);
    const runs = rounds * (name === 'medium' ? 1 : RUNS_EACH_ROUND);
    const [before, after] = await timeStoreReads([plain.folder, dictionaries.folder], runs);
    const { batches } = await loaded(name);
    const [without, own] = await timeCodecs(batches, [{}, { choice: choiceOf(readSet(dictionaries.folder)) }], { rounds: runs });
    const reads = (['all', 'changelog', 'manifest', 'filelog'] as const).map((kind) => times(speedup(after?.[kind], before?.[kind])));
    speeds.push([title, ...reads, times(speedup(own?.compress, without?.compress))]);
  }
  return {
    name: 'languages',
    title: 'Histories in other scripts',
    isTimed: true,
    about:
      'The small histories are one history with its words in three scripts; medium.hg is another. zstd level 3, dictionaries of `--dict auto`. The last column leaves the dictionaries themselves out. ' +
      'Speed: all chunks of the store read in batches, and all chunks compressed, on one thread, in turns with the same without dictionaries; medians of the ratios pair by pair.',
    grids: [
      { head: ['history', 'zlib', 'zstd', 'with dictionaries: .i and .d', 'dictionaries', 'together', 'change', 'without counting them'], rows: sizes },
      { head: ['times as fast with dictionaries', 'reading all', 'changelog', 'manifest', 'filelogs', 'compressing all'], rows: speeds },
    ],
  };
}
