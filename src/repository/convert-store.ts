import type { ErrorData } from '../errors.js';
import { RevconvertError, toRevconvertError } from '../errors.js';
import { asBuffer } from '../formats/bytes.js';
import { ENTRY_SIZE } from '../formats/revlog-index.js';
import { encodeStorePath } from '../formats/store-path.js';
import { RevlogWriter } from '../sinks/revlog-writer.js';
import type { RevlogReader } from '../streams/read-revlog.js';
import { openRevlog } from '../streams/read-revlog.js';
import { asPath, below, displayName } from './byte-path.js';
import type { RangeJob, RangeResult, RevlogJob, RevlogResult } from './convert-revlog.js';
import { convertedResult, targetHeader } from './convert-revlog.js';
import type { DictionaryUse } from './dictionaries/use.js';
import { addUse } from './dictionaries/use.js';
import type { RevlogSource } from './discover.js';
import { dataNameOf } from './discover.js';
import type { ConversionPlan } from './plan.js';
import { bytesOf } from './plan.js';
import type { Range } from './schedule.js';
import { cutRanges, group, LARGE_REVLOG_BYTES, runInLanes } from './schedule.js';
import type { ConversionSettings } from './settings.js';
import { shareBytes } from './shared-memory.js';
import type { RunTask, Task, TaskResult } from './tasks.js';

export interface StoreConversion {
  readonly plan: ConversionPlan;
  readonly settings: ConversionSettings;
  readonly revlogs: readonly RevlogSource[];
  /** Folder of the source's store. */
  readonly from: string;
  /** Folder of the new store. */
  readonly to: string;
  /** What runs the tasks. */
  readonly lanes: readonly RunTask[];
  readonly signal: AbortSignal | undefined;
  /** Called with the source bytes of each piece that is done, and whether it ends a number of revlogs. */
  readonly onDone: (bytes: number, revlogs: number) => void;
}

/** Where a revlog lies in the destination, below its store. */
export function targetPathOf(revlog: RevlogSource, plan: ConversionPlan): { index: string; data: string } {
  if (!plan.newLayout) return { index: revlog.indexPath, data: revlog.dataPath };
  return { index: encodeStorePath(revlog.name, plan.targetEncoding), data: encodeStorePath(dataNameOf(revlog.name), plan.targetEncoding) };
}

/**
 * Converts all revlogs, the largest first. The folders they go to exist.
 * @returns a result for each, in no order
 * @throws RevconvertError of the first revlog that failed; CANCELLED
 */
export async function convertStore(conversion: StoreConversion): Promise<RevlogResult[]> {
  const bySize = conversion.revlogs
    .map((revlog, id) => ({ revlog, id }))
    .sort((a, b) => bytesOf(b.revlog) - bytesOf(a.revlog) || (a.revlog.name < b.revlog.name ? -1 : 1));
  const results: RevlogResult[] = [];
  const open = new Set<LargeRevlog>();
  const perform = async (piece: Piece, run: RunTask): Promise<void> => {
    await piece.turn?.();
    const finished = piece.take(await run(piece.task));
    results.push(...finished);
    conversion.onDone(piece.bytes, finished.length);
  };
  try {
    await runInLanes(pieces(conversion, bySize, open), conversion.lanes, perform, conversion.signal);
    return results;
  } finally {
    for (const large of open) large.close();
  }
}

/** A revlog, and its place in the list of all, by which its result is known. */
interface Numbered {
  readonly revlog: RevlogSource;
  readonly id: number;
}

const sizeOf = ({ revlog }: Numbered): number => bytesOf(revlog);

/** A task, and what is done with its result. */
interface Piece {
  readonly task: Task;
  /** Stored bytes of the source. */
  readonly bytes: number;
  /** Waits until the task may begin. */
  readonly turn?: () => Promise<void>;
  /** @returns the revlogs that are complete now */
  readonly take: (result: TaskResult) => readonly RevlogResult[];
}

function* pieces(conversion: StoreConversion, bySize: readonly Numbered[], open: Set<LargeRevlog>): Generator<Piece, void, void> {
  const small: Numbered[] = [];
  for (const numbered of bySize) {
    const large = sizeOf(numbered) > LARGE_REVLOG_BYTES && conversion.settings.redelta === 'never' ? openLarge(conversion, numbered) : undefined;
    if (large === undefined) {
      small.push(numbered);
      continue;
    }
    open.add(large);
    yield* rangePieces(large, open);
  }
  for (const members of group(small, sizeOf)) {
    yield {
      task: { type: 'revlogs', jobs: members.map((member) => jobOf(conversion, member)) },
      bytes: members.reduce((sum, member) => sum + sizeOf(member), 0),
      take: (result) => (result.type === 'revlogs' ? result.results : []),
    };
  }
}

function* rangePieces(large: LargeRevlog, open: Set<LargeRevlog>): Generator<Piece, void, void> {
  for (const [position, range] of large.ranges.entries()) {
    yield {
      task: { type: 'range', job: large.rangeJob(range) },
      bytes: range.bytes,
      turn: () => large.turn(position),
      take: (result) => {
        const finished = result.type === 'range' ? large.take(position, result.result) : undefined;
        if (finished === undefined) return [];
        open.delete(large);
        return [finished];
      },
    };
  }
}

function jobOf({ plan, from, to }: StoreConversion, { revlog, id }: Numbered): RevlogJob {
  const target = targetPathOf(revlog, plan);
  return {
    id,
    name: displayName(revlog.name),
    kind: revlog.kind,
    sourceIndex: below(from, revlog.indexPath),
    sourceData: below(from, revlog.dataPath),
    targetIndex: below(to, target.index),
    targetData: below(to, target.data),
    hasData: revlog.dataBytes > 0,
    stray: !revlog.listed,
  };
}

/** Ranges, of about a MiB, that may be under way or ready in front of the one to be written next. */
const RANGES_AHEAD = 16;

/** A revlog that is cut into ranges: their results are written in order, whichever comes first. */
interface LargeRevlog {
  readonly ranges: readonly Range[];
  rangeJob(range: Range): RangeJob;
  /** Waits while a range is too far ahead of the one to be written next: what is ready early is held in memory. */
  turn(position: number): Promise<void>;
  /** @returns the revlog's result once its last range has been written; nothing is written once it is closed */
  take(position: number, result: RangeResult): RevlogResult | undefined;
  close(): void;
}

/**
 * Prepares a large revlog. Those whose index is bad, those of version 0 (whose text lengths have to be counted from
 * the start), and those not listed (which may have to be carried whole) are left to one thread: undefined.
 */
function openLarge(conversion: StoreConversion, numbered: Numbered): LargeRevlog | undefined {
  const job = jobOf(conversion, numbered);
  if (job.stray) return undefined;
  const damaged: ErrorData[] = [];
  const onDamage = conversion.settings.keepGoing ? (error: RevconvertError) => damaged.push(error.toJSON()) : undefined;
  let reader: RevlogReader;
  try {
    reader = openRevlog({
      indexFile: asPath(job.sourceIndex),
      dataFile: asPath(job.sourceData),
      path: job.name,
      kind: job.kind,
      onDamage,
    });
  } catch (error) {
    if (toRevconvertError(error).kind === 'bug') throw error;
    return undefined;
  }
  reader.close();
  if (reader.index.header.version === 0) return undefined;
  return createLarge(conversion.settings, job, reader, damaged);
}

function createLarge(settings: ConversionSettings, job: RevlogJob, { index, trailingBytes }: RevlogReader, damaged: ErrorData[]): LargeRevlog {
  const writer = new RevlogWriter({
    ...targetHeader(index.header, job.kind, settings),
    indexFile: asPath(job.targetIndex),
    dataFile: asPath(job.targetData),
    path: job.name,
    mode: settings.fileMode,
  });
  const ranges = cutRanges(index, ENTRY_SIZE);
  const table = shareBytes(index.table);
  const early = new Map<number, RangeResult>();
  let used: DictionaryUse = [];
  let next = 0;
  let open = true;
  let waiting: (() => void)[] = [];
  const wake = (): void => {
    const woken = waiting;
    waiting = [];
    for (const go of woken) go();
  };
  const chunkFile = index.header.inline ? job.sourceIndex : job.sourceData;
  return {
    ranges,
    rangeJob: (range) => ({ name: job.name, kind: job.kind, table, header: index.header, chunkFile, from: range.from, to: range.to }),
    async turn(position) {
      while (open && position - next >= RANGES_AHEAD) await new Promise<void>((resolve) => waiting.push(resolve));
    },
    take(position, result) {
      if (!open) return undefined;
      early.set(position, result);
      for (let ready = early.get(next); ready !== undefined; ready = early.get(next)) {
        early.delete(next++);
        writer.writeEncoded(asBuffer(ready.entries), ready.chunks);
        damaged.push(...ready.damaged);
        used = addUse([used, ready.dictionaryUse]);
      }
      wake();
      if (next < ranges.length) return undefined;
      const outcome = writer.finish();
      open = false;
      return convertedResult(job, { index, trailingBytes }, outcome, damaged, used);
    },
    close() {
      if (open) writer.abort();
      open = false;
      wake();
    },
  };
}
