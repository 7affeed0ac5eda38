import type { Group } from '../../formats/bundle/items.js';
import type { RevlogSource } from '../../repository/discover.js';

/** What a revlog is called in a changegroup. */
function groupOf({ name, kind }: RevlogSource): Group {
  if (kind === 'filelog') return { kind, name: name.slice('data/'.length, -'.i'.length) };
  return { kind, name: name.startsWith('meta/') ? name.slice('meta/'.length, -'00manifest.i'.length) : '' };
}

/** A revlog, and what it is in a changegroup. */
export interface OrderedRevlog {
  readonly revlog: RevlogSource;
  readonly group: Group;
}

const ORDER = { changelog: 0, manifest: 1, filelog: 2 } as const;

/** Revlogs in the order of a changegroup: changelog, manifest, manifests of folders, files; each by their names. */
export function inGroupOrder(revlogs: readonly RevlogSource[]): OrderedRevlog[] {
  return revlogs
    .map((revlog) => ({ revlog, group: groupOf(revlog) }))
    .sort((a, b) => ORDER[a.group.kind] - ORDER[b.group.kind] || (a.group.name < b.group.name ? -1 : a.group.name > b.group.name ? 1 : 0));
}
