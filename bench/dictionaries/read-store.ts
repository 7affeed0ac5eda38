import { Arena } from '../../src/engines/arena.js';
import { loadDecoders } from '../../src/engines/chunk-codec.js';
import type { RevlogKind } from '../../src/formats/record.js';
import { REVLOG_KINDS } from '../../src/formats/record.js';
import type { ReadTools } from '../../src/report/perf-reads.js';
import { readChunksInBatches } from '../../src/report/perf-reads.js';
import { readDictionariesOf } from '../../src/repository/dictionaries/folder.js';
import type { ListedRevlog } from '../../src/repository/list-revlogs.js';
import { listRevlogs } from '../../src/repository/list-revlogs.js';
import { openRevlog } from '../../src/streams/read-revlog.js';
import { Turns } from '../../src/streams/turns.js';

/** Seconds to read all chunks, run by run: of the store, and of each kind of revlog. */
export type StoreReads = Readonly<Record<RevlogKind | 'all', number[]>>;

/**
 * Reads and decompresses all chunks of several stores in batches, in turns, on this thread, as `revconvert perf` does with
 * one revlog. Opening the revlogs is not timed.
 * @param runs timed runs, after one that does not count
 */
export async function timeStoreReads(repositories: readonly string[], runs: number): Promise<StoreReads[]> {
  const stores: { readonly revlogs: readonly ListedRevlog[]; readonly tools: ReadTools; readonly times: StoreReads }[] = [];
  for (const repository of repositories) {
    const memory = new Arena();
    const decoders = await loadDecoders({ memory, dictionaries: readDictionariesOf(repository) });
    stores.push({ revlogs: listRevlogs(repository), tools: { decoders, memory, turns: new Turns(undefined) }, times: { all: [], changelog: [], manifest: [], filelog: [] } });
  }
  for (let run = 0; run <= runs; run++) {
    for (const { revlogs, tools, times } of stores) {
      const taken = await readStore(revlogs, tools);
      if (run === 0) continue;
      for (const kind of REVLOG_KINDS) times[kind].push(taken[kind] / 1000);
      times.all.push(REVLOG_KINDS.reduce((sum, kind) => sum + taken[kind], 0) / 1000);
    }
  }
  return stores.map(({ times }) => times);
}

/** Milliseconds by kind. */
async function readStore(revlogs: readonly ListedRevlog[], tools: ReadTools): Promise<Record<RevlogKind, number>> {
  const taken = { changelog: 0, manifest: 0, filelog: 0 };
  for (const revlog of revlogs) {
    const reader = openRevlog(revlog);
    const started = performance.now();
    await readChunksInBatches(reader.origin, tools);
    taken[revlog.kind] += performance.now() - started;
    reader.close();
  }
  return taken;
}
