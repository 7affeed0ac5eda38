import { RevconvertError } from '../../errors.js';
import { NODE } from '../../formats/bundle/changegroup.js';
import type { Changesets } from './changesets.js';

/** The phases that a plain repository has: public, draft, secret, by their numbers. */
const PHASES = [0, 1, 2] as const;

/** What changesets are in where a bundle does not say it. */
const DRAFT = 1;

/** A phase, and its head or root. */
const ENTRY_BYTES = 4 + NODE;

/**
 * The phases of the changesets of a bundle, as `hg unbundle` leaves them in an empty repository (6.3 and 7.2, tried): all
 * are in the target phase of their changegroup, or draft; the part `phase-heads` moves heads and their ancestors towards public.
 */
export class Phases {
  #target = DRAFT;
  /** The phase of each changeset, where any was moved. */
  #moved: Uint8Array | undefined;

  constructor(private readonly changesets: Changesets) {}

  /** @param value of the parameter `targetphase` @throws RevconvertError PART_MALFORMED */
  setTarget(value: string): void {
    this.#target = checkPhase(/^\d+$/.test(value) ? Number(value) : NaN, value);
  }

  /**
   * @param bytes the payload of a part: for each head its phase (i32) and its node
   * @throws RevconvertError PART_MALFORMED; REVISION_MISSING where a head is not in the bundle before it
   */
  move(bytes: Buffer): void {
    if (bytes.length % ENTRY_BYTES !== 0) throw new RevconvertError('PART_MALFORMED', `heads of phases take ${ENTRY_BYTES} bytes each, the part has ${bytes.length}`);
    const phases = (this.#moved ??= new Uint8Array(this.changesets.length).fill(this.#target));
    for (let at = 0; at < bytes.length; at += ENTRY_BYTES) {
      const phase = checkPhase(bytes.readInt32BE(at), String(bytes.readInt32BE(at)));
      const node = bytes.subarray(at + 4, at + ENTRY_BYTES);
      const rev = this.changesets.find(node);
      if (rev < 0) throw new RevconvertError('REVISION_MISSING', `a head of phase ${phase} is not in the bundle before it`, { node: node.toString('hex') });
      phases[rev] = Math.min(phases[rev] ?? 0, phase);
    }
    // Ancestors come first: from the last one up, each hands its phase on.
    for (let rev = this.changesets.length - 1; rev >= 0; rev--) {
      for (const which of [0, 1] as const) {
        const parent = this.changesets.parent(rev, which);
        if (parent >= 0) phases[parent] = Math.min(phases[parent] ?? 0, phases[rev] ?? 0);
      }
    }
  }

  /** The file `phaseroots`: for each root of a phase a line with its number and its node; empty where all is public. */
  serialise(): string {
    const lines: string[] = [];
    const phaseOf = (rev: number): number => (rev < 0 ? 0 : (this.#moved?.[rev] ?? this.#target));
    for (const phase of PHASES.slice(1)) {
      for (let rev = 0; rev < this.changesets.length; rev++) {
        const inherited = Math.max(phaseOf(this.changesets.parent(rev, 0)), phaseOf(this.changesets.parent(rev, 1)));
        if (phaseOf(rev) === phase && inherited < phase) lines.push(`${phase} ${this.changesets.hex(rev)}\n`);
      }
    }
    return lines.join('');
  }
}

function checkPhase(phase: number, found: string): number {
  if (PHASES.some((known) => known === phase)) return phase;
  throw new RevconvertError('PART_MALFORMED', `a phase is 0, 1 or 2, found ${JSON.stringify(found)}`);
}
