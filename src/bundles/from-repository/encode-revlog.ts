import type { MaybePromise } from '../../engines/engine.js';
import { isPromise } from '../../engines/engine.js';
import { asBuffer } from '../../formats/bytes.js';
import { FULL_TEXT } from '../../formats/record.js';
import { RevlogIndex } from '../../formats/revlog-index.js';
import { asPath } from '../../repository/byte-path.js';
import type { BatchOrigin } from '../../streams/read-revlog.js';
import { batchEnd, openChunksOf, openRevlog } from '../../streams/read-revlog.js';
import type { BranchCollector } from './branch-collector.js';
import { SENT } from './changeset-state.js';
import type { ChunkMemory } from './chunk-memory.js';
import type { DeltaBatch } from './delta-batch.js';
import { readDeltas } from './delta-batch.js';
import type { DeltaTools, Rebase } from './rebase.js';
import { createPreviousBase, createRebase, createTextReader } from './rebase.js';
import { RevisionEncoder } from './revision-encoder.js';
import type { RevlogScope } from './scope.js';
import { createScope } from './scope.js';
import type { BundleSettings, EncodedRevisions, RangeJob, RevlogJob, RevlogSubject } from './tasks.js';

/** What one thread encodes with: contexts and memory that all its revlogs share. */
export interface BundleEngines extends DeltaTools {
  readonly settings: BundleSettings;
  /** To be called when all is done with a batch: gives the event loop a turn, now and then. @throws RevconvertError CANCELLED */
  batchDone(): MaybePromise<void>;
}

/** Where what is made of a task goes. */
export interface BundleOutput {
  readonly memory: ChunkMemory;
  /** Of changesets, where they are wanted. */
  readonly branches: BranchCollector | undefined;
}

/** Encodes a whole revlog. @throws RevconvertError as openRevlog and encodeRange */
export async function encodeRevlog(job: RevlogJob, output: BundleOutput, engines: BundleEngines): Promise<EncodedRevisions> {
  const reader = openRevlog({ indexFile: asPath(job.indexFile), dataFile: asPath(job.dataFile), path: job.name, kind: job.kind });
  try {
    return await encodeRevisions(job, reader.origin, { from: 0, to: reader.index.length }, { output, engines });
  } finally {
    reader.close();
  }
}

/**
 * Encodes a range of a revlog.
 * @throws RevconvertError CHUNK_MARKER, CHUNK_DAMAGED, CHUNK_SIZE, DELTA_MALFORMED, DICTIONARY_*, LINKREV, BUNDLE_HOLDS, ENGINE_MISSING
 */
export async function encodeRange(job: RangeJob, output: BundleOutput, engines: BundleEngines): Promise<EncodedRevisions> {
  const index = new RevlogIndex(job.header, job.table);
  const data = openChunksOf(index, asPath(job.chunkFile), job.name);
  try {
    return await encodeRevisions(job, { index, data, path: job.name, kind: job.kind }, job, { output, engines });
  } finally {
    data.close();
  }
}

interface Span {
  readonly from: number;
  readonly to: number;
}

interface Context {
  readonly output: BundleOutput;
  readonly engines: BundleEngines;
}

async function encodeRevisions(subject: RevlogSubject, origin: BatchOrigin, span: Span, { output, engines }: Context): Promise<EncodedRevisions> {
  const { settings, decoders } = engines;
  const { index, path } = origin;
  const scope = createScope(index, subject, settings);
  const encoder = new RevisionEncoder({ version: settings.version, path, index, changelog: settings.changelog, linkOf: scope.linkOf });
  const rebase = chooseRebase(origin, span, scope, engines);
  const addBranches = output.branches === undefined || origin.kind !== 'changelog' ? undefined : createBranchReader(origin, output.branches, engines);
  const bytes: Uint8Array[] = [];
  let revisions = 0;
  for (const { from, to } of sentSpans(span, scope)) {
    for (let start = from; start < to; ) {
      const end = batchEnd(index, start, to);
      const read = readDeltas(origin, start, end, decoders);
      const batch = isPromise(read) ? await read : read;
      if (addBranches !== undefined) await addBranches(batch);
      if (rebase !== undefined) await rebase(batch);
      bytes.push(encoder.encode(batch, output.memory));
      revisions += batch.deltas.length;
      start = end;
      await engines.batchDone();
    }
  }
  return { bytes, revisions };
}

/** The revisions that are sent, and no others. */
function* sentSpans({ from, to }: Span, scope: RevlogScope): Generator<Span, void, void> {
  if (scope.isWhole) {
    yield { from, to };
    return;
  }
  for (let start = from; start < to; ) {
    let end = start;
    while (end < to && scope.stateOf(end) === SENT) end++;
    if (end > start) yield { from: start, to: end };
    start = end + 1;
  }
}

/** What has to be done with deltas before they are sent; undefined: nothing. */
function chooseRebase(origin: BatchOrigin, span: Span, scope: RevlogScope, engines: BundleEngines): Rebase | undefined {
  if (engines.settings.version === '01') return createPreviousBase(origin, baseOfFirst(origin.index, span, scope), engines);
  return scope.isWhole ? undefined : createRebase(origin, scope, engines);
}

/** What the first revision of a span is a delta against in version 01: the one sent before it, else its first parent. */
function baseOfFirst(index: RevlogIndex, { from, to }: Span, scope: RevlogScope): number {
  for (let rev = from - 1; rev >= 0; rev--) if (scope.stateOf(rev) === SENT) return rev;
  for (let rev = from; rev < to; rev++) if (scope.stateOf(rev) === SENT) return index.p1(rev);
  return -1;
}

/** Looks at the texts of changesets; nearly all are stored as they are. */
function createBranchReader(origin: BatchOrigin, branches: BranchCollector, engines: BundleEngines): (batch: DeltaBatch) => Promise<void> {
  const textOf = createTextReader(origin, engines);
  return async ({ from, bases, deltas }) => {
    for (const [i, delta] of deltas.entries()) {
      const rev = from + i;
      branches.add(rev, bases[i] === FULL_TEXT ? asBuffer(delta) : await textOf(rev));
    }
  };
}
