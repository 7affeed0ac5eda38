import { asBuffer } from '../../formats/bytes.js';
import type { RevisionBatch } from '../../formats/record.js';
import { deltaOf, FULL_TEXT } from '../../formats/record.js';
import { RevlogIndex } from '../../formats/revlog-index.js';
import { asPath } from '../../repository/byte-path.js';
import type { BatchOrigin } from '../../streams/read-revlog.js';
import { openChunksOf, openRevlog, readBatches } from '../../streams/read-revlog.js';
import type { RevisionStep, Stage } from '../../streams/stage.js';
import { drive, fuseStages, stageOf } from '../../streams/stage.js';
import { createDecompressStage } from '../../transforms/decompress.js';
import type { BranchCollector } from './branch-collector.js';
import { SENT } from './changeset-state.js';
import type { ChunkMemory } from './chunk-memory.js';
import type { DeltaTools } from './rebase-step.js';
import { createPreviousStep, createRebaseStep, createTextReader } from './rebase-step.js';
import { RevisionEncoder } from './revision-encoder.js';
import type { RevlogScope } from './scope.js';
import { createScope } from './scope.js';
import type { BundleSettings, EncodedRevisions, RangeJob, RevlogJob, RevlogSubject } from './tasks.js';

/** What one thread encodes with: contexts and memory that all its revlogs share. */
export interface BundleEngines extends DeltaTools {
  readonly settings: BundleSettings;
  /** To be called when all is done with a batch. @throws RevconvertError CANCELLED */
  batchDone(): void;
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
  const { settings } = engines;
  const scope = createScope(origin.index, subject, settings);
  const encoder = new RevisionEncoder({ version: settings.version, index: origin.index, changelog: settings.changelog, linkOf: scope.linkOf });
  const bytes: Uint8Array[] = [];
  let revisions = 0;
  await drive(sentBatches(origin, span, scope), createStage(origin, span, scope, { output, engines }), (batch) => {
    bytes.push(encoder.encode(batch, output.memory));
    revisions += batch.revisions.length;
    engines.batchDone();
  });
  return { bytes, revisions };
}

/** Batches of the revisions that are sent, and no others. */
function* sentBatches(origin: BatchOrigin, { from, to }: Span, scope: RevlogScope): Generator<RevisionBatch, void, void> {
  if (scope.isWhole) {
    yield* readBatches(origin, from, to);
    return;
  }
  for (let start = from; start < to; ) {
    let end = start;
    while (end < to && scope.stateOf(end) === SENT) end++;
    if (end > start) yield* readBatches(origin, start, end);
    start = end + 1;
  }
}

function createStage(origin: BatchOrigin, span: Span, scope: RevlogScope, { output, engines }: Context): Stage {
  const decompress = createDecompressStage(engines.decoders);
  const steps: RevisionStep[] = [];
  if (output.branches !== undefined && origin.kind === 'changelog') steps.push(branchStep(origin, output.branches, engines));
  if (engines.settings.version === '01') steps.push(createPreviousStep(origin, baseOfFirst(origin.index, span, scope), engines));
  else if (!scope.isWhole) steps.push(createRebaseStep(origin, scope, engines));
  return steps.length === 0 ? decompress : fuseStages([decompress, stageOf(...steps)]);
}

/** What the first revision of a span is a delta against in version 01: the one sent before it, else its first parent. */
function baseOfFirst(index: RevlogIndex, { from, to }: Span, scope: RevlogScope): number {
  for (let rev = from - 1; rev >= 0; rev--) if (scope.stateOf(rev) === SENT) return rev;
  for (let rev = from; rev < to; rev++) if (scope.stateOf(rev) === SENT) return index.p1(rev);
  return -1;
}

function branchStep(origin: BatchOrigin, branches: BranchCollector, engines: BundleEngines): RevisionStep {
  let textOf: ((rev: number) => Promise<Buffer>) | undefined;
  return (batch, revision) => {
    const { rev, deltaBase } = revision;
    if (deltaBase === FULL_TEXT) {
      branches.add(rev, asBuffer(deltaOf(batch, revision)));
      return undefined;
    }
    return (textOf ??= createTextReader(origin, engines))(rev).then((text) => branches.add(rev, text));
  };
}
