import type { ErrorData } from '../../errors.js';
import { parseNarrowspec } from '../../formats/narrowspec.js';
import type { RevlogKind } from '../../formats/record.js';
import { FLAG_ELLIPSIS, FLAG_EXTERNAL } from '../../formats/revision-flags.js';
import type { BytePath } from '../../formats/store-path.js';
import { dictionaryMap, readDictionaries } from '../dictionaries/folder.js';
import type { Discovery } from '../discover.js';
import { discoverRevlogs } from '../discover.js';
import type { HeldLocks } from '../locks.js';
import type { Repository } from '../open.js';
import { checkNoTransaction } from '../open.js';
import type { FilledOptions, Progress } from '../options.js';
import { fillOptions } from '../options.js';
import { createPool } from '../pool.js';
import { trackProgress } from '../progress.js';
import { readSmallFile } from '../read-file.js';
import type { SourceSnapshot } from '../source-snapshot.js';
import { checkUnchanged, takeSnapshot } from '../source-snapshot.js';
import { looksLarge, threadsWorthFor } from '../thread-count.js';
import { lockNotice, withSource } from '../with-source.js';
import { VERIFY } from '../work-kinds.js';
import { crossCheck } from './cross.js';
import type { History } from './history.js';
import { CrossFindings } from './history.js';
import { checkLists } from './lists.js';
import type { StoreFacts } from './store.js';
import { verifyStore } from './store.js';
import type { Unhashed, VerifySettings } from './tasks.js';

export interface VerifyOptions {
  /** Threads; 1 starts none. What is found does not depend on it. @default the cores of the machine */
  readonly jobs?: number | undefined;
  /** False: do not lock the repository. Only for those that nobody writes to. @default true */
  readonly lock?: boolean | undefined;
  /** Seconds to wait for a lock that another process holds. @default 600, as Mercurial */
  readonly lockTimeout?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Called as revlogs are done; not more often than 20 times a second. */
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  /** Called with a line of text where something takes a while, like a lock that must be waited for. */
  readonly onNotice?: ((notice: string) => void) | undefined;
}

/** What was looked at, and what was found. */
export interface VerifyReport {
  readonly repository: string;
  readonly changesets: number;
  /** Revisions of the manifest, and of those of folders. */
  readonly manifests: number;
  /** Files that have revisions. */
  readonly files: number;
  readonly fileRevisions: number;
  /** Revisions whose node is not the hash of what is stored, by why. */
  readonly unhashed: Unhashed;
  /** Revisions that could not be compared with changesets or manifests, since those are damaged. */
  readonly unchecked: number;
  /** Each fault once, by place. */
  readonly damage: readonly ErrorData[];
  /** Disorder that nothing is lost by. */
  readonly warnings: readonly ErrorData[];
  /** What a person should know of how it was read. */
  readonly notices: readonly string[];
  readonly jobs: number;
  readonly milliseconds: number;
}

/**
 * Verifies a repository: rebuilds the text of every revision of every revlog, hashes it, and compares changesets,
 * manifests, files and the store's list with each other. Damage is what it returns; it rejects where it cannot look.
 * @param path the folder that holds `.hg`
 * @throws RevconvertError NOT_A_REPOSITORY, SHARED_REPOSITORY, UNKNOWN_REQUIREMENT, ABANDONED_TRANSACTION, FNCACHE_CORRUPT,
 *   ENGINE_MISSING, DICTIONARY_*, LOCKED, SOURCE_CHANGED, PERMISSION, SYSTEM, USAGE, CANCELLED
 * @example
 * const { damage } = await verifyRepository('src');
 * for (const fault of damage) console.log(describeError(fault));
 */
export async function verifyRepository(path: string, options: VerifyOptions = {}): Promise<VerifyReport> {
  const started = performance.now();
  const filled = fillOptions(options);
  return withSource(path, filled, async (repository, locks) => {
    checkNoTransaction(repository);
    const findings = new CrossFindings();
    const looked = await lookAtAll(repository, locks, filled, findings);
    const { history, discovery, unhashed, jobs } = looked;
    crossCheck(history, findings);
    checkLists(repository, discovery, history, findings);
    if (looked.snapshot !== undefined) checkUnchanged(repository, looked.snapshot);
    return {
      repository: repository.root,
      changesets: count(history, 'changelog'),
      manifests: count(history, 'manifest'),
      files: history.revlogs.filter(({ id, source }) => source.kind === 'filelog' && history.table.countOf(id) > 0).length,
      fileRevisions: count(history, 'filelog'),
      unhashed,
      unchecked: findings.unchecked,
      damage: findings.damage.sort(byPlace),
      warnings: findings.warnings.sort(byPlace),
      notices: [lockNotice(locks, filled)].filter((notice) => notice !== undefined),
      jobs,
      milliseconds: performance.now() - started,
    };
  });
}

interface Looked extends StoreFacts {
  readonly discovery: Discovery;
  /** What the revlogs were like before, where the repository is not locked. */
  readonly snapshot: SourceSnapshot | undefined;
  /** Threads that worked. */
  readonly jobs: number;
}

/** Finds every revlog, and looks at every revision. */
async function lookAtAll(repository: Repository, locks: HeldLocks, options: FilledOptions, findings: CrossFindings): Promise<Looked> {
  const settings = settingsFor(repository);
  // Threads take a while to start: in a store that is plainly large they do so while its files are looked at.
  let pool = looksLarge(repository) ? createPool(options.jobs, { kind: VERIFY, settings }) : undefined;
  try {
    const discovery = discoverRevlogs(repository);
    const { revlogs } = discovery;
    const snapshot = locks.unlocked === undefined ? undefined : takeSnapshot(repository, revlogs);
    pool ??= createPool(Math.min(options.jobs, threadsWorthFor(revlogs)), { kind: VERIFY, settings });
    const { lanes, threads } = await pool;
    const facts = await verifyStore({
      revlogs,
      storeFolder: repository.storeFolder,
      settings,
      isInside: readNarrowspec(repository),
      lanes,
      signal: options.signal,
      onDone: trackProgress(revlogs, options.onProgress),
      findings,
    });
    return { ...facts, discovery, snapshot, jobs: threads };
  } finally {
    await (await pool)?.close();
  }
}

const settingsFor = (repository: Repository): VerifySettings => ({
  dictionaries: dictionaryMap(readDictionaries(repository)),
  unhashedFlags: (repository.requirements.has('narrowhg-experimental') ? FLAG_ELLIPSIS : 0) | (repository.requirements.has('lfs') ? FLAG_EXTERNAL : 0),
  deltaInfo: repository.requirements.has('delta-info-revlog') || repository.requirements.has('exp-delta-info-revlog'),
});

function readNarrowspec({ requirements, storeFolder }: Repository): (path: BytePath) => boolean {
  if (!requirements.has('narrowhg-experimental')) return () => true;
  return parseNarrowspec(readSmallFile(`${storeFolder}/narrowspec`)?.toString('latin1') ?? '');
}

const count = ({ revlogs, table }: History, kind: RevlogKind): number =>
  revlogs.reduce((sum, { id, source }) => sum + (source.kind === kind ? table.countOf(id) : 0), 0);

/** The order in which faults are told. */
function byPlace(a: ErrorData, b: ErrorData): number {
  const [left, right] = [a.at.path ?? '', b.at.path ?? ''];
  if (left !== right) return left < right ? -1 : 1;
  return (a.at.rev ?? -1) - (b.at.rev ?? -1) || (a.code < b.code ? -1 : 1);
}
