import { createDiffer } from '../../delta/diff.js';
import { createTextCache } from '../../delta/text-cache.js';
import { Arena } from '../../engines/arena.js';
import { loadDecoders } from '../../engines/chunk-codec.js';
import { RevconvertError } from '../../errors.js';
import { Turns } from '../../streams/turns.js';
import { BranchCollector } from './branch-collector.js';
import { ChunkMemory } from './chunk-memory.js';
import type { BundleEngines, BundleOutput } from './encode-revlog.js';
import { encodeRange, encodeRevlog } from './encode-revlog.js';
import type { BundleSettings, BundleTask, BundleTaskResult, EncodedRevisions } from './tasks.js';

/**
 * Makes the function that encodes in one thread, with the native contexts of that thread.
 * @param isStopped asked between two batches: where it says so a task ends with CANCELLED
 * @throws RevconvertError ENGINE_MISSING
 */
export async function createBundleRunner(settings: BundleSettings, isStopped: () => boolean): Promise<(task: BundleTask) => Promise<BundleTaskResult>> {
  const memory = new Arena();
  const turns = new Turns({
    get aborted() {
      return isStopped();
    },
  });
  const engines: BundleEngines = {
    settings,
    decoders: await loadDecoders({ memory, dictionaries: settings.dictionaries }),
    differ: createDiffer(),
    texts: createTextCache(),
    batchDone() {
      memory.recycle();
      if (isStopped()) throw new RevconvertError('CANCELLED', 'interrupted');
      return turns.due ? turns.give() : undefined;
    },
  };
  return async (task) => {
    const output: BundleOutput = { memory: new ChunkMemory(), branches: wantsBranches(task, settings) ? new BranchCollector() : undefined };
    const groups: EncodedRevisions[] = [];
    if (task.type === 'range') groups.push(await encodeRange(task.job, output, engines));
    else for (const job of task.jobs) groups.push(await encodeRevlog(job, output, engines));
    return { groups, branches: output.branches?.finish() };
  };
}

const wantsBranches = (task: BundleTask, { branches }: BundleSettings): boolean =>
  branches && (task.type === 'range' ? task.job.kind === 'changelog' : task.jobs.some(({ kind }) => kind === 'changelog'));
