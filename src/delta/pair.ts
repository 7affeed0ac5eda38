/** Two texts, and the stretch of each that differs: `base` from `start` to `end` becomes `text` from `from` to `to`. */
export interface Pair {
  readonly base: Buffer;
  readonly start: number;
  readonly end: number;
  readonly text: Buffer;
  readonly from: number;
  readonly to: number;
}
