import type { RevlogKind } from '../formats/record.js';
import { REVLOG_KINDS } from '../formats/record.js';
import type { RevlogHeader } from '../formats/revlog-header.js';
import type { RevlogStats } from '../report/revlog-stats.js';
import type { Sizes } from '../report/sizes.js';
import type { NamedStats, StoreStats } from '../report/store-stats.js';
import { showable } from '../repository/byte-path.js';
import { bytes, count, plural, table } from './format.js';
import { KIND_NAMES } from './render.js';

type Named = readonly [name: string, stats: RevlogStats];

/** A part of a whole: `12.3 %`; nothing of nothing is empty. */
const percent = (part: number, whole: number): string => (whole === 0 ? '' : `${((part / whole) * 100).toFixed(1)} %`);

const times = (ratio: number): string => (ratio === 0 ? '' : ratio.toFixed(ratio >= 100 ? 0 : ratio >= 10 ? 1 : 2));

const snapshotCount = ({ snapshots }: RevlogStats): number => snapshots.reduce((sum, one) => sum + one.count, 0);

const emptyCount = ({ emptyTexts, emptyDeltas }: RevlogStats): number => emptyTexts + emptyDeltas;

/** The kinds that there are, and all together. */
const groups = (stats: StoreStats): Named[] => [
  ...REVLOG_KINDS.map((kind: RevlogKind): Named => [KIND_NAMES[kind], stats.kinds[kind]]),
  ['total', stats.total],
];

/** The tables: sizes and deltas by kind, how chunks are compressed, the largest revlogs. */
export function renderOverview(stats: StoreStats): string {
  return [
    showable(stats.repository),
    '',
    ...sizeTable(groups(stats)),
    '',
    ...deltaTable(groups(stats)),
    '',
    ...markerTable(stats.total),
    ...largestTable(stats.largest),
  ].join('\n');
}

/** Every figure of the whole store, of its kinds and of the largest revlogs. */
export function renderDetail(stats: StoreStats): string {
  const kinds = groups(stats).filter(([, { revlogs }]) => revlogs > 0);
  return [...kinds.map(([name, one]) => section(name, one)), ...stats.largest.map(namedSection)].join('\n\n');
}

/** Every figure of the one revlog that was asked for. */
export function renderOne({ repository, largest, errors }: StoreStats): string {
  const [only] = largest;
  const nothing = errors.length > 0 ? 'no figures' : 'no such revlog: nothing was committed yet';
  return [showable(repository), only === undefined ? nothing : namedSection(only)].join('\n\n');
}

const sizeTable = (rows: readonly Named[]): string[] =>
  table([
    ['', 'revlogs', 'revisions', 'on disk', 'chunks', 'texts', 'ratio'],
    ...rows.map(([name, one]) => [
      name,
      count(one.revlogs),
      count(one.revisions),
      bytes(one.fileBytes),
      bytes(one.storedBytes),
      bytes(one.rawBytes),
      times(one.ratio),
    ]),
  ]);

const deltaTable = (rows: readonly Named[]): string[] =>
  table([
    ['', 'full texts', 'snapshots', 'deltas', 'empty', 'chain average', '90 %', 'longest'],
    ...rows.map(([name, one]) => [
      name,
      percent(one.fullTexts.count, one.revisions),
      count(snapshotCount(one)),
      percent(one.deltas.count, one.revisions),
      percent(emptyCount(one), one.revisions),
      one.chains.average.toFixed(1),
      count(one.chains.percentile90),
      count(one.chains.longest),
    ]),
  ]);

function markerTable(stats: RevlogStats): string[] {
  const empty = emptyCount(stats);
  const rows = stats.markers.map((marker) => [
    marker.name === 'unknown' ? `unknown (${marker.byte.toString(16).padStart(2, '0')})` : marker.name,
    count(marker.count),
    percent(marker.count, stats.revisions),
    bytes(marker.bytes),
    percent(marker.bytes, stats.storedBytes),
  ]);
  if (empty > 0) rows.unshift(['empty', count(empty), percent(empty, stats.revisions), bytes(0), percent(0, stats.storedBytes)]);
  return table([['chunks', 'count', 'share', 'bytes', 'share'], ...rows]);
}

function largestTable(largest: readonly NamedStats[]): string[] {
  if (largest.length === 0) return [];
  const rows = largest.map((one) => [one.path, count(one.revisions), bytes(one.fileBytes), bytes(one.rawBytes), times(one.ratio), count(one.chains.longest)]);
  return ['', ...table([['largest revlogs', 'revisions', 'on disk', 'texts', 'ratio', 'longest chain'], ...rows])];
}

function describeHeader({ version, inline, generaldelta, deltaInfo }: RevlogHeader): string {
  return [`version ${version}`, ...(inline ? ['inline'] : []), ...(generaldelta ? ['generaldelta'] : []), ...(deltaInfo ? ['delta-info'] : [])].join(', ');
}

const namedSection = (one: NamedStats): string => section(`${one.path} (${describeHeader(one.header)})`, one);

/** Smallest, average, largest. */
const extent = ({ count: many, min, average, max }: Sizes): string[] => (many === 0 ? [] : [min, average, max].map((size) => bytes(Math.round(size))));

const sizesRow = (name: string, sizes: Sizes, { revisions, storedBytes }: RevlogStats): string[] => [
  name,
  count(sizes.count),
  percent(sizes.count, revisions),
  bytes(sizes.bytes),
  percent(sizes.bytes, storedBytes),
  ...extent(sizes),
];

const plainRow = (name: string, part: number, whole: number): string[] => [name, count(part), percent(part, whole)];

/** What the deltas are against, the previous revision first; nothing where there are none. */
function baseTable({ bases, deltas, snapshots }: RevlogStats): string[] {
  const all = snapshots.reduce((sum, one) => sum + one.count, deltas.count);
  if (all === 0) return [];
  return [
    '',
    ...table([
      ['delta bases', 'count', 'share'],
      plainRow('previous, which is p1', bases.previousP1, all),
      plainRow('previous, which is p2', bases.previousP2, all),
      plainRow('previous, no parent', bases.previousOther, all),
      plainRow('p1', bases.p1, all),
      plainRow('p2', bases.p2, all),
      plainRow('another snapshot', bases.snapshot, all),
      plainRow('other', bases.other, all),
    ]),
  ];
}

function revisionTable(one: RevlogStats): string[] {
  return table([
    ['revisions', 'count', 'share', 'bytes', 'share', 'min', 'average', 'max'],
    sizesRow('full texts', one.fullTexts, one),
    ...one.snapshots.map((snapshots) => sizesRow(`snapshots, depth ${snapshots.depth}`, snapshots, one)),
    sizesRow('deltas', one.deltas, one),
    plainRow('empty texts', one.emptyTexts, one.revisions),
    plainRow('empty deltas', one.emptyDeltas, one.revisions),
    plainRow('merges', one.merges, one.revisions),
    ['texts, decompressed', count(one.texts.count), '', bytes(one.texts.bytes), '', ...extent(one.texts)],
  ]);
}

/** All figures of a revlog, or of several together. */
function section(title: string, one: RevlogStats): string {
  const { chains, ratio } = one;
  const lines = [
    `${plural(one.revlogs, 'revlog')}, ${plural(one.revisions, 'revision')}, ${bytes(one.fileBytes)} on disk`,
    `chunks ${bytes(one.storedBytes)}, texts ${bytes(one.rawBytes)}${ratio === 0 ? '' : `, ratio ${times(ratio)}`}`,
    `chain length: average ${chains.average.toFixed(1)}, 90 % up to ${count(chains.percentile90)}, longest ${count(chains.longest)}`,
    `chain span: average ${bytes(Math.round(chains.averageSpan))}, longest ${bytes(chains.longestSpan)}`,
    '',
    ...revisionTable(one),
    ...baseTable(one),
    '',
    ...markerTable(one),
  ];
  return [title, ...lines.map((line) => (line === '' ? '' : `  ${line}`))].join('\n');
}
