import { loadEngine } from '../engines/registry.js';
import { toRevconvertError } from '../errors.js';
import { adoptOwner } from './access.js';
import { build } from './build.js';
import { commitDestination } from './commit-destination.js';
import { checkDestination, createDestination } from './destination.js';
import { checkDictionaryChoice } from './dictionaries/prepare.js';
import { checkNoTransaction, openRepository } from './open.js';
import type { ConvertOptions, FilledOptions } from './options.js';
import { fillOptions } from './options.js';
import type { ConversionPlan, RepositoryFacts } from './plan.js';
import { chooseEngine, gatherFacts, planConversion } from './plan.js';
import type { ConversionSummary } from './summary.js';
import { summarise } from './summary.js';
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
    await checkChoices(repository.requirements, filled);
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
    await checkChoices(repository.requirements, filled);
    const target = createDestination(place, repository.root);
    try {
      const done = await build({ repository, locks, options: filled, target });
      const notices = [lockNotice(locks, filled), adoptOwner(repository.storeFolder, `${target.temporary}/.hg`)].filter((notice) => notice !== undefined);
      await commitDestination(target, filled.signal);
      return summarise({ ...done, notices, destination: target.path, options: filled, locks, milliseconds: performance.now() - started });
    } catch (error) {
      target.discard();
      throw error;
    }
  });
}

/** Refuses what cannot work here, before anything is written. */
async function checkChoices(requirements: ReadonlySet<string>, options: FilledOptions): Promise<void> {
  const { to, dictionaries } = chooseEngine(requirements, options);
  await loadEngine(to);
  await checkDictionaryChoice(dictionaries, options.signal);
}
