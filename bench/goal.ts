import type { Grid } from './published/reproduction.js';

/** A ratio that is wanted, and the one that was found. */
export interface Goal {
  readonly what: string;
  readonly wanted: number;
  /** Whether a larger ratio is better. */
  readonly more: boolean;
  readonly ratio: number;
  /** Of which figures. */
  readonly pair: string;
}

export const goalGrid = (goals: readonly Goal[]): Grid => ({
  head: ['goal', 'wanted', 'reached', '', 'of'],
  rows: goals.map(({ what, wanted, more, ratio, pair }) => [what, `${more ? 'at least' : 'at most'} ${wanted.toFixed(2)}`, ratio.toFixed(more ? 2 : 3), (more ? ratio >= wanted : ratio <= wanted) ? 'yes' : 'no', pair]),
});
