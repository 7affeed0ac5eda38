import { RevconvertError } from '../errors.js';
import type { ChangegroupVersion, WrittenVersion } from '../formats/bundle/changegroup-version.js';
import { WRITTEN_VERSIONS } from '../formats/bundle/changegroup-version.js';
import type { Container } from '../formats/bundle/items.js';
import type { PartHeader } from '../formats/bundle/part-header.js';
import { partName, partParameter } from '../formats/bundle/part-header.js';
import type { BundleSpec } from '../formats/bundle/spec.js';

/** The version of a changegroup part. */
export const versionOf = (part: PartHeader): string => partParameter(part, 'version') ?? ('01' satisfies ChangegroupVersion);

/**
 * The version in which the changegroup of a part is written: the one that is asked for; otherwise its own, but that bundles of version 2
 * get explicit delta bases, as Mercurial's have.
 * @param spec what is asked for; undefined: the kind of the source
 * @param source the container of the source
 * @throws RevconvertError BUNDLE_HOLDS where its own is none that is written
 */
export function targetVersion(part: PartHeader, spec: BundleSpec | undefined, source: Container | undefined): WrittenVersion {
  if (spec?.version !== undefined) return spec.version;
  const own = versionOf(part);
  if (own === '01' && spec?.container === 'HG20' && source === 'HG10') return '02';
  const version = WRITTEN_VERSIONS.find((one) => one === own);
  if (version === undefined) throw new RevconvertError('BUNDLE_HOLDS', `changegroups of version ${own} are read, not written: give --to with cg.version=03`, { part: partName(part) });
  return version;
}
