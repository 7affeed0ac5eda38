import type { ErrorData } from '../errors.js';
import { RevconvertError } from '../errors.js';
import type { BytePath } from '../formats/store-path.js';
import { displayName } from './byte-path.js';
import type { CarryOutcome } from './carry.js';
import type { RevlogResult } from './convert-revlog.js';
import type { Discovery } from './discover.js';
import type { RepositoryFacts } from './plan.js';
import { fncacheLines } from './target-layout.js';

/** What a person should know of a finished conversion. */
export interface Findings {
  /** Damage and disorder in the source, carried over: the run ends with status 1. */
  readonly warnings: readonly ErrorData[];
  /** Files that no rule knows: carried byte for byte. */
  readonly unknownFiles: readonly string[];
  /** Files left behind, and why. */
  readonly dropped: readonly DroppedFile[];
}

export interface DroppedFile {
  readonly name: string;
  readonly why: string;
}

/** Gathers what there is to say, from what was found before and what happened. Pure. */
export function collectFindings(facts: RepositoryFacts, results: readonly RevlogResult[], carried: CarryOutcome): Findings {
  const { discovery, files } = facts;
  return {
    warnings: [...listWarnings(discovery, new Set(fncacheLines(discovery, results))), ...results.flatMap(resultWarnings)],
    unknownFiles: files.filter(({ action }) => action === 'unknown').map(({ name }) => displayName(name)),
    dropped: [
      ...files.filter(({ action }) => action === 'drop').map(({ name, why }) => ({ name: displayName(name), why })),
      ...discovery.leftovers.map((name) => ({ name: displayName(name), why: 'backup of a finished transaction' })),
      ...[...discovery.specials, ...carried.skipped].map((name) => ({ name: displayName(name), why: 'neither file, folder nor link' })),
      ...results.filter(({ trailingBytes }) => trailingBytes > 0).map(describeTrailing),
    ],
  };
}

const warn = (path: string, message: string): ErrorData => new RevconvertError('REVLOG_MISSING', message, { path }).toJSON();
const disorder = (path: string, message: string): ErrorData => new RevconvertError('STORE_DISORDER', message, { path }).toJSON();

function listWarnings({ missing, revlogs, strays }: Discovery, newList: ReadonlySet<BytePath>): ErrorData[] {
  const isGone = (name: BytePath): boolean => name.endsWith('.d') && !newList.has(name);
  return [
    ...missing.map((name) => warn(displayName(name), `listed in the store and missing; ${isGone(name) ? 'no longer' : 'it stays'} listed`)),
    ...revlogs.filter(({ listed }) => !listed).map(({ name }) => disorder(displayName(name), 'in the store and not listed; carried, still not listed')),
    ...strays.map((name) => disorder(displayName(name), 'in the store, and no part of a revlog that can be named; carried byte for byte')),
  ];
}

function resultWarnings({ name, damaged, carried, staleData }: RevlogResult): ErrorData[] {
  const whole = carried === undefined ? [] : [{ ...carried, message: `${carried.message}; the revlog was carried byte for byte` }];
  const stale = staleData ? [disorder(name, 'no revision refers to the data file beside it, which was left behind')] : [];
  return [...damaged, ...whole, ...stale];
}

const describeTrailing = ({ name, trailingBytes }: RevlogResult): DroppedFile => ({
  name,
  why: `${trailingBytes} bytes behind its last chunk that no revision refers to`,
});
