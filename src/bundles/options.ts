import { checkLevel } from '../engines/registry.js';
import { BUNDLE_ENGINES } from '../engines/streams/registry.js';
import { RevconvertError } from '../errors.js';
import type { BundleSpec } from '../formats/bundle/spec.js';
import { parseBundleSpec } from '../formats/bundle/spec.js';
import type { RedeltaMode } from '../transforms/bundle/redelta.js';

/** One thing that is done to a bundle on its way. */
export type FilterStep =
  /** Leaves parts of these types out. */
  | { readonly type: 'drop-parts'; readonly parts: readonly string[] }
  /** Leaves all other parts out. */
  | { readonly type: 'only-parts'; readonly parts: readonly string[] }
  | { readonly type: 'redelta'; readonly mode: RedeltaMode }
  /** A stage of the user's own: the file of an ES module. */
  | { readonly type: 'module'; readonly path: string };

export interface BundleOptions {
  /** The kind of bundle to write, as Mercurial's specifications name it. @default that of the source */
  readonly to?: string | undefined;
  /** Level of the compression. @default that of `to`, or the engine's */
  readonly level?: number | undefined;
  /** Threads that compress zstd beside the main one; 0: none. @default 1 */
  readonly threads?: number | undefined;
  /** What is done on the way, in this order. @default nothing */
  readonly filters?: readonly FilterStep[] | undefined;
  /** The largest window of a zstd stream that is read, in bytes. @default 128 MiB */
  readonly maxWindow?: number | undefined;
  /** Name of the input, for messages. */
  readonly path?: string | undefined;
  /** Stops the conversion. */
  readonly signal?: AbortSignal | undefined;
  /** Called with a line of text where something is worth a person's knowing, like a part that is left out. */
  readonly onNotice?: ((notice: string) => void) | undefined;
}

export interface FilledBundleOptions extends Omit<BundleOptions, 'to' | 'filters'> {
  readonly spec: BundleSpec | undefined;
  readonly filters: readonly FilterStep[];
  readonly onNotice: (notice: string) => void;
}

const MAX_THREADS = 64;

/** @throws RevconvertError BUNDLE_SPEC, USAGE, LEVEL */
export function fillBundleOptions(options: BundleOptions): FilledBundleOptions {
  const { to, filters = [], onNotice = () => undefined, threads } = options;
  if (threads !== undefined && (!Number.isInteger(threads) || threads < 0 || threads > MAX_THREADS)) {
    throw new RevconvertError('USAGE', `threads: a whole number from 0 to ${MAX_THREADS} is expected, found ${threads}`);
  }
  const spec = to === undefined ? undefined : parseBundleSpec(to);
  const level = options.level ?? spec?.level;
  if (spec !== undefined) checkLevel(BUNDLE_ENGINES[spec.compression], level);
  return { ...options, filters, onNotice, spec, level };
}
