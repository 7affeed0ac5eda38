import { RevconvertError } from '../errors.js';

/**
 * Phases of changesets (source: `hg help phases`, and what Mercurial 6.3 and 7.2 write). A changeset is at least in the
 * phase of each of its ancestors; public is 0.
 */
export const PHASE_PUBLIC = 0;
export const PHASE_DRAFT = 1;
export const PHASE_SECRET = 2;
/** Changesets in this phase, and in the internal one (96), are never shown. */
export const PHASE_ARCHIVED = 32;

/** A changeset that begins a phase. */
export interface PhaseRoot {
  readonly phase: number;
  /** 20 bytes, one character each. */
  readonly node: string;
}

/**
 * Reads `store/phaseroots`: lines of a phase, a space, 40 digits.
 * @throws RevconvertError TEXT_MALFORMED
 */
export const parsePhaseRoots = (text: string): PhaseRoot[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const [, phase, node] = /^(\d{1,3}) ([0-9a-f]{40})$/.exec(line) ?? [];
      if (phase === undefined || node === undefined) throw new RevconvertError('TEXT_MALFORMED', `a line is no phase and node: ${JSON.stringify(line.slice(0, 80))}`);
      return { phase: Number(phase), node: Buffer.from(node, 'hex').toString('latin1') };
    });
