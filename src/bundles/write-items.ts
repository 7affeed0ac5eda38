import type { MaybePromise } from '../engines/engine.js';
import { BUNDLE_ENGINES } from '../engines/streams/registry.js';
import type { BundleCompression, Container } from '../formats/bundle/items.js';
import type { PartHeader } from '../formats/bundle/part-header.js';
import { findPartType } from '../formats/bundle/part-types.js';
import type { Compress } from '../sinks/bundle/write-bundle.js';
import { writeBundleBytes } from '../sinks/bundle/write-bundle.js';
import type { BundleItems, BundleStage } from '../streams/bundle/stage.js';
import { throughStages } from '../streams/bundle/stage.js';
import { createStreamStage } from '../transforms/bundle/convert-stream.js';
import { createRedeltaStage } from '../transforms/bundle/redelta.js';
import { refuseUnknownParts } from '../transforms/bundle/refuse-unknown-parts.js';
import { retarget } from '../transforms/bundle/retarget.js';
import { bzip2Compressor } from './bzip2-program.js';
import type { ItemCounts } from './count-items.js';
import { countItems } from './count-items.js';
import { loadFilter } from './filter-module.js';
import { meter } from './meter.js';
import type { FilledBundleOptions, FilterStep } from './options.js';
import { createPartFilter } from './part-filter.js';
import { recodeParts } from './recode-parts.js';
import { partsOfSpec } from './spec-parts.js';
import { targetVersion } from './target-version.js';

/** What went into a bundle, or came out. */
export interface BundleSide extends ItemCounts {
  /** As it is stored, compressed. */
  readonly bytes: number;
}

/** What became of a bundle. */
export interface BundleSummary {
  readonly from: BundleSide;
  readonly to: BundleSide;
}

/** A bundle that is being written. */
export interface BundleOutput {
  /** Its bytes. Where this throws, what was given out has no end mark: no reader takes it for whole. */
  readonly bytes: AsyncGenerator<Buffer, void, void>;
  /** Complete when the bytes are. */
  readonly summary: () => BundleSummary;
}

export interface ItemSource {
  /** Bytes that were read so far. */
  readonly bytesRead: () => number;
}

/**
 * Lets items through filters, makes them a bundle of the kind that is wanted, and writes it.
 * @throws RevconvertError FILTER_MODULE, BZIP_PROGRAM, ENGINE_MISSING, before anything is read
 */
export async function writeItems(items: BundleItems, options: FilledBundleOptions, { bytesRead }: ItemSource): Promise<BundleOutput> {
  const before = countItems();
  const after = countItems();
  const filters = await createFilters(options);
  const { level, threads, signal, spec } = options;
  const bzip2 = spec?.compression === 'bzip2' ? await bzip2Compressor({ level, signal }) : undefined;
  if (spec !== undefined) await BUNDLE_ENGINES[spec.compression].loadCompress?.();
  const compressor = (compression: BundleCompression): MaybePromise<Compress | undefined> => (compression === 'bzip2' ? (bzip2 ?? bzip2Compressor({ level, signal })) : undefined);
  const stages = [before.stage, ...filters, refuseUnknownParts(), createStreamStage(spec), ...targetStages(options, () => before.counts().container), after.stage];
  const written = meter(writeBundleBytes(throughStages(items, stages), { level, threads, compressor, signal }));
  return {
    bytes: written.bytes,
    summary: () => ({ from: { ...before.counts(), bytes: bytesRead() }, to: { ...after.counts(), bytes: written.count() } }),
  };
}

/** The stages of the filters, in their order. @throws RevconvertError FILTER_MODULE */
export const createFilters = (options: FilledBundleOptions): Promise<BundleStage[]> => Promise.all(options.filters.map((step) => createFilter(step, options)));

async function createFilter(step: FilterStep, { onNotice }: FilledBundleOptions): Promise<BundleStage> {
  switch (step.type) {
    case 'drop-parts':
    case 'only-parts':
      return createPartFilter(step, onNotice);
    case 'redelta':
      return createRedeltaStage(step.mode);
    case 'module':
      return loadFilter(step.path, { onNotice });
  }
}

/** Whether a filter looks at revisions, which must be records then. */
export const hasRevisionFilters = (filters: readonly FilterStep[]): boolean => filters.some(({ type }) => type === 'redelta' || type === 'module');

/** Said of a part that has no room in the target. */
const describeLost = ({ type }: PartHeader): string => `the part ${type} is left out: the target has no room for it${findPartType(type)?.holds === 'cache' ? ', and whoever needs it makes it anew' : ''}`;

/** What makes a bundle one of the kind that is wanted. */
function targetStages({ spec, onNotice }: FilledBundleOptions, source: () => Container | undefined): BundleStage[] {
  const recode = recodeParts((part) => targetVersion(part, spec, source()));
  const chosen = spec === undefined ? [] : partsOfSpec(spec, onNotice);
  return [...chosen, recode, retarget(spec, (part) => onNotice(describeLost(part)))];
}
