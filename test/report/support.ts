/** Shared by the tests of reports: figures of revlogs that are built byte by byte. */
import type { RevlogIndex } from '../../src/formats/revlog-index.js';
import { RevlogSums } from '../../src/report/revlog-sums.js';
import { memorySource } from '../../src/streams/byte-source.js';
import { readIndex } from '../../src/streams/read-index.js';
import type { RevisionSpec, RevlogLayout } from '../support/revlog-builder.js';
import { buildRevlog, SPLIT } from '../support/revlog-builder.js';

const NOTHING = Buffer.alloc(0);

/** A chunk of a length, by its first byte; what it holds does not matter. */
export const chunkOf = (length: number, marker = 'x'): Buffer => Buffer.concat([Buffer.from(marker, 'latin1'), Buffer.alloc(Math.max(0, length - 1), 1)]).subarray(0, length);

/** One revision by what is counted: stored bytes, length of the text, base, parents. */
export const revision = (length: number, rawSize: number, more: Partial<RevisionSpec> = {}): RevisionSpec => ({
  text: NOTHING,
  chunk: chunkOf(length),
  rawSize,
  ...more,
});

export const indexOf = (specs: readonly RevisionSpec[], layout: RevlogLayout = SPLIT): RevlogIndex =>
  readIndex(memorySource(buildRevlog(layout, specs).index, 'f.i'));

/** What a built revlog adds up to. */
export function sumsOf(specs: readonly RevisionSpec[], layout: RevlogLayout = SPLIT, sparse = true): RevlogSums {
  const { chunks, index, data } = buildRevlog(layout, specs);
  return RevlogSums.of({
    index: readIndex(memorySource(index, 'f.i')),
    firstBytes: Uint8Array.from(chunks, (chunk) => chunk[0] ?? 0),
    sparse,
    fileBytes: index.length + data.length,
  });
}

/** Every kind of revision and of base, with figures to be added up by hand. */
export const EVERYTHING: readonly RevisionSpec[] = [
  revision(10, 100, { base: 'full', p1: -1 }), // 0: full text
  revision(4, 110, { base: 0, p1: 0, chunk: chunkOf(4, '\0') }), // 1: against the previous, which is p1
  revision(6, 120, { base: 0, p1: 1 }), // 2: snapshot of depth 1: p1 is 1
  revision(5, 130, { base: 2, p1: 1, chunk: chunkOf(5, '(') }), // 3: snapshot of depth 2, against the previous, no parent
  revision(3, 140, { base: 3, p1: 3 }), // 4: against the previous, p1
  revision(2, 150, { base: 1, p1: 4, p2: 1 }), // 5: against p2
  revision(0, 150, { base: 5, p1: 5 }), // 6: equal to its base
  revision(7, 160, { base: 5, p1: 6 }), // 7: against what 6 is equal to, which is no parent by its number: other
  revision(0, 0, { base: 'full', p1: 7 }), // 8: the empty text
  revision(9, 170, { base: 4, p1: 8, p2: 7 }), // 9: other
  revision(8, 180, { base: 'null', p1: 9 }), // 10: against the empty text
  revision(1, 190, { base: 10, p1: 9, p2: 10, chunk: chunkOf(1, 'u') }), // 11: against the previous, p2
  revision(3, 200, { base: 9, p1: 9, chunk: chunkOf(3, '?') }), // 12: against p1
  revision(2, 210, { base: 12, p1: 11 }), // 13: against the previous, no parent, no snapshot
];
