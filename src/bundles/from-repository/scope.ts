import { RevconvertError } from '../../errors.js';
import type { RevlogIndex } from '../../formats/revlog-index.js';
import { ENTRY_SIZE } from '../../formats/revlog-index.js';
import { LEFT_OUT, SENT } from './changeset-state.js';
import type { BundleSettings, RevlogSubject } from './tasks.js';

/** Which revisions of a revlog are sent, and with which changeset. */
export interface RevlogScope {
  /** The changeset that brings a revision. */
  readonly linkOf: (rev: number) => number;
  /** What becomes of a revision: as of the changeset that brings it. */
  readonly stateOf: (rev: number) => number;
  /** All revisions are sent. */
  readonly isWhole: boolean;
}

/** Where nothing is left out a revision whose changeset is missing is damage. @throws RevconvertError LINKREV by its functions */
export function createScope(index: RevlogIndex, subject: RevlogSubject, { states, changelog }: Pick<BundleSettings, 'states' | 'changelog'>): RevlogScope {
  const { kind, links } = subject;
  const changesets = changelog.length / ENTRY_SIZE;
  const moved = links === undefined ? undefined : movedLinks(links);
  const isChangelog = kind === 'changelog';
  const linkOf = (rev: number): number => {
    if (isChangelog) return rev;
    const link = moved?.get(rev) ?? index.linkRev(rev);
    if (link >= 0 && link < changesets) return link;
    throw new RevconvertError('LINKREV', `brought by changeset ${link}; there are ${changesets}`, { path: subject.name, rev });
  };
  if (states === undefined) return { linkOf, stateOf: () => SENT, isWhole: true };
  return { linkOf, stateOf: (rev) => states[linkOf(rev)] ?? LEFT_OUT, isWhole: false };
}

function movedLinks(links: Int32Array): ReadonlyMap<number, number> {
  const moved = new Map<number, number>();
  for (let at = 0; at < links.length; at += 2) moved.set(links[at] ?? 0, links[at + 1] ?? 0);
  return moved;
}
