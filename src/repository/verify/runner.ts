import { NODE_HEADROOM } from '../../delta/node-hash.js';
import { createTextCache } from '../../delta/text-cache.js';
import { Arena } from '../../engines/arena.js';
import { loadDecoders } from '../../engines/chunk-codec.js';
import { RevconvertError } from '../../errors.js';
import { ReferenceCollector } from './references.js';
import type { Findings, VerifyEngines } from './revlog.js';
import { verifyRange, verifyRevlog } from './revlog.js';
import type { VerifiedPart, VerifyResult, VerifySettings, VerifyTask } from './tasks.js';

/**
 * Makes the function that verifies in one thread, with the native contexts of that thread.
 * @param isStopped asked between two batches: where it says so a task ends with CANCELLED
 * @throws RevconvertError ENGINE_MISSING
 */
export async function createVerifyRunner(settings: VerifySettings, isStopped: () => boolean): Promise<(task: VerifyTask) => Promise<VerifyResult>> {
  const memory = new Arena();
  const engines: VerifyEngines = {
    settings,
    decoders: await loadDecoders({ memory, dictionaries: settings.dictionaries }),
    texts: createTextCache({ headroom: NODE_HEADROOM }),
    batchDone() {
      memory.recycle();
      if (isStopped()) throw new RevconvertError('CANCELLED', 'interrupted');
    },
  };
  return async (task) => {
    const references = new ReferenceCollector();
    const parts: VerifiedPart[] = [];
    let changesets: VerifyResult['changesets'];
    const verify = async (look: (findings: Findings) => Promise<VerifiedPart>): Promise<void> => {
      const findings: Findings = { references, part: parts.length, changesets: undefined };
      parts.push(await look(findings));
      changesets = findings.changesets ?? changesets;
    };
    if (task.type === 'range') await verify((findings) => verifyRange(task.job, findings, engines));
    else for (const job of task.jobs) await verify((findings) => verifyRevlog(job, findings, engines));
    return { parts, references: references.finish(), changesets };
  };
}
