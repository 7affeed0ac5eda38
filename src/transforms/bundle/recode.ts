import { RevconvertError } from '../../errors.js';
import { hasTreeGroups, isNullNode } from '../../formats/bundle/changegroup.js';
import type { WrittenVersion } from '../../formats/bundle/changegroup-version.js';
import type { ChangegroupRevision, PartStart } from '../../formats/bundle/items.js';
import type { Parameter, PartHeader } from '../../formats/bundle/part-header.js';
import { partName, partParameter } from '../../formats/bundle/part-header.js';
import { replacesAll } from '../../formats/hunks.js';
import { FLAG_CENSORED, FLAG_HAS_META, FLAG_SNAPSHOT, flagNames,FLAGS_QUALITY } from '../../formats/revision-flags.js';
import type { RebaseOptions } from '../../streams/bundle/rebase-deltas.js';
import { createDeltaRebaser } from '../../streams/bundle/rebase-deltas.js';
import type { GroupPlace } from '../../streams/bundle/revision-stage.js';
import { createRevisionStage } from '../../streams/bundle/revision-stage.js';
import type { BundleStage } from '../../streams/bundle/stage.js';

/**
 * A stage that makes of revisions what a changegroup of another version can hold, and says so in the header of the part:
 *
 * - to 01: each delta is against the revision before it in the group, that of the first against its first parent: where it is
 *   not, it is made anew from texts
 * - to 01 and 02: there are no flags. That a revision was censored is seen from its text by whoever reads it (Mercurial 6.3 and 7.2,
 *   tried); every other flag is refused, and so are tree manifests. A revision behind one that was censored cannot be said in 01
 * - from 04 and 05: flags that tell of deltas go; that a text begins with metadata is said by parents that are the other way round
 *   again; sidedata is refused
 *
 * @throws (the stage) RevconvertError BUNDLE_HOLDS, BASE_MISSING, DELTA_MALFORMED with part, group, node and offset
 */
export const createRecodeStage = (version: WrittenVersion, options?: RebaseOptions): BundleStage =>
  createRevisionStage((given) => {
    const start: PartStart = { ...given, part: withVersion(given.part, version) };
    const isNewer = (partParameter(given.part, 'version') ?? '01') > '03';
    const rebaser = version === '01' ? createDeltaRebaser({ ...options, onCensored: 'refuse' }) : undefined;
    let previous: Uint8Array | undefined;
    return {
      start,
      beginGroup({ kind, name }, place) {
        previous = undefined;
        rebaser?.beginGroup();
        if (kind === 'manifest' && name !== '' && !hasTreeGroups(version)) throw new RevconvertError('BUNDLE_HOLDS', noTrees(version), place);
      },
      revision(given, group, place) {
        if (given.sidedata !== undefined) throw held(given, place, `sidedata, which changegroups of version ${version} have no room for`);
        const revision = isNewer ? withoutNewFlags(given) : given;
        if (version === '03') return revision;
        checkFlags(revision, version, place);
        const rebased = rebaser?.rebase(revision, previous ?? revision.p1, group, place) ?? revision;
        previous = revision.node;
        return withFlags(rebased, 0);
      },
      close: () => rebaser?.close(),
    };
  });

const noTrees = (version: WrittenVersion): string => `tree manifests, which changegroups of version ${version} have no room for: version 03 has`;

const held = ({ node, offset }: ChangegroupRevision, { part, group }: GroupPlace, message: string): RevconvertError =>
  new RevconvertError('BUNDLE_HOLDS', message, { part, group, node: Buffer.from(node).toString('hex'), offset });

function checkFlags(revision: ChangegroupRevision, version: WrittenVersion, place: GroupPlace): void {
  const unsaid = revision.flags & ~FLAG_CENSORED;
  if (unsaid !== 0) throw held(revision, place, `flags (${flagNames(unsaid).join(', ')}), which changegroups of version ${version} have no room for: version 03 has`);
  if (version === '02' && revision.flags !== 0 && !replacesAll(revision.delta, -1)) {
    throw held(revision, place, 'a revision that was censored, and its delta takes over from another: whoever reads version 02 could not see that it was censored');
  }
}

const withFlags = (revision: ChangegroupRevision, flags: number): ChangegroupRevision => (revision.flags === flags ? revision : { ...revision, flags });

/** Flags that came with Mercurial 7.1, and are sent in version 04 only. */
const NEW_FLAGS = FLAG_HAS_META | FLAG_SNAPSHOT | FLAGS_QUALITY;

/** Without the flag, metadata is looked for where the first parent is null only (Mercurial 6.3 and 7.2, tried); the node is the same. */
function withoutNewFlags(revision: ChangegroupRevision): ChangegroupRevision {
  const { flags, p1, p2 } = revision;
  const plain = withFlags(revision, flags & ~NEW_FLAGS);
  return (flags & FLAG_HAS_META) !== 0 && isNullNode(p2) ? { ...plain, p1: p2, p2: p1 } : plain;
}

/** What of the parameters of a part is said by its version alone. */
const GONE = 'delta-compression';
const TREES = 'treemanifest';

/**
 * @throws RevconvertError BUNDLE_HOLDS where the part says that it has tree manifests, and the version has no room for them
 */
function withVersion(part: PartHeader, version: WrittenVersion): PartHeader {
  if (partParameter(part, TREES) !== undefined && !hasTreeGroups(version)) throw new RevconvertError('BUNDLE_HOLDS', noTrees(version), { part: partName(part) });
  const rewrite = (parameters: readonly Parameter[]): Parameter[] =>
    parameters.filter(({ name }) => name !== GONE).map((one) => (one.name === 'version' ? { ...one, value: version } : one));
  const mandatoryParameters = rewrite(part.mandatoryParameters);
  const advisoryParameters = rewrite(part.advisoryParameters);
  const isSaid = [...mandatoryParameters, ...advisoryParameters].some(({ name }) => name === 'version');
  return { ...part, mandatoryParameters: isSaid ? mandatoryParameters : [{ name: 'version', value: version }, ...mandatoryParameters], advisoryParameters };
}
