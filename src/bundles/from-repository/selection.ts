import { RevconvertError } from '../../errors.js';
import type { ObsoleteMarkers } from '../../formats/obsstore.js';
import { PHASE_ARCHIVED } from '../../formats/phase-roots.js';
import type { Repository } from '../../repository/open.js';
import { sharedMemory } from '../../repository/shared-memory.js';
import { HELD, LEFT_OUT, SENT } from './changeset-state.js';
import { findHidden } from './hidden.js';
import { readObsoleteMarkers, readPhaseRoots, readPinnedNodes } from './history-files.js';
import type { NodeNumbers } from './node-numbers.js';
import { phasesOf } from './phases.js';

/** Changesets from `from` up to and including `to`, by their numbers. */
export interface RevisionRange {
  readonly from: number;
  /** @default the last */
  readonly to?: number | undefined;
}

/** Which changesets a bundle has. */
export interface Selection {
  readonly count: number;
  /** The last changeset that may be sent. */
  readonly last: number;
  /** For each changeset what becomes of it, in shared memory; undefined: all are sent. */
  readonly states: Uint8Array | undefined;
  /** For each changeset whether it is hidden; undefined: none is. */
  readonly hidden: Uint8Array | undefined;
  /** The phase of each; undefined: nothing asked for them. */
  readonly phases: Uint8Array | undefined;
  readonly obsolescence: ObsoleteMarkers | undefined;
}

/**
 * Chooses the changesets as Mercurial's `bundle --all` does: all that are visible; of them those in a range, whose receiver
 * is taken to have the visible ones below it.
 * @param wantsPhases their phases are asked for
 * @throws RevconvertError USAGE: the range is not one of changesets that there are; TEXT_MALFORMED with a file
 */
export function selectChangesets(repository: Repository, changesets: NodeNumbers, range: RevisionRange | undefined, wantsPhases: boolean): Selection {
  checkRange(range, changesets.length);
  const roots = readPhaseRoots(repository);
  const obsolescence = readObsoleteMarkers(repository);
  const mayHide = obsolescence !== undefined || roots.some(({ phase }) => phase >= PHASE_ARCHIVED);
  const phases = mayHide || wantsPhases ? phasesOf(changesets, roots) : undefined;
  const hidden = mayHide && phases !== undefined ? findHidden(changesets, { phases, obsolescence, pinned: readPinnedNodes(repository) }) : undefined;
  const { from, to = changesets.length - 1 } = range ?? { from: 0 };
  if (hidden === undefined && from === 0 && to === changesets.length - 1) return { count: changesets.length, last: to, states: undefined, hidden, phases, obsolescence };
  const states = sharedMemory(changesets.length);
  let count = 0;
  for (let rev = 0; rev <= to; rev++) {
    if (hidden?.[rev] === 1) continue;
    states[rev] = rev < from ? HELD : SENT;
    if (rev >= from) count++;
  }
  return { count, last: to, states, hidden, phases, obsolescence };
}

/** Whether a changeset is in the bundle. */
export const isSent = ({ states }: Selection, rev: number): boolean => (states === undefined ? SENT : (states[rev] ?? LEFT_OUT)) === SENT;

function checkRange(range: RevisionRange | undefined, count: number): void {
  if (range === undefined) return;
  const { from, to = count - 1 } = range;
  if (Number.isInteger(from) && Number.isInteger(to) && from >= 0 && from <= to && to < count) return;
  throw new RevconvertError('USAGE', `the range ${from}:${to} is not one of the ${count} changesets, which are counted from 0`);
}
