/** Shared by the tests of streams, transforms and sinks. */
import { execFileSync } from 'node:child_process';
import { closeSync, constants, openSync, writeSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';

import type { Revision, RevisionBatch } from '../../src/formats/record.js';
import type { BuiltRevlog, RevisionSpec, RevlogLayout } from '../support/revlog-builder.js';
import { applyHunks, makeRevision } from '../support/revlog-builder.js';

/** A batch of harmless revisions. */
export const batchOf = (revs: readonly number[], path = 'data/f.i'): RevisionBatch => ({
  path,
  kind: 'filelog',
  revisions: revs.map((rev) => makeRevision({ rev, chunk: Buffer.from(`u${rev}`), delta: Buffer.from(String(rev)), rawSize: String(rev).length })),
});

/** Batches of one revision each. */
export const batchesOf = (count: number): RevisionBatch[] => Array.from({ length: count }, (_, rev) => batchOf([rev]));

export const revsOf = (batches: readonly RevisionBatch[]): number[] => batches.flatMap(({ revisions }) => revisions.map(({ rev }) => rev));

export const revisionsOf = (batches: Iterable<RevisionBatch>): Revision[] => [...batches].flatMap(({ revisions }) => revisions);

export async function collect(stream: Readable): Promise<RevisionBatch[]> {
  const batches: RevisionBatch[] = [];
  for await (const batch of stream as AsyncIterable<RevisionBatch>) batches.push(batch);
  return batches;
}

/** The texts of a whole revlog, by the reference that applies hunks. */
export function textsOf(revisions: readonly Revision[]): Buffer[] {
  const texts: Buffer[] = [];
  for (const { deltaBase, delta } of revisions) {
    if (delta === undefined) throw new Error('not decompressed');
    texts.push(deltaBase === -1 ? Buffer.from(delta) : applyHunks(texts[deltaBase] ?? Buffer.alloc(0), delta));
  }
  return texts;
}

/** Waits until streams have let go of everything, whether they failed or not. */
export async function closed(...streams: readonly (Readable | Writable)[]): Promise<void> {
  for (const stream of streams) {
    if (!stream.closed) await new Promise((resolve) => stream.once('close', resolve));
  }
}

/** Lets everything that can run do so: many turns of the event loop, no time. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 200; turn++) await nextTurn();
}

/** Writes at a place in a file that may lie far beyond its end: what is between takes no room. */
export function writeAt(file: string, position: number, bytes: Uint8Array): void {
  const descriptor = openSync(file, constants.O_RDWR | constants.O_CREAT);
  try {
    writeSync(descriptor, bytes, 0, bytes.length, position);
  } finally {
    closeSync(descriptor);
  }
}

/**
 * What a program of a few lines prints. In a process of its own, so that one that blocks is ended.
 * @param limitKib the largest file that it may write; more than that is answered as a full disk is
 */
export function runModule(imports: Readonly<Record<string, string>>, body: string, limitKib?: number): string {
  const lines = Object.entries(imports).map(([names, file]) => `import ${names} from ${JSON.stringify(pathToFileURL(file).href)};`);
  const args = ['--input-type=module', '--eval', [...lines, body].join('\n')];
  const options = { encoding: 'utf8', timeout: 10_000 } as const;
  if (limitKib === undefined) return execFileSync(process.execPath, args, options).trim();
  return execFileSync('bash', ['-c', `ulimit -f ${limitKib}; exec "$0" "$@"`, process.execPath, ...args], options).trim();
}

/** What the records must be, from what the revlog was built of. */
export function expectedRevisions(layout: RevlogLayout, specs: readonly RevisionSpec[], built: BuiltRevlog): Revision[] {
  const sizes = specs.map((spec) => (layout.version === 0 ? -1 : (spec.rawSize ?? spec.text.length)));
  return specs.map((spec, rev) => {
    const base = spec.base ?? (rev === 0 ? 'full' : rev - 1);
    const offset = built.offsets[rev] ?? -1;
    return {
      rev,
      node: built.nodes[rev] ?? Buffer.alloc(0),
      p1: spec.p1 ?? rev - 1,
      p2: spec.p2 ?? -1,
      linkRev: spec.linkRev ?? rev,
      flags: spec.flags ?? 0,
      rawSize: sizes[rev] ?? -1,
      deltaBase: base === 'full' ? -1 : base === 'null' ? -2 : base,
      baseSize: typeof base === 'number' ? (sizes[base] ?? -1) : 0,
      position: layout.inline ? offset + 64 * (rev + 1) : offset,
      chunk: built.chunks[rev] ?? Buffer.alloc(0),
      delta: undefined,
      text: undefined,
      damaged: false,
    };
  });
}

/** With buffers where there may be views of other kinds, so that they can be compared. */
export const plain = (revisions: readonly Revision[]): Revision[] =>
  revisions.map((revision) => ({ ...revision, node: Buffer.from(revision.node), chunk: Buffer.from(revision.chunk) }));

/** Full texts of NUL bytes, stored raw: the chunks have the lengths given. */
export const fulls = (lengths: readonly number[]): RevisionSpec[] =>
  lengths.map((length) => ({ text: Buffer.alloc(length), base: 'full', store: 'raw' }));
