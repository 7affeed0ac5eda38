import { statSync } from 'node:fs';

import { loadEngine } from '../engines/registry.js';
import { RevconvertError, toRevconvertError } from '../errors.js';
import { below } from './byte-path.js';
import type { CarryItem } from './carry.js';
import { carryFiles } from './carry.js';
import { convertStore } from './convert-store.js';
import type { Destination } from './destination.js';
import { checkDestination, createDestination } from './destination.js';
import { collectFindings } from './findings.js';
import { flush, flushTree } from './flush.js';
import type { HeldLocks } from './locks.js';
import { lockRepository } from './locks.js';
import type { Repository } from './open.js';
import { checkNoTransaction, openRepository } from './open.js';
import type { ConvertOptions, FilledOptions } from './options.js';
import { fillOptions } from './options.js';
import type { ConversionPlan, RepositoryFacts } from './plan.js';
import { chooseEngine, gatherFacts, planConversion } from './plan.js';
import type { TaskPool } from './pool.js';
import { createPool } from './pool.js';
import { trackProgress } from './progress.js';
import type { ConversionSettings } from './settings.js';
import type { ConversionSummary } from './summary.js';
import { summarise } from './summary.js';
import { makeFolders, modesFor, writeStoreLists } from './target-layout.js';

/**
 * Plans the conversion of a repository; writes nothing.
 * @param destination checked where it is given
 * @throws RevconvertError as {@link convertRepository}, save for what only reading the revlogs shows
 */
export async function planRepository(
  source: string,
  options: ConvertOptions = {},
  destination?: string,
): Promise<ConversionPlan & { readonly facts: RepositoryFacts }> {
  const filled = fillOptions(options);
  return withSource(source, filled, async (repository) => {
    checkNoTransaction(repository);
    if (destination !== undefined) checkDestination(repository.root, destination);
    await loadEngine(chooseEngine(repository.requirements, filled).to);
    const facts = gatherFacts(repository);
    return { ...planConversion(facts, filled), facts };
  });
}

/**
 * Converts a repository: writes another with the same history, stored as the options say. The source is not written
 * to, but for its locks. The destination is complete when the promise resolves, and absent when it rejects.
 * @param source the folder that holds `.hg`
 * @param destination a folder that does not exist, or is empty; the folder it lies in exists
 * @returns what was done, with counts
 * @throws RevconvertError with a code for each way to fail; see ERROR_RULES
 * @example
 * const summary = await convertRepository('src', 'dst', { to: 'zstd', level: 3 });
 */
export async function convertRepository(source: string, destination: string, options: ConvertOptions = {}): Promise<ConversionSummary> {
  const filled = fillOptions(options);
  const started = performance.now();
  return withSource(source, filled, async (repository, locks) => {
    checkNoTransaction(repository);
    const place = checkDestination(repository.root, destination);
    const chosen = chooseEngine(repository.requirements, filled);
    await loadEngine(chosen.to);
    const target = createDestination(place);
    const modes = modesFor(repository.storeFolder, target.temporary);
    const settings: ConversionSettings = {
      engine: chosen.to,
      levels: chosen.levels,
      checksum: filled.checksum,
      checkChunks: filled.check === 'chunks',
      keepGoing: filled.keepGoing,
      generaldelta: filled.generaldelta,
      fileMode: modes.file,
    };
    let pool: TaskPool | undefined;
    try {
      pool = await createPool(filled.jobs, settings);
      const facts = gatherFacts(repository);
      const plan = planConversion(facts, filled);
      const snapshot = locks.unlocked === undefined && filled.lock ? undefined : snapshotOf(facts);
      const hg = `${target.temporary}/.hg`;
      makeFolders(hg, facts, plan, modes);
      const [results, carried] = await Promise.all([
        convertStore({
          plan,
          settings,
          revlogs: facts.discovery.revlogs,
          from: repository.storeFolder,
          to: plan.requirements.all.has('store') ? `${hg}/store` : hg,
          pool,
          signal: filled.signal,
          onDone: trackProgress(facts.discovery.revlogs, filled.onProgress),
        }),
        carryFiles(repository.hgFolder, hg, carryItems(facts), filled.signal),
      ]);
      await pool.close();
      pool = undefined;
      writeStoreLists(hg, plan, facts.discovery, results, modes);
      if (snapshot !== undefined) compareSnapshots(snapshot, snapshotOf(facts));
      await commit(target, filled.signal);
      return summarise({
        plan,
        destination: target.path,
        options: filled,
        locks,
        facts,
        results,
        carried,
        findings: collectFindings(facts, results, carried),
        milliseconds: performance.now() - started,
      });
    } catch (error) {
      await pool?.close();
      target.discard();
      throw toRevconvertError(error);
    }
  });
}

/** Opens and locks a source for the time of an action. */
async function withSource<T>(source: string, options: FilledOptions, action: (repository: Repository, locks: HeldLocks) => Promise<T>): Promise<T> {
  const first = openRepository(source);
  const notice = (lock: string, holder: string): void => options.onNotice?.(`waiting for ${lock}, held by ${holder}`);
  const locks: HeldLocks = options.lock
    ? await lockRepository(first, { timeoutSeconds: options.lockTimeout, signal: options.signal, onWait: notice }).catch((error: unknown) => {
        throw toRevconvertError(error);
      })
    : { unlocked: '--no-lock', release: () => undefined };
  try {
    options.signal?.throwIfAborted();
    // Again: what was read before the lock was held may have changed since.
    return await action(openRepository(source), locks);
  } catch (error) {
    throw toRevconvertError(error);
  } finally {
    locks.release();
  }
}

function carryItems({ files, discovery, repository }: RepositoryFacts): CarryItem[] {
  const prefix = repository.hasStore ? 'store/' : '';
  return [
    ...files.filter(({ action }) => action === 'carry' || action === 'unknown'),
    ...discovery.strays.map((path): CarryItem => ({ name: prefix + path, targetName: `store/${path}`, kind: 'file' })),
  ];
}

async function commit(target: Destination, signal: AbortSignal | undefined): Promise<void> {
  await flushTree(target.temporary);
  signal?.throwIfAborted();
  target.commit();
  await flush(target.path.slice(0, target.path.lastIndexOf('/')) || '/');
}

/** Size, time and inode of every revlog: what shows that somebody wrote to a source that is not locked. */
function snapshotOf({ discovery, repository }: RepositoryFacts): Map<string, string> {
  const snapshot = new Map<string, string>();
  for (const { indexPath, dataPath } of discovery.revlogs) {
    for (const path of [indexPath, dataPath]) {
      const found = statSync(below(repository.storeFolder, path), { throwIfNoEntry: false });
      if (found !== undefined) snapshot.set(path, `${found.size} ${found.mtimeMs} ${found.ino}`);
    }
  }
  return snapshot;
}

function compareSnapshots(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): void {
  for (const path of new Set([...before.keys(), ...after.keys()])) {
    if (before.get(path) !== after.get(path)) throw new RevconvertError('SOURCE_CHANGED', 'it changed during the conversion', { path });
  }
}
