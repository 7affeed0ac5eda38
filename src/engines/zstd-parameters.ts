/**
 * Parameters of zstd for small inputs with a dictionary. Left to itself zstd (1.5) chooses them by the size of the
 * dictionary, in steps: one of 222 kB gets tables for inputs of up to 256 kB, with which chunks come out up to 6 % larger
 * than with those for larger inputs, at the same speed. So it is always given those. Level 1 has a larger table and
 * shorter matches besides: 8 % smaller, as fast. From level 19 on there is no difference.
 */

/** As in ZSTD_compressionParameters of zstd.h; logarithms to the base of 2. */
export interface ZstdParameters {
  readonly windowLog: number;
  readonly chainLog: number;
  readonly hashLog: number;
  readonly searchLog: number;
  readonly minMatch: number;
  readonly targetLength: number;
  readonly strategy: number;
}

type Row = readonly [windowLog: number, chainLog: number, hashLog: number, searchLog: number, minMatch: number, targetLength: number, strategy: number];

/** zstd's own values for inputs of more than 256 kB, by level; strategies: 1 fast, 2 dfast, 3 greedy, 4 lazy, 5 lazy2, 6 btlazy2, 7 btopt, 8 btultra. */
const ROWS: readonly Row[] = [
  [19, 13, 17, 1, 5, 0, 1],
  [20, 15, 16, 1, 6, 0, 1],
  [21, 16, 17, 1, 5, 0, 2],
  [21, 18, 18, 1, 5, 0, 2],
  [21, 18, 19, 3, 5, 2, 3],
  [21, 18, 19, 3, 5, 4, 4],
  [21, 19, 20, 4, 5, 8, 4],
  [21, 19, 20, 4, 5, 16, 5],
  [22, 20, 21, 4, 5, 16, 5],
  [22, 21, 22, 5, 5, 16, 5],
  [22, 21, 22, 6, 5, 16, 5],
  [22, 22, 23, 6, 5, 32, 5],
  [22, 22, 22, 4, 5, 32, 6],
  [22, 22, 23, 5, 5, 32, 6],
  [22, 23, 23, 6, 5, 32, 6],
  [22, 22, 22, 5, 5, 48, 7],
  [23, 23, 22, 5, 4, 64, 7],
  [23, 23, 22, 6, 3, 64, 8],
];

/** @param level 1 to 22 @returns undefined where zstd's own choice is as good */
export function dictionaryParameters(level: number): ZstdParameters | undefined {
  const row = ROWS[level - 1];
  if (row === undefined) return undefined;
  const [windowLog, chainLog, hashLog, searchLog, minMatch, targetLength, strategy] = row;
  return { windowLog, chainLog, hashLog, searchLog, minMatch, targetLength, strategy };
}
