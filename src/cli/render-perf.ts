import type { BenchmarkResult, PerfReport, RevlogPerf } from '../report/perf.js';
import { showable } from '../repository/byte-path.js';
import { bytes, count, plural, table } from './format.js';

/** Benchmarks for a person: a table for each revlog; of two stores, side by side. */
export function renderPerf(report: PerfReport): string {
  const [first, second] = report.stores;
  if (first === undefined) return '';
  const head = second === undefined ? [showable(first.repository)] : [`A: ${showable(first.repository)}`, `B: ${showable(second.repository)}`];
  const revlogs = first.revlogs.flatMap((revlog, i) => ['', ...renderRevlog(revlog, second?.revlogs[i], report)]);
  return [...head, ...(revlogs.length === 0 ? ['', 'no revlog to measure'] : revlogs)].join('\n');
}

function renderRevlog(own: RevlogPerf, other: RevlogPerf | undefined, report: PerfReport): string[] {
  const rows = other === undefined ? tableOfOne(own, report) : tableOfTwo(own, other, report);
  if (other === undefined) return [`${showable(own.path)}: ${describe(own)}`, ...rows];
  return [showable(own.path), `  A: ${describe(own)}`, `  B: ${describe(other)}`, ...rows];
}

const describe = ({ revisions, fileBytes, longestChain }: RevlogPerf): string =>
  `${plural(revisions, 'revision')}, ${bytes(fileBytes)}${longestChain === undefined ? '' : `, longest chain ${plural(longestChain.deltas, 'delta')}`}`;

function tableOfOne({ benchmarks }: RevlogPerf, report: PerfReport): string[] {
  const rows = benchmarks.map((one) => [
    title(one, report),
    count(one.revisions),
    bytes(one.bytes),
    duration(one.best),
    duration(one.median),
    ...rates(one),
    runsOf(one),
  ]);
  return table([['', 'revisions', 'bytes', 'best', 'median', 'us/rev', 'MB/s', 'runs'], ...rows]);
}

function tableOfTwo({ benchmarks }: RevlogPerf, other: RevlogPerf, report: PerfReport): string[] {
  const rows = benchmarks.flatMap((a, i) => {
    const b = other.benchmarks[i];
    if (b === undefined) return [];
    return [[title(a, report), ...[a, b].map(({ best }) => duration(best)), ...[a, b].map((one) => duration(one.median)), (b.ratio ?? NaN).toFixed(2), runsOf(a)]];
  });
  return table([['', 'A best', 'B best', 'A median', 'B median', 'B/A', 'runs'], ...rows]);
}

function title({ name }: BenchmarkResult, { every, checkNodes }: PerfReport): string {
  const isTexts = name.startsWith('texts');
  const step = isTexts && every > 1 ? `, every ${count(every)}` : '';
  return `${name}${step}${checkNodes && (isTexts || name.startsWith('last')) ? ', checked' : ''}`;
}

/** From the best run: microseconds a revision, and megabytes that came out in a second. */
function rates({ revisions, bytes: made, best }: BenchmarkResult): string[] {
  return [revisions === 0 ? '' : digits((best * 1000) / revisions), best === 0 ? '' : digits(made / best / 1000)];
}

/** Without a mark where runs before them were left out. */
const runsOf = ({ milliseconds, warmUps }: BenchmarkResult): string => `${count(milliseconds.length)}${warmUps === 0 ? ' (cold)' : ''}`;

/** Three digits, or all before the point. */
const digits = (value: number): string => (value >= 100 ? count(Math.round(value)) : value.toFixed(value >= 10 ? 1 : 2));

function duration(milliseconds: number): string {
  if (milliseconds >= 1000) return `${digits(milliseconds / 1000)} s`;
  return milliseconds >= 1 ? `${digits(milliseconds)} ms` : `${digits(milliseconds * 1000)} us`;
}
