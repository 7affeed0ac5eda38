import type { ChainTable } from './chain-table.js';
import type { DeltaPolicy } from './policy.js';

/** What the search of a base looks at: a revision that is to be stored, and those that are. */
export interface CandidateQuery {
  readonly rev: number;
  readonly p1: number;
  readonly p2: number;
  /** The base that the source has; negative: none. */
  readonly sourceBase: number;
  readonly chains: ChainTable;
  readonly policy: DeltaPolicy;
}

/**
 * The groups of bases to try, the most promising first. The search stops at the first group with a good one, which it
 * tells by sending it back: then come the groups that may improve on it.
 *
 * The order is Mercurial's (6.3 and 7.2, tried): the parents; then, where snapshots are allowed, those that the chains
 * of the parents begin with, from the deepest level up, each level preceded by its siblings; then all full texts.
 */
export function* candidateGroups(query: CandidateQuery): Generator<readonly number[], void, number | undefined> {
  const { rev, p1, p2, sourceBase, policy } = query;
  if (!policy.generaldelta) {
    yield [rev - 1];
    return;
  }
  if (policy.sourceBase && sourceBase >= 0 && done(yield [sourceBase], policy)) return;
  if (policy.parents === 'both' && done(yield [p1, p2], policy)) return;
  if (policy.parents === 'one') {
    if (done(yield [Math.max(p1, p2)], policy)) return;
    if (done(yield [Math.min(p1, p2)], policy)) return;
  }
  if (policy.previous && done(yield [rev - 1], policy)) return;
  if (policy.sparse && (p1 >= 0 || p2 >= 0)) yield* snapshotGroups(query);
}

const done = (good: number | undefined, { exhaustive }: DeltaPolicy): boolean => good !== undefined && !exhaustive;

/** Snapshots near the parents, then better ones around what was found. */
function* snapshotGroups(query: CandidateQuery): Generator<readonly number[], void, number | undefined> {
  const { chains, policy } = query;
  let good: number | undefined;
  for (const group of firstOf(levelGroups(query), policy.groupSize)) {
    good = (yield group) ?? good;
    if (done(good, policy)) break;
  }
  if (good === undefined) return;
  // Down towards the full text while that is better, then up again through what is built on the best.
  for (let base = chains.base[good] ?? -1; base >= 0; base = chains.base[base] ?? -1) {
    const better = yield [base];
    if (better !== base) break;
    good = base;
  }
  for (;;) {
    const better: number | undefined = yield builtOn(good, chains, -1).slice(0, policy.groupSize);
    if (better === undefined || better === good) return;
    good = better;
  }
}

/** The first of each group: Mercurial 7.2 goes on to the next group where these bring nothing, so that work does not grow with the history. */
function* firstOf(groups: Iterable<readonly number[]>, size: number): Generator<readonly number[], void, void> {
  for (const group of groups) yield group.slice(0, size);
}

function* levelGroups({ p1, p2, chains }: CandidateQuery): Generator<readonly number[], void, void> {
  const prefixes = [p1, p2].filter((parent) => parent >= 0).map((parent) => chains.snapshotsOf(parent));
  const floor = Math.min(...prefixes.map(([full]) => full ?? -1));
  const other = laterChain(prefixes, floor, chains);
  const levels: number[][] = [];
  const deepest = Math.max(...prefixes.map((prefix) => prefix.length));
  for (let level = 0; level < deepest; level++) {
    const members = [...prefixes, other].map((prefix) => prefix[level]).filter((member) => member !== undefined);
    levels.push([...new Set(members)].sort((a, b) => a - b));
  }
  // Siblings that were there when the parents' chain got its own snapshot were no good then: later ones only.
  let latest = floor;
  for (let level = levels.length - 1; level >= 0; level--) {
    const members = levels[level] ?? [];
    const siblings = members.flatMap((member) => builtOn(member, chains, latest));
    if (siblings.length > 0) yield siblings.sort((a, b) => b - a);
    yield members;
    latest = Math.min(...members);
  }
  const fulls: number[] = [];
  for (let full = chains.lastFullText; full >= Math.max(floor, 0); full = chains.siblingBefore[full] ?? -1) fulls.push(full);
  yield fulls;
}

/** The snapshots of the latest revision that has nothing to do with the parents' chains: a branch that grew meanwhile. */
function laterChain(prefixes: readonly (readonly number[])[], floor: number, chains: ChainTable): readonly number[] {
  const known = new Set(prefixes.map(([full]) => full));
  for (let full = chains.lastFullText; full > floor; full = chains.siblingBefore[full] ?? -1) {
    if (known.has(full)) continue;
    const path = [full];
    for (let next = chains.lastBuiltOn[full] ?? -1; next >= 0; next = chains.lastBuiltOn[next] ?? -1) path.push(next);
    return path;
  }
  return [];
}

/** The snapshots built on one, the latest first, that are later than `floor`. */
function builtOn(base: number, chains: ChainTable, floor: number): number[] {
  const found: number[] = [];
  for (let one = chains.lastBuiltOn[base] ?? -1; one > floor; one = chains.siblingBefore[one] ?? -1) found.push(one);
  return found;
}
