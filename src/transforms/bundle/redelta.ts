import { isNullNode } from '../../formats/bundle/changegroup.js';
import type { ChangegroupRevision } from '../../formats/bundle/items.js';
import type { RebaseOptions } from '../../streams/bundle/rebase-deltas.js';
import { createDeltaRebaser } from '../../streams/bundle/rebase-deltas.js';
import { createRevisionStage } from '../../streams/bundle/revision-stage.js';
import type { BundleStage } from '../../streams/bundle/stage.js';

/**
 * What deltas are made against:
 *
 * - `parent`: the first parent, or the second where the first is null; the empty text where both are
 * - `previous`: the revision before in the group; for the first one the first parent
 * - `none`: of the changelog only: the empty text, so that each changeset is whole; manifests and files stay as they are
 *
 * A revision that was censored, and one whose base would be such a one, is whole in every mode.
 */
export const REDELTA_MODES = ['parent', 'previous', 'none'] as const;
export type RedeltaMode = (typeof REDELTA_MODES)[number];

/**
 * A stage that gives revisions of changegroups other delta bases. A delta that has the right base stays as it is.
 * @throws (the stage) RevconvertError BASE_MISSING with group and node where a delta would have to be made from a text that
 *   is built on revisions from outside of the bundle; DELTA_MALFORMED
 */
export const createRedeltaStage = (mode: RedeltaMode, options?: RebaseOptions): BundleStage =>
  createRevisionStage((start) => {
    const rebaser = createDeltaRebaser(options);
    let previous: Uint8Array | undefined;
    return {
      start,
      beginGroup() {
        previous = undefined;
        rebaser.beginGroup();
      },
      revision(revision, group, place) {
        if (mode === 'none' && group.kind !== 'changelog') return revision;
        const wanted = wantedBase(mode, revision, previous);
        previous = revision.node;
        return rebaser.rebase(revision, wanted, group, place);
      },
      close: () => rebaser.close(),
    };
  });

const NULL_NODE = new Uint8Array(20);

function wantedBase(mode: RedeltaMode, { p1, p2 }: ChangegroupRevision, previous: Uint8Array | undefined): Uint8Array {
  if (mode === 'none') return NULL_NODE;
  if (mode === 'previous') return previous ?? p1;
  return isNullNode(p1) ? p2 : p1;
}
