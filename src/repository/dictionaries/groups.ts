import { suffixOf } from '../../formats/dictionary-index.js';
import type { RevlogKind } from '../../formats/record.js';
import { REVLOG_KINDS } from '../../formats/record.js';
import type { RevlogSource } from '../discover.js';
import { bytesOf } from '../plan.js';

/** Revlogs that share a dictionary. */
export interface RevlogGroup {
  readonly kind: RevlogKind;
  /** Filelogs whose files have this suffix; undefined: all others of the kind. */
  readonly suffix: string | undefined;
  readonly revlogs: readonly RevlogSource[];
}

/** What a group is called: the kind, or the suffix. */
export const groupName = ({ kind, suffix }: Pick<RevlogGroup, 'kind' | 'suffix'>): string => suffix ?? kind;

/** A suffix whose files hold at least this part of all filelogs may have a dictionary of its own; smaller groups never paid for one. */
const MIN_SHARE = 1 / 16;
const MIN_GROUP_BYTES = 1 << 19;

/** The tracked file of a filelog; the name of any other revlog. */
export const filePathOf = (name: string): string => (name.startsWith('data/') ? name.slice('data/'.length, -'.i'.length) : name);

/** Others are no target of a choice, and nothing that a person would see in a summary. */
const PRINTABLE = /^\.[!-~]+$/;

/** The suffixes whose filelogs hold much. */
export function largeSuffixes(revlogs: readonly RevlogSource[]): string[] {
  const filelogs = revlogs.filter(({ kind }) => kind === 'filelog');
  const least = Math.max(MIN_GROUP_BYTES, totalOf(filelogs) * MIN_SHARE);
  return [...bySuffix(filelogs)].filter(([suffix, members]) => PRINTABLE.test(suffix) && totalOf(members) >= least && members.length < filelogs.length).map(([suffix]) => suffix);
}

function bySuffix(filelogs: readonly RevlogSource[]): Map<string, RevlogSource[]> {
  const found = new Map<string, RevlogSource[]>();
  for (const revlog of filelogs) {
    const suffix = suffixOf(filePathOf(revlog.name));
    if (suffix === undefined) continue;
    const members = found.get(suffix);
    if (members === undefined) found.set(suffix, [revlog]);
    else members.push(revlog);
  }
  return found;
}

/**
 * Cuts a store into groups: the changelog, the manifests, filelogs of each of some suffixes, and the filelogs that are
 * left; the largest first. Groups without a revlog are left out.
 */
export function groupRevlogs(listed: readonly RevlogSource[], suffixes: readonly string[]): RevlogGroup[] {
  // The store lists them in any order; what is made of them must not depend on it.
  const revlogs = [...listed].sort((a, b) => (a.name < b.name ? -1 : 1));
  const found = bySuffix(revlogs.filter(({ kind }) => kind === 'filelog'));
  const large = suffixes.map((suffix): readonly [string, readonly RevlogSource[]] => [suffix, found.get(suffix) ?? []]);
  const taken = new Set(large.flatMap(([, members]) => members));
  const groups = [
    ...large.map(([suffix, members]): RevlogGroup => ({ kind: 'filelog', suffix, revlogs: members })),
    ...REVLOG_KINDS.map((kind): RevlogGroup => ({ kind, suffix: undefined, revlogs: revlogs.filter((revlog) => revlog.kind === kind && !taken.has(revlog)) })),
  ];
  return groups.filter((group) => group.revlogs.length > 0).sort((a, b) => totalOf(b.revlogs) - totalOf(a.revlogs) || (groupName(a) < groupName(b) ? -1 : 1));
}

const totalOf = (revlogs: readonly RevlogSource[]): number => revlogs.reduce((sum, revlog) => sum + bytesOf(revlog), 0);
