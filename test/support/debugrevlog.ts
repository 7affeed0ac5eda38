/**
 * The figures of `hg debugrevlog`, by name, and those of ours under the same names: to be compared one by one.
 * Where the two Mercurials differ, or print less than we know, this is the place that says so.
 */
import assert from 'node:assert/strict';

import type { NamedStats, Sizes } from '../../src/index.js';

/** What stands behind a name: the figure as it is printed, and the percentage in brackets, where there is one. */
export interface Figure {
  readonly value: string;
  readonly percent?: number;
}

export type Figures = ReadonlyMap<string, Figure>;

/** Of two lines with the same name the second gets a mark: `revisions` is printed twice. */
const SECOND = ', again';

/** Takes what was printed apart. A line that is indented has the name of the section before its own. */
export function parseDebugRevlog(output: string): Map<string, Figure> {
  const figures = new Map<string, Figure>();
  let section = '';
  for (const line of output.split('\n')) {
    const [, indent = '', label = '', rest = ''] = /^( *)(.+?) *: *(.*)$/.exec(line) ?? [];
    if (label === '') continue;
    const own = label.replace(/ +\(min\/max\/avg\)$/, '').replace(/ +\(.\)$/, '');
    if (indent === '') section = own;
    const name = indent === '' ? own : `${section}: ${own}`;
    const percent = /\( *([\d.]+)%\)/.exec(rest)?.[1];
    // Behind snapshots 7 says how many are not against an ancestor.
    const value = rest.replace(/ *non-ancestor-bases.*/, '').replace(/ *\( *[\d.]+%\)/, '').trim();
    figures.set(figures.has(name) ? `${name}${SECOND}` : name, percent === undefined ? { value } : { value, percent: Number(percent) });
  }
  return figures;
}

const plain = (value: number | string): Figure => ({ value: String(value) });

const part = (count: number, whole: number): Figure => ({ value: String(count), percent: whole === 0 ? 100 : (count / whole) * 100 });

const extent = ({ min, max, average }: Sizes): Figure => plain(`${min} / ${max} / ${Math.floor(average)}`);

const markerName = (byte: number): string => `0x${byte.toString(16).padStart(2, '0')}`;

/** All snapshots that are no full texts, as one. */
function intermediate({ snapshots }: NamedStats): Sizes {
  const count = snapshots.reduce((sum, one) => sum + one.count, 0);
  const bytes = snapshots.reduce((sum, one) => sum + one.bytes, 0);
  const min = Math.min(...snapshots.map((one) => one.min));
  return count === 0 ? { count, bytes, min: 0, max: 0, average: 0 } : { count, bytes, min, max: Math.max(...snapshots.map((one) => one.max)), average: bytes / count };
}

function revisionFigures(stats: NamedStats): [string, Figure][] {
  const { revisions, storedBytes, merges, emptyTexts, emptyDeltas, fullTexts, deltas } = stats;
  const empty = emptyTexts + emptyDeltas;
  const snapshots = fullTexts.count + intermediate(stats).count;
  const levels = [{ depth: 0, ...fullTexts }, ...stats.snapshots].filter(({ count }) => count > 0);
  const snapshotBytes = fullTexts.bytes + intermediate(stats).bytes;
  return [
    ['revisions', plain(revisions)],
    ['revisions: merges', part(merges, revisions)],
    ['revisions: normal', part(revisions - merges, revisions)],
    [`revisions${SECOND}`, plain(revisions)],
    ['revisions: empty', part(empty, revisions)],
    ['revisions: text', part(emptyTexts, empty)],
    ['revisions: delta', part(emptyDeltas, empty)],
    ['revisions: snapshot', part(snapshots, revisions)],
    ...levels.map(({ depth, count }): [string, Figure] => [`revisions: lvl-${depth}`, part(count, revisions)]),
    ['revisions: deltas', part(deltas.count, revisions)],
    ['revision size', plain(storedBytes)],
    ['revision size: snapshot', part(snapshotBytes, storedBytes)],
    ...levels.map(({ depth, bytes }): [string, Figure] => [`revision size: lvl-${depth}`, part(bytes, storedBytes)]),
    ['revision size: deltas', part(deltas.bytes, storedBytes)],
  ];
}

function chunkFigures({ revisions, storedBytes, markers, emptyTexts, emptyDeltas }: NamedStats): [string, Figure][] {
  const empty = emptyTexts + emptyDeltas;
  return [
    ['chunks', plain(revisions)],
    ...(empty === 0 ? [] : [['chunks: empty', part(empty, revisions)] satisfies [string, Figure]]),
    ...markers.map(({ byte, count }): [string, Figure] => [`chunks: ${markerName(byte)}`, part(count, revisions)]),
    ['chunks size', plain(storedBytes)],
    ...(empty === 0 ? [] : [['chunks size: empty', part(0, storedBytes)] satisfies [string, Figure]]),
    ...markers.map(({ byte, bytes }): [string, Figure] => [`chunks size: ${markerName(byte)}`, part(bytes, storedBytes)]),
  ];
}

function sizeFigures(stats: NamedStats): [string, Figure][] {
  const { chains, header, rawBytes, ratio } = stats;
  const figures: [string, Figure][] = [
    ['avg chain length', plain(Math.floor(chains.average))],
    ['max chain length', plain(chains.longest)],
    ['max chain reach', plain(chains.longestSpan)],
  ];
  // Version 0 does not say how long texts are; Mercurial takes them for nothing, and we decompress them.
  const texts: [string, Figure][] =
    header.version === 0
      ? [
          ['total-stored-content', plain('0 bytes')],
          ['compression ratio', plain(0)],
        ]
      : [
          ['total-stored-content', plain(`${String(rawBytes).replace(/\B(?=(\d{3})+$)/g, ' ')} bytes`)],
          // Of nothing to nothing; we say 0.
          ['compression ratio', plain(stats.storedBytes === 0 ? 1 : Math.floor(ratio))],
          ['uncompressed data size', extent(stats.texts)],
        ];
  return [
    ...figures,
    ...texts,
    ['full revision size', extent(stats.fullTexts)],
    ['inter-snapshot size', extent(intermediate(stats))],
    ...stats.snapshots.map((one): [string, Figure] => [`inter-snapshot size: level-${one.depth}`, extent(one)]),
    ['delta size', extent(stats.deltas)],
  ];
}

function baseFigures({ bases, deltas, header }: NamedStats): [string, Figure][] {
  if (deltas.count === 0) return [];
  const previous = bases.previousP1 + bases.previousP2 + bases.previousOther;
  const within: [string, Figure][] = [
    ['deltas against prev: where prev = p1', part(bases.previousP1, previous)],
    ['deltas against prev: where prev = p2', part(bases.previousP2, previous)],
    ['deltas against prev: other', part(bases.previousOther, previous)],
  ];
  return [
    ['deltas against prev', part(previous, deltas.count)],
    ...(previous === 0 ? [] : within),
    // Without generaldelta there is nothing else, and nothing else is printed.
    ...(header.generaldelta
      ? ([
          ['deltas against p1', part(bases.p1, deltas.count)],
          ['deltas against p2', part(bases.p2, deltas.count)],
          ['deltas against other', part(bases.other, deltas.count)],
        ] satisfies [string, Figure][])
      : []),
  ];
}

/** Our figures, under Mercurial's names. */
export const figuresOfStats = (stats: NamedStats): Map<string, Figure> =>
  new Map([...revisionFigures(stats), ...chunkFigures(stats), ...sizeFigures(stats), ...baseFigures(stats)]);

const take = (figures: Map<string, Figure>, name: string): number => {
  const value = Number(figures.get(name)?.value ?? 0);
  figures.delete(name);
  return value;
};

/**
 * Makes what 7 prints the same as what 6 prints. It divides "other" in two: ancestors that are no parents, and the rest.
 * Of deltas against the previous revision it prints neither where it is no parent, though it counts them in the sum.
 */
function joinOthers(figures: Map<string, Figure>): void {
  if (figures.has('deltas against ancs')) {
    const other = figures.get('deltas against other');
    const ancestors = figures.get('deltas against ancs');
    take(figures, 'deltas against ancs');
    figures.set('deltas against other', {
      value: String(Number(other?.value) + Number(ancestors?.value)),
      percent: (other?.percent ?? 0) + (ancestors?.percent ?? 0),
    });
  }
  if (!figures.has('deltas against prev: other-ancestor')) return;
  take(figures, 'deltas against prev: other-ancestor');
  take(figures, 'deltas against prev: unrelated');
  const number = (name: string): number => Number(figures.get(name)?.value ?? 0);
  const all = number('deltas against prev');
  figures.set('deltas against prev: other', part(all - number('deltas against prev: where prev = p1') - number('deltas against prev: where prev = p2'), all));
}

/** Percentages are printed with two digits. */
const HALF_A_DIGIT = 0.005 + 1e-9;
/** The sum of two that are rounded. */
const TWO_HALVES = 2 * HALF_A_DIGIT;

/**
 * Compares what Mercurial printed with what we found, figure by figure; no line is left out.
 * @param output of `hg debugrevlog`
 * @param levels false: without the figures of each level of snapshots, for histories in which Mercurial 6 counts empty
 *   deltas between them
 */
export function assertSameFigures(output: string, stats: NamedStats, levels = true): void {
  const theirs = parseDebugRevlog(output);
  const ours = figuresOfStats(stats);
  joinOthers(theirs);
  if (!theirs.has('total-stored-content')) ours.delete('total-stored-content');
  assert.equal(theirs.get('format')?.value, String(stats.header.version), output);
  assert.equal((theirs.get('flags')?.value ?? '').includes('generaldelta'), stats.header.generaldelta, output);
  assert.equal((theirs.get('flags')?.value ?? '').includes('inline'), stats.header.inline, output);
  for (const name of ['format', 'flags']) theirs.delete(name);
  const isCompared = (name: string): boolean => levels || !/(?:lvl|level)-[1-9]/.test(name);
  const names = [...new Set([...theirs.keys(), ...ours.keys()])].filter(isCompared);
  for (const name of names) {
    const [their, our] = [theirs.get(name), ours.get(name)];
    assert.equal(our?.value, their?.value, `${stats.path}, ${name}\n${output}`);
    if (their?.percent === undefined) continue;
    const error = Math.abs((our?.percent ?? NaN) - their.percent);
    assert.ok(error <= TWO_HALVES, `${stats.path}, ${name}: ${our?.percent ?? NaN} %\n${output}`);
  }
}
