import type { ChunkDecoders } from '../../engines/chunk-codec.js';
import { loadDecoders } from '../../engines/chunk-codec.js';
import { toRevconvertError } from '../../errors.js';
import type { BundleItem, BundleStart } from '../../formats/bundle/items.js';
import { dictionaryMap, readDictionaries } from '../../repository/dictionaries/folder.js';
import type { Discovery } from '../../repository/discover.js';
import { discoverRevlogs } from '../../repository/discover.js';
import type { Repository } from '../../repository/open.js';
import { checkNoTransaction } from '../../repository/open.js';
import type { FilledOptions } from '../../repository/options.js';
import { fillOptions } from '../../repository/options.js';
import { createPool } from '../../repository/pool.js';
import { trackProgress } from '../../repository/progress.js';
import { checkUnchanged, takeSnapshot } from '../../repository/source-snapshot.js';
import { looksLarge, threadsWorthFor } from '../../repository/thread-count.js';
import type { LockedSource } from '../../repository/with-source.js';
import { asFailure, lockNotice, lockSource } from '../../repository/with-source.js';
import type { Run } from '../../repository/work.js';
import { BUNDLE } from '../bundle-work-kinds.js';
import { readChangelogIndex } from './changelog-index.js';
import { checkMissing } from './check-missing.js';
import type { OrderedRevlog } from './group-order.js';
import { inGroupOrder } from './group-order.js';
import { inOrder } from './in-order.js';
import { findMovedLinks } from './moved-links.js';
import { NodeNumbers } from './node-numbers.js';
import type { BundleRepositoryOptions } from './options.js';
import { chooseVersion } from './options.js';
import type { PartFacts } from './parts.js';
import { changegroupStart, partsBehind } from './parts.js';
import type { GroupSource } from './pieces.js';
import { cutPieces } from './pieces.js';
import { selectChangesets } from './selection.js';
import type { BranchColumn, BundleSettings, BundleTask, BundleTaskResult } from './tasks.js';

/**
 * Makes a bundle of a repository: what `hg bundle --all` writes, as items for the writer. Secret changesets are among it,
 * hidden ones (obsolete, archived, internal) and their revisions are not, as in Mercurial.
 *
 * Stored deltas are sent as they are, and so are stored full texts: against the null revision, as Mercurial 7.2 sends them.
 * (6.3 makes deltas of them, against the first parent or the revision before, which takes the texts of both; a bundle of a
 * history of 40,919 changesets became 0.4 % larger without.) Only where the base of a delta is not sent is a new one made.
 * In version 01, whose deltas are all against the revision before, the others have to be made anew.
 *
 * The repository is locked meanwhile, as in a conversion, although Mercurial reads without: a strip, or a revlog that stops
 * being inline, would make a bundle of two halves.
 *
 * @param path the folder that holds `.hg`
 * @returns the items; none at all where there is no changeset to be sent
 * @throws RevconvertError NOT_A_REPOSITORY, SHARED_REPOSITORY, UNKNOWN_REQUIREMENT, ABANDONED_TRANSACTION, FNCACHE_CORRUPT,
 *   BUNDLE_HOLDS, BUNDLE_SPEC, ENGINE_MISSING, DICTIONARY_*, LOCKED, SOURCE_CHANGED, PERMISSION, SYSTEM, USAGE, CANCELLED;
 *   damage of a revlog with its place
 * @example
 * const items = bundleRepository('src', { spec: parseBundleSpec('zstd-v2') });
 * for await (const bytes of writeBundleBytes(items)) process.stdout.write(bytes);
 */
export async function* bundleRepository(path: string, options: BundleRepositoryOptions): AsyncGenerator<readonly BundleItem[], void, void> {
  const { spec, range, ...rest } = options;
  const filled = fillOptions(rest);
  const source = await lockSource(path, filled);
  try {
    yield* bundleSource(source, { spec, range }, filled);
  } catch (error) {
    throw asFailure(error, filled.signal);
  } finally {
    source.locks.release();
  }
}

type WhatToBundle = Pick<BundleRepositoryOptions, 'spec' | 'range'>;

async function* bundleSource({ repository, locks }: LockedSource, wanted: WhatToBundle, filled: FilledOptions): AsyncGenerator<readonly BundleItem[], void, void> {
  checkNoTransaction(repository);
  const before = locks.unlocked === undefined ? undefined : lookAt(repository);
  // In the next turn: threads start meanwhile, in a store that is plainly large.
  const facts = Promise.resolve().then(() => gatherFacts(repository, wanted));
  const settings = facts.then((known) => settingsFor(known));
  let pool = looksLarge(repository) ? createPool(filled.jobs, { kind: BUNDLE, settings }) : undefined;
  // Whoever waits for the facts hears of it.
  settings.catch(() => undefined);
  pool?.catch(() => undefined);
  try {
    const known = await facts;
    if (known.selection.count === 0) return;
    const discovery = before?.discovery ?? discoverRevlogs(repository);
    const decoders = (): Promise<ChunkDecoders> => loadDecoders({ dictionaries: dictionaryMap(readDictionaries(repository)) });
    await checkMissing({ repository, discovery, selection: known.selection, decoders });
    pool ??= createPool(Math.min(filled.jobs, threadsWorthFor(discovery.revlogs)), { kind: BUNDLE, settings });
    const { spec } = wanted;
    const start: BundleStart = { type: 'bundle', container: spec.container, compression: spec.compression, parameters: [] };
    yield [start, changegroupStart(known)];
    const branches: BranchColumn[] = [];
    yield* changegroupItems(known, discovery, { filled, lanes: (await pool).lanes, branches, decoders });
    before?.check();
    const notice = lockNotice(locks, filled);
    if (notice !== undefined) filled.onNotice?.(notice);
    yield [{ type: 'part-end' }, ...partsBehind(known, branches), { type: 'end' }];
  } catch (error) {
    // What somebody wrote meanwhile can look like damage.
    if (toRevconvertError(error).kind === 'input') before?.check();
    throw error;
  } finally {
    await (await pool)?.close();
  }
}

/** Looks at a repository that is not locked, before anything of it is read. @returns a check that nobody wrote since: SOURCE_CHANGED */
function lookAt(repository: Repository): { readonly discovery: Discovery; readonly check: () => void } {
  const discovery = discoverRevlogs(repository);
  const snapshot = takeSnapshot(repository, discovery.revlogs);
  return { discovery, check: () => checkUnchanged(repository, snapshot) };
}

/** @throws RevconvertError of options that do not fit the repository; damage of the changelog's index */
function gatherFacts(repository: Repository, { spec, range }: WhatToBundle): PartFacts {
  const version = chooseVersion(spec, repository.requirements);
  const index = readChangelogIndex(repository);
  const changesets = new NodeNumbers(index);
  const wantsPhases = spec.container === 'HG20' && spec.phases === true;
  return { repository, spec, version, changesets, table: index.table, selection: selectChangesets(repository, changesets, range, wantsPhases) };
}

const settingsFor = ({ repository, spec, version, table, selection }: PartFacts): BundleSettings => ({
  version,
  dictionaries: dictionaryMap(readDictionaries(repository)),
  changelog: table,
  states: selection.states,
  branches: spec.container === 'HG20' && spec.revBranchCache !== false,
});

/** Chunks that are ready and not asked for yet: two threads keep each other busy with a tenth of it. */
const MAX_WAITING_BYTES = 1 << 25;

interface ChangegroupContext {
  readonly filled: FilledOptions;
  readonly lanes: readonly Run<BundleTask, BundleTaskResult>[];
  /** Where the branches of changesets go. */
  readonly branches: BranchColumn[];
  readonly decoders: () => Promise<ChunkDecoders>;
}

async function* changegroupItems(facts: PartFacts, { revlogs }: Discovery, { filled, lanes, branches, decoders }: ChangegroupContext): AsyncGenerator<readonly BundleItem[], void, void> {
  const { repository, version } = facts;
  const sources = await linkedSources(facts, inGroupOrder(revlogs), { decoders, filled });
  const onDone = trackProgress(revlogs, filled.onProgress);
  const done = inOrder({
    work: cutPieces(sources, repository.storeFolder, version),
    lanes,
    perform: async (piece, run) => run(piece.task),
    bytesOf: ({ groups }) => groups.reduce((sum, { bytes }) => sum + bytes.reduce((all, { length }) => all + length, 0), 0),
    maxWaitingBytes: MAX_WAITING_BYTES,
    signal: filled.signal,
  });
  for await (const { piece, result } of done) {
    if (result.branches !== undefined) branches.push(result.branches);
    onDone(piece.bytes, piece.revlogs);
    const items = piece.itemsOf(result);
    if (items.length > 0) yield items;
  }
}

/** Revlogs with what other changesets bring than their indexes say. */
async function linkedSources({ repository, selection }: PartFacts, revlogs: readonly OrderedRevlog[], { decoders, filled }: Pick<ChangegroupContext, 'decoders' | 'filled'>): Promise<GroupSource[]> {
  const { hidden, last } = selection;
  if (hidden === undefined) return revlogs.map((one) => ({ ...one, links: undefined }));
  const links = await findMovedLinks({ repository, revlogs, hidden, last, decoders: await decoders(), signal: filled.signal });
  return revlogs.map((one) => ({ ...one, links: links.get(one.revlog) }));
}
