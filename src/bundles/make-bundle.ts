import { RevconvertError } from '../errors.js';
import type { BundleItem } from '../formats/bundle/items.js';
import type { BundleSpec } from '../formats/bundle/spec.js';
import { parseBundleSpec } from '../formats/bundle/spec.js';
import type { ConvertOptions } from '../repository/options.js';
import { parseChunks } from '../streams/bundle/parse-chunks.js';
import type { BundleItems } from '../streams/bundle/stage.js';
import { throughStages } from '../streams/bundle/stage.js';
import { bundleRepository } from './from-repository/bundle-repository.js';
import type { BundleRepositoryOptions } from './from-repository/options.js';
import type { BundleOptions } from './options.js';
import { fillBundleOptions } from './options.js';
import { streamRepository } from './stream-clone/stream-repository.js';
import type { BundleOutput } from './write-items.js';
import { hasRevisionFilters, writeItems } from './write-items.js';

export interface MakeBundleOptions extends Omit<BundleOptions, 'maxWindow' | 'path'>, Omit<BundleRepositoryOptions, 'spec'> {
  /** A stream clone: the files of the store. @default as `to` says; a changegroup where it says nothing */
  readonly stream?: boolean | undefined;
  /** Of a stream clone: how the store is converted first, in a temporary folder. @default it is taken as it is */
  readonly convert?: ConvertOptions | undefined;
}

const DEFAULT_KIND = 'zstd-v2';
const DEFAULT_STREAM = 'none-v2;stream=v2';

/**
 * Makes a bundle of a repository, as `hg bundle --all` does, or a stream clone.
 * @param path the folder that holds `.hg`
 * @returns the bundle, whose bytes must be read, or closed; undefined: there are no changesets to bundle
 * @throws RevconvertError BUNDLE_SPEC, USAGE, LEVEL, FILTER_MODULE, BZIP_PROGRAM at once; while the bytes are read as openRepository, and what
 *   is wrong with the repository; BUNDLE_HOLDS
 */
export async function makeBundle(path: string, options: MakeBundleOptions = {}): Promise<BundleOutput | undefined> {
  const { stream, convert, range, jobs, lock, lockTimeout, signal, onProgress, onNotice } = options;
  const to = options.to ?? (stream === true ? DEFAULT_STREAM : DEFAULT_KIND);
  const spec = specFor(to, stream);
  const filled = { ...fillBundleOptions({ ...options, to }), spec };
  const isStream = spec.content === 'stream';
  if (isStream && range !== undefined) throw new RevconvertError('USAGE', 'a stream clone has all revisions: a range does not go with it');
  if (!isStream && convert !== undefined) throw new RevconvertError('USAGE', 'how a store is converted is a matter of stream clones only');
  if (stream === false && isStream) throw new RevconvertError('USAGE', 'the kind of bundle is that of a stream clone');
  const how = { spec, lock, lockTimeout, signal, onNotice };
  const items: BundleItems = isStream ? streamRepository(path, { ...how, convert, phases: spec.phases, obsolescence: spec.obsolescence }) : bundleRepository(path, { ...how, range, jobs, onProgress });
  const stages = hasRevisionFilters(filled.filters) ? [parseChunks()] : [];
  const begun = await begin(throughStages(items, stages));
  return begun === undefined ? undefined : writeItems(begun, filled, { bytesRead: () => 0 });
}

/** The same items, of which the first are there; undefined: there are none. */
async function begin(items: AsyncGenerator<readonly BundleItem[], void, void>): Promise<BundleItems | undefined> {
  const first = await items.next();
  if (first.done === true) return undefined;
  const all = async function* (): AsyncGenerator<readonly BundleItem[], void, void> {
    try {
      yield first.value;
      yield* items;
    } finally {
      await items.return();
    }
  };
  return all();
}

/** @throws RevconvertError BUNDLE_SPEC */
function specFor(to: string, stream: boolean | undefined): BundleSpec {
  const spec = parseBundleSpec(to);
  if (stream !== true || spec.content === 'stream') return spec;
  if (spec.container !== 'HG20') throw new RevconvertError('BUNDLE_SPEC', `'${to}': stream clones are packed1 or v2 bundles`);
  return { ...spec, content: 'stream' };
}
