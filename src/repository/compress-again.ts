import { rmSync } from 'node:fs';

import type { RevlogResult } from './convert-revlog.js';
import type { StoreConversion } from './convert-store.js';
import { convertStore, targetPathOf } from './convert-store.js';
import { NO_DICTIONARIES } from './dictionaries/folder.js';
import type { PreparedDictionaries, PrepareOptions } from './dictionaries/prepare.js';
import { prepareDictionaries } from './dictionaries/prepare.js';
import type { RevlogSource } from './discover.js';
import { conversionDictionaries } from './make-settings.js';
import type { FilledOptions } from './options.js';
import { createPool } from './pool.js';
import { trackProgress } from './progress.js';
import type { ConversionSettings } from './settings.js';
import { threadsWorthFor } from './thread-count.js';
import { CONVERT } from './work-kinds.js';

/** What the first step makes is only measured, and compressed again. */
const DRAFT_LEVEL = 3;

/** The levels of the first step: which of two deltas is shorter when compressed hardly changes with the level. */
export const draftLevels = ({ changelog, manifest, filelog }: KindLevels): KindLevels => ({ changelog: draft(changelog), manifest: draft(manifest), filelog: draft(filelog) });

const draft = (level: number | undefined): number | undefined => (level === undefined ? undefined : Math.min(level, DRAFT_LEVEL));

type KindLevels = ConversionSettings['levels'];

export interface SecondStep {
  /** The conversion that made the deltas; its results lie in a folder that is removed here. */
  readonly first: Omit<StoreConversion, 'signal'>;
  readonly results: readonly RevlogResult[];
  readonly training: Omit<PrepareOptions, 'revlogs' | 'storeFolder'>;
  readonly options: FilledOptions;
  /** Folder of the new store. */
  readonly to: string;
}

/**
 * The second step of a conversion with new deltas and dictionaries: trains dictionaries on the deltas that the first
 * step made, and compresses these with them.
 * @returns the results of both steps, as those of one
 * @throws as prepareDictionaries and convertStore
 */
export async function compressAgain({ first, results, training, options, to }: SecondStep): Promise<{ results: RevlogResult[]; dictionaries: PreparedDictionaries }> {
  const byId = new Map(results.map((result) => [result.id, result]));
  const revlogs = first.revlogs.map((revlog, id) => madeRevlog(revlog, byId.get(id), first));
  const dictionaries = await prepareDictionaries({ ...training, thorough: true, revlogs, storeFolder: first.to });
  // The headers say of generaldelta what the first step decided.
  const settings = { ...first.settings, levels: training.levels, redelta: 'never', generaldelta: false, dictionaries: conversionDictionaries(NO_DICTIONARIES, dictionaries) } as const;
  const pool = await createPool(Math.min(options.jobs, threadsWorthFor(revlogs)), { kind: CONVERT, settings });
  try {
    const again = await convertStore({
      settings,
      revlogs,
      // Paths are those of the new store already.
      plan: { ...first.plan, newLayout: false },
      from: first.to,
      to,
      lanes: pool.lanes,
      signal: options.signal,
      onDone: trackProgress(revlogs, options.onProgress),
    });
    rmSync(first.to, { recursive: true });
    return { dictionaries, results: again.map((second) => merge(byId.get(second.id) ?? second, second)) };
  } finally {
    await pool.close();
  }
}

/** A revlog as the first step left it. */
function madeRevlog(revlog: RevlogSource, result: RevlogResult | undefined, { plan }: Pick<StoreConversion, 'plan'>): RevlogSource {
  const { index, data } = targetPathOf(revlog, plan);
  const { split = false, bytesAfter = 0 } = result ?? {};
  return { ...revlog, indexPath: index, dataPath: data, indexBytes: split ? 0 : bytesAfter, dataBytes: split ? bytesAfter : 0 };
}

/** What was wrong with the source the first step said; what lies in the new store, the second. */
const merge = (first: RevlogResult, { split, bytesAfter, dictionaryUse }: RevlogResult): RevlogResult => ({ ...first, split, bytesAfter, dictionaryUse });
