import { createRunningResolver, lastUsesWithin } from '../../delta/running-resolver.js';
import { createSpoiltRevisions } from '../../delta/spoilt.js';
import type { TextCache } from '../../delta/text-cache.js';
import type { ChunkDecoders } from '../../engines/chunk-codec.js';
import { runSteps } from '../../engines/steps.js';
import { RevconvertError, toRevconvertError } from '../../errors.js';
import { NODE_BYTES, RevlogIndex } from '../../formats/revlog-index.js';
import { readChain } from '../../streams/chain-reader.js';
import type { BatchOrigin } from '../../streams/read-revlog.js';
import { openChunksOf, readBatches } from '../../streams/read-revlog.js';
import type { RevisionStep, Stage } from '../../streams/stage.js';
import { drive, fuseStages, stageOf } from '../../streams/stage.js';
import { createDecompressStage } from '../../transforms/decompress.js';
import { createResolveStep, createSettleStep } from '../../transforms/resolve-text.js';
import { asPath } from '../byte-path.js';
import { ChangesetCollector, createChangelogStep } from './changelog.js';
import { Failures } from './failures.js';
import { createFilelogStep } from './filelog.js';
import { createManifestStep } from './manifest.js';
import { openTolerant } from './open.js';
import type { ReferenceCollector } from './references.js';
import type { ChangesetColumns, Rehashed, RevisionColumns, VerifiedPart, VerifyJob, VerifyRangeJob, VerifySettings, VerifySubject } from './tasks.js';
import { createHashStep } from './texts.js';

/** What one thread verifies with: contexts and memory that all its revlogs share. */
export interface VerifyEngines {
  readonly settings: VerifySettings;
  readonly decoders: ChunkDecoders;
  /** With room for two nodes in front of each text. */
  readonly texts: TextCache;
  /** To be called when all is done with a batch. @throws RevconvertError CANCELLED */
  batchDone(): void;
}

/** Where what is found goes. */
export interface Findings {
  readonly references: ReferenceCollector;
  /** The revlog, by its place in the task. */
  readonly part: number;
  changesets: ChangesetColumns | undefined;
}

const NOTHING_UNHASHED = { censored: 0, ellipsis: 0, external: 0 };

/** Looks at a whole revlog. One whose index cannot be read is a fault like any other. */
export async function verifyRevlog(job: VerifyJob, findings: Findings, engines: VerifyEngines): Promise<VerifiedPart> {
  try {
    const opened = openTolerant({ indexFile: asPath(job.indexFile), dataFile: asPath(job.dataFile) }, job, engines.settings);
    try {
      const { index, origin } = opened.reader;
      const failures = new Failures(opened.unreadable);
      for (const fault of opened.faults) failures.report(fault);
      const part = await verifyRevisions(job, origin, { from: 0, to: index.length, unreadable: new Set(opened.unreadable.keys()) }, { failures, findings, engines });
      return { ...part, columns: columnsOf(index) };
    } finally {
      opened.reader.close();
    }
  } catch (error) {
    return { id: job.id, faults: [inputFault(error, job.name).toJSON()], failed: new Int32Array(0), unhashed: NOTHING_UNHASHED, rehashed: [], columns: BROKEN };
  }
}

export const BROKEN: RevisionColumns = { nodes: new Uint8Array(0), linkRevs: new Int32Array(0), isBroken: true, needsNoData: false };

/** A failure that is the revlog's. @throws RevconvertError what is not */
export function inputFault(error: unknown, path: string): RevconvertError {
  const failure = toRevconvertError(error, { path });
  if (failure.kind !== 'input') throw failure;
  return failure;
}

/** The nodes and linkrevs of an index, in memory of their own. */
export function columnsOf(index: RevlogIndex): RevisionColumns {
  const nodes = new Uint8Array(index.length * NODE_BYTES);
  const linkRevs = new Int32Array(index.length);
  for (let rev = 0; rev < index.length; rev++) {
    nodes.set(index.node(rev), rev * NODE_BYTES);
    linkRevs[rev] = index.linkRev(rev);
  }
  return { nodes, linkRevs, isBroken: false, needsNoData: index.header.inline || index.length === 0 };
}

/** Looks at a range of a revlog. */
export async function verifyRange(job: VerifyRangeJob, findings: Findings, engines: VerifyEngines): Promise<VerifiedPart> {
  const index = new RevlogIndex(job.header, job.table);
  const data = openChunksOf(index, asPath(job.chunkFile), job.name);
  try {
    const origin = { index, data, path: job.name, kind: job.kind };
    return await verifyRevisions(job, origin, { from: job.from, to: job.to, unreadable: new Set(job.unreadable) }, { failures: new Failures(), findings, engines });
  } finally {
    data.close();
  }
}

interface Span {
  readonly from: number;
  readonly to: number;
  readonly unreadable: ReadonlySet<number>;
}

interface Context {
  readonly failures: Failures;
  readonly findings: Findings;
  readonly engines: VerifyEngines;
}

async function verifyRevisions(subject: VerifySubject, origin: BatchOrigin, span: Span, { failures, findings, engines }: Context): Promise<VerifiedPart> {
  const { index, path } = origin;
  const { from, to, unreadable } = span;
  const { texts, decoders, settings } = engines;
  const unhashed = { ...NOTHING_UNHASHED };
  const rehashed: Rehashed[] = [];
  const spoilt = createSpoiltRevisions();
  for (const rev of unreadable) spoilt.add(rev);
  texts.clear();
  const resolver = createRunningResolver({
    cache: texts,
    lastUse: lastUsesWithin(index, from, to),
    fetch: (rev) => runSteps(readChain(rev, { index, path, data: origin.data }, decoders, texts)),
  });
  const onDamage = (error: RevconvertError): void => {
    if (error.kind !== 'input') throw error;
    failures.take(error, error.at.rev === undefined ? -1 : index.deltaBase(error.at.rev));
  };
  const changesets = subject.kind === 'changelog' ? new ChangesetCollector(from, to) : undefined;
  const stages: Stage[] = [
    createDecompressStage(decoders, { onDamage }),
    stageOf(
      createResolveStep({ resolver, spoilt, onDamage, onUnresolved: ({ rev, deltaBase }) => failures.because(rev, deltaBase) }),
      createHashStep({ index, failures, unhashed, unhashedFlags: settings.unhashedFlags, rehashed }),
      extractStep(subject, findings, failures, changesets),
      createSettleStep(resolver),
    ),
  ];
  if (unreadable.size > 0) stages.unshift(createMarkStage(unreadable));
  await drive(readBatches(origin, from, to), fuseStages(stages), () => engines.batchDone());
  if (changesets !== undefined) findings.changesets = changesets.finish();
  return { id: subject.id, faults: failures.faults, failed: failures.toPairs(), unhashed, rehashed, columns: undefined };
}

/** Marks what cannot be read, and has been reported. */
const createMarkStage =
  (unreadable: ReadonlySet<number>): Stage =>
  (batch) => {
    for (const revision of batch.revisions) if (unreadable.has(revision.rev)) revision.damaged = true;
    return batch;
  };

function extractStep({ kind, folder }: VerifySubject, { part, references }: Findings, failures: Failures, changesets: ChangesetCollector | undefined): RevisionStep {
  if (changesets !== undefined) return createChangelogStep(changesets, failures);
  return kind === 'manifest' ? createManifestStep(folder, part, references, failures) : createFilelogStep(part, references, failures);
}
