import { median } from '../measure.js';
import type { Grid } from '../published/reproduction.js';
import { grouped, percent, renderGrid } from '../published/reproduction.js';
import type { Workspace } from './workspace.js';

/** Some tables that answer one question. */
export interface Part {
  /** Which marks of a document it goes between. */
  readonly name: string;
  readonly title: string;
  /** Whether times are in it: those of a machine with other work are provisional. */
  readonly isTimed: boolean;
  /** How it was measured, and what the columns are. */
  readonly about: string;
  readonly grids: readonly Grid[];
  /** What follows from them, where something does. */
  readonly answer?: string;
}

/** Measures what a part says. */
export type MakePart<Shared = Workspace> = (workspace: Shared) => Promise<Part>;

const PROVISIONAL = '<!-- provisional: timed while the machine had other work; to be measured again -->';

/** As Markdown, without its title. */
export const renderPart = ({ isTimed, about, grids, answer }: Part, isProvisional: boolean): string =>
  [...(isTimed && isProvisional ? [PROVISIONAL] : []), about, ...grids.map(renderGrid), ...(answer === undefined ? [] : [answer])].join('\n\n');

/** `12,345,678`, or nothing. */
export const bytes = (value: number): string => grouped(value);

/** How much smaller, as a change: `-23.9 %`. */
export const change = (value: number, before: number): string => {
  const text = percent(value / before - 1);
  return value > before ? `+${text}` : text;
};

export const times = (value: number): string => value.toFixed(2);

/** How many times as fast: the median over the rounds of the ratios pair by pair. */
export const speedup = (own: readonly number[] | undefined, others: readonly number[] | undefined): number =>
  median((others ?? []).map((time, i) => time / (own?.[i] ?? NaN)));

/** Megabytes a second, by the median. */
export const rate = (amount: number, seconds: readonly number[] | undefined): string => (amount / 1e6 / median(seconds ?? [])).toFixed(0);
