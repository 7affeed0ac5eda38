import type { Dictionary } from '../../src/engines/engine.js';
import type { Revision, RevlogKind } from '../../src/formats/record.js';
import { REVLOG_KINDS } from '../../src/formats/record.js';
import type { Grid } from '../published/reproduction.js';
import { percent } from '../published/reproduction.js';
import { encodedBytes } from './codec.js';
import type { Part } from './part.js';
import { bytes, change } from './part.js';
import type { Group, LoadedBatch } from './store.js';
import { countChunks, filterRevisions, groupBatches, readSet } from './store.js';
import { trainOn } from './train.js';
import type { Workspace } from './workspace.js';

/** As a conversion chooses sizes. */
const SIZE_DIVISOR = 20;
const MOST_BYTES = 1 << 20;

const TENTHS = 10;
/** The parts of the history, from its beginning, that dictionaries are trained on. */
const TRAINED_TENTHS = [1, 3, 5, 10] as const;

type Filter = (revision: Revision) => boolean;

/** How soon does a dictionary age? */
export async function measureAging({ stored, loaded }: Workspace): Promise<Part> {
  const { batches } = await loaded('medium');
  const set = readSet(stored('medium', 'dictionaries').folder);
  const groups = groupBatches(batches, set);
  const changesets = countChunks(batches.filter(({ kind }) => kind === 'changelog'));
  /** The revisions that came from one tenth of the changesets up to another. */
  const between = (from: number, to: number): Filter => ({ linkRev }) => linkRev >= (from * changesets) / TENTHS && linkRev < (to * changesets) / TENTHS;
  return {
    name: 'aging',
    title: 'How a dictionary ages',
    isTimed: false,
    about:
      'medium.hg, cut by changeset: a dictionary for each group (the same as in the table of groups), trained on a part of the history. First: chunks of the second half, with dictionaries of one size (a 20th of what the second half takes) trained on the first half, on all, and on the second half itself. ' +
      'Second: chunks of each tenth of the history, all groups together, with the dictionaries that the history would have been given when it was so long (a 20th of what it took then).',
    grids: [await halves(groups, between), await tenths(groups, between)],
  };
}

type Between = (from: number, to: number) => Filter;

async function halves(groups: readonly Group[], between: Between): Promise<Grid> {
  const sums = new Map<RevlogKind, number[]>();
  for (const { batches } of groups) {
    const [first, second] = [filterRevisions(batches, between(0, 5)), filterRevisions(batches, between(5, TENTHS))];
    const plain = await encodedBytes(second);
    const found = [plain];
    for (const part of [first, batches, second]) {
      const dictionary = await trainOn(part, sizeFor(plain), 1);
      found.push(await encodedBytes(second, { choice: () => dictionary }));
    }
    const kind = batches[0]?.kind ?? 'filelog';
    sums.set(kind, found.map((value, i) => value + (sums.get(kind)?.[i] ?? 0)));
  }
  return {
    head: ['second half', 'chunks without', 'trained on the first half', '', 'on all', '', 'on the second half', '', 'first half gains, of what all gains'],
    rows: REVLOG_KINDS.map((kind) => {
      const [plain = NaN, ...others] = sums.get(kind) ?? [];
      const [first = NaN, all = NaN] = others;
      return [kind, bytes(plain), ...others.flatMap((value) => [bytes(value), change(value, plain)]), percent((plain - first) / (plain - all))];
    }),
  };
}

const sizeFor = (plain: number): number => Math.min(MOST_BYTES, Math.max(1024, Math.round(plain / SIZE_DIVISOR)));

async function tenths(groups: readonly Group[], between: Between): Promise<Grid> {
  const parts = Array.from({ length: TENTHS }, (_, i) => between(i, i + 1));
  const plain = await sumOverGroups(groups, parts, () => undefined);
  const rows = [['without: bytes', ...plain.map(bytes)]];
  for (const trained of TRAINED_TENTHS) {
    const dictionaries = new Map<Group, Dictionary | undefined>();
    for (const group of groups) {
      const known = filterRevisions(group.batches, between(0, trained));
      dictionaries.set(group, await trainOn(known, sizeFor(await encodedBytes(known)), 1));
    }
    const sizes = await sumOverGroups(groups, parts, (group) => dictionaries.get(group));
    rows.push([trained === TENTHS ? 'trained on all' : `trained on tenths 1 to ${trained}`.replace('s 1 to 1', ' 1'), ...sizes.map((size, i) => change(size, plain[i] ?? NaN))]);
  }
  return { head: ['tenth of the history', ...parts.map((_, i) => String(i + 1))], rows };
}

async function sumOverGroups(groups: readonly Group[], parts: readonly Filter[], dictionaryOf: (group: Group) => Dictionary | undefined): Promise<number[]> {
  const sums = parts.map(() => 0);
  for (const group of groups) {
    const dictionary = dictionaryOf(group);
    for (const [i, part] of parts.entries()) {
      const own: readonly LoadedBatch[] = filterRevisions(group.batches, part);
      sums[i] = (sums[i] ?? 0) + (await encodedBytes(own, { choice: () => dictionary }));
    }
  }
  return sums;
}
