import type { PhaseRoot } from '../../formats/phase-roots.js';
import type { NodeNumbers } from './node-numbers.js';

/** The phase of each changeset: that of a root, or the highest of its parents. Roots that there are not are passed over. */
export function phasesOf(changesets: NodeNumbers, roots: readonly PhaseRoot[]): Uint8Array {
  const phases = new Uint8Array(changesets.length);
  let first = changesets.length;
  for (const { phase, node } of roots) {
    const rev = changesets.revOf(node);
    if (rev === undefined) continue;
    phases[rev] = Math.max(phases[rev] ?? 0, phase);
    first = Math.min(first, rev);
  }
  for (let rev = first; rev < phases.length; rev++) {
    const [p1, p2] = changesets.parentsOf(rev);
    phases[rev] = Math.max(phases[rev] ?? 0, phases[p1] ?? 0, phases[p2] ?? 0);
  }
  return phases;
}
