import { lstatSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';

import { loadEngine } from '../engines/registry.js';
import { toRevconvertError } from '../errors.js';
import { adoptOwner } from './access.js';
import { below } from './byte-path.js';
import type { CarryItem } from './carry.js';
import { carryFiles } from './carry.js';
import type { StoreConversion } from './convert-store.js';
import { convertStore } from './convert-store.js';
import type { Destination } from './destination.js';
import { checkDestination, createDestination } from './destination.js';
import { collectFindings } from './findings.js';
import { flush, flushTree } from './flush.js';
import type { HeldLocks } from './locks.js';
import type { Repository } from './open.js';
import { checkNoTransaction, openRepository } from './open.js';
import type { ConvertOptions, FilledOptions } from './options.js';
import { fillOptions } from './options.js';
import type { ConversionPlan, RepositoryFacts } from './plan.js';
import { chooseEngine, gatherFacts, planConversion } from './plan.js';
import { createPool } from './pool.js';
import { trackProgress } from './progress.js';
import type { ConversionSettings } from './settings.js';
import { checkUnchanged, takeSnapshot } from './source-snapshot.js';
import type { ConversionSummary, SummaryInput } from './summary.js';
import { summarise } from './summary.js';
import type { TargetModes } from './target-layout.js';
import { makeFolders, modesFor, writeStoreLists } from './target-layout.js';
import { looksLarge, threadsWorthFor } from './thread-count.js';
import { lockNotice, withSource } from './with-source.js';

/**
 * Plans the conversion of a repository; writes nothing, and takes no lock.
 * @param destination checked where it is given
 * @throws RevconvertError as {@link convertRepository}, save for what only reading the revlogs shows
 */
export async function planRepository(
  source: string,
  options: ConvertOptions = {},
  destination?: string,
): Promise<ConversionPlan & { readonly facts: RepositoryFacts }> {
  try {
    const filled = fillOptions(options);
    const repository = openRepository(source);
    checkNoTransaction(repository);
    if (destination !== undefined) checkDestination(repository.root, destination);
    await loadEngine(chooseEngine(repository.requirements, filled).to);
    const facts = gatherFacts(repository);
    return { ...planConversion(facts, filled), facts };
  } catch (error) {
    throw toRevconvertError(error);
  }
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
  const started = performance.now();
  const filled = fillOptions(options);
  return withSource(source, filled, async (repository, locks) => {
    checkNoTransaction(repository);
    const place = checkDestination(repository.root, destination);
    await loadEngine(chooseEngine(repository.requirements, filled).to);
    const target = createDestination(place, repository.root);
    try {
      const done = await build({ repository, locks, options: filled, target });
      const notices = [lockNotice(locks, filled), adoptOwner(repository.storeFolder, `${target.temporary}/.hg`)].filter((notice) => notice !== undefined);
      await commit(target, filled.signal);
      return summarise({ ...done, notices, destination: target.path, options: filled, locks, milliseconds: performance.now() - started });
    } catch (error) {
      target.discard();
      throw error;
    }
  });
}

interface Build {
  readonly repository: Repository;
  readonly locks: HeldLocks;
  readonly options: FilledOptions;
  readonly target: Destination;
}

type Built = Pick<SummaryInput, 'plan' | 'facts' | 'results' | 'carried' | 'findings' | 'threads'>;

/** Makes the whole repository in the temporary folder. When it has returned or thrown, no thread writes there any more. */
async function build({ repository, locks, options, target }: Build): Promise<Built> {
  const hg = `${target.temporary}/.hg`;
  mkdirSync(hg);
  const modes = modesFor(repository.storeFolder, hg);
  const settings = settingsFor(chooseEngine(repository.requirements, options), options, modes);
  // Threads take a while to start: in a store that is plainly large they do so while its files are looked at.
  let pool = looksLarge(repository) ? createPool(options.jobs, { kind: 'convert', settings }) : undefined;
  try {
    const facts = gatherFacts(repository);
    const plan = planConversion(facts, options);
    const snapshot = locks.unlocked === undefined ? undefined : takeSnapshot(repository, facts.discovery.revlogs);
    pool ??= createPool(Math.min(options.jobs, threadsWorthFor(facts.discovery.revlogs)), { kind: 'convert', settings });
    makeFolders(hg, facts, plan, modes);
    const { threads, lanes } = await pool;
    const store: Omit<StoreConversion, 'signal'> = {
      plan,
      settings,
      revlogs: facts.discovery.revlogs,
      from: repository.storeFolder,
      to: plan.requirements.all.has('store') ? `${hg}/store` : hg,
      lanes,
      onDone: trackProgress(facts.discovery.revlogs, options.onProgress),
    };
    const [results, carried] = await together(
      options.signal,
      (signal) => convertStore({ ...store, signal }),
      (signal) => carryFiles(repository.hgFolder, hg, carryItems(facts), signal),
    );
    writeStoreLists(hg, plan, facts.discovery, results, modes);
    if (snapshot !== undefined) checkUnchanged(repository, snapshot);
    return { plan, facts, results, carried, findings: collectFindings(facts, results, carried), threads };
  } finally {
    await (await pool)?.close();
  }
}

/** Two actions at once. Where one fails the other is told to stop, and waited for: nothing goes on behind the failure. */
async function together<A, B>(
  outer: AbortSignal | undefined,
  first: (signal: AbortSignal) => Promise<A>,
  second: (signal: AbortSignal) => Promise<B>,
): Promise<[A, B]> {
  const controller = new AbortController();
  const signal = outer === undefined ? controller.signal : AbortSignal.any([outer, controller.signal]);
  const watched = [first(signal), second(signal)] as const;
  try {
    return await Promise.all(watched);
  } catch (error) {
    controller.abort();
    await Promise.allSettled(watched);
    throw error;
  }
}

function settingsFor(chosen: ReturnType<typeof chooseEngine>, options: FilledOptions, modes: TargetModes): ConversionSettings {
  return {
    engine: chosen.to,
    levels: chosen.levels,
    checksum: options.checksum,
    checkChunks: options.check === 'chunks',
    keepGoing: options.keepGoing,
    redelta: options.redelta,
    policy: options.policy,
    generaldelta: options.generaldelta,
    fileMode: modes.file,
  };
}

function carryItems({ files, discovery, repository }: RepositoryFacts): CarryItem[] {
  const prefix = repository.hasStore ? 'store/' : '';
  return [
    ...files.filter(({ action }) => action === 'carry' || action === 'unknown'),
    ...discovery.strays.map((path): CarryItem => {
      const kind = lstatSync(below(repository.storeFolder, path)).isSymbolicLink() ? 'link' : 'file';
      return { name: prefix + path, targetName: `store/${path}`, kind };
    }),
  ];
}

async function commit(target: Destination, signal: AbortSignal | undefined): Promise<void> {
  target.open();
  await flushTree(target.temporary);
  signal?.throwIfAborted();
  target.commit();
  await flush(dirname(target.path)).catch((error: unknown) => {
    // A folder may be open to new names, but not to be read: then it cannot be flushed, and what is in it is there all the same.
    if (toRevconvertError(error).code !== 'PERMISSION') throw error;
  });
}
