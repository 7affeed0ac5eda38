import { fixedEntries, hexNode } from './entry-format.js';

/** A head of the changesets of a phase. */
export interface PhaseHead {
  readonly phase: number;
  /** 40 digits. */
  readonly node: string;
}

/** Source: what Mercurial 6.3 and 7.2 print of them. */
const PHASES: Readonly<Record<number, string>> = { 0: 'public', 1: 'draft', 2: 'secret', 32: 'archived', 96: 'internal' };

/** The name of a phase; its number where it has none. */
export const phaseName = (phase: number): string => PHASES[phase] ?? String(phase);

/** The payload of a phase-heads part (source: `hg help internals.bundle2`, check:phases): i32 phase, 20 bytes node. */
export const PHASE_HEADS = fixedEntries<PhaseHead>(24, (entry) => ({ phase: entry.readInt32BE(0), node: hexNode(entry, 4) }));
