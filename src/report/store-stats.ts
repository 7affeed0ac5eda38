import type { ChunkDecoders } from '../engines/chunk-codec.js';
import { loadDecoders } from '../engines/chunk-codec.js';
import type { ErrorData } from '../errors.js';
import { RevconvertError } from '../errors.js';
import type { RevlogKind } from '../formats/record.js';
import { REVLOG_KINDS } from '../formats/record.js';
import type { RevlogHeader } from '../formats/revlog-header.js';
import { encodeDirectories } from '../formats/store-path.js';
import { displayName } from '../repository/byte-path.js';
import { dictionaryMap, readDictionaries } from '../repository/dictionaries/folder.js';
import type { Discovery, RevlogSource } from '../repository/discover.js';
import { discoverRevlogs } from '../repository/discover.js';
import type { Repository } from '../repository/open.js';
import { openRepository } from '../repository/open.js';
import { bytesOf } from '../repository/plan.js';
import { Turns } from '../streams/turns.js';
import { missingRevlog, missingRevlogs, withRevlog } from './each-revlog.js';
import { measureTexts, readFirstBytes } from './read-facts.js';
import type { RevlogStats } from './revlog-stats.js';
import { figuresOf } from './revlog-stats.js';
import { RevlogSums } from './revlog-sums.js';

/** One revlog: the changelog, the manifest (with tree manifests that of the root), or that of a file by its name in the repository. */
export type RevlogChoice = 'changelog' | 'manifest' | { readonly file: string };

export interface StatsOptions {
  /** One revlog instead of the whole store. */
  readonly only?: RevlogChoice | undefined;
  /** How many of the largest revlogs are reported one by one; one that was asked for always is. @default 5 */
  readonly top?: number | undefined;
  /** Stops the work. */
  readonly signal?: AbortSignal | undefined;
}

/** The figures of one revlog. */
export interface NamedStats extends RevlogStats {
  /** What the store calls it: `00changelog.i`, `data/dir/file.c.i`. */
  readonly path: string;
  readonly kind: RevlogKind;
  readonly header: RevlogHeader;
}

/** What a store is made of. Plain data. */
export interface StoreStats {
  /** The folder that holds `.hg`, as an absolute path. */
  readonly repository: string;
  readonly total: RevlogStats;
  readonly kinds: Readonly<Record<RevlogKind, RevlogStats>>;
  /** By the bytes of their files. */
  readonly largest: readonly NamedStats[];
  /** Revlogs that are damaged or missing, which are in none of the figures. */
  readonly errors: readonly ErrorData[];
}

const DEFAULT_TOP = 5;
const CHOICES: readonly string[] = ['changelog', 'manifest'];

const KNOWN_OPTIONS: ReadonlySet<string> = new Set<keyof StatsOptions>(['only', 'top', 'signal']);

/**
 * Says what a store is made of: reads its indexes and the first byte of every chunk (of revlogs of version 0, which do not
 * say how long texts are, all of it), and writes nothing. Revlogs that the store does not list count like the others.
 * Takes no lock; where somebody writes at the same time, the figures are of some moment in between.
 * @param repository the folder that holds `.hg`
 * @throws RevconvertError USAGE (options, a file that is not in the store), NOT_A_REPOSITORY, SHARED_REPOSITORY,
 *   UNKNOWN_REQUIREMENT, REQUIRES_CORRUPT, INTERRUPTED_UPGRADE, FNCACHE_CORRUPT, STORE_DISORDER, ENGINE_MISSING,
 *   PERMISSION, SYSTEM, CANCELLED. Damage of a revlog is not thrown: it is in `errors`.
 * @example
 * const { total } = await collectStats('src');
 * console.log(total.ratio, total.chains.longest);
 */
export async function collectStats(repository: string, options: StatsOptions = {}): Promise<StoreStats> {
  const { only, top, signal } = fillOptions(options);
  const opened = openRepository(repository);
  const discovery = discoverRevlogs(opened);
  const { revlogs, errors } = only === undefined ? wholeStore(discovery) : chosen(discovery, only);
  const sums = { changelog: new RevlogSums(), manifest: new RevlogSums(), filelog: new RevlogSums() };
  const largest: NamedStats[] = [];
  const measure = createMeasure(opened, signal);
  for (const revlog of revlogs) {
    const measured = await measure(revlog);
    if (measured instanceof RevconvertError) {
      errors.push(measured);
      continue;
    }
    sums[revlog.kind].addAll(measured.sums);
    if (largest.length < top) largest.push({ path: displayName(revlog.name), kind: revlog.kind, header: measured.header, ...figuresOf(measured.sums) });
  }
  const total = new RevlogSums();
  for (const kind of REVLOG_KINDS) total.addAll(sums[kind]);
  return {
    repository: opened.root,
    total: figuresOf(total),
    kinds: { changelog: figuresOf(sums.changelog), manifest: figuresOf(sums.manifest), filelog: figuresOf(sums.filelog) },
    largest,
    errors: errors.map((error) => error.toJSON()).sort(byPath),
  };
}

interface FilledOptions {
  readonly only: RevlogChoice | undefined;
  readonly top: number;
  readonly signal: AbortSignal | undefined;
}

function fillOptions(options: StatsOptions): FilledOptions {
  const unknown = Object.keys(options).find((key) => !KNOWN_OPTIONS.has(key));
  if (unknown !== undefined) throw new RevconvertError('USAGE', `unknown option '${unknown}'`);
  const { only, top = DEFAULT_TOP, signal } = options;
  if (typeof only === 'string' && !CHOICES.includes(only)) throw new RevconvertError('USAGE', `only must be one of ${CHOICES.join(', ')}, or a file, found '${only}'`);
  if (!Number.isInteger(top) || top < 0) throw new RevconvertError('USAGE', `top must be a whole number, 0 or more, found ${top}`);
  return { only, top: only === undefined ? top : Math.max(top, 1), signal };
}

/** The revlogs to measure, the largest first, and what is known to be missing. */
interface Selection {
  readonly revlogs: readonly RevlogSource[];
  readonly errors: RevconvertError[];
}

const byPath = (a: ErrorData, b: ErrorData): number => ((a.at.path ?? '') < (b.at.path ?? '') ? -1 : 1);

const wholeStore = (discovery: Discovery): Selection => ({
  revlogs: [...discovery.revlogs].sort((a, b) => bytesOf(b) - bytesOf(a) || (a.name < b.name ? -1 : 1)),
  errors: missingRevlogs(discovery),
});

function chosen({ revlogs, missing: gone }: Discovery, only: RevlogChoice): Selection {
  if (typeof only === 'string') return { revlogs: revlogs.filter(({ name }) => name === `00${only}.i`), errors: [] };
  const name = `data/${Buffer.from(only.file).toString('latin1')}.i`;
  const exact = revlogs.filter((revlog) => revlog.name === name);
  // A name that is no UTF-8 cannot be given on a command line; as it is shown, it can.
  const found = exact.length > 0 ? exact : revlogs.filter((revlog) => displayName(revlog.name) === `data/${only.file}.i`);
  if (found.length > 1) throw new RevconvertError('USAGE', `${found.length} files of the repository look like '${only.file}'`);
  if (found.length === 1) return { revlogs: found, errors: [] };
  if (gone.includes(encodeDirectories(name))) return { revlogs: [], errors: [missingRevlog(encodeDirectories(name))] };
  throw new RevconvertError('USAGE', `the repository has no file '${only.file}', now or in its history`);
}

interface Measured {
  readonly header: RevlogHeader;
  readonly sums: RevlogSums;
}

/** Measures one revlog after the other; damage is an answer. */
function createMeasure(repository: Repository, signal: AbortSignal | undefined): (revlog: RevlogSource) => Promise<Measured | RevconvertError> {
  const { storeFolder } = repository;
  const sparse = repository.requirements.has('sparserevlog');
  const turns = new Turns(signal);
  let decoders: Promise<ChunkDecoders> | undefined;
  const loadOnce = (): Promise<ChunkDecoders> => (decoders ??= loadDecoders({ dictionaries: dictionaryMap(readDictionaries(repository)) }));
  return (revlog) =>
    withRevlog(revlog, storeFolder, turns, async (reader) => {
      const { index } = reader;
      const firstBytes = await readFirstBytes(reader, turns);
      const rawSizes = await measureTexts(reader, loadOnce, turns);
      return { header: index.header, sums: RevlogSums.of({ index, firstBytes, rawSizes, sparse, fileBytes: bytesOf(revlog) }) };
    });
}
