/** Revlogs that are legal and otherwise have no sense: any parents, any bases, any texts. */
import type { RevisionSpec, StoreAs } from '../support/revlog-builder.js';

export interface RandomOptions {
  /** Any base; otherwise the revision before. */
  readonly generaldelta: boolean;
  /** Empty texts, and texts that are equal to an earlier one. */
  readonly empties: boolean;
  /** Some are marked as snapshots by a flag. */
  readonly flags: boolean;
}

/** Where the header says that such flags count: this is a snapshot. */
const SNAPSHOT_FLAG = 0x0400;

const STORES: readonly (StoreAs | undefined)[] = [undefined, 'zlib', 'u'];

/** Numbers from 0 to `limit` - 1, the same for the same seed. */
function randomNumbers(seed: number): (limit: number) => number {
  let state = seed + 1;
  return (limit) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return Math.floor(state / 65_536) % limit;
  };
}

/**
 * One to fifty revisions.
 * @param seed which ones; the same for the same seed
 */
export function randomHistory(seed: number, { generaldelta, empties, flags }: RandomOptions): RevisionSpec[] {
  const random = randomNumbers(seed);
  const specs: RevisionSpec[] = [];
  const count = 1 + random(50);
  const anyBefore = (rev: number): number => random(rev + 1) - 1;
  const newText = (rev: number): Buffer =>
    empties && random(9) === 0 ? Buffer.alloc(0) : Buffer.from(`${'line\n'.repeat(random(6))}${'x'.repeat(random(120))}${rev}`);
  for (let rev = 0; rev < count; rev++) {
    const earlier = specs[random(3) === 0 ? random(Math.max(rev, 1)) : rev - 1];
    const text = empties && earlier !== undefined && random(4) === 0 ? earlier.text : newText(rev);
    const p1 = random(8) === 0 ? -1 : random(3) === 0 ? anyBefore(rev) : rev - 1;
    const p2 = random(4) === 0 ? anyBefore(rev) : -1;
    const parent = Math.max(p1, p2);
    const base = generaldelta ? [random(Math.max(rev, 1)), p1, parent, rev - 1][random(4)] : rev - 1;
    specs.push({
      text,
      p1,
      p2,
      base: rev === 0 || random(6) === 0 || base === undefined || base < 0 ? 'full' : base,
      flags: flags && random(3) === 0 ? SNAPSHOT_FLAG : 0,
      store: STORES[random(STORES.length)] ?? 'zlib',
      ...(random(15) === 0 ? { rawSize: -1 } : {}),
    });
  }
  return specs;
}
