import type { RevlogIndex } from '../formats/revlog-index.js';
import type { ChainOptions, Chains } from './chains.js';
import { followChains } from './chains.js';
import { SizeSums } from './sizes.js';

/** What one revlog is measured by. */
export interface RevlogFacts extends ChainOptions {
  readonly index: RevlogIndex;
  /** The first byte of each chunk; whatever, where a chunk has none. */
  readonly firstBytes: Uint8Array;
  /** Lengths of the texts, where the index does not say them all. @default as the index says */
  readonly rawSizes?: ArrayLike<number> | undefined;
  /** Bytes of the index file and the data file. */
  readonly fileBytes: number;
}

/** Deltas with bytes by what they are against; of these, the intermediate snapshots go by `snapshot`. */
export interface BaseCounts {
  /** Against the revision before, which is the first parent. */
  previousP1: number;
  /** Against the revision before, which is the second parent and not the first. */
  previousP2: number;
  /** Against the revision before, which is no parent. */
  previousOther: number;
  /** Against the first parent, which is not the revision before. */
  p1: number;
  p2: number;
  /** Against another snapshot, and so snapshots themselves. */
  snapshot: number;
  other: number;
}

/** What is added up over the revisions of a revlog, and over revlogs. */
export class RevlogSums {
  revlogs = 0;
  revisions = 0;
  merges = 0;
  fileBytes = 0;
  emptyTexts = 0;
  emptyDeltas = 0;
  /** Stored bytes of snapshots by depth: [0] are the full texts. */
  readonly snapshots: SizeSums[] = [new SizeSums()];
  /** Stored bytes of ordinary deltas. */
  readonly deltas = new SizeSums();
  /** Lengths of texts. */
  readonly texts = new SizeSums();
  /** Revisions whose text has an unknown length. */
  unknownTexts = 0;
  /** Chunks by their first byte, and their bytes. */
  readonly markerCounts = new Float64Array(256);
  readonly markerBytes = new Float64Array(256);
  /** Revisions by the length of their chain. */
  readonly chainLengths: number[] = [];
  readonly spans = new SizeSums();
  readonly bases: BaseCounts = { previousP1: 0, previousP2: 0, previousOther: 0, p1: 0, p2: 0, snapshot: 0, other: 0 };

  /** Adds up one revlog. */
  static of(facts: RevlogFacts): RevlogSums {
    const sums = new RevlogSums();
    const chains = followChains(facts.index, facts);
    sums.revlogs = 1;
    sums.revisions = facts.index.length;
    sums.fileBytes = facts.fileBytes;
    for (let rev = 0; rev < facts.index.length; rev++) sums.#addRevision(facts, chains, rev);
    return sums;
  }

  /** Adds what others added up. */
  addAll(others: RevlogSums): void {
    this.revlogs += others.revlogs;
    this.revisions += others.revisions;
    this.merges += others.merges;
    this.fileBytes += others.fileBytes;
    this.emptyTexts += others.emptyTexts;
    this.emptyDeltas += others.emptyDeltas;
    this.unknownTexts += others.unknownTexts;
    for (const [depth, sizes] of others.snapshots.entries()) this.#snapshotsAt(depth).addAll(sizes);
    this.deltas.addAll(others.deltas);
    this.texts.addAll(others.texts);
    this.spans.addAll(others.spans);
    for (let byte = 0; byte < 256; byte++) {
      this.markerCounts[byte] = (this.markerCounts[byte] ?? 0) + (others.markerCounts[byte] ?? 0);
      this.markerBytes[byte] = (this.markerBytes[byte] ?? 0) + (others.markerBytes[byte] ?? 0);
    }
    for (const [length, count] of others.chainLengths.entries()) this.#countChain(length, count);
    for (const key of Object.keys(this.bases) as (keyof BaseCounts)[]) this.bases[key] += others.bases[key];
  }

  #addRevision({ index, firstBytes, rawSizes }: RevlogFacts, chains: Chains, rev: number): void {
    const size = index.chunkLength(rev);
    const rawSize = rawSizes?.[rev] ?? index.rawSize(rev);
    if (index.p2(rev) >= 0) this.merges++;
    if (rawSize < 0) this.unknownTexts++;
    else this.texts.add(rawSize);
    this.spans.add(chains.spans[rev] ?? 0);
    this.#countChain(chains.lengths[rev] ?? 0, 1);
    const base = index.deltaBase(rev);
    if (size > 0) this.#addChunk(index, rev, size, firstBytes[rev] ?? 0, chains.depths[rev] ?? 0);
    else if (base < 0) this.emptyTexts++;
    else this.emptyDeltas++;
  }

  #addChunk(index: RevlogIndex, rev: number, size: number, marker: number, depth: number): void {
    this.markerCounts[marker] = (this.markerCounts[marker] ?? 0) + 1;
    this.markerBytes[marker] = (this.markerBytes[marker] ?? 0) + size;
    if (depth >= 0) this.#snapshotsAt(depth).add(size);
    else this.deltas.add(size);
    if (depth !== 0) this.bases[depth > 0 ? 'snapshot' : baseOf(index, rev)]++;
  }

  #snapshotsAt(depth: number): SizeSums {
    while (this.snapshots.length <= depth) this.snapshots.push(new SizeSums());
    return this.snapshots[depth] ?? new SizeSums();
  }

  #countChain(length: number, count: number): void {
    while (this.chainLengths.length <= length) this.chainLengths.push(0);
    this.chainLengths[length] = (this.chainLengths[length] ?? 0) + count;
  }
}

/** What an ordinary delta is against. */
function baseOf(index: RevlogIndex, rev: number): keyof BaseCounts {
  const base = index.deltaBase(rev);
  const isP1 = base === index.p1(rev);
  const isP2 = base === index.p2(rev);
  if (base === rev - 1) return isP1 ? 'previousP1' : isP2 ? 'previousP2' : 'previousOther';
  return isP1 ? 'p1' : isP2 ? 'p2' : 'other';
}
