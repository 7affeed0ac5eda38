import { engineOfMarker } from '../engines/registry.js';
import type { BaseCounts, RevlogSums } from './revlog-sums.js';
import type { Sizes } from './sizes.js';

/** Intermediate snapshots of one depth. */
export interface SnapshotSizes extends Sizes {
  /** 1: built on a full text; n: on a snapshot of depth n - 1. */
  readonly depth: number;
}

/** Chunks with the same first byte, which says how they are compressed. */
export interface MarkerStats {
  /** 0 to 255. */
  readonly byte: number;
  /** `raw (NUL)`, `raw (u)`, an engine, or `unknown`. */
  readonly name: string;
  readonly count: number;
  readonly bytes: number;
}

/** Delta chains. The length of a chain is the number of its deltas; that of a full text is 0. */
export interface ChainStats {
  /** Mean of all revisions, not rounded. */
  readonly average: number;
  /** Nine of ten revisions have a chain that is not longer. */
  readonly percentile90: number;
  readonly longest: number;
  /** Bytes from the begin of a chain to its end, whatever lies between: mean of all revisions, not rounded. */
  readonly averageSpan: number;
  readonly longestSpan: number;
}

/**
 * What a revlog, or several together, are made of. A revision is empty (without a byte stored), a full text, a snapshot
 * or a delta: the counts of these add up to the revisions.
 */
export interface RevlogStats {
  readonly revlogs: number;
  readonly revisions: number;
  /** Revisions with a second parent. */
  readonly merges: number;
  /** Bytes of index and data files. */
  readonly fileBytes: number;
  /** Bytes of the chunks, as stored. */
  readonly storedBytes: number;
  /** Bytes of all texts. */
  readonly rawBytes: number;
  /** `rawBytes` to `storedBytes`; 0 where nothing is stored. */
  readonly ratio: number;
  /** Empty texts that are stored as such. */
  readonly emptyTexts: number;
  /** Texts equal to that of their delta base. */
  readonly emptyDeltas: number;
  /** Stored bytes of full texts. A delta against the empty text counts as one. */
  readonly fullTexts: Sizes;
  /** Stored bytes of intermediate snapshots, by depth; depths without any are left out. */
  readonly snapshots: readonly SnapshotSizes[];
  /** Stored bytes of ordinary deltas. */
  readonly deltas: Sizes;
  /** Lengths of all texts. */
  readonly texts: Sizes;
  readonly chains: ChainStats;
  /** By the first byte; chunks without any byte are in `emptyTexts` and `emptyDeltas`. */
  readonly markers: readonly MarkerStats[];
  readonly bases: Readonly<BaseCounts>;
}

/** The figures of what was added up. */
export function figuresOf(sums: RevlogSums): RevlogStats {
  const [fullTexts, ...deeper] = sums.snapshots.map((sizes) => sizes.figures);
  const storedBytes = sums.markerBytes.reduce((total, bytes) => total + bytes, 0);
  return {
    revlogs: sums.revlogs,
    revisions: sums.revisions,
    merges: sums.merges,
    fileBytes: sums.fileBytes,
    storedBytes,
    rawBytes: sums.texts.bytes,
    ratio: storedBytes === 0 ? 0 : sums.texts.bytes / storedBytes,
    emptyTexts: sums.emptyTexts,
    emptyDeltas: sums.emptyDeltas,
    fullTexts: fullTexts ?? { count: 0, bytes: 0, min: 0, max: 0, average: 0 },
    snapshots: deeper.map((sizes, i) => ({ depth: i + 1, ...sizes })).filter(({ count }) => count > 0),
    deltas: sums.deltas.figures,
    texts: sums.texts.figures,
    chains: chainFigures(sums),
    markers: markerFigures(sums),
    bases: { ...sums.bases },
  };
}

function chainFigures({ chainLengths, revisions, spans }: RevlogSums): ChainStats {
  const { average: averageSpan, max: longestSpan } = spans.figures;
  let deltas = 0;
  let seen = 0;
  let percentile90 = 0;
  for (const [length, count] of chainLengths.entries()) {
    // Whole numbers: nine tenths as a fraction may come out a hair too large.
    if (seen * 10 < revisions * 9) percentile90 = length;
    seen += count;
    deltas += length * count;
  }
  const longest = Math.max(0, chainLengths.length - 1);
  return { average: revisions === 0 ? 0 : deltas / revisions, percentile90, longest, averageSpan, longestSpan };
}

const RAW_NAMES: ReadonlyMap<number, string> = new Map([
  [0x00, 'raw (NUL)'],
  [0x75, 'raw (u)'],
]);

function markerFigures({ markerCounts, markerBytes }: RevlogSums): MarkerStats[] {
  const figures: MarkerStats[] = [];
  for (const [byte, count] of markerCounts.entries()) {
    const name = RAW_NAMES.get(byte) ?? engineOfMarker(byte)?.name ?? 'unknown';
    if (count > 0) figures.push({ byte, name, count, bytes: markerBytes[byte] ?? 0 });
  }
  return figures;
}
