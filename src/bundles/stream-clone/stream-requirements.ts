import { RevconvertError } from '../../errors.js';
import { checkRequirements, DICTIONARY_REQUIREMENT, findRequirement } from '../../formats/requires.js';

/** How files are named and listed, and what lies beside them: the receiver's own business. */
const LAYOUT: ReadonlySet<string> = new Set(['store', 'fncache', 'dotencode', 'fileindex-v1', 'persistent-nodemap']);

/** What a new repository of Mercurial 6.3 and 7.2 has for it. */
const RECEIVED_LAYOUT = ['store', 'fncache', 'dotencode', 'share-safe'] as const;

const NARROW = 'narrowhg-experimental';

const isStored = (name: string): boolean => findRequirement(name)?.place !== 'working-copy' && !LAYOUT.has(name);

/** @throws RevconvertError BUNDLE_HOLDS: what lies outside of revlogs, and no stream clone brings, is needed to read them */
function checkWhole(requirements: ReadonlySet<string>): void {
  if (requirements.has(DICTIONARY_REQUIREMENT)) {
    throw new RevconvertError('BUNDLE_HOLDS', `a stream clone does not bring the dictionaries that ${DICTIONARY_REQUIREMENT} stands for: compress the store anew on the way (an engine, and no dictionaries)`);
  }
  if (requirements.has(NARROW)) throw new RevconvertError('BUNDLE_HOLDS', `a stream clone does not bring the patterns that ${NARROW} stands for`);
}

/**
 * The requirements that a stream clone of a repository has, as Mercurial 7.2 gives them.
 * @param requirements all of the repository
 * @throws RevconvertError BUNDLE_HOLDS
 */
export function requirementsOfStream(requirements: ReadonlySet<string>): string[] {
  checkWhole(requirements);
  return [...requirements].filter(isStored).sort();
}

/**
 * The requirements of a repository that is made of a stream clone.
 * @param requirements as the stream clone has them
 * @throws RevconvertError UNKNOWN_REQUIREMENT, BUNDLE_HOLDS, INTERRUPTED_UPGRADE, REQUIRES_CORRUPT
 */
export function requirementsFromStream(requirements: readonly string[]): Set<string> {
  const given = new Set(requirements);
  checkRequirements(given);
  checkWhole(given);
  return new Set([...requirements.filter(isStored), ...RECEIVED_LAYOUT]);
}

/** What a store has outside of what a stream clone brings, and a person should know of. */
export function stayBehind(requirements: ReadonlySet<string>): string[] {
  return ['lfs', 'largefiles'].filter((name) => requirements.has(name)).map((name) => `contents of large files (${name}) do not come in a stream clone: Mercurial gets them from where they are served`);
}
