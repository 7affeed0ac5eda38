import { loadEngine } from '../../engines/registry.js';
import { commitDestination } from '../../repository/commit-destination.js';
import { draftLevels } from '../../repository/compress-again.js';
import { convertRepository } from '../../repository/convert.js';
import { checkDestination, createDestination } from '../../repository/destination.js';
import { checkDictionaryChoice } from '../../repository/dictionaries/prepare.js';
import { chooseEngine } from '../../repository/plan.js';
import { asFailure } from '../../repository/with-source.js';
import type { BundleItems } from '../../streams/bundle/stage.js';
import { buildStore } from './build-store.js';
import { checkNodes } from './check-nodes.js';
import type { CreateOptions } from './options.js';
import { fillCreateOptions } from './options.js';
import type { CreationSummary } from './summary.js';
import { summariseCreation } from './summary.js';

/**
 * Makes a new repository of a full bundle, as `hg init` and `hg unbundle` do. It is complete when the promise resolves,
 * and absent when it rejects.
 * @param items of a bundle; fastest where revisions come as chunks
 * @param destination a folder that does not exist, or is empty; the folder it lies in exists
 * @returns what was made, with counts
 * @throws RevconvertError BASE_MISSING, PARENT_MISSING where the bundle is incremental; NODE_MISMATCH, DELTA_MALFORMED,
 *   CHANGEGROUP_MALFORMED, PART_*, BUNDLE_HOLDS, BUNDLE_ABORTED, BUNDLE_PARAMETER, REVISION_MISSING, REVLOG_FLAGS for what no repository can be
 *   made of; DESTINATION_*, ENGINE_*, LEVEL, POLICY, USAGE; NO_SPACE, PERMISSION, SYSTEM; CANCELLED; whatever the items throw
 * @example
 * const summary = await createRepository(readBundleItems(createReadStream('all.hg'), { records: false }), 'dst', { to: 'zstd' });
 */
export async function createRepository(items: BundleItems, destination: string, options: CreateOptions = {}): Promise<CreationSummary> {
  const started = performance.now();
  const { signal } = options;
  try {
    const filled = await fillCreateOptions(options);
    const place = checkDestination(undefined, destination);
    const { to, levels, dictionaries } = chooseEngine(NO_REQUIREMENTS, filled.convert);
    await loadEngine(to);
    await checkDictionaryChoice(dictionaries, signal);
    const target = createDestination(place);
    try {
      const { convert, given, isTwice } = filled;
      const notices: string[] = [];
      const onNotice = (notice: string): void => {
        notices.push(notice);
        convert.onNotice?.(notice);
      };
      const built = await buildStore(items, target.temporary, {
        engine: to,
        levels: isTwice ? draftLevels(levels) : levels,
        checksum: convert.checksum,
        checkChunks: convert.check === 'chunks',
        jobs: convert.jobs,
        signal,
        onNotice,
        onProgress: filled.onProgress,
      });
      const warnings = filled.checkNodes ? await checkNodes(target.temporary, convert) : [];
      if (isTwice) target.open();
      const conversion = isTwice ? await convertRepository(target.temporary, place, { ...given, lock: false }) : undefined;
      if (isTwice) target.discard();
      else await commitDestination(target, signal);
      return summariseCreation({ destination: place, built, to, levels, options: filled, conversion, notices, warnings, milliseconds: performance.now() - started });
    } catch (error) {
      target.discard();
      throw error;
    }
  } catch (error) {
    throw asFailure(error, signal);
  }
}

const NO_REQUIREMENTS: ReadonlySet<string> = new Set();

