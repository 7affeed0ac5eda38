import { bytes, change, times } from '../dictionaries/part.js';

/** What the answer is made of. Sizes are those of bundles none-v2, zstd-v2 and gzip-v2. */
export interface ChangelogFigures {
  readonly full: readonly number[];
  readonly parent: readonly number[];
  readonly previous: readonly number[];
  /** Of bundles of everything. */
  readonly whole: readonly number[];
  /** Mercurial makes the changelog's share: times as long from a store without deltas as from one with them. NaN: it was not measured. */
  readonly sending: number;
  /** Mercurial makes a bundle of everything: times less processor time from the store without. */
  readonly wholeSending: number;
  /** Making a bundle of full texts, times less processor time than one of deltas that are made for it. */
  readonly makingParent: number;
  readonly makingPrevious: number;
  /** Mercurial receives full texts, times less processor time than deltas. */
  readonly receivingParent: number;
  readonly receivingPrevious: number;
}

const NAMES = ['uncompressed', 'as zstd', 'as gzip'] as const;

/** The answer to what was asked when Mercurial gave the deltas of the changelog up, and not measured. */
export function answerChangelog(figures: ChangelogFigures): string {
  const { full, parent, previous, whole } = figures;
  const against = (deltas: readonly number[]): string => NAMES.map((name, i) => `${change(full[i] ?? NaN, deltas[i] ?? NaN)} ${name}`).join(', ');
  const ofAll = NAMES.map((name, i) => `${change(whole[i] ?? NaN, (whole[i] ?? NaN) - (full[i] ?? NaN) + (previous[i] ?? NaN))} ${name}`).join(', ');
  const share = Number.isNaN(figures.sending) ? '' : `Mercurial makes its share of the changelog from a store without deltas in ${times(figures.sending)} of the time that it takes from one with them (published: ${times(1.788 / 1.589)}), and `;
  const sending = `${share}${share === '' ? 'Mercurial makes ' : ''}a bundle of everything in ${times(1 / figures.wholeSending)} of the processor time`;
  return (
    `**What full texts against null cost:** the changesets of a bundle are ${bytes(full[0] ?? NaN)} bytes, which is ${against(previous)} against deltas to the previous changeset (against deltas to a parent: ${against(parent)}); of a bundle of everything that is ${ofAll}. ` +
    `**What they save:** making such a bundle takes ${times(1 / figures.makingPrevious)} of the processor time that one with deltas to the previous changeset takes (${times(1 / figures.makingParent)} of one with deltas to a parent), ` +
    `and Mercurial receives it in ${times(1 / figures.receivingPrevious)} of the processor time (${times(1 / figures.receivingParent)}); ${sending}.`
  );
}
