import { RevconvertError } from '../../errors.js';
import type { WrittenVersion } from '../../formats/bundle/changegroup-version.js';
import type { BundleSpec } from '../../formats/bundle/spec.js';
import type { Progress } from '../../repository/options.js';
import type { RevisionRange } from './selection.js';

export interface BundleRepositoryOptions {
  /** The kind of bundle. Its changegroup version, where it names none, is 02, or 03 where the repository needs that. */
  readonly spec: BundleSpec;
  /** Only these changesets: whoever gets the bundle is taken to have all below. @default all */
  readonly range?: RevisionRange | undefined;
  /** Threads; 1 starts none. The bundle does not depend on it. @default the cores of the machine */
  readonly jobs?: number | undefined;
  /** False: do not lock the repository. Only for those that nobody writes to. @default true */
  readonly lock?: boolean | undefined;
  /** Seconds to wait for a lock that another process holds. @default 600, as Mercurial */
  readonly lockTimeout?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Called as revlogs are done; not more often than 20 times a second. */
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  /** Called with a line of text where something takes a while, like a lock that must be waited for. */
  readonly onNotice?: ((notice: string) => void) | undefined;
}

/** Requirements of repositories whose history only changegroups of version 03 can say: folders' manifests, flags. */
const NEED_FLAGS = ['treemanifest', 'narrowhg-experimental', 'lfs'] as const;

/**
 * The version of the changegroup.
 * @throws RevconvertError BUNDLE_HOLDS where the one that was asked for cannot hold the repository; BUNDLE_SPEC where no changegroup was asked for
 */
export function chooseVersion({ content, version }: BundleSpec, requirements: ReadonlySet<string>): WrittenVersion {
  if (content !== 'changegroup') throw new RevconvertError('BUNDLE_SPEC', 'a changegroup is made of a repository here, no stream clone');
  const need = NEED_FLAGS.filter((requirement) => requirements.has(requirement));
  if (need.length === 0) return version ?? '02';
  if (version === undefined || version === '03') return '03';
  throw new RevconvertError('BUNDLE_HOLDS', `changegroups of version ${version} cannot hold what the repository requires (${need.join(', ')}): give cg.version=03`);
}
