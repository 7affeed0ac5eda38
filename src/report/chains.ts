import { NO_SNAPSHOT } from '../delta/chain-table.js';
import { FLAG_SNAPSHOT } from '../formats/revision-flags.js';
import type { RevlogIndex } from '../formats/revlog-index.js';

/** What follows from the chain of deltas that each revision ends. One value a revision. */
export interface Chains {
  /** Deltas to apply to the full text that the chain begins with; 0: the revision is that text. */
  readonly lengths: Int32Array;
  /** Bytes from the begin of the chain's full text to the end of the revision's own chunk, whatever lies between. */
  readonly spans: Float64Array;
  /** 0: a full text; n: a snapshot, behind its full text the n-th that changes something; NO_SNAPSHOT: an ordinary delta. */
  readonly depths: Int32Array;
}

export interface ChainOptions {
  /**
   * The store has intermediate snapshots (requirement `sparserevlog`): deltas against another snapshot that is no parent.
   * Without it only full texts are snapshots. A revlog whose flags say what is a snapshot is taken at its word.
   */
  readonly sparse: boolean;
}

/**
 * Follows all chains in one pass: every base comes before what is built on it.
 *
 * The definitions are those of `hg debugrevlog`, found by trying, with two differences in what is next to never stored.
 * A delta against the empty text begins a chain as a full text does, for it needs no other revision; Mercurial agrees,
 * and yet gives the snapshots behind it one more level. And an empty delta does not make what is behind it deeper, as in
 * Mercurial 7; 6 counts it (in the length of a chain both count it).
 * @param index one that was checked: bases and parents are earlier revisions
 */
export function followChains(index: RevlogIndex, { sparse }: ChainOptions): Chains {
  const count = index.length;
  const [lengths, depths, changes] = [new Int32Array(count), new Int32Array(count), new Int32Array(count)];
  const [spans, starts] = [new Float64Array(count), new Float64Array(count)];
  const isSnapshot = snapshotTest(index, sparse, depths);
  for (let rev = 0; rev < count; rev++) {
    const base = index.deltaBase(rev);
    const size = index.chunkLength(rev);
    const offset = index.offset(rev);
    const start = base < 0 ? offset : (starts[base] ?? 0);
    starts[rev] = start;
    spans[rev] = offset - start + size;
    if (base < 0) continue;
    const change = (changes[base] ?? 0) + (size > 0 ? 1 : 0);
    changes[rev] = change;
    lengths[rev] = (lengths[base] ?? 0) + 1;
    depths[rev] = isSnapshot(rev, base) ? change : NO_SNAPSHOT;
  }
  return { lengths, spans, depths };
}

/** Whether a delta is a snapshot; to be asked revision by revision, with `depths` known for those before. */
function snapshotTest(index: RevlogIndex, sparse: boolean, depths: Int32Array): (rev: number, base: number) => boolean {
  const { deltaInfo, generaldelta } = index.header;
  if (deltaInfo) return (rev) => (index.flags(rev) & FLAG_SNAPSHOT) !== 0;
  if (!sparse || !generaldelta) return () => false;
  const origins = findOrigins(index);
  const isParent = (parent: number, base: number): boolean => parent >= 0 && origins[parent] === base;
  return (rev, base) => depths[base] !== NO_SNAPSHOT && !isParent(index.p1(rev), base) && !isParent(index.p2(rev), base);
}

/**
 * Where each text was stored first: the revision itself, or, where its delta is empty, what it is a delta against. That
 * one stands for a parent: a writer that finds a parent with an empty delta goes back to it. (A delta against the
 * parent all the same counts as one against a stranger, as Mercurial counts it.)
 */
function findOrigins(index: RevlogIndex): Int32Array {
  const origins = new Int32Array(index.length);
  for (let rev = 0; rev < index.length; rev++) {
    const base = index.chunkLength(rev) === 0 ? index.deltaBase(rev) : -1;
    origins[rev] = base < 0 ? rev : (origins[base] ?? rev);
  }
  return origins;
}
