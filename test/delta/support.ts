/** Shared by the tests of the choice of deltas. */
import { ChainTable } from '../../src/delta/chain-table.js';
import type { DeltaPolicy } from '../../src/delta/policy.js';

/** Both parents, and nothing that would refuse a delta. */
export const FREE: DeltaPolicy = {
  deltas: true,
  generaldelta: true,
  sparse: false,
  parents: 'both',
  previous: false,
  sourceBase: false,
  exhaustive: false,
  maxChainLength: null,
  maxChainRatio: null,
  maxSpanRatio: null,
  maxDeltaRatio: 1000,
  minBaseDivisor: null,
  maxCompression: null,
  groupSize: 20,
};

export const FULL = -1;
export const NULL = -2;

/** One revision as it is stored: its base, the bytes of its chunk, those of its text, and whether it is a snapshot. */
export type Stored = readonly [base: number, chunkLength?: number, rawSize?: number, isSnapshot?: 'snapshot'];

/** A table with these revisions; a chunk has 10 bytes and a text 100 where nothing is said. */
export function chainTable(...rows: readonly Stored[]): ChainTable {
  const chains = new ChainTable(rows.length + 10);
  for (const [base, chunkLength = 10, rawSize = 100, isSnapshot] of rows) chains.add(base, chunkLength, rawSize, isSnapshot === 'snapshot');
  return chains;
}
