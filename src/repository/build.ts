import { lstatSync, mkdirSync } from 'node:fs';

import { below } from './byte-path.js';
import type { CarryItem } from './carry.js';
import { carryFiles } from './carry.js';
import { compressAgain, draftLevels } from './compress-again.js';
import { convertStore } from './convert-store.js';
import type { Destination } from './destination.js';
import { readDictionaries, writeDictionaries } from './dictionaries/folder.js';
import type { PreparedDictionaries } from './dictionaries/prepare.js';
import { dictionariesAtOnce, prepareDictionaries } from './dictionaries/prepare.js';
import { collectFindings } from './findings.js';
import type { HeldLocks } from './locks.js';
import { settingsFor } from './make-settings.js';
import type { Repository } from './open.js';
import type { FilledOptions } from './options.js';
import type { RepositoryFacts } from './plan.js';
import { chooseEngine, gatherFacts, planConversion } from './plan.js';
import { createPool } from './pool.js';
import { trackProgress } from './progress.js';
import type { SourceSnapshot } from './source-snapshot.js';
import { checkUnchanged, takeSnapshot } from './source-snapshot.js';
import type { SummaryInput } from './summary.js';
import { fncacheLines, makeFolders, makeRevlogFolders, modesFor, writeStoreLists } from './target-layout.js';
import { looksLarge, threadsWorthFor } from './thread-count.js';
import { CONVERT } from './work-kinds.js';

export interface Build {
  readonly repository: Repository;
  readonly locks: HeldLocks;
  readonly options: FilledOptions;
  readonly target: Destination;
}

export type Built = Pick<SummaryInput, 'plan' | 'facts' | 'source' | 'dictionaries' | 'results' | 'carried' | 'findings' | 'threads'>;

/** What is known before anything is written. */
interface Prepared {
  readonly facts: RepositoryFacts;
  /** What the revlogs were like, where the source is not locked. */
  readonly snapshot: SourceSnapshot | undefined;
  readonly prepared: PreparedDictionaries;
}

/** Makes the whole repository in the temporary folder. When it has returned or thrown, no thread writes there any more. */
export async function build({ repository, locks, options, target }: Build): Promise<Built> {
  const hg = `${target.temporary}/.hg`;
  mkdirSync(hg);
  const modes = modesFor(repository.storeFolder, hg);
  const source = readDictionaries(repository);
  const chosen = chooseEngine(repository.requirements, options);
  // Dictionaries are trained on the deltas that will be stored: where these are made anew, that comes first.
  const isTwice = options.redelta !== 'never' && chosen.dictionaries !== 'none';
  const atOnce = dictionariesAtOnce(isTwice ? 'none' : chosen.dictionaries, source);
  const settings = settingsFor(isTwice ? { ...chosen, levels: draftLevels(chosen.levels) } : chosen, options, modes, source);
  const training = { ...options.dictionaries, ...chosen, choice: chosen.dictionaries, source, checksum: options.checksum, jobs: options.jobs, signal: options.signal };
  const prepare = async (): Promise<Prepared> => {
    const facts = gatherFacts(repository);
    const { revlogs } = facts.discovery;
    // Before anything is trained: what cannot be planned is refused.
    planConversion(facts, options);
    const snapshot = locks.unlocked === undefined ? undefined : takeSnapshot(repository, revlogs);
    return { facts, snapshot, prepared: atOnce ?? (await prepareDictionaries({ ...training, revlogs, storeFolder: repository.storeFolder })) };
  };
  // Not before the next line has started threads: that takes a while, which in a store that is plainly large is used.
  const preparing = Promise.resolve().then(prepare);
  let pool = looksLarge(repository) ? createPool(options.jobs, { kind: CONVERT, settings: preparing.then(({ prepared }) => settings(prepared)) }) : undefined;
  try {
    const { facts, snapshot, prepared } = await preparing;
    const { revlogs } = facts.discovery;
    const plan = planConversion(facts, options, prepared.set.dictionaries.length > 0);
    pool ??= createPool(Math.min(options.jobs, threadsWorthFor(revlogs)), { kind: CONVERT, settings: settings(prepared) });
    makeFolders(hg, facts, plan, modes);
    const store = plan.requirements.all.has('store') ? `${hg}/store` : hg;
    const scratch = `${target.temporary}/deltas`;
    if (isTwice) {
      mkdirSync(scratch);
      makeRevlogFolders(scratch, facts, plan, modes);
    }
    const { threads, lanes } = await pool;
    const conversion = { plan, settings: settings(prepared), revlogs, from: repository.storeFolder, to: isTwice ? scratch : store, lanes, onDone: trackProgress(revlogs, options.onProgress) };
    const [converted, carried] = await together(
      options.signal,
      (signal) => convertStore({ ...conversion, signal }),
      (signal) => carryFiles(repository.hgFolder, hg, carryItems(facts), signal),
    );
    if (snapshot !== undefined) checkUnchanged(repository, snapshot);
    const { results, dictionaries } = isTwice
      ? await compressAgain({ first: conversion, results: converted, training, options, to: store })
      : { results: converted, dictionaries: prepared };
    const final = planConversion(facts, options, dictionaries.set.dictionaries.length > 0);
    if (dictionaries.set.dictionaries.length > 0) writeDictionaries(store, dictionaries.set, modes);
    writeStoreLists(hg, final.requirements, fncacheLines(facts.discovery, results), modes.file);
    return { plan: final, facts, source, dictionaries, results, carried, findings: collectFindings(facts, results, carried), threads };
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
